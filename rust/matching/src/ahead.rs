//! Reading ahead: what large books cost is waiting for memory, so waits are made to overlap.
//!
//! A pass reads, for a group of commands or of levels, what the pass before has found: index entries, then
//! orders, then their neighbours, levels and balances. The reads of one pass do not depend on each other, so
//! the processor has them all under way at once; when the commands then run, the lines are in the cache.
//! Nothing depends on what is read here, and books that fit the caches anyway are left alone.

use std::hint::black_box;

use crate::book::Book;
use crate::engine::Engine;
use crate::events::{COMMAND_SIZE, Command};
use crate::types::{Kind, NIL, Side};

/// Open orders below which reading ahead would cost more than it saves.
const ORDERS_MIN: usize = 16_384;
/// Commands that are read ahead together.
pub(crate) const GROUP: usize = 16;
/// Levels that are read ahead together.
const LEVELS: usize = 16;
/// Orders that are read ahead of each level.
const ORDERS_OF_LEVEL: usize = 8;

/// What the passes have found for one command.
#[derive(Clone, Copy, Default)]
struct Found {
    /// The order that it names.
    order: u32,
    /// The book, side and price where an order will come to rest.
    book: u32,
    side: Side,
    price: i64,
    /// The level there.
    level: u32,
    /// The account of a new order.
    account: u32,
}

impl Engine {
    /// Whether the books are so large that reading ahead pays.
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        self.books.orders.len() >= ORDERS_MIN
    }

    /// Reads what a group of commands will read.
    pub(crate) fn read_commands_ahead(&self, group: &[[u8; COMMAND_SIZE]]) {
        let mut found = [Found::default(); GROUP];
        let mut sum = 0;
        for (record, place) in group.iter().zip(&mut found) {
            *place = self.first_reads(&Command::from_record(record));
        }
        for place in &mut found {
            sum ^= self.second_reads(place);
        }
        for place in &mut found {
            sum ^= self.third_reads(place);
        }
        for place in &found {
            let level = self.books.levels.at(place.level);
            sum ^= self.books.orders.at(level.tail).id;
        }
        black_box(sum);
    }

    /// Index entries.
    #[inline]
    fn first_reads(&self, command: &Command) -> Found {
        let order = self.books.touch(command.order_id);
        match Kind::from_record(command.kind) {
            Some(Kind::Place) => {
                let book = self.books.book(command.symbol);
                let side = Side::from_record(command.side).unwrap_or_default();
                let level = self.books.touch_level(book, side, command.price);
                let account = self.ledger.account(command.account);
                Found { order: NIL, book, side, price: command.price, level, account }
            }
            Some(Kind::Move) => Found { order, price: command.price, ..Found::default() },
            _ => Found { order, ..Found::default() },
        }
    }

    /// Orders, or a new order's balances and level.
    #[inline]
    fn second_reads(&self, found: &mut Found) -> u64 {
        if found.order != NIL {
            return self.books.orders.at(found.order).id;
        }
        let Book { base_index, quote_index, .. } = *self.books.books.at(found.book);
        let base = self.ledger.balance(found.account, base_index);
        let quote = self.ledger.balance(found.account, quote_index);
        u64::from(self.books.levels.at(found.level).count)
            ^ self.ledger.balances.at(base).account_number
            ^ self.ledger.balances.at(quote).account_number
    }

    /// An order's neighbours, level and balance, and the entry of the level that it moves to.
    #[inline]
    fn third_reads(&self, found: &mut Found) -> u64 {
        if found.order == NIL {
            return 0;
        }
        let order = self.books.orders.at(found.order);
        let level = self.books.levels.at(order.level);
        if found.price != 0 {
            (found.book, found.side) = (level.book, level.side);
            found.level = self.books.touch_level(found.book, found.side, found.price);
        }
        self.books.orders.at(order.next).id
            ^ self.books.orders.at(order.previous).id
            ^ self.ledger.balances.at(order.held_balance).account_number
            ^ u64::from(level.count)
    }

    /// Reads the first orders of the best levels of a side, and what a fill of each reads; answers how many
    /// levels that were.
    #[cold]
    pub(crate) fn read_levels_ahead(&self, book: u32, side: Side) -> usize {
        let mut cursors = [NIL; LEVELS];
        let mut levels = 0;
        for (level, cursor) in self.books.books.at(book).ladder(side).iter().zip(&mut cursors) {
            *cursor = self.books.levels.at(level).head;
            levels += 1;
        }
        let mut sum = 0;
        for _ in 0..ORDERS_OF_LEVEL {
            for cursor in &mut cursors {
                let order = self.books.orders.at(*cursor);
                sum ^= self.ledger.balances.at(order.held_balance).account_number
                    ^ self.ledger.balances.at(order.other_balance).account_number
                    ^ u64::from(self.books.touch(order.id));
                *cursor = order.next;
            }
        }
        black_box(sum);
        levels
    }
}
