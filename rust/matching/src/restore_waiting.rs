//! Restoring terms, waiting orders and reference prices from a snapshot (`restore`).

use crate::engine::Engine;
use crate::market_phase::{MarketPhase, PhaseState};
use crate::records::Command;
use crate::restore::{ORDER_SIZE, OrderFields, ReadOrder};
use crate::snapshot_reader::{Reader, Record, RestoreError, require};
use crate::types::{CommandKind, NIL, OWN_STP_MAX, OrderType, SCALED_MAX, Side, TERMS_FLAGS, TriggerKind};
use crate::waiting::{Trigger, WaitingOrder};

const TERMS_SIZE: usize = 55;
const ORDER_TERMS_SIZE: usize = 17;
pub(crate) const WAITING_ORDER_SIZE: usize = ORDER_SIZE + 36;
const FIRED_ORDER_SIZE: usize = 16;
const REFERENCE_PRICES_SIZE: usize = 20;
const PHASE_SIZE: usize = 22;
const UNKNOWN_PHASE: RestoreError = RestoreError("a phase is unknown");

impl Engine {
    /// Reads the parts that a core has from its first TERMS or `SET_MARK_PRICE` on.
    pub(crate) fn read_terms_and_waiting(&mut self, reader: &mut Reader) -> Result<(), RestoreError> {
        self.tracks_prices = true;
        let count = reader.count_32()?;
        require(count <= 1, "a wrong number of terms waits")?;
        if count != 0 {
            let terms = Self::read_waiting_command(reader, CommandKind::Terms)?;
            self.terms.keep(terms, self.command_sequence);
        }
        for _ in 0..reader.count_64()? {
            self.read_order_terms(&mut reader.record(ORDER_TERMS_SIZE)?)?;
        }
        for _ in 0..reader.count_64()? {
            self.read_waiting_order(&mut reader.record(WAITING_ORDER_SIZE)?)?;
        }
        for _ in 0..reader.count_64()? {
            self.read_fired_order(&mut reader.record(FIRED_ORDER_SIZE)?)?;
        }
        for _ in 0..reader.count_32()? {
            self.read_reference_prices(&mut reader.record(REFERENCE_PRICES_SIZE)?)?;
        }
        if !reader.rest.is_empty() {
            for _ in 0..reader.count_32()? {
                self.read_phase(&mut reader.record(PHASE_SIZE)?)?;
            }
        }
        Ok(())
    }

    fn read_phase(&mut self, record: &mut Record) -> Result<(), RestoreError> {
        let book = self.books.find_book(record.u32());
        let (phase, following) = (record.u8(), record.u8());
        let (price, ends) = (record.i64(), record.u64());
        let new = book != NIL && self.books.book(book).phase.phase == MarketPhase::Continuous;
        require(new, "a phase has no symbol, or is repeated")?;
        let phase = MarketPhase::from_record(phase).ok_or(UNKNOWN_PHASE)?;
        let following = MarketPhase::from_record(following).ok_or(UNKNOWN_PHASE)?;
        require(phase != MarketPhase::Continuous && following.is_uncrossed(), UNKNOWN_PHASE.0)?;
        let allowed = if phase == MarketPhase::Uncrossing {
            (0..=SCALED_MAX).contains(&price)
                && price % self.books.book(book).tick == 0
                && (ends == 0 || following != MarketPhase::Continuous)
        } else {
            (following, price) == (MarketPhase::Continuous, 0)
        };
        require(allowed, "a phase breaks a rule")?;
        self.books.book_mut(book).phase = PhaseState { phase, following, ends, price };
        Ok(())
    }

    /// Whether the present price has fired a trigger whose order still waits for it.
    pub(crate) fn has_missed_trigger(&self) -> bool {
        self.waiting.by_placement().iter().any(|order| {
            let book = self.books.book(order.book);
            let reference = if order.trigger.by_mark() { book.mark_price } else { book.last_price };
            order.fired_price == 0 && reference != 0 && order.trigger.is_reached_by(reference)
        })
    }

    /// Reads a command that waits for the one that follows it.
    pub(crate) fn read_waiting_command(
        reader: &mut Reader,
        kind: CommandKind,
    ) -> Result<Command, RestoreError> {
        let mut record = reader.record(TERMS_SIZE)?;
        Ok(Command {
            kind: kind as u8,
            side: record.u8(),
            order_type: record.u8(),
            flags: record.u8(),
            symbol: record.u32(),
            timestamp: 0,
            order_id: record.u64(),
            account: record.u64(),
            price: record.i64(),
            quantity: record.i64(),
            amount: record.i128(),
        })
    }

