//! The snapshot: the whole state in one canonical form (`docs/protocol/snapshot.md`).
//!
//! Equal states write equal bytes, so the hash of a snapshot is the hash of the state. Reading is the inverse
//! and trusts nothing: every number is checked against the rules that the engine keeps, and what was read
//! must write the very bytes that it was read from. Levels, holds and sums are derived anew.
//! Cost: O(state), plus sorting accounts and references.

use std::fmt;

use crate::book::Book;
use crate::engine::Engine;
use crate::events::SymbolRequest;
use crate::ledger::{Reference, ReferenceState};
use crate::order::{Order, Terms};
use crate::placing::price_allowed;
use crate::types::{AMOUNT_MAX, FEE_ACCOUNT, Kind, NIL, OrderType, SCALED_MAX, Side, StpMode, fees_valid};

const MAGIC: [u8; 8] = *b"OSCORE01";
/// Bytes of an order in the snapshot.
const ORDER_SIZE: usize = 70;
/// Sequences beyond this are no engine's: it leaves room for every command that can still come.
const SEQUENCE_MAX: u64 = 1 << 62;

/// Takes the bytes of a snapshot, piece by piece.
pub trait Sink {
    /// Takes the next bytes.
    fn take(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn take(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Compares a snapshot with the bytes that it should have.
struct Comparison<'a> {
    rest: &'a [u8],
    equal: bool,
}

impl Sink for Comparison<'_> {
    fn take(&mut self, bytes: &[u8]) {
        match self.rest.strip_prefix(bytes) {
            Some(rest) => self.rest = rest,
            None => self.equal = false,
        }
    }
}

/// Why bytes are no snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotError(&'static str);

impl fmt::Display for SnapshotError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "not a snapshot of a core: {}", self.0)
    }
}

impl std::error::Error for SnapshotError {}

fn require(holds: bool, reason: &'static str) -> Result<(), SnapshotError> {
    if holds { Ok(()) } else { Err(SnapshotError(reason)) }
}

fn count(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}

impl Engine {
    /// Writes the whole state to `sink`.
    pub fn write_snapshot(&self, sink: &mut impl Sink) {
        sink.take(&MAGIC);
        sink.take(&self.command_sequence.to_le_bytes());
        sink.take(&self.event_sequence.to_le_bytes());
        let currencies = self.ledger.currency_numbers();
        sink.take(&count(currencies.len()));
        for currency in currencies {
            sink.take(&currency.to_le_bytes());
        }
        let books = self.books.by_symbol();
        sink.take(&count(books.len()));
        for book in &books {
            write_symbol(sink, book);
        }
        let accounts = self.ledger.by_number();
        sink.take(&count(accounts.len()));
        for account in accounts {
            self.write_account(sink, account);
        }
        sink.take(&(self.books.orders.len() as u64).to_le_bytes());
        for book in &books {
            for side in [Side::Buy, Side::Sell] {
                for level in book.ladder(side).iter() {
                    self.write_level(sink, book.symbol, side, level);
                }
            }
        }
        let references = self.ledger.by_reference();
        sink.take(&(references.len() as u64).to_le_bytes());
        for entry in references {
            sink.take(&entry.reference.to_le_bytes());
            sink.take(&[entry.kind as u8, entry.state as u8]);
            sink.take(&entry.account.to_le_bytes());
            sink.take(&entry.currency.to_le_bytes());
            sink.take(&entry.amount.to_le_bytes());
        }
    }

    fn write_account(&self, sink: &mut impl Sink, index: u32) {
        let account = self.ledger.accounts.at(index);
        let (taker, maker) = account.fees.unwrap_or((0, 0));
        sink.take(&account.number.to_le_bytes());
        sink.take(&[u8::from(account.active), account.stp_mode as u8, u8::from(account.fees.is_some())]);
        sink.take(&i32::from(taker).to_le_bytes());
        sink.take(&i32::from(maker).to_le_bytes());
        let balances = self.ledger.balances_of(index);
        sink.take(&count(balances.len()));
        for (currency, balance) in balances {
            sink.take(&currency.to_le_bytes());
            sink.take(&balance.total.to_le_bytes());
        }
    }

