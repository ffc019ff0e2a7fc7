//! What the tests of the crate share: builders of commands, decoded events, and a check of the whole state.

#![allow(dead_code, missing_docs, reason = "each test uses a part of it")]

use std::collections::HashMap;

use openspot_matching::accounts::TransferStatus;
use openspot_matching::engine::Engine;
use openspot_matching::key_hash::{HashSeed, Key, halves};
use openspot_matching::records::{COMMAND_SIZE, Command, CommandResult, EVENT_SIZE};
use openspot_matching::types::{
    AMOUNT_MAX, AMOUNT_SCALE, CommandKind, FLAG_ACTIVE, OrderType, Side, StpMode,
};

pub const BASE: u32 = 1;
pub const QUOTE: u32 = 2;
pub const SYMBOL: u32 = 1;
pub const ALICE: u64 = 10;
pub const BOB: u64 = 11;
/// Whole units of each currency that each account owns at first.
pub const FUNDS: i128 = 1_000_000;

/// The fields of an event that the tests compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenEvent {
    pub event_type: u8,
    pub flags: u8,
    pub code: u16,
    pub order_id: u64,
    pub maker_order_id: u64,
    pub price: i64,
    pub quantity: i64,
    pub remaining: i64,
    pub maker_remaining: i64,
    pub amount: i128,
    pub maker_amount: i128,
}

pub fn command(kind: CommandKind) -> Command {
    Command { kind: kind as u8, ..Command::default() }
}

pub fn create_symbol(symbol: u32, scales: (i64, i64), steps: (i64, i64), fees: (i32, i32)) -> Command {
    let fee_bits = u128::from(fees.0.cast_unsigned()) | u128::from(fees.1.cast_unsigned()) << 32;
    Command {
        symbol,
        order_id: u64::from(BASE) | u64::from(QUOTE) << 32,
        account: scales.0.cast_unsigned(),
        price: scales.1,
        quantity: steps.0,
        amount: (u128::from(steps.1.cast_unsigned()) | fee_bits << 64).cast_signed(),
        ..command(CommandKind::CreateSymbol)
    }
}

pub fn account(kind: CommandKind, account: u64, mode: StpMode) -> Command {
    Command { account, order_type: mode as u8, flags: FLAG_ACTIVE, ..command(kind) }
}

pub fn money(kind: CommandKind, account: u64, currency: u32, amount: i128, reference: u64) -> Command {
    Command { account, symbol: currency, amount, price: reference.cast_signed(), ..command(kind) }
}

/// A limit order at its price, or with `amount` as its budget.
pub fn place(
    order_id: u64,
    account: u64,
    side: Side,
    order_type: OrderType,
    price: i64,
    quantity: i64,
) -> Command {
    Command {
        side: side as u8,
        order_type: order_type as u8,
        symbol: SYMBOL,
        order_id,
        account,
        price,
        quantity,
        amount: if side == Side::Buy { i128::from(price) } else { 0 },
        ..command(CommandKind::Place)
    }
}

pub fn change(kind: CommandKind, order_id: u64, account: u64, price: i64, quantity: i64) -> Command {
    Command { order_id, account, price, quantity, ..command(kind) }
}

/// One symbol of scales 1 and two funded accounts; fees of the taker and the maker in basis points.
pub fn world(fees: (i32, i32)) -> Engine {
    let mut engine = Engine::new(16);
    for currency in [BASE, QUOTE] {
        engine.apply(&Command { symbol: currency, ..command(CommandKind::CreateCurrency) });
    }
    engine.apply(&create_symbol(SYMBOL, (1, 1), (1, 1), fees));
    for number in [ALICE, BOB] {
        engine.apply(&account(CommandKind::CreateAccount, number, StpMode::None));
        for currency in [BASE, QUOTE] {
            engine.apply(&money(CommandKind::Deposit, number, currency, FUNDS * i128::from(AMOUNT_SCALE), 0));
        }
    }
    engine.events.clear();
    engine
}

/// Applies a command and returns its result and its events.
pub fn run(engine: &mut Engine, command: &Command) -> (CommandResult, Vec<SeenEvent>) {
    engine.events.clear();
    let result = engine.apply(command);
    (result, decode_events(&engine.events))
}

pub fn decode_events(events: &[u8]) -> Vec<SeenEvent> {
    events.as_chunks::<EVENT_SIZE>().0.iter().map(decode_event).collect()
}

fn decode_event(record: &[u8; EVENT_SIZE]) -> SeenEvent {
    let word = |place: usize| -> [u8; 8] {
        let words = record.as_chunks::<8>().0;
        words.get(place).copied().unwrap_or_default()
    };
    let wide = |place| {
        let (low, high) = (u64::from_le_bytes(word(place)), i64::from_le_bytes(word(place + 1)));
        i128::from(high) << 64 | i128::from(low)
    };
    let [event_type, _, _, flags, code_low, code_high, ..] = word(0);
    SeenEvent {
        event_type,
        flags,
        code: u16::from_le_bytes([code_low, code_high]),
        order_id: u64::from_le_bytes(word(5)),
        maker_order_id: u64::from_le_bytes(word(6)),
        price: i64::from_le_bytes(word(9)),
        quantity: i64::from_le_bytes(word(10)),
        remaining: i64::from_le_bytes(word(11)),
        maker_remaining: i64::from_le_bytes(word(12)),
        amount: wide(14),
        maker_amount: wide(16),
    }
}

