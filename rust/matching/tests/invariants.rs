//! Random commands: whatever comes, the state keeps its rules, and a snapshot is the whole of it.

mod common;

use common::{BASE, QUOTE, account, change, command, create_symbol, judge, money, place};
use openspot_matching::engine::Engine;
use openspot_matching::events::{COMMAND_SIZE, Command};
use openspot_matching::index::{halves, hash};
use openspot_matching::snapshot::SnapshotError;
use openspot_matching::types::{AMOUNT_SCALE, Kind, OrderType, Side, StpMode};

const SEEDS: u64 = 12;
const COMMANDS: u64 = 6_000;
const ACCOUNTS: u64 = 6;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        hash(self.0) % limit
    }

    fn signed(&mut self, limit: u64) -> i64 {
        self.below(limit).cast_signed()
    }

    /// A small number, as records hold them.
    fn small(&mut self, limit: u64) -> u8 {
        u8::try_from(self.below(limit)).unwrap_or(u8::MAX)
    }
}

fn world() -> Engine {
    let mut engine = Engine::new(0);
    for currency in [BASE, QUOTE] {
        engine.apply(&Command { symbol: currency, ..command(Kind::CreateCurrency) });
    }
    engine.apply(&create_symbol(1, (100, 10), (5, 2), (20, -10)));
    for number in 2..2 + ACCOUNTS {
        let mode = StpMode::from_record(u8::try_from(number % 5).unwrap_or(0)).unwrap_or_default();
        engine.apply(&account(Kind::CreateAccount, number, mode));
        for currency in [BASE, QUOTE] {
            engine.apply(&money(Kind::Deposit, number, currency, 2_000 * i128::from(AMOUNT_SCALE), 0));
        }
    }
    engine
}

fn next(random: &mut Random, step: u64) -> Command {
    let owner = 2 + random.below(ACCOUNTS);
    let id = 1 + step.saturating_sub(random.below(60));
    let price = 5 * (95 + random.signed(12)) + i64::from(random.below(40) == 0);
    let quantity = 2 * (1 + random.signed(30)) + i64::from(random.below(40) == 0);
    match random.below(20) {
        0..=10 => {
            let side = if random.below(2) == 0 { Side::Buy } else { Side::Sell };
            let order_type = OrderType::from_record(1 + random.small(5)).unwrap_or_default();
            let order = place(step, owner, side, order_type, price, quantity);
            match order_type {
                OrderType::FokBudget => Command {
                    amount: i128::from(price * quantity) * (i128::from(AMOUNT_SCALE) / 1_000),
                    ..order
                },
                _ => Command { amount: order.amount + i128::from(5 * random.signed(3)), ..order },
            }
        }
        11..=12 => change(Kind::Cancel, id, if random.below(3) == 0 { 0 } else { owner }, 0, 0),
        13..=14 => change(Kind::Move, id, owner, price, 0),
        15 => change(Kind::Reduce, id, owner, 0, quantity),
        16 => account(Kind::SetAccount, owner, StpMode::from_record(random.small(5)).unwrap_or_default()),
        17 => {
            let kinds = [Kind::Deposit, Kind::Withdraw, Kind::Reserve, Kind::Adjust];
            let kind = kinds.into_iter().nth(usize::from(random.small(4))).unwrap_or(Kind::Deposit);
            let sign = if kind == Kind::Adjust && random.below(2) == 0 { -1 } else { 1 };
            money(
                kind,
                owner,
                BASE,
                sign * i128::from(1 + random.below(9)) * i128::from(AMOUNT_SCALE),
                random.below(40),
            )
        }
        18 => change(Kind::Release, 0, 0, random.signed(40), 0),
        _ => change(Kind::Commit, 0, 0, random.signed(40), 0),
    }
}

