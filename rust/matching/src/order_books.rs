//! All order books: orders, the queues of price levels, and the indexes that find them.
//!
//! Layout: resting orders lie in one slab, one cache line each, and link each other into the queue of their
//! level, oldest first. Levels lie in a slab of their own, one cache line each. One index finds an order by
//! its id, another finds a level by its price. The two sides of each book keep the levels in order.
//! Priority: best price first, at one price oldest first. A moved order joins the end of its new queue; a
//! reduced order keeps its place.
//! Cost: placing at a price that has orders, cancelling and reducing are O(1); adding or removing a price is
//! O(log levels). Memory: 64 bytes for an order and 16 to 32 in the index. Nothing moves all at once when
//! these grow.
//! Limit: 2^32 − 1 resting orders.

use std::collections::BTreeMap;

use crate::hash_index::HashIndex;
use crate::key_hash::{HashSeed, Key};
use crate::level::Level;
use crate::order::{Iceberg, Order};
use crate::order_book::OrderBook;
use crate::slab::Slab;
use crate::types::{NIL, Side};

/// What the index finds a level by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LevelKey {
    pub(crate) book: u32,
    /// Rank of the price, which also tells the sides apart.
    pub(crate) rank: i64,
}

impl Key for LevelKey {
    #[inline]
    fn hash(self, seed: &HashSeed) -> u32 {
        seed.hash_words(self.rank.cast_unsigned(), u64::from(self.book))
    }
}

impl LevelKey {
    #[inline]
    fn new(book: u32, side: Side, price: i64) -> Self {
        Self { book, rank: side.rank(price) }
    }
}

/// The books of all symbols and the orders that rest in them.
#[derive(Clone, Debug)]
pub struct OrderBooks {
    /// Resting orders.
    pub orders: Slab<Order>,
    order_index: HashIndex<u64>,
    /// Price levels of all books.
    pub levels: Slab<Level>,
    level_index: HashIndex<LevelKey>,
    books: Slab<OrderBook>,
    book_index: HashIndex<u32>,
    /// When resting orders expire, by id: nanoseconds since 1970.
    expiries: BTreeMap<u64, u64>,
    /// What the resting orders that show a part of their quantity show and hide, by id.
    pub(crate) icebergs: BTreeMap<u64, Iceberg>,
}

impl OrderBooks {
    /// No books; address space is set aside for `capacity` orders and as many levels.
    #[must_use]
    pub fn with_capacity(capacity: usize, seed: HashSeed) -> Self {
        Self {
            orders: Slab::with_capacity(capacity),
            order_index: HashIndex::with_capacity(0, seed),
            levels: Slab::with_capacity(capacity),
            level_index: HashIndex::with_capacity(0, seed),
            books: Slab::with_capacity(0),
            book_index: HashIndex::with_capacity(0, seed),
            expiries: BTreeMap::new(),
            icebergs: BTreeMap::new(),
        }
    }

    /// The book at `index`; an empty one if there is none.
    #[must_use]
    #[inline]
    pub fn book(&self, index: u32) -> &OrderBook {
        self.books.at(index)
    }

    /// The book at `index`, to change.
    #[inline]
    pub fn book_mut(&mut self, index: u32) -> &mut OrderBook {
        self.books.at_mut(index)
    }

    /// Index of the book of `symbol`, or `NIL`.
    #[must_use]
    #[inline]
    pub fn find_book(&self, symbol: u32) -> u32 {
        self.book_index.find(symbol, |index| self.books.at(index).symbol == symbol)
    }

    /// Adds a book of a new symbol and returns its index.
    pub fn add_book(&mut self, book: OrderBook) -> u32 {
        let symbol = book.symbol;
        let index = self.books.insert(book);
        self.book_index.insert(symbol, index);
        index
    }

    /// Removes a book without orders.
    pub fn remove_book(&mut self, index: u32) {
        self.book_index.remove(self.books.at(index).symbol, index);
        self.books.remove(index);
    }

    /// All books in no particular order.
    pub fn books(&self) -> impl Iterator<Item = &OrderBook> {
        self.books.iter().map(|(_, book)| book).filter(|book| book.symbol != 0)
    }

    /// All books by ascending symbol.
    #[must_use]
    pub fn books_by_symbol(&self) -> Vec<&OrderBook> {
        let mut books: Vec<&OrderBook> = self.books().collect();
        books.sort_unstable_by_key(|book| book.symbol);
        books
    }

    /// The book that an order rests in.
    #[must_use]
    #[inline]
    pub fn book_of(&self, order: &Order) -> &OrderBook {
        self.books.at(self.levels.at(order.level).book)
    }

    /// Index of the open order `id`, or `NIL`.
    #[must_use]
    #[inline]
    pub fn find_order(&self, id: u64) -> u32 {
        self.order_index.find(id, |index| self.orders.at(index).id == id)
    }

