//! The records: commands in, results and events out. All have a fixed size and are little endian.
//!
//! Layout: `openspot.engine.core.records`. A command has 8 words of 64 bits, a result 5, an event 18. Every
//! field lies within one word, except the amounts, which take two. Reading and writing cannot fail.

use crate::key_hash::halves;
use crate::types::{CommandKind, ListType, OrderType, ResultCode, Side};

/// Bytes of a command.
pub const COMMAND_SIZE: usize = 64;
/// Bytes of a result.
pub const RESULT_SIZE: usize = 40;
/// Bytes of an event.
pub const EVENT_SIZE: usize = 144;

/// TRADE: the taker is filled. REDUCE: nothing of the order remains.
pub const TAKER_COMPLETED: u8 = 1;
/// TRADE: the maker is filled.
pub const MAKER_COMPLETED: u8 = 2;
/// TRADE: the maker receives a rebate.
pub const MAKER_REBATE: u8 = 4;
/// REDUCE, MOVED: the order waits for its trigger, or to be armed, so no book changes.
pub const WAITS: u8 = 8;
/// ACCEPTED, WAITING: the order is one of a list, so what its sender said stands in its LISTED.
pub const LISTED: u8 = 16;
/// REDUCE, MOVED: the order rests and shows a part of its quantity, so the book loses only what it showed.
pub const ICEBERG: u8 = 32;
/// Flag of a TRADE: an auction's, in which both orders rested.
pub const AUCTION: u8 = 64;

/// A decoded command. The meaning of each field depends on the kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Command {
    /// Number of the kind ([`CommandKind`]).
    pub kind: u8,
    /// Number of the side.
    pub side: u8,
    /// Number of the order type, or of an STP mode.
    pub order_type: u8,
    /// Bit 0: active, or the account's own fees.
    pub flags: u8,
    /// Number of a symbol or currency.
    pub symbol: u32,
    /// Nanoseconds since 1970.
    pub timestamp: u64,
    /// Id of an order, or a fee.
    pub order_id: u64,
    /// Number of an account, or a fee.
    pub account: u64,
    /// Scaled price, low half of a reference, or a fee.
    pub price: i64,
    /// Scaled quantity, or high half of a reference.
    pub quantity: i64,
    /// Amount units, or a scaled reserve price.
    pub amount: i128,
}

impl Command {
    /// Decodes a record.
    #[must_use]
    #[inline]
    pub fn from_record(record: &[u8; COMMAND_SIZE]) -> Self {
        let ([head, words @ ..], _) = record.as_chunks::<8>() else {
            return Self::default();
        };
        let [timestamp, order_id, account, price, quantity, low, high] = words else {
            return Self::default();
        };
        let [kind, side, order_type, flags, symbol @ ..] = *head;
        let (low, high) = (u64::from_le_bytes(*low), i64::from_le_bytes(*high));
        Self {
            kind,
            side,
            order_type,
            flags,
            symbol: u32::from_le_bytes(symbol),
            timestamp: u64::from_le_bytes(*timestamp),
            order_id: u64::from_le_bytes(*order_id),
            account: u64::from_le_bytes(*account),
            price: i64::from_le_bytes(*price),
            quantity: i64::from_le_bytes(*quantity),
            amount: i128::from(high) << 64 | i128::from(low),
        }
    }

    /// The external reference of a transfer; 0 is none.
    #[must_use]
    pub fn reference(&self) -> u128 {
        u128::from(self.quantity.cast_unsigned()) << 64 | u128::from(self.price.cast_unsigned())
    }
}

/// The specification in a `CREATE_SYMBOL`, which reads the same 64 bytes in another layout.
#[derive(Clone, Copy, Debug)]
pub struct CreateSymbol {
    /// Number of the base currency.
    pub base: u32,
    /// Number of the quote currency.
    pub quote: u32,
    /// Power of ten that scales quantities.
    pub base_scale: i64,
    /// Power of ten that scales prices.
    pub quote_scale: i64,
    /// Smallest step of a scaled price.
    pub tick: i64,
    /// Smallest step of a scaled quantity.
    pub lot: i64,
    /// Basis points.
    pub taker_fee_bps: i32,
    /// Basis points; negative is a rebate.
    pub maker_fee_bps: i32,
}

impl CreateSymbol {
    /// Reads `command` in the layout of `CREATE_SYMBOL`.
    #[must_use]
    pub fn from_command(command: &Command) -> Self {
        let [base, quote] = words_of(command.order_id);
        let [lot, fees] = halves(command.amount.cast_unsigned());
        let [taker, maker] = words_of(fees);
        Self {
            base,
            quote,
            base_scale: command.account.cast_signed(),
            quote_scale: command.price,
            tick: command.quantity,
            lot: lot.cast_signed(),
            taker_fee_bps: taker.cast_signed(),
            maker_fee_bps: maker.cast_signed(),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "each half is cut off on purpose")]
fn words_of(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ResultStatus {
    /// The command was carried out.
    Accepted = 1,
    /// The command changed nothing.
    Rejected = 2,
    /// The order ended at once, without a fill and without resting.
    Cancelled = 3,
}

/// The result of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandResult {
    /// Success, or the reason.
    pub code: ResultCode,
    /// Accepted, rejected or cancelled.
    pub status: ResultStatus,
    /// Scaled quantity that traded.
    pub filled: i64,
    /// Scaled quantity that rests. A rejected PLACE: the quantity sent. A CANCEL: the quantity cancelled.
    pub remaining: i64,
    /// Traded amount units of quote. A transfer: the account's total afterwards.
    pub notional: i128,
}

impl CommandResult {
    /// Accepted, with all figures zero.
    pub const ACCEPTED: Self = Self {
        code: ResultCode::Success,
        status: ResultStatus::Accepted,
        filled: 0,
        remaining: 0,
        notional: 0,
    };

