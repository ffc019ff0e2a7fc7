//! The snapshot: the whole state in one canonical form, sealed by its SHA-256 (`docs/protocol/snapshot.md`).
//!
//! Equal states write equal bytes, so the hash of these bytes is the hash of the state. `restore` reads them.
//! Cost: O(state), plus sorting accounts and transfers.

use sha2::{Digest, Sha256};

use crate::engine::Engine;
use crate::invariant::broken;
use crate::lists::ListPart;
use crate::market_phase::{MarketPhase, PhaseState};
use crate::order_book::OrderBook;
use crate::records::Command;
use crate::types::Side;
use crate::waiting::WaitingOrder;

/// First bytes of a snapshot, before the SHA-256 of the state.
pub(crate) const SEAL_MAGIC: [u8; 8] = *b"OSCORE02";
/// Bytes before the state.
pub(crate) const SEAL_SIZE: usize = 40;
/// First bytes of a state.
pub(crate) const MAGIC: [u8; 8] = *b"OSCORE01";

/// Receives the bytes of a snapshot, piece by piece.
pub trait SnapshotSink {
    /// Receives the next bytes.
    fn write(&mut self, bytes: &[u8]);
}

impl SnapshotSink for Vec<u8> {
    fn write(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

fn count(length: usize) -> [u8; 4] {
    u32::try_from(length)
        .unwrap_or_else(|_| broken("a snapshot has more records than it can count"))
        .to_le_bytes()
}

fn small(length: usize) -> u8 {
    u8::try_from(length).unwrap_or_else(|_| broken("a list has more orders than a snapshot can count"))
}

impl Engine {
    /// The whole state, with its checksum.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let mut bytes = vec![0; SEAL_SIZE];
        self.write_state(&mut bytes);
        let digest = Sha256::digest(bytes.get(SEAL_SIZE..).unwrap_or_default());
        for (place, byte) in bytes.iter_mut().zip(SEAL_MAGIC.into_iter().chain(digest)) {
            *place = byte;
        }
        bytes
    }

    /// Writes the whole state to `sink`.
    pub fn write_state(&self, sink: &mut impl SnapshotSink) {
        sink.write(&MAGIC);
        sink.write(&self.command_sequence.to_le_bytes());
        sink.write(&self.event_sequence.to_le_bytes());
        let currencies = self.accounts.currency_numbers();
        sink.write(&count(currencies.len()));
        for currency in currencies {
            sink.write(&currency.to_le_bytes());
        }
        let books = self.books.books_by_symbol();
        sink.write(&count(books.len()));
        for book in &books {
            write_symbol(sink, book);
        }
        let accounts = self.accounts.accounts_by_number();
        sink.write(&count(accounts.len()));
        for account in accounts {
            self.write_account(sink, account);
        }
        sink.write(&(self.books.orders.len() as u64).to_le_bytes());
        for book in &books {
            for side in [Side::Buy, Side::Sell] {
                for level in book.side(side).iter() {
                    self.write_level(sink, book.symbol, side, level);
                }
            }
        }
        let transfers = self.accounts.transfers_by_reference();
        sink.write(&(transfers.len() as u64).to_le_bytes());
        for transfer in transfers {
            sink.write(&transfer.reference.to_le_bytes());
            sink.write(&[transfer.kind as u8, transfer.status as u8]);
            sink.write(&transfer.account.to_le_bytes());
            sink.write(&transfer.currency.to_le_bytes());
            sink.write(&transfer.amount.to_le_bytes());
        }
        let movements = self.movements.until(self.command_sequence);
        let links = self.accounts.owners.links();
        // States of before had none of these, so that their hashes stay.
        if !movements.is_empty() || links.len() != 0 || self.tracks_prices {
            sink.write(&count(movements.len()));
        }
        for movement in movements {
            sink.write(&movement.source.to_le_bytes());
            sink.write(&movement.destination.to_le_bytes());
            sink.write(&movement.currency.to_le_bytes());
            sink.write(&movement.amount.to_le_bytes());
        }
        if links.len() != 0 || self.tracks_prices {
            sink.write(&count(links.len()));
        }
        for (account, owner) in links {
            sink.write(&account.to_le_bytes());
            sink.write(&owner.to_le_bytes());
        }
        let parts = self.waiting_list_parts();
        // States of before had nothing for the last part, so that their hashes stay.
        let stopped = self.is_stopped_after(self.command_sequence);
        let icebergs = self.books.iceberg_rows();
        let has_extras = stopped || icebergs.len() != 0;
        let has_lists = has_extras || !self.lists.is_empty() || !parts.is_empty();
        if self.tracks_prices {
            self.write_terms_and_waiting(sink, &books, has_lists);
        }
        if has_lists {
            self.write_order_lists(sink, &books, parts);
        }
        if has_extras {
            sink.write(&u32::from(stopped).to_le_bytes());
            sink.write(&(icebergs.len() as u64).to_le_bytes());
            for (id, display, visible) in icebergs {
                sink.write(&id.to_le_bytes());
                sink.write(&display.to_le_bytes());
                sink.write(&visible.to_le_bytes());
            }
        }
    }

    /// The run of orders that waits for its `PLACE_LIST` now: TERMS may have come for one more.
    fn waiting_list_parts(&self) -> &[ListPart] {
        let terms_wait = self.terms.until(self.command_sequence).is_some();
        self.lists.parts_until(self.command_sequence.wrapping_sub(u64::from(terms_wait)))
    }

    fn write_order_lists(&self, sink: &mut impl SnapshotSink, books: &[&OrderBook], parts: &[ListPart]) {
        sink.write(&count(parts.len()));
        for (terms, order) in parts {
            write_waiting_command(sink, terms);
            write_waiting_command(sink, order);
        }
        sink.write(&(self.lists.iter().len() as u64).to_le_bytes());
        for list in self.lists.iter() {
            sink.write(&list.id.to_le_bytes());
            sink.write(&[list.list_type as u8]);
            sink.write(&list.account.to_le_bytes());
            sink.write(&self.books.book(list.book).symbol.to_le_bytes());
            sink.write(&list.entry.to_le_bytes());
            sink.write(&list.unarmed.to_le_bytes());
            sink.write(&[small(list.exits.len()), small(list.plans.len())]);
            for order in &list.exits {
                sink.write(&order.to_le_bytes());
            }
            for plan in &list.plans {
                self.write_waiting_order(sink, plan);
            }
        }
        sink.write(&(self.lists.queued() as u64).to_le_bytes());
        for book in books {
            for list in self.lists.queue(self.books.find_book(book.symbol)) {
                sink.write(&list.to_le_bytes());
            }
        }
    }

    /// Writes the parts that a core has from its first TERMS or `SET_MARK_PRICE` on.
    fn write_terms_and_waiting(&self, sink: &mut impl SnapshotSink, books: &[&OrderBook], has_lists: bool) {
        let terms = self.terms.until(self.command_sequence);
        sink.write(&u32::from(terms.is_some()).to_le_bytes());
        if let Some(terms) = terms {
            write_waiting_command(sink, &terms);
        }
        let own_terms = self.books.own_terms();
        sink.write(&(own_terms.len() as u64).to_le_bytes());
        for (id, own_stp, expiry) in own_terms {
            sink.write(&id.to_le_bytes());
            sink.write(&[own_stp]);
            sink.write(&expiry.to_le_bytes());
        }
        sink.write(&(self.waiting.len() as u64).to_le_bytes());
        for order in self.waiting.by_placement() {
            self.write_waiting_order(sink, &order);
        }
        sink.write(&(self.waiting.queued as u64).to_le_bytes());
        for book in books {
            for order in self.waiting.queue(self.books.find_book(book.symbol)) {
                sink.write(&order.id.to_le_bytes());
                sink.write(&order.fired_price.to_le_bytes());
            }
        }
        let priced = || books.iter().filter(|book| book.last_price != 0 || book.mark_price != 0);
        sink.write(&count(priced().count()));
        for book in priced() {
            sink.write(&book.symbol.to_le_bytes());
            sink.write(&book.last_price.to_le_bytes());
            sink.write(&book.mark_price.to_le_bytes());
        }
        let phased = || books.iter().filter(|book| book.phase.phase != MarketPhase::Continuous);
        // States of before had neither phases nor lists, so that their hashes stay.
        if has_lists || phased().next().is_some() {
            sink.write(&count(phased().count()));
        }
        for book in phased() {
            let PhaseState { phase, following, ends, price } = book.phase;
            sink.write(&book.symbol.to_le_bytes());
            sink.write(&[phase as u8, following as u8]);
            sink.write(&price.to_le_bytes());
            sink.write(&ends.to_le_bytes());
        }
    }

    fn write_waiting_order(&self, sink: &mut impl SnapshotSink, order: &WaitingOrder) {
        sink.write(&order.id.to_le_bytes());
        sink.write(&self.waiting_owner(order).to_le_bytes());
        sink.write(&self.books.book(order.book).symbol.to_le_bytes());
        sink.write(&[order.side as u8, order.order_type as u8]);
        for number in [order.price, order.reserve_price, order.quantity, order.remaining] {
            sink.write(&number.to_le_bytes());
        }
        sink.write(&i32::from(order.taker_fee_bps).to_le_bytes());
        sink.write(&i32::from(order.maker_fee_bps).to_le_bytes());
        sink.write(&order.timestamp.to_le_bytes());
        sink.write(&[order.own_stp]);
        sink.write(&order.expiry.to_le_bytes());
        let trigger = order.trigger;
        sink.write(&[order.fok_steps, trigger.kind as u8, trigger.flags]);
        for number in [trigger.value, trigger.watermark, trigger.anchor] {
            sink.write(&number.to_le_bytes());
        }
    }

    fn write_account(&self, sink: &mut impl SnapshotSink, index: u32) {
        let account = self.accounts.accounts.at(index);
        let (taker, maker) = account.fees.unwrap_or((0, 0));
        sink.write(&account.number.to_le_bytes());
        sink.write(&[u8::from(account.active), account.stp_mode as u8, u8::from(account.fees.is_some())]);
        sink.write(&i32::from(taker).to_le_bytes());
        sink.write(&i32::from(maker).to_le_bytes());
        let balances = self.accounts.balances_of(index);
        sink.write(&count(balances.len()));
        for (currency, balance) in balances {
            sink.write(&currency.to_le_bytes());
            sink.write(&balance.total.to_le_bytes());
        }
    }

    fn write_level(&self, sink: &mut impl SnapshotSink, symbol: u32, side: Side, level: u32) {
        let price = self.books.levels.at(level).price;
        for (_, order) in self.books.queue(level) {
            sink.write(&order.id.to_le_bytes());
            sink.write(&self.accounts.balances.at(order.held_balance).account_number.to_le_bytes());
            sink.write(&symbol.to_le_bytes());
            sink.write(&[side as u8, order.terms.order_type() as u8]);
            sink.write(&price.to_le_bytes());
            sink.write(&order.reserve_price.to_le_bytes());
            sink.write(&order.quantity.to_le_bytes());
            sink.write(&order.remaining.to_le_bytes());
            sink.write(&i32::from(order.terms.taker_fee_bps()).to_le_bytes());
            sink.write(&i32::from(order.terms.maker_fee_bps()).to_le_bytes());
            sink.write(&order.timestamp.to_le_bytes());
        }
    }
}

/// Writes a command that waits for the one that follows it, without its kind and time.
fn write_waiting_command(sink: &mut impl SnapshotSink, command: &Command) {
    sink.write(&[command.side, command.order_type, command.flags]);
    sink.write(&command.symbol.to_le_bytes());
    sink.write(&command.order_id.to_le_bytes());
    sink.write(&command.account.to_le_bytes());
    sink.write(&command.price.to_le_bytes());
    sink.write(&command.quantity.to_le_bytes());
    sink.write(&command.amount.to_le_bytes());
}

fn write_symbol(sink: &mut impl SnapshotSink, book: &OrderBook) {
    for number in [book.symbol, book.base, book.quote] {
        sink.write(&number.to_le_bytes());
    }
    sink.write(&[u8::from(book.active)]);
    for number in [book.base_scale, book.quote_scale, book.tick, book.lot] {
        sink.write(&number.to_le_bytes());
    }
    sink.write(&i32::from(book.taker_fee_bps).to_le_bytes());
    sink.write(&i32::from(book.maker_fee_bps).to_le_bytes());
}