/// An account's (total, held, locked) in a currency.
pub fn balance(engine: &Engine, account: u64, currency: u32) -> (i128, i128, i128) {
    let accounts = &engine.accounts;
    let index = accounts.find_balance(accounts.find_account(account), accounts.find_currency(currency));
    let entry = accounts.balances.at(index);
    (entry.total, entry.held, entry.locked)
}

/// Asserts what must hold in every state. Recalculates everything from the orders and the transfers.
pub fn check_invariants(engine: &Engine) {
    let (books, accounts) = (&engine.books, &engine.accounts);
    let mut held: HashMap<u32, (i128, i128)> = HashMap::new();
    let mut orders = 0;
    for book in books.books_by_symbol() {
        let index = books.find_book(book.symbol);
        let mut of_book = 0;
        for side in [Side::Buy, Side::Sell] {
            let mut last_rank = i64::MIN;
            assert_eq!(book.side(side).best(), book.side(side).iter().next().unwrap_or(0));
            for level_index in book.side(side).iter() {
                let level = books.levels.at(level_index);
                assert!(side.rank(level.price) > last_rank, "levels out of order");
                last_rank = side.rank(level.price);
                assert_eq!(books.find_level(index, side, level.price), level_index);
                let (mut total, mut count, mut previous) = (0, 0, 0);
                for (order_index, order) in books.queue(level_index) {
                    assert_eq!((order.level, order.previous), (level_index, previous));
                    assert_eq!(books.find_order(order.id), order_index);
                    assert!(order.remaining > 0 && order.remaining <= order.quantity);
                    let fees = order.terms.worst_fee_bps();
                    let entry = held.entry(order.held_balance).or_default();
                    entry.0 += book.hold(side, order.reserve_price, order.remaining, fees);
                    entry.1 += book.locked(side, level.price, order.remaining);
                    total += i128::from(books.shown(order));
                    count += 1;
                    previous = order_index;
                }
                assert!(count > 0, "an empty level");
                assert_eq!((level.total, level.count, level.tail), (total, count, previous));
                of_book += count;
            }
        }
        let bid = books.levels.at(book.side(Side::Buy).best()).price;
        assert!(!book.side(Side::Sell).crosses(bid), "a crossed book");
        assert_eq!(book.orders, of_book);
        orders += of_book;
    }
    assert_eq!(books.orders.len(), orders as usize);
    for entry in accounts.transfers_by_reference() {
        if entry.status == TransferStatus::Held {
            let account = accounts.find_account(entry.account);
            let balance = accounts.find_balance(account, accounts.find_currency(entry.currency));
            held.entry(balance).or_default().0 += entry.amount;
        }
    }
    let mut sums: HashMap<u32, i128> = HashMap::new();
    for (index, balance) in accounts.balances.iter() {
        assert_eq!((balance.held, balance.locked), held.get(&index).copied().unwrap_or_default());
        assert!(balance.total >= 0 && balance.free() >= 0 && balance.locked <= balance.held);
        *sums.entry(balance.currency).or_default() += balance.total;
    }
    for (index, currency) in accounts.currencies.iter() {
        assert_eq!(currency.supply, sums.get(&index).copied().unwrap_or_default());
        assert!(currency.supply <= AMOUNT_MAX);
    }
}

/// The record of a command of any kind but `CREATE_SYMBOL`.
pub fn record(command: &Command) -> [u8; COMMAND_SIZE] {
    let [low, high] = halves(command.amount.cast_unsigned());
    let head = [command.kind, command.side, command.order_type, command.flags];
    let symbol = command.symbol.to_le_bytes();
    let words = [
        command.timestamp,
        command.order_id,
        command.account,
        command.price.cast_unsigned(),
        command.quantity.cast_unsigned(),
        low,
        high,
    ];
    let bytes = head.into_iter().chain(symbol).chain(words.into_iter().flat_map(u64::to_le_bytes));
    let mut record = [0; COMMAND_SIZE];
    record.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    record
}

/// Repeatable random numbers.
pub struct Random {
    seed: HashSeed,
    drawn: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        let word = |number: u64| (seed + number + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Self { seed: HashSeed::from_words(word), drawn: 0 }
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.drawn += 1;
        u64::from(self.drawn.hash(&self.seed)) % limit
    }

    pub fn signed(&mut self, limit: u64) -> i64 {
        self.below(limit).cast_signed()
    }

    /// A number that fits one byte of a record; `limit` is at most 256.
    pub fn byte(&mut self, limit: u64) -> u8 {
        u8::try_from(self.below(limit)).unwrap_or(u8::MAX)
    }
}