    /// Rejected because of `code`, with all figures zero.
    #[must_use]
    pub fn rejected(code: ResultCode) -> Self {
        Self { code, status: ResultStatus::Rejected, ..Self::ACCEPTED }
    }

    /// The record. `events` is the number of events that the command emitted.
    #[must_use]
    #[inline]
    pub fn to_record(&self, events: u32) -> [[u8; 8]; RESULT_SIZE / 8] {
        let head = u64::from(self.code as u16) | u64::from(self.status as u8) << 16 | u64::from(events) << 32;
        let [low, high] = halves(self.notional.cast_unsigned());
        [head, self.filled.cast_unsigned(), self.remaining.cast_unsigned(), low, high].map(u64::to_le_bytes)
    }
}

/// Types of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EventType {
    /// An order passed every check.
    Accepted = 1,
    /// One fill.
    Trade = 2,
    /// A quantity left an order without a trade.
    Reduce = 3,
    /// An order was rejected.
    Reject = 4,
    /// An order has a new price.
    Moved = 5,
    /// A transfer: money entered, left or was held for an account.
    Balance = 6,
    /// A movement of money between two accounts.
    Transfer = 7,
    /// An order with a trigger passed every check, and waits.
    Waiting = 8,
    /// The trigger of an order has fired.
    Triggered = 9,
    /// An order of a list passed every check.
    Listed = 13,
    /// The orders of a list no longer depend on each other.
    ListEnded = 14,
    /// The exits of a list could not be placed for what its entry has filled.
    Unarmed = 15,
    /// A market entered a phase, or got a price for its auction.
    Phase = 10,
    /// A resting order that shows a part of its quantity shows a new one.
    Shown = 11,
}

/// An event without its sequence and time. Fields that its type does not use are 0.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// What happened.
    pub event_type: EventType,
    /// Number of the side; 0 for none.
    pub side: u8,
    /// Number of the order type. BALANCE: number of the command kind.
    pub order_type: u8,
    /// Completed and rebate flags.
    pub flags: u8,
    /// The reason of a REDUCE or REJECT.
    pub code: ResultCode,
    /// Number of the symbol.
    pub symbol: u32,
    /// Number of the currency of the amounts.
    pub currency: u32,
    /// Order id, or low half of a reference.
    pub order_id: u64,
    /// Order id of the maker, or high half of a reference.
    pub maker_order_id: u64,
    /// Account of the order.
    pub account: u64,
    /// Account of the maker.
    pub maker_account: u64,
    /// Scaled price.
    pub price: i64,
    /// Scaled quantity.
    pub quantity: i64,
    /// Scaled quantity that remains.
    pub remaining: i64,
    /// Scaled quantity that remains of the maker.
    pub maker_remaining: i64,
    /// Taker fee in basis points.
    pub fee_bps: i16,
    /// Maker fee in basis points, as applied.
    pub maker_fee_bps: i16,
    /// Taker fee, or change of a balance.
    pub amount: i128,
    /// Maker fee, or total afterwards.
    pub maker_amount: i128,
}

impl Event {
    /// An event of `event_type` with every other field 0.
    #[must_use]
    #[inline]
    pub fn new(event_type: EventType) -> Self {
        Self {
            event_type,
            side: 0,
            order_type: 0,
            flags: 0,
            code: ResultCode::Success,
            symbol: 0,
            currency: 0,
            order_id: 0,
            maker_order_id: 0,
            account: 0,
            maker_account: 0,
            price: 0,
            quantity: 0,
            remaining: 0,
            maker_remaining: 0,
            fee_bps: 0,
            maker_fee_bps: 0,
            amount: 0,
            maker_amount: 0,
        }
    }

    /// Sets side and order type.
    #[must_use]
    #[inline]
    pub fn of_order(mut self, side: Side, order_type: OrderType) -> Self {
        (self.side, self.order_type) = (side as u8, order_type as u8);
        self
    }

    /// Sets the type of a list.
    #[must_use]
    pub fn of_list(mut self, list_type: ListType) -> Self {
        self.order_type = list_type as u8;
        self
    }

    /// Sets the command kind of a transfer.
    #[must_use]
    pub fn of_transfer(mut self, kind: CommandKind) -> Self {
        self.order_type = kind as u8;
        self
    }

    /// Appends the record to `output`.
    #[inline]
    pub fn write(&self, output: &mut Vec<u8>, sequence: u64, timestamp: u64, command_sequence: u64) {
        let head = u64::from(self.event_type as u8)
            | u64::from(self.side) << 8
            | u64::from(self.order_type) << 16
            | u64::from(self.flags) << 24
            | u64::from(self.code as u16) << 32;
        let fee = u64::from(i32::from(self.fee_bps).cast_unsigned());
        let maker_fee = u64::from(i32::from(self.maker_fee_bps).cast_unsigned());
        let [amount_low, amount_high] = halves(self.amount.cast_unsigned());
        let [maker_low, maker_high] = halves(self.maker_amount.cast_unsigned());
        let words = [
            head,
            u64::from(self.symbol) | u64::from(self.currency) << 32,
            sequence,
            timestamp,
            command_sequence,
            self.order_id,
            self.maker_order_id,
            self.account,
            self.maker_account,
            self.price.cast_unsigned(),
            self.quantity.cast_unsigned(),
            self.remaining.cast_unsigned(),
            self.maker_remaining.cast_unsigned(),
            fee | maker_fee << 32,
            amount_low,
            amount_high,
            maker_low,
            maker_high,
        ];
        output.extend_from_slice(words.map(u64::to_le_bytes).as_flattened());
    }
}
