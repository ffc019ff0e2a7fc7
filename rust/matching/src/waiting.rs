//! Orders that wait for their trigger, beside the books.
//!
//! Layout: waiting orders lie in a slab of their own, with an index by order id. For each symbol the triggers are
//! sorted by the price that fires them (last trade or mark), their direction and kind; fired orders form a queue.
//! Each book keeps the two prices between which a trade moves nothing here, so a fill compares two numbers.
//! Cost: O(log waiting) for an order that is added, removed or fired, and for a price that moves trailing triggers.
//! Memory: 192 bytes an order, 16 to 32 in the index, and 40 to 160 among the triggers.

use std::collections::BTreeMap;

use crate::hash_index::HashIndex;
use crate::key_hash::HashSeed;
use crate::slab::Slab;
use crate::trailing::{Distances, Follower, Reached, Trailing};
use crate::types::{NIL, OrderType, Side, TERMS_AT_OR_BELOW, TERMS_BY_MARK, TriggerKind};

/// What fires an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trigger {
    /// Fixed or trailing.
    pub kind: TriggerKind,
    /// Which price fires it, and in which direction.
    pub flags: u8,
    /// The price of a fixed trigger; distance or basis points of a trailing one.
    pub value: i64,
    /// The best price since the order was placed; 0 of a fixed one. Only the tree of its followers keeps it up to date,
    /// until the trigger fires.
    pub watermark: i64,
    /// The trigger price when the order got its limit; 0 of a fixed one.
    pub anchor: i64,
    /// The tick of the symbol.
    pub tick: i64,
}

impl Trigger {
    /// Whether the mark price fires it.
    #[must_use]
    pub fn by_mark(&self) -> bool {
        self.flags & TERMS_BY_MARK != 0
    }

    fn at_or_below(&self) -> bool {
        self.flags & TERMS_AT_OR_BELOW != 0
    }

    /// Whether it follows the price.
    #[must_use]
    pub fn is_trailing(&self) -> bool {
        !matches!(self.kind, TriggerKind::None | TriggerKind::Fixed)
    }

    /// A price as the triggers of this direction are sorted by it: a key that is high enough fires. The same turns a
    /// key into its price.
    #[must_use]
    pub fn key(&self, price: i64) -> i64 {
        if self.at_or_below() { -price } else { price }
    }

    pub(crate) fn distances(&self) -> Distances {
        Distances { in_basis_points: self.kind == TriggerKind::TrailingBasisPoints, tick: self.tick }
    }

    fn trigger_key(&self) -> i64 {
        if self.is_trailing() {
            self.distances().trigger(self.key(self.watermark), self.value)
        } else {
            self.key(self.value)
        }
    }

    /// The price that fires it.
    #[must_use]
    pub fn price(&self) -> i64 {
        self.key(self.trigger_key())
    }

    /// By how much it moved since its order got its limit.
    #[must_use]
    pub fn shift(&self) -> i64 {
        if self.is_trailing() { self.price() - self.anchor } else { 0 }
    }

    /// Whether `price` fires it.
    #[must_use]
    pub fn is_reached_by(&self, price: i64) -> bool {
        self.key(price) >= self.trigger_key()
    }
}

/// An order that waits.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaitingOrder {
    /// Order id; 0 for an unused index.
    pub id: u64,
    /// Index of the book.
    pub book: u32,
    /// Index of the owner's balance in the currency that the order holds.
    pub held_balance: u32,
    /// Index of the owner's balance in the other currency.
    pub other_balance: u32,
    /// Side of the order.
    pub side: Side,
    /// The type that it matches with once it is activated.
    pub order_type: OrderType,
    /// Taker fee in basis points.
    pub taker_fee_bps: i16,
    /// Maker fee in basis points.
    pub maker_fee_bps: i16,
    /// The order's own STP mode + 1; 0 for its account's.
    pub own_stp: u8,
    /// The flags of its PLACE, which bound the test of a FOK.
    pub fok_steps: u8,
    /// The limit that it was placed or moved with, scaled.
    pub price: i64,
    /// The price that the hold of a buy is calculated with; 0 for a sell.
    pub reserve_price: i64,
    /// Scaled quantity ordered.
    pub quantity: i64,
    /// Scaled quantity that is left.
    pub remaining: i64,
    /// Nanoseconds since 1970; 0 for never.
    pub expiry: u64,
    /// Time of the PLACE, nanoseconds since 1970.
    pub timestamp: u64,
    /// What it waits for.
    pub trigger: Trigger,
    /// Whether the other exit of its list holds the funds for both.
    pub covered: bool,
    /// The price that has fired it; 0 while it waits for its trigger.
    pub fired_price: i64,
    /// Its rank by placement.
    pub placement: u64,
    /// Its place in the queue, once it has fired.
    pub queue_place: u64,
}

