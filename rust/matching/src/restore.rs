//! Restoring an engine from a snapshot.
//!
//! Reading trusts nothing. Every number is checked against the rules that the engine keeps, in the order of
//! `docs/protocol/snapshot.md`, and the state that was read must write the very bytes that it was read from.
//! Levels, holds and sums are calculated again. Each record is read whole before its fields are checked, so
//! that both cores give the same reason for the same bytes.

use sha2::{Digest, Sha256};

use crate::accounts::{Transfer, TransferStatus};
use crate::engine::Engine;
use crate::order::{Order, Terms};
use crate::order_book::OrderBook;
use crate::pending_movements::Movement;
use crate::placement::check_price;
use crate::records::CreateSymbol;
use crate::snapshot::{MAGIC, SEAL_MAGIC, SEAL_SIZE, SnapshotSink};
pub use crate::snapshot_reader::RestoreError;
use crate::snapshot_reader::{Reader, Record, require};
use crate::types::{
    AMOUNT_MAX, CommandKind, FEE_ACCOUNT, MOVEMENTS_MAX, NIL, OrderType, SCALED_MAX, Side, StpMode,
    fees_valid,
};

/// Largest sequence of a snapshot. It leaves room for every command that can still come.
const SEQUENCE_MAX: u64 = 1 << 62;

const HEADER_SIZE: usize = 24;
const CURRENCY_SIZE: usize = 4;
const SYMBOL_SIZE: usize = 53;
const ACCOUNT_SIZE: usize = 23;
const BALANCE_SIZE: usize = 20;
pub(crate) const ORDER_SIZE: usize = 70;
const TRANSFER_SIZE: usize = 46;
const MOVEMENT_SIZE: usize = 36;
const OWNER_LINK_SIZE: usize = 16;

/// Compares a snapshot with the bytes that it should have.
struct Comparison<'a> {
    rest: &'a [u8],
    equal: bool,
}

impl SnapshotSink for Comparison<'_> {
    fn write(&mut self, bytes: &[u8]) {
        match self.rest.strip_prefix(bytes) {
            Some(rest) => self.rest = rest,
            None => self.equal = false,
        }
    }
}

impl Engine {
    /// The engine that wrote `snapshot`, with a new hash seed and address space for `capacity` open orders.
    /// A snapshot of an older version is a state without a seal.
    ///
    /// # Errors
    /// If `snapshot` is anything but whole and, in canonical form, of a state that the rules allow.
    pub fn from_snapshot(snapshot: &[u8], capacity: usize) -> Result<Self, RestoreError> {
        let bytes = state_of(snapshot)?;
        let mut reader = Reader { rest: bytes };
        let mut header = reader.record(HEADER_SIZE)?;
        require(header.array() == MAGIC, "it has another format")?;
        let mut engine = Self::new(capacity.max(bytes.len() / ORDER_SIZE));
        engine.command_sequence = header.u64();
        engine.event_sequence = header.u64();
        let newest = engine.command_sequence.max(engine.event_sequence);
        require(newest <= SEQUENCE_MAX, "a sequence is too large")?;
        for _ in 0..reader.count_32()? {
            let currency = reader.record(CURRENCY_SIZE)?.u32();
            let new = currency != 0 && engine.accounts.find_currency(currency) == NIL;
            require(new, "a currency number is 0 or repeated")?;
            engine.accounts.add_currency(currency);
        }
        for _ in 0..reader.count_32()? {
            engine.read_symbol(&mut reader.record(SYMBOL_SIZE)?)?;
        }
        for place in 0..reader.count_32()? {
            engine.read_account(&mut reader, place == 0)?;
        }
        for _ in 0..reader.count_64()? {
            engine.read_order(&mut reader.record(ORDER_SIZE)?)?;
        }
        for _ in 0..reader.count_64()? {
            engine.read_transfer(&mut reader.record(TRANSFER_SIZE)?)?;
        }
        if !reader.rest.is_empty() {
            engine.read_movements(&mut reader)?;
        }
        if !reader.rest.is_empty() {
            for _ in 0..reader.count_32()? {
                engine.read_owner_link(&mut reader.record(OWNER_LINK_SIZE)?)?;
            }
        }
        if !reader.rest.is_empty() {
            engine.read_terms_and_waiting(&mut reader)?;
        }
        if !reader.rest.is_empty() {
            engine.read_order_lists(&mut reader)?;
        }
        if !reader.rest.is_empty() {
            engine.read_extras(&mut reader)?;
        }
        require(
            engine.accounts.balances.iter().all(|(_, balance)| balance.free() >= 0),
            "an account holds more than it owns",
        )?;
        let crossed = |book: &OrderBook| book.phase.phase.is_uncrossed() && engine.is_crossed(book);
        require(!engine.books.books().any(crossed), "a book is crossed")?;
        require(!engine.has_missed_trigger(), "a waiting order's trigger was reached")?;
        let mut comparison = Comparison { rest: bytes, equal: true };
        engine.write_state(&mut comparison);
        require(comparison.equal && comparison.rest.is_empty(), "it is not in canonical form")?;
        Ok(engine)
    }

