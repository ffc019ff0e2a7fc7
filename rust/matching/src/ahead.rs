//! Reading ahead: what large books cost is waiting for memory, so waits are made to overlap.
//!
//! A pass asks, for a group of commands or of levels, for what the pass before has found: index entries, then
//! orders, then their neighbours, levels and balances. By the time the commands run, the lines are there.
//! Nothing depends on what is found here, and books that fit the caches anyway are left alone.

use crate::book::{Book, Books};
use crate::events::Command;
use crate::ledger::Ledger;
use crate::types::{Kind, NIL, Side};

/// Open orders below which reading ahead would cost more than it saves.
const ORDERS_MIN: usize = 16_384;
/// Commands that are read ahead together.
pub(crate) const GROUP: usize = 32;
/// Levels that are read ahead together.
const LEVELS: usize = 32;
/// Orders that are read ahead of each level at most.
const ORDERS_OF_LEVEL: usize = 16;

/// What the passes have found for one command.
#[derive(Clone, Copy, Default)]
struct Found {
    order_id: u64,
    /// Whether the command makes a new order.
    places: bool,
    /// Whether an order will come to rest at `price` of `side` in `book`.
    rests: bool,
    /// The order that the command names, or the place where a new one will lie.
    order: u32,
    /// The account of a new order.
    account: u32,
    book: u32,
    side: Side,
    price: i64,
}

/// What is read ahead in.
#[derive(Clone, Copy)]
pub(crate) struct Ahead<'a> {
    /// Orders and levels.
    pub(crate) books: &'a Books,
    /// Balances.
    pub(crate) ledger: &'a Ledger,
}

impl Ahead<'_> {
    /// Whether the books are so large that reading ahead pays.
    #[inline]
    pub(crate) fn pays(self) -> bool {
        self.books.orders.len() >= ORDERS_MIN
    }

    /// Asks for what `commands` will read; at most `N` of them.
    pub(crate) fn read_commands<const N: usize>(self, commands: &[Command]) {
        let mut found = [Found::default(); N];
        let Some(found) = found.get_mut(..commands.len()) else {
            return;
        };
        let mut new_orders = 0;
        for (command, entry) in commands.iter().zip(found.iter_mut()) {
            self.books.fetch_order_entry(command.order_id);
            let kind = Kind::from_record(command.kind);
            let (order_id, price) = (command.order_id, command.price);
            *entry = Found { order_id, price, rests: kind == Some(Kind::Move), ..Found::default() };
            if kind == Some(Kind::Place) {
                (entry.places, entry.rests) = (true, true);
                entry.book = self.books.book(command.symbol);
                entry.side = Side::from_record(command.side).unwrap_or_default();
                entry.account = self.ledger.account(command.account);
                entry.order = self.books.orders.upcoming(new_orders);
                new_orders += 1;
                self.books.fetch_level_entry(entry.book, entry.side, price);
            }
        }
        for entry in found.iter_mut() {
            self.fetch_order(entry);
        }
        for entry in found.iter().filter(|entry| !entry.places) {
            let order = self.books.orders.at(entry.order);
            self.books.orders.fetch(order.next);
            self.books.orders.fetch(order.previous);
            self.books.levels.fetch(order.level);
            self.ledger.balances.fetch(order.held_balance);
        }
        for entry in found.iter_mut().filter(|entry| entry.rests && !entry.places) {
            let level = self.books.levels.at(self.books.orders.at(entry.order).level);
            (entry.book, entry.side) = (level.book, level.side);
            self.books.fetch_level_entry(entry.book, entry.side, entry.price);
        }
        let mut levels = [NIL; N];
        for (entry, level) in found.iter().zip(&mut levels).filter(|(entry, _)| entry.rests) {
            *level = self.books.likely_level(entry.book, entry.side, entry.price);
            self.books.levels.fetch(*level);
        }
        for level in levels {
            self.books.orders.fetch(self.books.levels.at(level).tail);
        }
    }

    /// Asks for the order, and for a new one's balances.
    #[inline]
    fn fetch_order(self, found: &mut Found) {
        if found.places {
            let Book { base_index, quote_index, .. } = *self.books.books.at(found.book);
            self.ledger.balances.fetch(self.ledger.balance(found.account, base_index));
            self.ledger.balances.fetch(self.ledger.balance(found.account, quote_index));
        } else {
            found.order = self.books.likely(found.order_id);
        }
        self.books.orders.fetch(found.order);
    }

    /// Asks for the first orders of the best levels of a side, and for what a fill of each reads; answers how
    /// many levels that were.
    #[cold]
    pub(crate) fn read_levels(self, book: u32, side: Side) -> usize {
        let mut cursors = [NIL; LEVELS];
        let mut levels = 0;
        for (level, cursor) in self.books.books.at(book).ladder(side).iter().zip(&mut cursors) {
            self.books.levels.fetch(level);
            *cursor = level;
            levels += 1;
        }
        for cursor in &mut cursors {
            *cursor = self.books.levels.at(*cursor).head;
            self.books.orders.fetch(*cursor);
        }
        for _ in 0..ORDERS_OF_LEVEL {
            let mut more = NIL;
            for cursor in cursors.iter_mut().take(levels) {
                let order = self.books.orders.at(*cursor);
                self.ledger.balances.fetch(order.held_balance);
                self.ledger.balances.fetch(order.other_balance);
                self.books.fetch_order_entry(order.id);
                self.books.orders.fetch(order.next);
                *cursor = order.next;
                more |= order.next;
            }
            if more == NIL {
                break;
            }
        }
        levels
    }
}
