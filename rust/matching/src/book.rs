//! The order books of all symbols: orders, their queues, and where to find them.
//!
//! Layout: resting orders lie in one slab, one cache line each, and link each other into the queue of their
//! level (oldest first). Levels lie in a slab of their own, one cache line each. One index finds an order by
//! its id, another a level by its price; two ladders a symbol keep the levels in order.
//! Ordering: best price first, at one price the oldest first. A moved order goes behind its new queue, a
//! reduced one keeps its place.
//! Cost: placing at a known price, cancelling and reducing anywhere O(1); a price that comes or goes
//! O(log levels). Memory: 64 bytes a resting order and 16 to 32 in the index; both grow by doubling.
//! Limits: 2^32 − 1 resting orders in all.

use crate::amount::{product, scaled};
use crate::events::SymbolRequest;
use crate::index::{HashIndex, hash};
use crate::ladder::Ladder;
use crate::level::Level;
use crate::order::Order;
use crate::slab::Slab;
use crate::types::{AMOUNT_SCALE, BASIS_POINTS, NIL, SCALED_MAX, Side, fees_valid};

/// A symbol and its book.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// Number of the symbol; 0 for a place without one.
    pub symbol: u32,
    /// Number of the base currency.
    pub base: u32,
    /// Number of the quote currency.
    pub quote: u32,
    /// Ledger's index of the base currency.
    pub base_index: u32,
    /// Ledger's index of the quote currency.
    pub quote_index: u32,
    /// The fee account's balance in the quote currency.
    pub fee_balance: u32,
    /// Power of ten that scales quantities.
    pub base_scale: i64,
    /// Power of ten that scales prices.
    pub quote_scale: i64,
    /// Smallest step of a scaled price.
    pub tick: i64,
    /// Smallest step of a scaled quantity.
    pub lot: i64,
    /// Fee of takers without fees of their own, in basis points.
    pub taker_fee_bps: i16,
    /// Fee of makers without fees of their own, in basis points; negative is a rebate.
    pub maker_fee_bps: i16,
    /// Whether it takes orders.
    pub active: bool,
    /// Amount units of base in one scaled unit of quantity.
    pub base_unit: i64,
    /// Amount units of quote in one scaled unit of price × quantity.
    pub quote_unit: i64,
    /// `quote_unit` for one basis point.
    pub fee_unit: i64,
    bids: Ladder,
    asks: Ladder,
    /// Resting orders on both sides.
    pub orders: u32,
}

impl Book {
    /// An empty, active book for `request`, or None if it breaks a rule of `openspot.domain.symbol`.
    /// The indices of the currencies and of the fee account's balance are left to the caller.
    #[must_use]
    pub fn new(symbol: u32, request: &SymbolRequest) -> Option<Self> {
        let scale = power_of_ten(request.base_scale)?.checked_mul(power_of_ten(request.quote_scale)?)?;
        let steps = [request.tick, request.lot];
        let fees = (i64::from(request.taker_fee_bps), i64::from(request.maker_fee_bps));
        if scale > AMOUNT_SCALE / BASIS_POINTS
            || !steps.iter().all(|step| (1..=SCALED_MAX).contains(step))
            || !fees_valid(fees.0, fees.1)
        {
            return None;
        }
        let quote_unit = AMOUNT_SCALE / scale;
        Some(Self {
            symbol,
            base: request.base,
            quote: request.quote,
            base_scale: request.base_scale,
            quote_scale: request.quote_scale,
            tick: request.tick,
            lot: request.lot,
            taker_fee_bps: i16::try_from(fees.0).ok()?,
            maker_fee_bps: i16::try_from(fees.1).ok()?,
            active: true,
            base_unit: AMOUNT_SCALE / request.base_scale,
            quote_unit,
            fee_unit: quote_unit / BASIS_POINTS,
            ..Self::default()
        })
    }

    /// The ladder of `side`.
    #[must_use]
    #[inline]
    pub fn ladder(&self, side: Side) -> &Ladder {
        match side {
            Side::Buy => &self.bids,
            Side::Sell => &self.asks,
        }
    }