    fn read_symbol(&mut self, record: &mut Record) -> Result<(), RestoreError> {
        let symbol = record.u32();
        let (base, quote) = (record.u32(), record.u32());
        let active = record.flag();
        let specification = CreateSymbol {
            base,
            quote,
            base_scale: record.i64(),
            quote_scale: record.i64(),
            tick: record.i64(),
            lot: record.i64(),
            taker_fee_bps: record.i32(),
            maker_fee_bps: record.i32(),
        };
        let new = symbol != 0 && self.books.find_book(symbol) == NIL;
        require(new, "a symbol number is 0 or repeated")?;
        let book = self
            .add_symbol(symbol, &specification)
            .map_err(|_| RestoreError("a symbol breaks a rule of its specification"))?;
        self.books.book_mut(book).active = active;
        Ok(())
    }

    fn read_account(&mut self, reader: &mut Reader, first: bool) -> Result<(), RestoreError> {
        let mut record = reader.record(ACCOUNT_SIZE)?;
        let number = record.u64();
        let active = record.flag();
        let stp_mode = record.u8();
        let has_fees = record.flag();
        let fees = (record.i32(), record.i32());
        let balances = record.u32();
        let stp_mode = StpMode::from_record(stp_mode).ok_or(RestoreError("an STP mode is unknown"))?;
        let fees = checked_fees(fees)?;
        let index = if first {
            let inactive_fee_account = number == FEE_ACCOUNT && !active;
            require(inactive_fee_account, "the first account is not the inactive fee account")?;
            self.accounts.fee_account()
        } else {
            let new = number != 0 && self.accounts.find_account(number) == NIL;
            require(new, "an account number is 0 or repeated")?;
            self.accounts.add_account(number, active, stp_mode)
        };
        let account = self.accounts.accounts.at_mut(index);
        (account.fees, account.stp_mode) = (has_fees.then_some(fees), stp_mode);
        for _ in 0..balances {
            let mut record = reader.record(BALANCE_SIZE)?;
            let currency = self.accounts.find_currency(record.u32());
            let total = record.i128();
            require(currency != NIL, "a balance has no currency")?;
            require((1..=AMOUNT_MAX).contains(&total), "a balance is out of range")?;
            let balance = self.accounts.balance_or_new(index, currency);
            require(self.accounts.balances.at(balance).total == 0, "a balance is repeated")?;
            self.accounts.change_total(balance, total);
            let supply = self.accounts.currencies.at(currency).supply;
            require(supply <= AMOUNT_MAX, "the supply of a currency is too large")?;
        }
        Ok(())
    }

