//! Prefetching for batches: the cost of a deep book is waiting for memory, so the waits are made to overlap.
//!
//! Each pass prefetches, for a group of commands or levels, what the pass before has found: index entries,
//! then orders, then their neighbours, levels and balances. When the commands run, their cache lines are
//! there. Results never depend on what is found here.

use crate::accounts::Accounts;
use crate::order_book::OrderBook;
use crate::order_books::OrderBooks;
use crate::records::{COMMAND_SIZE, Command};
use crate::types::{CommandKind, NIL, Side};

/// Open orders below which the books fit the processor's caches and prefetching costs more than it saves.
/// `cargo bench` measures both sides.
pub const WORTHWHILE_ORDERS: usize = 16_384;
/// Commands that are prefetched together.
pub(crate) const GROUP: usize = 32;
/// Levels that are prefetched together.
const LEVELS: usize = 32;
/// Orders that are prefetched of each level at most.
const ORDERS_OF_LEVEL: usize = 16;

/// What the passes have found for one command.
#[derive(Clone, Copy, Default)]
struct Target {
    /// Whether the command places a new order.
    is_new: bool,
    /// Whether an order may come to rest at `price`.
    may_rest: bool,
    order_hash: u32,
    /// Index of the order that the command names, or the index that a new order will get.
    order: u32,
    /// Index of the account of a new order.
    account: u32,
    book: u32,
    price: i64,
    level_hash: u32,
}

/// Prefetches what commands and fills will read.
#[derive(Clone, Copy)]
pub(crate) struct BatchPrefetch<'a> {
    pub(crate) books: &'a OrderBooks,
    pub(crate) accounts: &'a Accounts,
}

impl BatchPrefetch<'_> {
    /// Whether the books are too large for the caches.
    #[inline]
    pub(crate) fn is_worthwhile(self) -> bool {
        self.books.orders.len() >= WORTHWHILE_ORDERS
    }

    /// Prefetches what at most [`GROUP`] commands will read.
    pub(crate) fn prefetch_commands(self, records: &[[u8; COMMAND_SIZE]]) {
        self.prefetch_group::<GROUP>(records.iter().map(Command::from_record));
    }

    /// Prefetches what one command will read.
    pub(crate) fn prefetch_command(self, command: &Command) {
        self.prefetch_group::<1>(std::iter::once(*command));
    }

    #[inline]
    fn prefetch_group<const N: usize>(self, commands: impl ExactSizeIterator<Item = Command>) {
        let mut targets = [Target::default(); N];
        let Some(targets) = targets.get_mut(..commands.len()) else {
            return;
        };
        let mut new_orders = 0;
        for (command, target) in commands.zip(targets.iter_mut()) {
            let kind = CommandKind::from_record(command.kind);
            let order_hash = self.books.order_hash(command.order_id);
            self.books.prefetch_order_entry(order_hash);
            let may_rest = matches!(kind, Some(CommandKind::Move | CommandKind::Amend | CommandKind::Place));
            *target = Target { order_hash, price: command.price, may_rest, ..Target::default() };
            if kind == Some(CommandKind::Place) {
                let side = Side::from_record(command.side).unwrap_or_default();
                target.is_new = true;
                target.book = self.books.find_book(command.symbol);
                target.account = self.accounts.find_account(command.account);
                target.order = self.books.orders.next_index(new_orders);
                new_orders += 1;
                target.level_hash = self.books.level_hash(target.book, side, command.price);
                self.books.prefetch_level_entry(target.level_hash);
            }
        }
        for target in targets.iter_mut() {
            self.prefetch_order(target);
        }
        for target in targets.iter().filter(|target| !target.is_new) {
            let order = self.books.orders.at(target.order);
            self.books.orders.prefetch(order.next);
            self.books.orders.prefetch(order.previous);
            self.books.levels.prefetch(order.level);
            self.accounts.balances.prefetch(order.held_balance);
        }
        for target in targets.iter_mut().filter(|target| target.may_rest && !target.is_new) {
            let level = self.books.levels.at(self.books.orders.at(target.order).level);
            target.level_hash = self.books.level_hash(level.book, level.side, target.price);
            self.books.prefetch_level_entry(target.level_hash);
        }
        let mut levels = [NIL; N];
        for (target, level) in targets.iter().zip(&mut levels).filter(|(target, _)| target.may_rest) {
            *level = self.books.likely_level(target.level_hash);
            self.books.levels.prefetch(*level);
        }
        for level in levels {
            self.books.orders.prefetch(self.books.levels.at(level).tail);
        }
    }

    /// Prefetches the order of a target, and the balances of a new order.
    #[inline]
    fn prefetch_order(self, target: &mut Target) {
        if target.is_new {
            let &OrderBook { base_index, quote_index, .. } = self.books.book(target.book);
            let account = self.accounts.accounts.at(target.account);
            self.accounts.balances.prefetch(account.balance(base_index));
            self.accounts.balances.prefetch(account.balance(quote_index));
        } else {
            target.order = self.books.likely_order(target.order_hash);
        }
        self.books.orders.prefetch(target.order);
    }

    /// Prefetches the first orders of the best levels of a side, and what a fill of each reads. Returns how
    /// many levels that were.
    #[cold]
    pub(crate) fn prefetch_levels(self, book: u32, side: Side) -> usize {
        let mut cursors = [NIL; LEVELS];
        let mut levels = 0;
        for (level, cursor) in self.books.book(book).side(side).iter().zip(&mut cursors) {
            self.books.levels.prefetch(level);
            *cursor = level;
            levels += 1;
        }
        for cursor in &mut cursors {
            *cursor = self.books.levels.at(*cursor).head;
            self.books.orders.prefetch(*cursor);
        }
        for _ in 0..ORDERS_OF_LEVEL {
            let mut more = NIL;
            for cursor in cursors.iter_mut().take(levels) {
                let order = self.books.orders.at(*cursor);
                self.accounts.balances.prefetch(order.held_balance);
                self.accounts.balances.prefetch(order.other_balance);
                self.books.prefetch_order_entry(self.books.order_hash(order.id));
                self.books.orders.prefetch(order.next);
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