    fn write_level(&self, sink: &mut impl Sink, symbol: u32, side: Side, level: u32) {
        let price = self.books.levels.at(level).price;
        for (_, order) in self.books.queue(level) {
            sink.take(&order.id.to_le_bytes());
            sink.take(&self.ledger.balances.at(order.held_balance).account_number.to_le_bytes());
            sink.take(&symbol.to_le_bytes());
            sink.take(&[side as u8, order.terms.order_type() as u8]);
            sink.take(&price.to_le_bytes());
            sink.take(&order.reserve_price.to_le_bytes());
            sink.take(&order.quantity.to_le_bytes());
            sink.take(&order.remaining.to_le_bytes());
            sink.take(&i32::from(order.terms.taker_fee_bps()).to_le_bytes());
            sink.take(&i32::from(order.terms.maker_fee_bps).to_le_bytes());
            sink.take(&order.timestamp.to_le_bytes());
        }
    }

    /// The engine that wrote `bytes`, with room for `capacity` open orders before anything grows.
    ///
    /// # Errors
    /// If `bytes` are anything but a whole snapshot, in its canonical form, of a state that the rules allow.
    pub fn from_snapshot(bytes: &[u8], capacity: usize) -> Result<Self, SnapshotError> {
        let mut reader = Reader { rest: bytes };
        require(reader.take()? == MAGIC, "it does not begin as one")?;
        let mut engine = Self::new(capacity.max(bytes.len() / ORDER_SIZE));
        engine.command_sequence = reader.u64()?;
        engine.event_sequence = reader.u64()?;
        require(
            engine.command_sequence.max(engine.event_sequence) <= SEQUENCE_MAX,
            "a sequence is too large",
        )?;
        for _ in 0..reader.u32()? {
            let currency = reader.u32()?;
            require(currency != 0 && engine.ledger.currency(currency) == NIL, "a currency is no new number")?;
            engine.ledger.add_currency(currency);
        }
        for _ in 0..reader.u32()? {
            engine.read_symbol(&mut reader)?;
        }
        for place in 0..reader.u32()? {
            engine.read_account(&mut reader, place == 0)?;
        }
        for _ in 0..reader.u64()? {
            engine.read_order(&mut reader)?;
        }
        for _ in 0..reader.u64()? {
            engine.read_reference(&mut reader)?;
        }
        require(
            engine.ledger.balances.iter().all(|(_, balance)| balance.free() >= 0),
            "more is held than is there",
        )?;
        let crossed = |book: &Book| {
            let bid = engine.books.levels.at(book.ladder(Side::Buy).best()).price;
            book.ladder(Side::Sell).crosses(Side::Sell.rank(bid))
        };
        require(!engine.books.books.iter().any(|(_, book)| crossed(book)), "a book is crossed")?;
        let mut comparison = Comparison { rest: bytes, equal: true };
        engine.write_snapshot(&mut comparison);
        require(comparison.equal && comparison.rest.is_empty(), "its form is not the canonical one")?;
        Ok(engine)
    }

    fn read_symbol(&mut self, reader: &mut Reader) -> Result<(), SnapshotError> {
        let symbol = reader.u32()?;
        require(symbol != 0 && self.books.book(symbol) == NIL, "a symbol is no new number")?;
        let (base, quote) = (reader.u32()?, reader.u32()?);
        let active = reader.flag()?;
        let request = SymbolRequest {
            base,
            quote,
            base_scale: reader.i64()?,
            quote_scale: reader.i64()?,
            tick: reader.i64()?,
            lot: reader.i64()?,
            taker_fee_bps: reader.i32()?,
            maker_fee_bps: reader.i32()?,
        };
        let book = self.add_symbol(symbol, &request).map_err(|_| SnapshotError("a symbol breaks a rule"))?;
        self.books.books.at_mut(book).active = active;
        Ok(())
    }