    fn read_order(&mut self, record: &mut Record) -> Result<(), RestoreError> {
        let resting = |order_type: OrderType| matches!(order_type, OrderType::Gtc | OrderType::PostOnly);
        let fields = OrderFields::read(record);
        let read = self.checked_order(&fields, resting, "an order of this type cannot rest")?;
        let ReadOrder { book: book_index, side, order_type, fees, held_balance, other_balance } = read;
        let OrderFields { id, price, reserve_price, quantity, remaining, timestamp, .. } = fields;
        let order = Order {
            id,
            remaining,
            reserve_price,
            quantity,
            held_balance,
            other_balance,
            terms: Terms::new(fees.0, fees.1, order_type),
            timestamp,
            ..Order::default()
        };
        let book = self.books.book(book_index);
        let hold = book.hold(side, reserve_price, remaining, order.terms.worst_fee_bps());
        let locked = book.locked(side, price, remaining);
        self.accounts.balances.at_mut(held_balance).hold(hold, locked);
        self.books.add(order, book_index, side, price);
        Ok(())
    }

    /// Checks the fields of an order that rests or waits: PLACE must accept it.
    pub(crate) fn checked_order(
        &mut self,
        fields: &OrderFields,
        may_stay: impl Fn(OrderType) -> bool,
        wrong_type: &'static str,
    ) -> Result<ReadOrder, RestoreError> {
        let &OrderFields { id, account: number, price, reserve_price, quantity, remaining, .. } = fields;
        let new = id != 0 && self.books.find_order(id) == NIL && self.waiting.find(id) == NIL;
        require(new, "an order id is 0 or repeated")?;
        let account = self.accounts.find_account(number);
        require(account != NIL && number != FEE_ACCOUNT, "an order has no account that may own it")?;
        let book_index = self.books.find_book(fields.symbol);
        require(book_index != NIL, "an order has no symbol")?;
        let side = Side::from_record(fields.side).ok_or(RestoreError("an order has no side"))?;
        let order_type = OrderType::from_record(fields.order_type)
            .filter(|&order_type| may_stay(order_type))
            .ok_or(RestoreError(wrong_type))?;
        let fees = checked_fees(fields.fees)?;
        let book = self.books.book(book_index);
        check_price(book, price).map_err(|_| RestoreError("an order's price is out of range"))?;
        let reserve_allowed = match side {
            Side::Buy => (price..=SCALED_MAX).contains(&reserve_price),
            Side::Sell => reserve_price == 0,
        };
        require(reserve_allowed, "an order's reserve price is out of range")?;
        let quantities_allowed = (1..=SCALED_MAX).contains(&quantity)
            && (1..=quantity).contains(&remaining)
            && quantity % book.lot == 0
            && remaining % book.lot == 0
            && book.notional(reserve_price.max(price), remaining) <= AMOUNT_MAX;
        require(quantities_allowed, "an order's quantity is out of range")?;
        let base = self.accounts.balance_or_new(account, book.base_index);
        let quote = self.accounts.balance_or_new(account, book.quote_index);
        let (held_balance, other_balance) = match side {
            Side::Buy => (quote, base),
            Side::Sell => (base, quote),
        };
        Ok(ReadOrder { book: book_index, side, order_type, fees, held_balance, other_balance })
    }

    fn read_transfer(&mut self, record: &mut Record) -> Result<(), RestoreError> {
        let reference = record.u128();
        let (kind, status) = (record.u8(), record.u8());
        let (number, currency, amount) = (record.u64(), record.u32(), record.i128());
        let new = reference != 0 && self.accounts.find_transfer(reference) == NIL;
        require(new, "a reference is 0 or repeated")?;
        let kind = CommandKind::from_record(kind).ok_or(RestoreError("a transfer has no valid kind"))?;
        let least = match kind {
            CommandKind::Adjust => -AMOUNT_MAX,
            CommandKind::Deposit | CommandKind::Withdraw | CommandKind::Reserve | CommandKind::Transfer => 1,
            _ => return Err(RestoreError("a transfer has no valid kind")),
        };
        let status = TransferStatus::from_record(status)
            .filter(|&status| (status == TransferStatus::Done) != (kind == CommandKind::Reserve))
            .ok_or(RestoreError("a transfer has no valid status"))?;
        let in_range = amount != 0 && (least..=AMOUNT_MAX).contains(&amount);
        require(in_range, "a transfer's amount is out of range")?;
        let account = self.accounts.find_account(number);
        require(account != NIL, "a transfer has no account")?;
        let held = status == TransferStatus::Held;
        let currency_index = self.accounts.find_currency(currency);
        // The currency of money that no longer waits may have been deleted since.
        require(currency != 0 && (currency_index != NIL || !held), "a transfer has no currency")?;
        if held {
            let balance = self.accounts.balance_or_new(account, currency_index);
            self.accounts.balances.at_mut(balance).hold(amount, 0);
        }
        self.accounts.add_transfer(Transfer { reference, amount, account: number, currency, kind, status });
        Ok(())
    }