impl WaitingOrder {
    /// The larger of both fees, which the hold of a buy covers.
    #[must_use]
    pub fn worst_fee_bps(&self) -> i64 {
        i64::from(self.taker_fee_bps.max(self.maker_fee_bps))
    }

    /// The limit that it would match with now. The trigger must be up to date.
    #[must_use]
    pub fn limit(&self) -> i64 {
        self.price.saturating_add(self.trigger.shift())
    }
}

/// An order whose trigger was taken out because a price has reached it.
struct Fired {
    trigger: i64,
    /// The key of the watermark of a trailing trigger.
    watermark: Option<i64>,
    index: u32,
}

/// The triggers of one symbol that one price fires in one direction, by keys.
#[derive(Clone, Debug)]
struct Triggers {
    /// Key and placement of a fixed trigger → index of its order.
    fixed: BTreeMap<(i64, u64), u32>,
    by_distance: Trailing,
    by_basis_points: Trailing,
}

impl Triggers {
    fn new(tick: i64) -> Self {
        Self {
            fixed: BTreeMap::new(),
            by_distance: Trailing::new(Distances { in_basis_points: false, tick }),
            by_basis_points: Trailing::new(Distances { in_basis_points: true, tick }),
        }
    }

    fn trailing(&self, kind: TriggerKind) -> &Trailing {
        if kind == TriggerKind::TrailingBasisPoints { &self.by_basis_points } else { &self.by_distance }
    }

    fn trailing_mut(&mut self, kind: TriggerKind) -> &mut Trailing {
        if kind == TriggerKind::TrailingBasisPoints {
            &mut self.by_basis_points
        } else {
            &mut self.by_distance
        }
    }

    fn fixed_key(&self) -> i64 {
        self.fixed.first_key_value().map_or(i64::MAX, |(&(key, _), _)| key)
    }

    /// The key of the nearest trigger; the largest if there is none.
    fn nearest_key(&self) -> i64 {
        self.fixed_key().min(self.by_distance.nearest().0).min(self.by_basis_points.nearest().0)
    }

    /// Takes out the triggers that `key` reaches, nearest first: at one price the fixed ones, then by distance, then by
    /// basis points.
    fn take_reached(&mut self, key: i64) -> Vec<Fired> {
        let mut fired = Vec::new();
        if self.fixed_key() <= key {
            let rest = self.fixed.split_off(&(key.saturating_add(1), 0));
            let reached = std::mem::replace(&mut self.fixed, rest).into_iter();
            fired.extend(reached.map(|((trigger, _), index)| Fired { trigger, watermark: None, index }));
        }
        let trailing =
            self.by_distance.take_reached(key).into_iter().chain(self.by_basis_points.take_reached(key));
        fired.extend(trailing.map(|Reached { trigger, watermark, index, .. }| Fired {
            trigger,
            watermark: Some(watermark),
            index,
        }));
        fired.sort_by_key(|order| order.trigger);
        fired
    }

    /// The key below which trailing triggers move; the smallest number if there are none.
    fn follow_key(&self) -> i64 {
        self.by_distance.high().max(self.by_basis_points.high())
    }
}

/// The waiting orders of one symbol.
#[derive(Clone, Debug)]
struct SymbolTriggers {
    /// By last trade at or above, at or below, by mark at or above, at or below.
    triggers: [Triggers; 4],
    /// Fired orders in the order of their activation.
    queue: BTreeMap<u64, u32>,
    next_queue_place: u64,
    count: usize,
}

impl SymbolTriggers {
    fn new(tick: i64) -> Self {
        let triggers = [(); 4].map(|()| Triggers::new(tick));
        Self { triggers, queue: BTreeMap::new(), next_queue_place: 0, count: 0 }
    }

    fn triggers_mut(&mut self, flags: u8) -> &mut Triggers {
        let [above, below, mark_above, mark_below] = &mut self.triggers;
        match (flags & TERMS_BY_MARK != 0, flags & TERMS_AT_OR_BELOW != 0) {
            (false, false) => above,
            (false, true) => below,
            (true, false) => mark_above,
            (true, true) => mark_below,
        }
    }

    fn triggers(&self, flags: u8) -> &Triggers {
        let [above, below, mark_above, mark_below] = &self.triggers;
        match (flags & TERMS_BY_MARK != 0, flags & TERMS_AT_OR_BELOW != 0) {
            (false, false) => above,
            (false, true) => below,
            (true, false) => mark_above,
            (true, true) => mark_below,
        }
    }