    fn read_order_terms(&mut self, record: &mut Record) -> Result<(), RestoreError> {
        let (id, own_stp, expiry) = (record.u64(), record.u8(), record.u64());
        let index = self.books.find_order(id);
        let terms = self.books.orders.at(index).terms;
        let new = index != NIL && terms.own_stp() == 0 && !terms.expires();
        require(new, "terms have no order that rests, or are repeated")?;
        let in_range = own_stp <= OWN_STP_MAX && (own_stp, expiry) != (0, 0);
        require(in_range, "terms of an order are out of range")?;
        self.books.set_own_terms(index, own_stp, expiry);
        Ok(())
    }

    fn read_waiting_order(&mut self, record: &mut Record) -> Result<(), RestoreError> {
        let read = self.checked_waiter(record)?;
        let allowed = read.kind.is_some() && trigger_allowed(&read.order.trigger, read.order.side);
        require(allowed, "a trigger breaks a rule")?;
        self.add_waiting(read.order);
        Ok(())
    }

    /// The order of a record, which must be one that can wait, with its trigger, which is not checked.
    pub(crate) fn checked_waiter(&mut self, record: &mut Record) -> Result<ReadWaiter, RestoreError> {
        let waits = |order_type| matches!(order_type, OrderType::Gtc | OrderType::Ioc | OrderType::Fok);
        let fields = OrderFields::read(record);
        let (own_stp, expiry, fok_steps) = (record.u8(), record.u64(), record.u8());
        let (kind, flags) = (record.u8(), record.u8());
        let (value, watermark, anchor) = (record.i64(), record.i64(), record.i64());
        let read = self.checked_order(&fields, waits, "an order of this type cannot wait")?;
        let ReadOrder { book, side, order_type, fees, held_balance, other_balance } = read;
        require(own_stp <= OWN_STP_MAX, "terms of an order are out of range")?;
        let tick = self.books.book(book).tick;
        let kind = TriggerKind::from_record(kind);
        let trigger = Trigger { kind: kind.unwrap_or_default(), flags, value, watermark, anchor, tick };
        let order = WaitingOrder {
            id: fields.id,
            book,
            held_balance,
            other_balance,
            side,
            order_type,
            taker_fee_bps: fees.0,
            maker_fee_bps: fees.1,
            own_stp,
            fok_steps,
            price: fields.price,
            reserve_price: fields.reserve_price,
            quantity: fields.quantity,
            remaining: fields.remaining,
            expiry,
            timestamp: fields.timestamp,
            trigger,
            ..WaitingOrder::default()
        };
        Ok(ReadWaiter { order, kind })
    }

    fn read_fired_order(&mut self, record: &mut Record) -> Result<(), RestoreError> {
        let (id, price) = (record.u64(), record.i64());
        let index = self.waiting.find(id);
        let order = self.waiting.order(index);
        let waits = index != NIL && order.fired_price == 0;
        require(waits, "a fired order does not wait, or is repeated")?;
        let fired = (1..=SCALED_MAX).contains(&price) && order.trigger.is_reached_by(price);
        require(fired, "a fired order has no price that fired it")?;
        self.waiting.enqueue(index, price);
        self.set_wake_prices(order.book);
        Ok(())
    }

    fn read_reference_prices(&mut self, record: &mut Record) -> Result<(), RestoreError> {
        let (symbol, last_price, mark_price) = (record.u32(), record.i64(), record.i64());
        let index = self.books.find_book(symbol);
        let book = self.books.book(index);
        let new = index != NIL && book.last_price == 0 && book.mark_price == 0;
        require(new, "a price has no symbol, or is repeated")?;
        let in_range = [last_price, mark_price].iter().all(|price| (0..=SCALED_MAX).contains(price));
        let known = (last_price, mark_price) != (0, 0);
        require(in_range && known, "a reference price is out of range")?;
        let book = self.books.book_mut(index);
        (book.last_price, book.mark_price) = (last_price, mark_price);
        Ok(())
    }
}

/// An order that waits as it was read. `kind` is that of its trigger, if the number stands for one.
pub(crate) struct ReadWaiter {
    pub(crate) order: WaitingOrder,
    pub(crate) kind: Option<TriggerKind>,
}

fn trigger_allowed(trigger: &Trigger, side: Side) -> bool {
    let &Trigger { kind, flags, value, watermark, anchor, tick } = trigger;
    if kind == TriggerKind::None || flags > TERMS_FLAGS || !(1..=SCALED_MAX).contains(&value) {
        return false;
    }
    if kind != TriggerKind::TrailingBasisPoints && value % tick != 0 {
        return false;
    }
    if !trigger.is_trailing() {
        return (watermark, anchor) == (0, 0);
    }
    kind.fits(flags, value, side)
        && [watermark, anchor].iter().all(|price| (1..=SCALED_MAX).contains(price))
        && (1..=SCALED_MAX).contains(&trigger.price())
        && anchor % tick == 0
        // It only moves to the better side, so a limit never exceeds what is held.
        && trigger.key(trigger.shift()) <= 0
}
