//! Random commands: whatever comes, the state keeps its rules, and a snapshot is the whole of it.

mod common;

use common::{
    BASE, QUOTE, Random, account, change, check_invariants, command, create_symbol, money, place, record,
};
use openspot_matching::batch_prefetch::WORTHWHILE_ORDERS;
use openspot_matching::engine::Engine;
use openspot_matching::records::{COMMAND_SIZE, Command};
use openspot_matching::restore::RestoreError;
use openspot_matching::types::{AMOUNT_SCALE, CommandKind, OrderType, Side, StpMode};

const SEEDS: u64 = 12;
const COMMANDS: u64 = 6_000;
const ACCOUNTS: u64 = 6;

fn world() -> Engine {
    let mut engine = Engine::new(0);
    for currency in [BASE, QUOTE] {
        engine.apply(&Command { symbol: currency, ..command(CommandKind::CreateCurrency) });
    }
    engine.apply(&create_symbol(1, (100, 10), (5, 2), (20, -10)));
    for number in 2..2 + ACCOUNTS {
        let mode = StpMode::from_record(u8::try_from(number % 5).unwrap_or(0)).unwrap_or_default();
        engine.apply(&account(CommandKind::CreateAccount, number, mode));
        for currency in [BASE, QUOTE] {
            engine.apply(&money(CommandKind::Deposit, number, currency, 2_000 * i128::from(AMOUNT_SCALE), 0));
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
            let order_type = OrderType::from_record(1 + random.byte(5)).unwrap_or_default();
            let order = place(step, owner, side, order_type, price, quantity);
            match order_type {
                OrderType::FokBudget => Command {
                    amount: i128::from(price * quantity) * (i128::from(AMOUNT_SCALE) / 1_000),
                    ..order
                },
                _ => Command { amount: order.amount + i128::from(5 * random.signed(3)), ..order },
            }
        }
        11..=12 => change(CommandKind::Cancel, id, if random.below(3) == 0 { 0 } else { owner }, 0, 0),
        13..=14 => change(CommandKind::Move, id, owner, price, 0),
        15 => change(CommandKind::Reduce, id, owner, 0, quantity),
        16 => {
            account(CommandKind::SetAccount, owner, StpMode::from_record(random.byte(5)).unwrap_or_default())
        }
        17 => {
            let kinds =
                [CommandKind::Deposit, CommandKind::Withdraw, CommandKind::Reserve, CommandKind::Adjust];
            let kind = kinds.into_iter().nth(usize::from(random.byte(4))).unwrap_or(CommandKind::Deposit);
            let sign = if kind == CommandKind::Adjust && random.below(2) == 0 { -1 } else { 1 };
            money(
                kind,
                owner,
                BASE,
                sign * i128::from(1 + random.below(9)) * i128::from(AMOUNT_SCALE),
                random.below(40),
            )
        }
        18 => change(CommandKind::Release, 0, 0, random.signed(40), 0),
        _ => change(CommandKind::Commit, 0, 0, random.signed(40), 0),
    }
}

/// A snapshot without its seal, which would hide every other check from damage.
fn snapshot(engine: &Engine) -> Vec<u8> {
    let mut bytes = Vec::new();
    engine.write_state(&mut bytes);
    bytes
}

#[test]
fn random_commands_keep_every_rule_of_the_state() {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed << 32);
        let mut engine = world();
        for step in 1..=COMMANDS {
            let command = next(&mut random, step);
            engine.apply(&command);
            if step % 16 == 0 {
                check_invariants(&engine);
            }
        }
        assert!(engine.event_sequence > COMMANDS * 9 / 10, "seed {seed} did too little");
    }
}

#[test]
fn a_restored_engine_goes_on_as_the_original() -> Result<(), RestoreError> {
    let mut random = Random::new(99 << 32);
    let mut engine = world();
    for round in 0..20 {
        let mut twin = Engine::from_snapshot(&snapshot(&engine), 0)?;
        check_invariants(&twin);
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
    let mut random = Random::new(5 << 32);
    let mut engine = world();
    for number in 2..2 + ACCOUNTS {
        engine.apply(&money(CommandKind::Deposit, number, QUOTE, 1_000_000 * i128::from(AMOUNT_SCALE), 0));
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
            *byte = random.byte(256);
        }
        let [kind, side, ..] = &mut noise;
        (*kind, *side) = (random.byte(20), 1 + random.byte(2));
        let edge = [i64::MIN, -1, 0, i64::MAX].into_iter().nth(usize::from(random.byte(4))).unwrap_or(0);
        let order = place(random.below(40_000), 2, Side::Buy, OrderType::Gtc, edge, 2);
        let moved = change(CommandKind::Move, random.below(40_000), 2, edge, 0);
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
    assert!(
        engine.books.orders.len() > WORTHWHILE_ORDERS,
        "the book is not large: {}",
        engine.books.orders.len()
    );
    check_invariants(&engine);
}

#[test]
fn damaged_bytes_are_no_snapshot_or_another_sound_state() {
    let mut random = Random::new(7 << 32);
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
            check_invariants(&other);
            assert_eq!(snapshot(&other), damaged);
        }
    }
}

#[test]
fn any_changed_bit_of_a_sealed_snapshot_is_noticed() -> Result<(), RestoreError> {
    let mut random = Random::new(8 << 32);
    let mut engine = world();
    for step in 1..=50 {
        let command = next(&mut random, step);
        engine.apply(&command);
    }
    let sealed = engine.snapshot();
    assert_eq!(Engine::from_snapshot(&sealed, 0)?.snapshot(), sealed);
    assert!(sealed.ends_with(&snapshot(&engine)));
    for place in 0..sealed.len() {
        let mut damaged = sealed.clone();
        if let Some(byte) = damaged.get_mut(place) {
            *byte ^= 1 << random.below(8);
        }
        assert!(Engine::from_snapshot(&damaged, 0).is_err(), "byte {place}");
    }
    Ok(())
}

#[test]
#[should_panic(expected = "broken invariant of the matching core: more is released than is held")]
fn a_wrong_hold_ends_the_core_when_its_order_is_cancelled() {
    let mut engine = world();
    engine.apply(&place(1, 2, Side::Buy, OrderType::Gtc, 500, 2));
    let index = engine.books.find_order(1);
    let balance = engine.books.orders.at(index).held_balance;
    engine.accounts.balances.at_mut(balance).held -= 1;
    engine.apply(&Command { order_id: 1, account: 2, ..command(CommandKind::Cancel) });
}

#[test]
#[should_panic(expected = "broken invariant of the matching core: a level has no orders")]
fn a_level_without_orders_ends_the_core() {
    let mut engine = world();
    engine.apply(&place(1, 2, Side::Buy, OrderType::Gtc, 500, 2));
    let level = engine.books.orders.at(engine.books.find_order(1)).level;
    engine.books.levels.at_mut(level).head = 0;
    engine.apply(&place(2, 3, Side::Sell, OrderType::Gtc, 500, 2));
}
