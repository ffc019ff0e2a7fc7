//! What the tests of the crate share: short commands, decoded events, and a judge of the whole state.

#![allow(dead_code, missing_docs, reason = "each test uses a part of it")]

use std::collections::HashMap;

use openspot_matching::engine::Engine;
use openspot_matching::events::{Command, EVENT_SIZE, Outcome};
use openspot_matching::types::{AMOUNT_MAX, AMOUNT_SCALE, FLAG_ACTIVE, Kind, OrderType, Side, StpMode};

pub const BASE: u32 = 1;
pub const QUOTE: u32 = 2;
pub const SYMBOL: u32 = 1;
pub const ALICE: u64 = 10;
pub const BOB: u64 = 11;
/// Whole units that each account begins with, of each currency.
pub const FUNDS: i128 = 1_000_000;

/// The fields of an event that the tests look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
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

pub fn command(kind: Kind) -> Command {
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
        ..command(Kind::CreateSymbol)
    }
}

pub fn account(kind: Kind, account: u64, mode: StpMode) -> Command {
    Command { account, order_type: mode as u8, flags: FLAG_ACTIVE, ..command(kind) }
}

pub fn money(kind: Kind, account: u64, currency: u32, amount: i128, reference: u64) -> Command {
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
        ..command(Kind::Place)
    }
}

pub fn change(kind: Kind, order_id: u64, account: u64, price: i64, quantity: i64) -> Command {
    Command { order_id, account, price, quantity, ..command(kind) }
}

/// One symbol of scales 1 and two funded accounts; fees of the taker and the maker in basis points.
pub fn world(fees: (i32, i32)) -> Engine {
    let mut engine = Engine::new(16);
    for currency in [BASE, QUOTE] {
        engine.apply(&Command { symbol: currency, ..command(Kind::CreateCurrency) });
    }
    engine.apply(&create_symbol(SYMBOL, (1, 1), (1, 1), fees));
    for number in [ALICE, BOB] {
        engine.apply(&account(Kind::CreateAccount, number, StpMode::None));
        for currency in [BASE, QUOTE] {
            engine.apply(&money(Kind::Deposit, number, currency, FUNDS * i128::from(AMOUNT_SCALE), 0));
        }
    }
    engine.events.clear();
    engine
}

/// Applies a command and answers its outcome with the events that it emitted.
pub fn run(engine: &mut Engine, command: &Command) -> (Outcome, Vec<Seen>) {
    engine.events.clear();
    let outcome = engine.apply(command);
    (outcome, seen(&engine.events))
}

pub fn seen(events: &[u8]) -> Vec<Seen> {
    events.as_chunks::<EVENT_SIZE>().0.iter().map(one_seen).collect()
}

fn one_seen(record: &[u8; EVENT_SIZE]) -> Seen {
    let word = |place: usize| -> [u8; 8] {
        let words = record.as_chunks::<8>().0;
        words.get(place).copied().unwrap_or_default()
    };
    let wide = |place| {
        let (low, high) = (u64::from_le_bytes(word(place)), i64::from_le_bytes(word(place + 1)));
        i128::from(high) << 64 | i128::from(low)
    };
    let [event_type, _, _, flags, code_low, code_high, ..] = word(0);
    Seen {
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
    let ledger = &engine.ledger;
    let entry = ledger.balances.at(ledger.balance(ledger.account(account), ledger.currency(currency)));
    (entry.total, entry.held, entry.locked)
}

/// Asserts what must hold in every state, all of it derived anew from the orders and the references.
pub fn judge(engine: &Engine) {
    let (books, ledger) = (&engine.books, &engine.ledger);
    let mut held: HashMap<u32, (i128, i128)> = HashMap::new();
    let mut orders = 0;
    for book in books.by_symbol() {
        let index = books.book(book.symbol);
        let mut of_book = 0;
        for side in [Side::Buy, Side::Sell] {
            let mut last_rank = i64::MIN;
            assert_eq!(book.ladder(side).best(), book.ladder(side).iter().next().unwrap_or(0));
            for level_index in book.ladder(side).iter() {
                let level = books.levels.at(level_index);
                assert!(side.rank(level.price) > last_rank, "levels out of order");
                last_rank = side.rank(level.price);
                assert_eq!(books.level(index, side, level.price), level_index);
                let (mut total, mut count, mut previous) = (0, 0, 0);
                for (order_index, order) in books.queue(level_index) {
                    assert_eq!((order.level, order.previous), (level_index, previous));
                    assert_eq!(books.find(order.id), order_index);
                    assert!(order.remaining > 0 && order.remaining <= order.quantity);
                    let fees = order.terms.worst_fee_bps();
                    let entry = held.entry(order.held_balance).or_default();
                    entry.0 += book.hold(side, order.reserve_price, order.remaining, fees);
                    entry.1 += book.lock(side, level.price, order.remaining);
                    total += i128::from(order.remaining);
                    count += 1;
                    previous = order_index;
                }
                assert!(count > 0, "an empty level");
                assert_eq!((level.total, level.count, level.tail), (total, count, previous));
                of_book += count;
            }
        }
        let bid = books.levels.at(book.ladder(Side::Buy).best()).price;
        assert!(!book.ladder(Side::Sell).crosses(bid), "a crossed book");
        assert_eq!(book.orders, of_book);
        orders += of_book;
    }
    assert_eq!(books.orders.len(), orders as usize);
    for entry in ledger.by_reference() {
        if entry.state as u8 == 1 {
            let balance = ledger.balance(ledger.account(entry.account), ledger.currency(entry.currency));
            held.entry(balance).or_default().0 += entry.amount;
        }
    }
    let mut sums: HashMap<u32, i128> = HashMap::new();
    for (index, balance) in ledger.balances.iter() {
        assert_eq!((balance.held, balance.locked), held.get(&index).copied().unwrap_or_default());
        assert!(balance.total >= 0 && balance.free() >= 0 && balance.locked <= balance.held);
        *sums.entry(balance.currency).or_default() += balance.total;
    }
    for (index, currency) in ledger.currencies.iter() {
        assert_eq!(currency.supply, sums.get(&index).copied().unwrap_or_default());
        assert!(currency.supply <= AMOUNT_MAX);
    }
}