    fn read_account(&mut self, reader: &mut Reader, first: bool) -> Result<(), SnapshotError> {
        let number = reader.u64()?;
        let active = reader.flag()?;
        let stp_mode = StpMode::from_record(reader.u8()?).ok_or(SnapshotError("no such STP mode"))?;
        let has_fees = reader.flag()?;
        let fees = reader.fees()?;
        let fees = has_fees.then_some(fees);
        let index = if first {
            require(number == FEE_ACCOUNT && !active, "the fee account is missing or active")?;
            self.ledger.account(FEE_ACCOUNT)
        } else {
            require(number != 0 && self.ledger.account(number) == NIL, "an account is no new number")?;
            self.ledger.add_account(number, active, stp_mode)
        };
        let account = self.ledger.accounts.at_mut(index);
        (account.fees, account.stp_mode) = (fees, stp_mode);
        for _ in 0..reader.u32()? {
            let currency = self.ledger.currency(reader.u32()?);
            let total = reader.i128()?;
            require(currency != NIL && (1..=AMOUNT_MAX).contains(&total), "a balance is out of range")?;
            let balance = self.ledger.balance_or_new(index, currency);
            require(self.ledger.balances.at(balance).total == 0, "a balance comes twice")?;
            self.ledger.change_total(balance, total);
            require(
                self.ledger.currencies.at(currency).supply <= AMOUNT_MAX,
                "a currency's sum is too large",
            )?;
        }
        Ok(())
    }

    fn read_order(&mut self, reader: &mut Reader) -> Result<(), SnapshotError> {
        let id = reader.u64()?;
        require(id != 0 && self.books.find(id) == NIL, "an order id is no new number")?;
        let number = reader.u64()?;
        let account = self.ledger.account(number);
        require(account != NIL && number != FEE_ACCOUNT, "an order is of no account that may own one")?;
        let book_index = self.books.book(reader.u32()?);
        require(book_index != NIL, "an order is of no symbol")?;
        let side = Side::from_record(reader.u8()?).ok_or(SnapshotError("no such side"))?;
        let order_type = OrderType::from_record(reader.u8()?).ok_or(SnapshotError("no such order type"))?;
        require(
            matches!(order_type, OrderType::Gtc | OrderType::PostOnly),
            "an order of this type cannot rest",
        )?;
        let (price, reserve_price) = (reader.i64()?, reader.i64()?);
        let (quantity, remaining) = (reader.i64()?, reader.i64()?);
        let (taker_fee_bps, maker_fee_bps) = reader.fees()?;
        let timestamp = reader.u64()?;
        let book = self.books.books.at(book_index);
        price_allowed(book, price).map_err(|_| SnapshotError("an order's price is out of range"))?;
        let reserve_allowed = match side {
            Side::Buy => (price..=SCALED_MAX).contains(&reserve_price),
            Side::Sell => reserve_price == 0,
        };
        require(reserve_allowed, "an order's reserve price is out of range")?;
        let quantities_allowed = (1..=SCALED_MAX).contains(&quantity)
            && (1..=quantity).contains(&remaining)
            && quantity % book.lot == 0
            && remaining % book.lot == 0
            && book.base_amount(quantity) <= AMOUNT_MAX
            && book.notional(reserve_price.max(price), remaining) <= AMOUNT_MAX;
        require(quantities_allowed, "an order's quantity is out of range")?;
        let base = self.ledger.balance_or_new(account, book.base_index);
        let quote = self.ledger.balance_or_new(account, book.quote_index);
        let (held_balance, other_balance) = match side {
            Side::Buy => (quote, base),
            Side::Sell => (base, quote),
        };
        let order = Order {
            id,
            remaining,
            reserve_price,
            quantity,
            held_balance,
            other_balance,
            terms: Terms::new(taker_fee_bps, maker_fee_bps, order_type),
            timestamp,
            ..Order::default()
        };
        let hold = book.hold(side, reserve_price, remaining, order.terms.worst_fee_bps());
        let lock = book.lock(side, price, remaining);
        self.ledger.balances.at_mut(held_balance).hold(hold, lock);
        self.books.add(order, book_index, side, price);
        Ok(())
    }