/// The record of a command of any kind but `CREATE_SYMBOL`.
fn record(command: &Command) -> [u8; COMMAND_SIZE] {
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

fn snapshot(engine: &Engine) -> Vec<u8> {
    let mut bytes = Vec::new();
    engine.write_snapshot(&mut bytes);
    bytes
}

#[test]
fn random_commands_keep_every_rule_of_the_state() {
    for seed in 0..SEEDS {
        let mut random = Random(seed << 32);
        let mut engine = world();
        for step in 1..=COMMANDS {
            let command = next(&mut random, step);
            engine.apply(&command);
            if step % 16 == 0 {
                judge(&engine);
            }
        }
        assert!(engine.event_sequence > COMMANDS, "seed {seed} did too little");
    }
}

#[test]
fn a_restored_engine_goes_on_as_the_original() -> Result<(), SnapshotError> {
    let mut random = Random(99 << 32);
    let mut engine = world();
    for round in 0..20 {
        let mut twin = Engine::from_snapshot(&snapshot(&engine), 0)?;
        judge(&twin);
        engine.events.clear();
        for step in 1..=100 {
            let command = next(&mut random, round * 100 + step);
            assert_eq!(engine.apply(&command), twin.apply(&command));
        }
        assert_eq!(engine.events, twin.events);
        assert_eq!(engine.state_hash(), twin.state_hash());
    }
    Ok(())
}

#[test]
fn a_large_book_read_ahead_answers_as_one_that_is_not() {
    let mut random = Random(5 << 32);
    let mut engine = world();
    for number in 2..2 + ACCOUNTS {
        engine.apply(&money(Kind::Deposit, number, QUOTE, 1_000_000 * i128::from(AMOUNT_SCALE), 0));
    }
    let mut records = Vec::new();
    for step in 1..=30_000 {
        let side = if random.below(2) == 0 { Side::Buy } else { Side::Sell };
        let passive = if side == Side::Buy { -1 } else { 1 };
        let price = 5 * (2_000 + passive * (1 + random.signed(600)));
        records.push(record(&place(step, 2 + random.below(ACCOUNTS), side, OrderType::Gtc, price, 2)));
    }
    for step in 30_001..=33_000 {
        let command = next(&mut random, step);
        let price = command.price * 20;
        let (order_id, quantity) = (1 + random.below(step), command.quantity * 4);
        let command = match command.kind {
            1 => Command { amount: i128::from(price), price, quantity, ..command },
            2 | 3 => Command { order_id, price, account: 2 + random.below(ACCOUNTS), ..command },
            _ => command,
        };
        records.push(record(&command));
    }
    // Whatever a record holds, reading it ahead does no harm.
    for _ in 0..1_000 {
        let mut noise = [0; COMMAND_SIZE];
        for byte in &mut noise {
            *byte = random.small(256);
        }
        let [kind, side, ..] = &mut noise;
        (*kind, *side) = (random.small(20), 1 + random.small(2));
        let edge = [i64::MIN, -1, 0, i64::MAX].into_iter().nth(usize::from(random.small(4))).unwrap_or(0);
        let order = place(random.below(40_000), 2, Side::Buy, OrderType::Gtc, edge, 2);
        let moved = change(Kind::Move, random.below(40_000), 2, edge, 0);
        records.extend([noise, record(&Command { amount: 0, ..order }), record(&moved)]);
    }
    let mut twin = engine.clone();
    let (mut answers, mut twin_answers) = (Vec::new(), Vec::new());
    for batch in records.chunks(500) {
        engine.apply_batch(batch, |answer| answers.push(answer));
    }
    for single in &records {
        twin.apply_batch(&[*single], |answer| twin_answers.push(answer));
    }
    assert_eq!(answers, twin_answers);
    assert_eq!(engine.events, twin.events);
    assert_eq!(engine.state_hash(), twin.state_hash());
    assert!(engine.books.orders.len() > 16_384, "the book is not large: {}", engine.books.orders.len());
    judge(&engine);
}

#[test]
fn damaged_bytes_are_no_snapshot_or_another_sound_state() {
    let mut random = Random(7 << 32);
    let mut engine = world();
    for step in 1..=400 {
        let command = next(&mut random, step);
        engine.apply(&command);
    }
    let bytes = snapshot(&engine);
    for length in 0..bytes.len() {
        assert!(Engine::from_snapshot(bytes.get(..length).unwrap_or_default(), 0).is_err());
    }
    assert!(Engine::from_snapshot(&[bytes.as_slice(), &[0]].concat(), 0).is_err());
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        if let Some(byte) = damaged.get_mut(place) {
            *byte ^= 1 << random.below(8);
        }
        if let Ok(other) = Engine::from_snapshot(&damaged, 0) {
            judge(&other);
            assert_eq!(snapshot(&other), damaged);
        }
    }
}