    /// The ladder of `side`, to change.
    #[inline]
    pub fn ladder_mut(&mut self, side: Side) -> &mut Ladder {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    /// What `quantity` is worth at `price`, in amount units of quote.
    #[must_use]
    #[inline]
    pub fn notional(&self, price: i64, quantity: i64) -> i128 {
        product(price, quantity, self.quote_unit)
    }

    /// The fee on that, negative for a rebate.
    #[must_use]
    #[inline]
    pub fn fee(&self, price: i64, quantity: i64, bps: i16) -> i128 {
        product(price, quantity, self.fee_unit * i64::from(bps))
    }

    /// `quantity` in amount units of base.
    #[must_use]
    #[inline]
    pub fn base_amount(&self, quantity: i64) -> i128 {
        scaled(quantity, self.base_unit)
    }

    /// What a limit order of `side` holds for `quantity`, in amount units of the currency it pays.
    #[must_use]
    #[inline]
    pub fn hold(&self, side: Side, reserve_price: i64, quantity: i64, worst_fee_bps: i64) -> i128 {
        match side {
            Side::Buy => product(reserve_price, quantity, self.quote_unit + self.fee_unit * worst_fee_bps),
            Side::Sell => self.base_amount(quantity),
        }
    }

    /// The part of a hold that counts as locked: `quantity` at the limit, without fees.
    #[must_use]
    #[inline]
    pub fn lock(&self, side: Side, price: i64, quantity: i64) -> i128 {
        match side {
            Side::Buy => self.notional(price, quantity),
            Side::Sell => self.base_amount(quantity),
        }
    }
}

/// Hash of the price of a level; a rank tells the sides apart.
fn hash_of_level(book: u32, side: Side, price: i64) -> u64 {
    hash(side.rank(price).cast_unsigned() ^ u64::from(book).rotate_right(16))
}

fn power_of_ten(value: i64) -> Option<i64> {
    let mut power = 1i64;
    while power < value {
        power = power.checked_mul(10)?;
    }
    (power == value).then_some(value)
}

/// All books, and the orders that rest in them.
#[derive(Clone, Debug)]
pub struct Books {
    /// Resting orders.
    pub orders: Slab<Order>,
    order_index: HashIndex,
    /// Price levels of all books.
    pub levels: Slab<Level>,
    level_index: HashIndex,
    /// Symbols and their books.
    pub books: Slab<Book>,
    book_index: HashIndex,
}

impl Books {
    /// No books, with room for `capacity` orders before anything grows.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            orders: Slab::new(capacity),
            order_index: HashIndex::new(capacity),
            levels: Slab::new(0),
            level_index: HashIndex::new(0),
            books: Slab::new(0),
            book_index: HashIndex::new(0),
        }
    }

    /// Index of the book of `symbol`, or `NIL`.
    #[must_use]
    #[inline]
    pub fn book(&self, symbol: u32) -> u32 {
        self.book_index.find(hash(u64::from(symbol)), |index| self.books.at(index).symbol == symbol)
    }

    /// Adds a book whose symbol is new.
    pub fn add_book(&mut self, book: Book) -> u32 {
        let symbol = book.symbol;
        let index = self.books.insert(book);
        self.book_index.insert(hash(u64::from(symbol)), index);
        index
    }

    /// Removes a book without orders.
    pub fn remove_book(&mut self, index: u32) {
        let symbol = self.books.at(index).symbol;
        self.book_index.remove(hash(u64::from(symbol)), index);
        self.books.remove(index);
    }

    /// The books by ascending symbol.
    #[must_use]
    pub fn by_symbol(&self) -> Vec<&Book> {
        let mut books: Vec<&Book> =
            self.books.iter().map(|(_, book)| book).filter(|book| book.symbol != 0).collect();
        books.sort_unstable_by_key(|book| book.symbol);
        books
    }

    /// Index of the live order `id`, or `NIL`.
    #[must_use]
    #[inline]
    pub fn find(&self, id: u64) -> u32 {
        self.order_index.find(hash(id), |index| self.orders.at(index).id == id)
    }

    /// Index of the level at `price`, or `NIL`.
    #[must_use]
    #[inline]
    pub fn level(&self, book: u32, side: Side, price: i64) -> u32 {
        self.level_index.find(hash_of_level(book, side, price), |index| {
            let level = self.levels.at(index);
            level.price == price && level.book == book && level.side == side
        })
    }

    fn add_level(&mut self, book: u32, side: Side, price: i64) -> u32 {
        let index = self.levels.insert(Level { price, book, side, ..Level::default() });
        self.level_index.insert(hash_of_level(book, side, price), index);
        self.books.at_mut(book).ladder_mut(side).add(side.rank(price), index);
        index
    }

    /// Puts a new order behind the queue at `price`.
    #[inline]
    pub fn add(&mut self, order: Order, book: u32, side: Side, price: i64) {
        let id = order.id;
        let index = self.orders.insert(order);
        self.order_index.insert(hash(id), index);
        self.enqueue(index, book, side, price);
    }

    /// Puts an order that is in no queue behind the one at `price`.
    #[inline]
    pub fn enqueue(&mut self, index: u32, book: u32, side: Side, price: i64) {
        let found = self.level(book, side, price);
        let level_index = if found == NIL { self.add_level(book, side, price) } else { found };
        self.books.at_mut(book).orders += 1;
        let level = self.levels.at_mut(level_index);
        let order = self.orders.at_mut(index);
        let tail = level.tail;
        level.total += i128::from(order.remaining);
        level.count += 1;
        level.tail = index;
        if tail == NIL {
            level.head = index;
        }
        order.level = level_index;
        order.previous = tail;
        order.next = NIL;
        if tail != NIL {
            self.orders.at_mut(tail).next = index;
        }
    }

    /// Takes an order out of its queue; it stays known by its id.
    #[inline]
    pub fn dequeue(&mut self, index: u32) {
        let order = self.orders.at(index);
        let (level_index, next, previous) = (order.level, order.next, order.previous);
        let level = self.levels.at_mut(level_index);
        level.total -= i128::from(order.remaining);
        level.count -= 1;
        if previous == NIL {
            level.head = next;
        }
        if next == NIL {
            level.tail = previous;
        }
        let (empty, book, side, price) = (level.count == 0, level.book, level.side, level.price);
        if previous != NIL {
            self.orders.at_mut(previous).next = next;
        }
        if next != NIL {
            self.orders.at_mut(next).previous = previous;
        }
        let entry = self.books.at_mut(book);
        entry.orders -= 1;
        if empty {
            entry.ladder_mut(side).remove(side.rank(price));
            self.level_index.remove(hash_of_level(book, side, price), level_index);
            self.levels.remove(level_index);
        }
    }

    /// Forgets an order that is in no queue.
    #[inline]
    pub fn forget(&mut self, index: u32) {
        self.order_index.remove(hash(self.orders.at(index).id), index);
        self.orders.remove(index);
    }

    /// Takes `quantity` off an order that keeps its place.
    #[inline]
    pub fn shrink(&mut self, index: u32, quantity: i64) {
        let order = self.orders.at_mut(index);
        order.remaining -= quantity;
        self.levels.at_mut(order.level).total -= i128::from(quantity);
    }

    /// The orders of a level, oldest first.
    pub fn queue(&self, level: u32) -> impl Iterator<Item = (u32, &Order)> {
        let head = self.levels.at(level).head;
        std::iter::successors(Some(head).filter(|&index| index != NIL), |&index| {
            Some(self.orders.at(index).next).filter(|&next| next != NIL)
        })
        .map(|index| (index, self.orders.at(index)))
    }

    /// (price, total remaining, orders) of the best `levels` levels of a side, best first; 0 means all.
    #[must_use]
    pub fn depth(&self, book: u32, side: Side, levels: usize) -> Vec<(i64, i128, u32)> {
        let limit = if levels == 0 { usize::MAX } else { levels };
        let ladder = self.books.at(book).ladder(side);
        let rows = ladder.iter().take(limit).map(|index| {
            let level = self.levels.at(index);
            (level.price, level.total, level.count)
        });
        rows.collect()
    }

    /// Asks for the index entry of the level at `price`.
    #[inline]
    pub fn fetch_level_entry(&self, book: u32, side: Side, price: i64) {
        self.level_index.fetch(hash_of_level(book, side, price));
    }

    /// Asks for the index entry of the order `id`.
    #[inline]
    pub fn fetch_order_entry(&self, id: u64) {
        self.order_index.fetch(hash(id));
    }

    /// What `level` most likely answers, found without reading a level.
    #[must_use]
    #[inline]
    pub fn likely_level(&self, book: u32, side: Side, price: i64) -> u32 {
        self.level_index.likely(hash_of_level(book, side, price))
    }

    /// What `find` most likely answers, found without reading an order.
    #[must_use]
    #[inline]
    pub fn likely(&self, id: u64) -> u32 {
        self.order_index.likely(hash(id))
    }

    /// Bytes of memory that orders, levels and their index have allocated, ladders aside.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.orders.allocated_bytes()
            + self.order_index.allocated_bytes()
            + self.levels.allocated_bytes()
            + self.level_index.allocated_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_powers_of_ten_are_scales() {
        assert_eq!(power_of_ten(1), Some(1));
        assert_eq!(power_of_ten(100_000), Some(100_000));
        for value in [0, -10, 2, 99, i64::MAX] {
            assert_eq!(power_of_ten(value), None);
        }
    }

    // spec: A1-03
    #[test]
    fn a_queue_keeps_time_order_through_removals_in_its_middle() {
        let mut books = Books::new(4);
        let request = SymbolRequest {
            base: 1,
            quote: 2,
            base_scale: 1,
            quote_scale: 1,
            tick: 1,
            lot: 1,
            taker_fee_bps: 0,
            maker_fee_bps: 0,
        };
        let book = books.add_book(Book::new(7, &request).unwrap_or_default());
        for id in 1..=5 {
            books.add(Order { id, remaining: 10, ..Order::default() }, book, Side::Buy, 100);
        }
        for id in [3, 1, 5] {
            let index = books.find(id);
            books.dequeue(index);
            books.forget(index);
        }
        let level = books.books.at(book).ladder(Side::Buy).best();
        assert_eq!(books.queue(level).map(|(_, order)| order.id).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(books.depth(book, Side::Buy, 0), [(100, 20, 2)]);
        assert_eq!((books.find(3), books.orders.at(books.find(4)).id), (NIL, 4));
        books.shrink(books.find(2), 4);
        assert_eq!(books.depth(book, Side::Buy, 1), [(100, 16, 2)]);
    }
}