    fn read_reference(&mut self, reader: &mut Reader) -> Result<(), SnapshotError> {
        let reference = reader.u128()?;
        require(reference != 0 && self.ledger.reference(reference) == NIL, "a reference is no new number")?;
        let kind = Kind::from_record(reader.u8()?).ok_or(SnapshotError("no such kind of movement"))?;
        let state = match reader.u8()? {
            0 => ReferenceState::Done,
            1 => ReferenceState::Held,
            2 => ReferenceState::Released,
            3 => ReferenceState::Completed,
            _ => return Err(SnapshotError("no such state of a reference")),
        };
        let (number, currency, amount) = (reader.u64()?, reader.u32()?, reader.i128()?);
        let account = self.ledger.account(number);
        let reserves = state != ReferenceState::Done;
        let allowed = match kind {
            Kind::Adjust => !reserves && amount != 0 && (-AMOUNT_MAX..=AMOUNT_MAX).contains(&amount),
            Kind::Deposit | Kind::Withdraw => !reserves && (1..=AMOUNT_MAX).contains(&amount),
            Kind::Reserve => reserves && (1..=AMOUNT_MAX).contains(&amount),
            _ => false,
        };
        require(allowed && account != NIL && currency != 0, "a reference is out of range")?;
        if state == ReferenceState::Held {
            let currency = self.ledger.currency(currency);
            require(currency != NIL, "a reservation is of no currency")?;
            let balance = self.ledger.balance_or_new(account, currency);
            self.ledger.balances.at_mut(balance).hold(amount, 0);
        }
        self.ledger.remember(Reference { reference, amount, account: number, currency, kind, state });
        Ok(())
    }
}

fn write_symbol(sink: &mut impl Sink, book: &Book) {
    for number in [book.symbol, book.base, book.quote] {
        sink.take(&number.to_le_bytes());
    }
    sink.take(&[u8::from(book.active)]);
    for number in [book.base_scale, book.quote_scale, book.tick, book.lot] {
        sink.take(&number.to_le_bytes());
    }
    sink.take(&i32::from(book.taker_fee_bps).to_le_bytes());
    sink.take(&i32::from(book.maker_fee_bps).to_le_bytes());
}

/// Reads numbers off the front of a snapshot.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(SnapshotError("it ends too early"))?;
        self.rest = rest;
        Ok(*bytes)
    }

    fn u8(&mut self) -> Result<u8, SnapshotError> {
        let [byte] = self.take()?;
        Ok(byte)
    }

    fn flag(&mut self) -> Result<bool, SnapshotError> {
        Ok(self.u8()? == 1)
    }

    fn u32(&mut self) -> Result<u32, SnapshotError> {
        self.take().map(u32::from_le_bytes)
    }

    fn i32(&mut self) -> Result<i32, SnapshotError> {
        self.take().map(i32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, SnapshotError> {
        self.take().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Result<i64, SnapshotError> {
        self.take().map(i64::from_le_bytes)
    }

    fn u128(&mut self) -> Result<u128, SnapshotError> {
        self.take().map(u128::from_le_bytes)
    }

    fn i128(&mut self) -> Result<i128, SnapshotError> {
        self.take().map(i128::from_le_bytes)
    }

    fn fees(&mut self) -> Result<(i16, i16), SnapshotError> {
        const RANGE: SnapshotError = SnapshotError("a fee is out of range");
        let (taker, maker) = (self.i32()?, self.i32()?);
        require(fees_valid(i64::from(taker), i64::from(maker)), RANGE.0)?;
        Ok((i16::try_from(taker).map_err(|_| RANGE)?, i16::try_from(maker).map_err(|_| RANGE)?))
    }
}