    fn enqueue(&mut self, order: &mut WaitingOrder, index: u32, price: i64) {
        order.fired_price = price;
        order.queue_place = self.next_queue_place;
        self.queue.insert(order.queue_place, index);
        self.next_queue_place += 1;
    }
}

/// All waiting orders.
#[derive(Clone, Debug)]
pub struct WaitingOrders {
    orders: Slab<WaitingOrder>,
    index: HashIndex<u64>,
    symbols: BTreeMap<u32, SymbolTriggers>,
    next_placement: u64,
    /// Fired orders of all symbols.
    pub queued: usize,
}

impl WaitingOrders {
    /// None.
    #[must_use]
    pub fn new(seed: HashSeed) -> Self {
        Self {
            orders: Slab::with_capacity(0),
            index: HashIndex::with_capacity(0, seed),
            symbols: BTreeMap::new(),
            next_placement: 0,
            queued: 0,
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.orders.len()
    }

    /// Whether there are none.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    /// Index of the waiting order `id`, or `NIL`.
    #[must_use]
    #[inline]
    pub fn find(&self, id: u64) -> u32 {
        if self.is_empty() {
            return NIL;
        }
        self.index.find(id, |index| self.orders.at(index).id == id)
    }

    /// Whether orders wait on the book at an index.
    #[must_use]
    pub fn are_on(&self, book: u32) -> bool {
        self.symbols.get(&book).is_some_and(|symbol| symbol.count != 0)
    }

    /// Forgets the book at an index, on which no order waits.
    pub fn remove_book(&mut self, book: u32) {
        self.symbols.remove(&book);
    }

    /// A waiting order whose trigger is up to date.
    #[must_use]
    pub fn order(&self, index: u32) -> WaitingOrder {
        let mut order = *self.orders.at(index);
        let trigger = &mut order.trigger;
        if trigger.is_trailing()
            && order.fired_price == 0
            && let Some(symbol) = self.symbols.get(&order.book)
        {
            let trailing = symbol.triggers(trigger.flags).trailing(trigger.kind);
            trigger.watermark = trigger.key(trailing.watermark(order.placement));
        }
        order
    }

    /// All of them by placement, their triggers up to date.
    #[must_use]
    pub fn by_placement(&self) -> Vec<WaitingOrder> {
        let all = self.orders.iter().filter(|(_, order)| order.id != 0);
        let mut orders: Vec<WaitingOrder> = all.map(|(index, _)| self.order(index)).collect();
        orders.sort_unstable_by_key(|order| order.placement);
        orders
    }

    /// The fired orders of the book at an index, in the order of their activation.
    pub fn queue(&self, book: u32) -> impl Iterator<Item = &WaitingOrder> {
        let queue = self.symbols.get(&book).map(|symbol| symbol.queue.values());
        queue.into_iter().flatten().map(|&index| self.orders.at(index))
    }

    /// Indices of the books with fired orders, in no particular order.
    pub fn books_with_queue(&self) -> impl Iterator<Item = u32> {
        self.symbols.iter().filter(|(_, symbol)| !symbol.queue.is_empty()).map(|(&book, _)| book)
    }

    /// Index of the fired order of a book that comes next; `NIL` if there is none.
    #[must_use]
    pub fn next_fired(&self, book: u32) -> u32 {
        let symbol = self.symbols.get(&book);
        symbol.and_then(|symbol| symbol.queue.first_key_value()).map_or(NIL, |(_, &index)| index)
    }

    /// Adds an order that was placed after all others.
    pub fn add(&mut self, mut order: WaitingOrder) {
        order.placement = self.next_placement;
        self.next_placement += 1;
        let index = self.orders.insert(order);
        self.index.insert(order.id, index);
        let tick = order.trigger.tick;
        let symbol = self.symbols.entry(order.book).or_insert_with(|| SymbolTriggers::new(tick));
        symbol.count += 1;
        let (trigger, placement) = (order.trigger, order.placement);
        let triggers = symbol.triggers_mut(trigger.flags);
        if trigger.is_trailing() {
            let watermark = trigger.key(trigger.watermark);
            let follower = Follower { placement, index, distance: trigger.value, watermark };
            triggers.trailing_mut(trigger.kind).add(follower);
        } else {
            triggers.fixed.insert((trigger.trigger_key(), placement), index);
        }
    }

    /// Takes the trigger of an order out of those that wait for a price, and keeps its watermark.
    fn withdraw(symbol: &mut SymbolTriggers, order: &mut WaitingOrder) {
        let trigger = &mut order.trigger;
        let triggers = symbol.triggers_mut(trigger.flags);
        if trigger.is_trailing() {
            let key = triggers.trailing_mut(trigger.kind).remove(order.placement);
            trigger.watermark = trigger.key(key);
        } else {
            triggers.fixed.remove(&(trigger.trigger_key(), order.placement));
        }
    }

    /// Removes an order.
    pub fn remove(&mut self, index: u32) {
        let order = self.orders.at_mut(index);
        if let Some(symbol) = self.symbols.get_mut(&order.book) {
            symbol.count -= 1;
            if order.fired_price == 0 {
                Self::withdraw(symbol, order);
            } else {
                symbol.queue.remove(&order.queue_place);
                self.queued -= 1;
            }
        }
        self.index.remove(self.orders.at(index).id, index);
        self.orders.remove(index);
    }

    /// Removes `quantity` of an order, of which something is left.
    pub fn reduce(&mut self, index: u32, quantity: i64) {
        self.orders.at_mut(index).remaining -= quantity;
    }

    /// Gives an order another ordered quantity, and another that is left.
    pub fn set_size(&mut self, index: u32, quantity: i64, remaining: i64) {
        let order = self.orders.at_mut(index);
        (order.quantity, order.remaining) = (quantity, remaining);
    }

    /// Says whether an order holds nothing, because another one holds the funds for both.
    pub fn set_covered(&mut self, index: u32, covered: bool) {
        self.orders.at_mut(index).covered = covered;
    }

    /// Gives an order a new limit, which is also the reserve price of a buy.
    pub fn set_limit(&mut self, index: u32, price: i64) {
        let trigger_price = self.order(index).trigger.price();
        let order = self.orders.at_mut(index);
        order.price = price;
        if order.side == Side::Buy {
            order.reserve_price = price;
        }
        if order.trigger.is_trailing() {
            order.trigger.anchor = trigger_price;
        }
    }

    /// Gives a fixed trigger that has not fired another price. Its order keeps its placement.
    pub fn set_trigger(&mut self, index: u32, price: i64) {
        let order = self.orders.at_mut(index);
        if let Some(symbol) = self.symbols.get_mut(&order.book) {
            Self::withdraw(symbol, order);
            order.trigger.value = price;
            let key = (order.trigger.trigger_key(), order.placement);
            symbol.triggers_mut(order.trigger.flags).fixed.insert(key, index);
        }
    }

    /// Puts a waiting order at the end of its symbol's queue, because `price` has fired it.
    pub fn enqueue(&mut self, index: u32, price: i64) {
        let order = self.orders.at_mut(index);
        if let Some(symbol) = self.symbols.get_mut(&order.book) {
            Self::withdraw(symbol, order);
            symbol.enqueue(order, index, price);
            self.queued += 1;
        }
    }

    /// Compares a price with the triggers of a book; those that it fires join the queue, trailing ones follow it.
    pub fn meet(&mut self, book: u32, by_mark: bool, price: i64) {
        let Some(symbol) = self.symbols.get_mut(&book) else { return };
        let source = if by_mark { TERMS_BY_MARK } else { 0 };
        for (flags, key) in [(source, price), (source | TERMS_AT_OR_BELOW, -price)] {
            let triggers = symbol.triggers_mut(flags);
            let fired = if triggers.nearest_key() <= key { triggers.take_reached(key) } else { Vec::new() };
            triggers.by_distance.follow(key);
            triggers.by_basis_points.follow(key);
            for Fired { watermark, index, .. } in fired {
                let order = self.orders.at_mut(index);
                if let Some(watermark) = watermark {
                    order.trigger.watermark = order.trigger.key(watermark);
                }
                symbol.enqueue(order, index, price);
                self.queued += 1;
            }
        }
    }

    /// The highest and the lowest price of a trade on a book that fire or move something.
    #[must_use]
    pub fn wake_prices(&self, book: u32) -> (i64, i64) {
        let Some(symbol) = self.symbols.get(&book) else { return (i64::MIN, i64::MAX) };
        let (above, below) = (symbol.triggers(0), symbol.triggers(TERMS_AT_OR_BELOW));
        // A key lower than the highest watermark moves triggers; negated, it is a price of the other direction.
        let low = above.follow_key().saturating_sub(1).max(below.nearest_key().saturating_neg());
        let high = above.nearest_key().min(below.follow_key().saturating_neg().saturating_add(1));
        (low, high)
    }
}