    /// Index of the level at `price`, or `NIL`.
    #[must_use]
    #[inline]
    pub fn find_level(&self, book: u32, side: Side, price: i64) -> u32 {
        self.level_index.find(LevelKey::new(book, side, price), |index| {
            let level = self.levels.at(index);
            level.price == price && level.book == book && level.side == side
        })
    }

    fn add_level(&mut self, book: u32, side: Side, price: i64) -> u32 {
        let index = self.levels.insert(Level { price, book, side, ..Level::default() });
        self.level_index.insert(LevelKey::new(book, side, price), index);
        self.book_mut(book).side_mut(side).add(side.rank(price), index);
        index
    }

    /// Adds a new order at the end of the queue at `price`, and returns its index.
    #[inline]
    pub fn add(&mut self, order: Order, book: u32, side: Side, price: i64) -> u32 {
        let id = order.id;
        let index = self.orders.insert(order);
        self.order_index.insert(id, index);
        self.enqueue(index, book, side, price);
        index
    }

    /// Puts an order that is in no queue at the end of the queue at `price`.
    #[inline]
    pub fn enqueue(&mut self, index: u32, book: u32, side: Side, price: i64) {
        let found = self.find_level(book, side, price);
        let level_index = if found == NIL { self.add_level(book, side, price) } else { found };
        self.book_mut(book).orders += 1;
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

    /// Takes an order out of its queue. The index still finds it by its id.
    #[inline]
    pub fn dequeue(&mut self, index: u32) {
        if self.orders.at(index).terms.is_iceberg() {
            self.reveal(index);
        }
        self.unlink(index, self.orders.at(index).remaining);
    }

    /// Takes an order out of its queue, which loses `quantity`.
    #[inline]
    fn unlink(&mut self, index: u32, quantity: i64) {
        let order = self.orders.at(index);
        let (level_index, next, previous) = (order.level, order.next, order.previous);
        let level = self.levels.at_mut(level_index);
        level.total -= i128::from(quantity);
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
        let book_entry = self.book_mut(book);
        book_entry.orders -= 1;
        if empty {
            book_entry.side_mut(side).remove(side.rank(price));
            self.level_index.remove(LevelKey::new(book, side, price), level_index);
            self.levels.remove(level_index);
        }
    }

    /// Removes an order that is in no queue.
    #[inline]
    pub fn remove(&mut self, index: u32) {
        let order = self.orders.at(index);
        if order.terms.expires() {
            self.expiries.remove(&order.id);
        }
        if order.terms.is_iceberg() {
            self.icebergs.remove(&order.id);
        }
        self.order_index.remove(order.id, index);
        self.orders.remove(index);
    }

    /// Gives a resting order an STP mode + 1 of its own, 0 for none, and an expiry, 0 for none.
    pub fn set_own_terms(&mut self, index: u32, own_stp: u8, expiry: u64) {
        let order = self.orders.at_mut(index);
        order.terms = order.terms.with_own(own_stp, expiry != 0);
        if expiry != 0 {
            self.expiries.insert(order.id, expiry);
        }
    }

    /// Says whether a resting order is one of a list.
    pub fn set_listed(&mut self, index: u32, listed: bool) {
        let order = self.orders.at_mut(index);
        order.terms = order.terms.with_listed(listed);
    }

    /// Gives a resting order `quantity` more, at the end of its queue.
    pub fn extend(&mut self, index: u32, quantity: i64) {
        let level = self.levels.at(self.orders.at(index).level);
        let (book, side, price) = (level.book, level.side, level.price);
        self.dequeue(index);
        let order = self.orders.at_mut(index);
        order.quantity += quantity;
        order.remaining += quantity;
        self.enqueue(index, book, side, price);
    }

    /// When a resting order expires; 0 for never.
    #[must_use]
    pub fn expiry(&self, id: u64) -> u64 {
        self.expiries.get(&id).copied().unwrap_or_default()
    }

    /// The resting orders that expire, by ascending id, each with its time.
    #[must_use]
    pub fn expiries(&self) -> impl ExactSizeIterator<Item = (u64, u64)> {
        self.expiries.iter().map(|(&id, &time)| (id, time))
    }

    /// The resting orders with terms of their own, by ascending id: id, STP mode + 1 or 0, expiry or 0.
    #[must_use]
    pub fn own_terms(&self) -> Vec<(u64, u8, u64)> {
        let own = self.orders.iter().map(|(_, order)| order);
        let own = own.filter(|order| order.terms.own_stp() != 0 || order.terms.expires());
        let mut rows: Vec<(u64, u8, u64)> =
            own.map(|order| (order.id, order.terms.own_stp(), self.expiry(order.id))).collect();
        rows.sort_unstable();
        rows
    }

    /// Forgets the last prices of all books.
    pub fn forget_prices(&mut self) {
        let indices: Vec<u32> =
            self.books.iter().filter(|(_, book)| book.symbol != 0).map(|(index, _)| index).collect();
        for index in indices {
            self.book_mut(index).last_price = 0;
        }
    }

    /// Reduces an order by `quantity`. It keeps its place in the queue, or leaves the book if nothing remains.
    #[inline]
    pub fn reduce(&mut self, index: u32, quantity: i64) {
        if self.orders.at(index).terms.is_iceberg() {
            self.hide_less(index, quantity);
        }
        self.reduce_shown(index, quantity);
    }

    /// As [`OrderBooks::reduce`], by a quantity that the order shows.
    #[inline]
    pub(crate) fn reduce_shown(&mut self, index: u32, quantity: i64) {
        let order = self.orders.at_mut(index);
        order.remaining -= quantity;
        if order.remaining == 0 {
            self.unlink(index, quantity);
            self.remove(index);
        } else {
            self.levels.at_mut(order.level).total -= i128::from(quantity);
        }
    }

    /// The orders of a level with their indices, oldest first.
    pub fn queue(&self, level: u32) -> impl Iterator<Item = (u32, &Order)> {
        let head = self.levels.at(level).head;
        std::iter::successors(Some(head).filter(|&index| index != NIL), |&index| {
            Some(self.orders.at(index).next).filter(|&next| next != NIL)
        })
        .map(|index| (index, self.orders.at(index)))
    }

    /// (price, total shown, orders) of the best `levels` levels of a side, best first; 0 means all.
    #[must_use]
    pub fn depth(&self, book: u32, side: Side, levels: usize) -> Vec<(i64, i128, u32)> {
        let limit = if levels == 0 { usize::MAX } else { levels };
        let rows = self.book(book).side(side).iter().take(limit).map(|index| {
            let level = self.levels.at(index);
            (level.price, level.total, level.count)
        });
        rows.collect()
    }

    /// (price, whole quantity) of the best `levels` levels of a side, best first; 0 means all. What is hidden counts.
    #[must_use]
    pub fn volumes(&self, book: u32, side: Side, levels: usize) -> Vec<(i64, i128)> {
        let limit = if levels == 0 { usize::MAX } else { levels };
        let rows = self.book(book).side(side).iter().take(limit).map(|index| {
            let level = self.levels.at(index);
            (level.price, level.total + level.hidden)
        });
        rows.collect()
    }

    /// The hash under which the index finds the order `id`.
    #[must_use]
    #[inline]
    pub fn order_hash(&self, id: u64) -> u32 {
        self.order_index.hash(id)
    }

    /// Prefetches the index entry of an order.
    #[inline]
    pub fn prefetch_order_entry(&self, hash: u32) {
        self.order_index.prefetch(hash);
    }

    /// What `find_order` most likely returns, without reading an order.
    #[must_use]
    #[inline]
    pub fn likely_order(&self, hash: u32) -> u32 {
        self.order_index.likely(hash)
    }

    /// The hash under which the index finds the level at `price`.
    #[must_use]
    #[inline]
    pub fn level_hash(&self, book: u32, side: Side, price: i64) -> u32 {
        self.level_index.hash(LevelKey::new(book, side, price))
    }

    /// Prefetches the index entry of a level.
    #[inline]
    pub fn prefetch_level_entry(&self, hash: u32) {
        self.level_index.prefetch(hash);
    }

    /// What `find_level` most likely returns, without reading a level.
    #[must_use]
    #[inline]
    pub fn likely_level(&self, hash: u32) -> u32 {
        self.level_index.likely(hash)
    }

    /// Bytes of address space that orders, levels and their indexes have, without the sides of the books.
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
    use crate::records::CreateSymbol;

    // spec: A1-03
    #[test]
    fn a_queue_keeps_time_order_through_removals_in_its_middle() {
        let mut books = OrderBooks::with_capacity(4, HashSeed::random());
        let specification = CreateSymbol {
            base: 1,
            quote: 2,
            base_scale: 1,
            quote_scale: 1,
            tick: 1,
            lot: 1,
            taker_fee_bps: 0,
            maker_fee_bps: 0,
        };
        let book = books.add_book(OrderBook::new(7, &specification).unwrap_or_default());
        for id in 1..=5 {
            books.add(Order { id, remaining: 10, ..Order::default() }, book, Side::Buy, 100);
        }
        for id in [3, 1, 5] {
            let index = books.find_order(id);
            books.dequeue(index);
            books.remove(index);
        }
        let level = books.book(book).side(Side::Buy).best();
        assert_eq!(books.queue(level).map(|(_, order)| order.id).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(books.depth(book, Side::Buy, 0), [(100, 20, 2)]);
        assert_eq!((books.find_order(3), books.orders.at(books.find_order(4)).id), (NIL, 4));
        books.reduce(books.find_order(2), 4);
        assert_eq!(books.depth(book, Side::Buy, 1), [(100, 16, 2)]);
        books.reduce(books.find_order(2), 6);
        assert_eq!(books.depth(book, Side::Buy, 1), [(100, 10, 1)]);
        assert_eq!(books.find_order(2), NIL);
    }
}