    fn read_movements(&mut self, reader: &mut Reader) -> Result<(), RestoreError> {
        let count = reader.count_32()?;
        // Links of owners come after the movements, also after none.
        let right = usize::try_from(count).is_ok_and(|count| count <= MOVEMENTS_MAX)
            && (count > 0 || !reader.rest.is_empty());
        require(right, "a wrong number of movements waits")?;
        for _ in 0..count {
            let mut record = reader.record(MOVEMENT_SIZE)?;
            let movement = Movement {
                source: record.u64(),
                destination: record.u64(),
                currency: record.u32(),
                amount: record.i128(),
            };
            self.movements.restore(movement, self.command_sequence);
        }
        Ok(())
    }

    fn read_owner_link(&mut self, record: &mut Record) -> Result<(), RestoreError> {
        let (account, owner) = (record.u64(), record.u64());
        let new = self.accounts.may_be_linked(account) && !self.accounts.owners.is_linked(account);
        require(new, "a link has no account that may be linked, or is repeated")?;
        let may_own = owner != account && self.accounts.may_be_linked(owner);
        require(may_own, "a link has no account that may be its owner")?;
        self.accounts.owners.link(account, owner);
        Ok(())
    }
}

/// The fields that an order that rests and one that waits have in common, as they were read.
pub(crate) struct OrderFields {
    pub(crate) id: u64,
    account: u64,
    symbol: u32,
    side: u8,
    order_type: u8,
    pub(crate) price: i64,
    pub(crate) reserve_price: i64,
    pub(crate) quantity: i64,
    pub(crate) remaining: i64,
    fees: (i32, i32),
    pub(crate) timestamp: u64,
}

impl OrderFields {
    pub(crate) fn read(record: &mut Record) -> Self {
        Self {
            id: record.u64(),
            account: record.u64(),
            symbol: record.u32(),
            side: record.u8(),
            order_type: record.u8(),
            price: record.i64(),
            reserve_price: record.i64(),
            quantity: record.i64(),
            remaining: record.i64(),
            fees: (record.i32(), record.i32()),
            timestamp: record.u64(),
        }
    }
}

/// What an order that was checked refers to.
pub(crate) struct ReadOrder {
    pub(crate) book: u32,
    pub(crate) side: Side,
    pub(crate) order_type: OrderType,
    pub(crate) fees: (i16, i16),
    pub(crate) held_balance: u32,
    pub(crate) other_balance: u32,
}

/// The state in a snapshot, with or without a seal.
fn state_of(snapshot: &[u8]) -> Result<&[u8], RestoreError> {
    if !snapshot.starts_with(&SEAL_MAGIC) {
        return Ok(snapshot);
    }
    let (seal, state) = snapshot.split_at_checked(SEAL_SIZE).ok_or(RestoreError("it breaks off"))?;
    require(seal.ends_with(&Sha256::digest(state)), "it fails its checksum")?;
    Ok(state)
}

fn checked_fees((taker, maker): (i32, i32)) -> Result<(i16, i16), RestoreError> {
    const ERROR: RestoreError = RestoreError("a fee is out of range");
    require(fees_valid(i64::from(taker), i64::from(maker)), ERROR.0)?;
    Ok((i16::try_from(taker).map_err(|_| ERROR)?, i16::try_from(maker).map_err(|_| ERROR)?))
}
