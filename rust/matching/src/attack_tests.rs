//! Attacks on the indexes: keys that somebody chose so that they collide, and how much work each command does.
//!
//! Work is counted in entries that are visited or moved (`work`), never in time.

use crate::engine::Engine;
use crate::hash_index::BLOCK;
use crate::key_hash::{HashSeed, Key};
use crate::order_books::LevelKey;
use crate::records::Command;
use crate::types::{
    AMOUNT_SCALE, CommandKind, FLAG_ACTIVE, OrderType, ResultCode, SCALED_MAX, Side, StpMode,
};
use crate::work;

const SELLER: u64 = 1_000;
const BASE: u32 = 1;
const QUOTE: u32 = 2;
const BOOK: u32 = 1;
/// Most entries that a command visits or moves in these tests: two blocks of an index while it grows, a chunk
/// of levels, and the list of chunks.
const STEPS_MAX: u64 = 4 * BLOCK as u64;

/// The hash that found levels, orders, accounts and references before hashing was keyed.
fn unkeyed_hash(key: u64) -> u64 {
    let mixed = (key ^ (key >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The key with an unkeyed hash: every step of that hash can be undone.
fn key_with_unkeyed_hash(hash: u64) -> u64 {
    let undo_multiply = |value: u64, factor: u64| {
        // Newton's iteration doubles the correct bits of the inverse each time.
        let inverse = (0..6)
            .fold(factor, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(inverse))));
        value.wrapping_mul(inverse)
    };
    let undo_shift = |value: u64, bits: u32| value ^ (value >> bits) ^ (value >> (2 * bits));
    let mixed = undo_multiply(undo_shift(hash, 31), 0x94D0_49BB_1331_11EB);
    undo_shift(undo_multiply(undo_shift(mixed, 27), 0xBF58_476D_1CE4_E5B9), 30)
}

/// Keys whose unkeyed hashes have the same lower 32 bits: they were all in one run of the old index.
fn old_collisions() -> impl Iterator<Item = u64> {
    (1..=u64::from(u32::MAX)).map(|upper| key_with_unkeyed_hash(upper << 32 | 0x0BAD_5EED))
}

fn command(kind: CommandKind) -> Command {
    Command { kind: kind as u8, flags: FLAG_ACTIVE, ..Command::default() }
}

fn sell(order_id: u64, price: i64) -> Command {
    Command {
        side: Side::Sell as u8,
        order_type: OrderType::Gtc as u8,
        symbol: 1,
        order_id,
        account: SELLER,
        price,
        quantity: 1,
        ..command(CommandKind::Place)
    }
}

/// One symbol, and a seller with a million lots.
fn market(seed: HashSeed) -> Engine {
    let mut engine = Engine::with_seed(0, seed);
    for symbol in [BASE, QUOTE] {
        engine.apply(&Command { symbol, ..command(CommandKind::CreateCurrency) });
    }
    // Scales, tick and lot of 1 and no fees, in the layout of CREATE_SYMBOL.
    let currencies = u64::from(BASE) | u64::from(QUOTE) << 32;
    let symbol = Command {
        symbol: 1,
        order_id: currencies,
        account: 1,
        price: 1,
        quantity: 1,
        amount: 1,
        ..command(CommandKind::CreateSymbol)
    };
    assert_eq!(engine.apply(&symbol).code, ResultCode::Success);
    let amount = 1_000_000 * i128::from(AMOUNT_SCALE);
    engine.apply(&Command { account: SELLER, symbol: BASE, amount, ..command(CommandKind::Deposit) });
    engine
}

/// Applies commands and asserts that each succeeds within `steps_max`. Returns the steps of all.
fn attack(engine: &mut Engine, commands: impl Iterator<Item = Command>, steps_max: u64) -> u64 {
    let mut all = 0;
    work::take();
    for (number, command) in commands.enumerate() {
        assert_eq!(engine.apply(&command).code, ResultCode::Success, "command {number}");
        engine.events.clear();
        let steps = work::take();
        assert!(steps <= steps_max, "command {number} visited or moved {steps} entries");
        all += steps;
    }
    all
}

/// The steps of placing one order at each price and then cancelling them all, under a random seed.
fn steps_at(prices: &[i64]) -> u64 {
    let mut engine = market(HashSeed::random());
    let places = (1..).zip(prices).map(|(id, &price)| sell(id, price));
    let cancels =
        (1..=prices.len() as u64).map(|order_id| Command { order_id, ..command(CommandKind::Cancel) });
    attack(&mut engine, places, STEPS_MAX) + attack(&mut engine, cancels, STEPS_MAX)
}

/// Asserts that chosen prices cost about as many steps as random ones.
fn assert_harmless(prices: &[i64]) {
    let seed = HashSeed::random();
    // The keys of the index are the hashes of 1, 2, 3, …: random prices of 32 bits, without repetition.
    let mut random: Vec<i64> =
        (1..=prices.len() as u64 * 2).map(|number| 1 + i64::from(number.hash(&seed))).collect();
    random.sort_unstable();
    random.dedup();
    // In the order of their hashes again, for a sorted list costs less where it grows at one end.
    random.sort_unstable_by_key(|price| price.cast_unsigned().hash(&seed));
    random.truncate(prices.len());
    let (chosen, expected) = (steps_at(prices), steps_at(&random));
    assert!(chosen * 2 < expected * 3, "{chosen} steps, and {expected} for random prices");
}

fn valid(price: i64) -> bool {
    (1..=SCALED_MAX).contains(&price)
}

#[test]
fn the_unkeyed_hash_is_undone() {
    for key in [0, 1, 77, u64::MAX, 1 << 63] {
        assert_eq!(key_with_unkeyed_hash(unkeyed_hash(key)), key);
    }
}

#[test]
fn prices_that_collided_without_a_key_cost_what_random_prices_cost() {
    // The old hash of a level took its rank, and its book in the upper bits.
    let prices: Vec<i64> = old_collisions()
        .map(|key| (key ^ u64::from(BOOK).rotate_right(16)).cast_signed())
        .filter(|&price| valid(price))
        .take(10_000)
        .collect();
    assert_harmless(&prices);
}

#[test]
fn prices_that_collide_under_an_outsiders_own_seed_cost_what_random_prices_cost() {
    let own = HashSeed::random();
    let hash = |price: i64| LevelKey { book: BOOK, rank: price }.hash(&own);
    let prices: Vec<i64> = (1..).filter(|&price| hash(price).trailing_zeros() >= 10).take(5_000).collect();
    assert_harmless(&prices);
}

#[test]
fn prices_with_structure_cost_what_random_prices_cost() {
    let progressions = [0, 1, 8, 20, 32, 40, 47].map(|shift| {
        let prices = (1..=5_000).map(move |number: i64| number << shift);
        prices.filter(|&price| valid(price)).collect::<Vec<_>>()
    });
    // Every sum of 12 powers of two, 5 bits apart.
    let sums = (1..1 << 12).map(|bits: i64| (0..12).map(|bit| (bits >> bit & 1) << (5 * bit)).sum());
    for prices in progressions.into_iter().chain([sums.collect()]) {
        assert_harmless(&prices);
    }
}

#[test]
fn even_whoever_knows_the_seed_makes_no_command_visit_more_than_a_few_blocks() {
    let seed = HashSeed::random();
    let hash = |price: i64| LevelKey { book: BOOK, rank: price }.hash(&seed);
    let mut engine = market(seed);
    // All begin their search at the same entry, in tables of up to 8,192 entries.
    let prices: Vec<i64> = (1..).filter(|&price| hash(price).trailing_zeros() >= 13).take(1_000).collect();
    let places = (1..).zip(&prices).map(|(id, &price)| sell(id, price));
    // A block of equal hashes moves in BLOCK² / 2 steps, once each time that the index doubles.
    let moving = (BLOCK * BLOCK / 2) as u64;
    let steps = attack(&mut engine, places, moving + STEPS_MAX);
    assert!(steps < 3 * moving + 1_000 * STEPS_MAX);
    let cancels = (1..=1_000).map(|order_id| Command { order_id, ..command(CommandKind::Cancel) });
    attack(&mut engine, cancels, STEPS_MAX);
}

#[test]
fn chosen_order_ids_accounts_and_references_cost_what_random_ones_cost() {
    let mut engine = market(HashSeed::random());
    let ids: Vec<u64> = old_collisions().take(10_000).collect();
    let orders = ids.iter().map(|&order_id| sell(order_id, 100));
    let accounts = ids.iter().map(|&account| Command { account, ..command(CommandKind::CreateAccount) });
    let deposits = ids.iter().map(|&low| Command {
        account: SELLER,
        symbol: QUOTE,
        amount: 1,
        price: low.cast_signed(),
        ..command(CommandKind::Deposit)
    });
    let commands = orders.chain(accounts).chain(deposits);
    let steps = attack(&mut engine, commands, STEPS_MAX);
    assert!(steps < 30_000 * 20, "{steps} steps");
}

#[test]
fn no_command_does_much_work_while_a_book_grows() {
    let mut engine = market(HashSeed::random());
    let mut price = 0;
    let places = (1..=300_000).map(|id| {
        // Mostly a worse price, so that nearly every order adds a level.
        price += 1;
        sell(id, price)
    });
    // At 300,000 levels the list of chunks has up to 9,375 entries.
    attack(&mut engine, places, STEPS_MAX + 9_375);
}

#[test]
fn results_events_and_state_do_not_depend_on_the_seed() {
    let run = |seed| {
        let mut engine = market(seed);
        let mut results = Vec::new();
        for step in 1..=3_000u64 {
            let price = 1 + unkeyed_hash(step).cast_signed().rem_euclid(500);
            results.push(engine.apply(&sell(step, price)));
            let order_id = unkeyed_hash(step << 32) % step;
            let cancel = Command { order_id, ..command(CommandKind::Cancel) };
            results.push(engine.apply(&cancel));
        }
        (results, engine.snapshot(), engine.state_hash(), engine.events)
    };
    assert_eq!(run(HashSeed::random()), run(HashSeed::random()));
}

#[test]
fn a_fill_or_kill_that_cannot_fill_visits_a_bounded_part_of_a_deep_book() {
    const BUYER: u64 = 1_001;
    const STEPS: u64 = 1 << 12;
    let mut engine = market(HashSeed::random());
    let rich = 10_000_000_000 * i128::from(AMOUNT_SCALE);
    for (account, symbol) in [(BUYER, QUOTE), (BUYER, BASE)] {
        engine.apply(&Command { account, symbol, amount: rich, ..command(CommandKind::Deposit) });
    }
    // Deep in levels, and deep in orders of one level behind them.
    let levels = (1..=20_000).map(|id| sell(id, id.cast_signed()));
    let orders = (20_001..=40_000).map(|id| sell(id, 20_001));
    for place in levels.chain(orders) {
        assert_eq!(engine.apply(&place).code, ResultCode::Success);
    }
    let buy = |order_type, flags, price, quantity| Command {
        side: Side::Buy as u8,
        order_type: order_type as u8,
        flags,
        order_id: 50_000,
        account: BUYER,
        quantity,
        amount: rich / 2,
        ..sell(0, price)
    };
    let buy_limit =
        |flags, quantity| Command { amount: 30_000, ..buy(OrderType::Fok, flags, 30_000, quantity) };
    let mut steps_of = |command: &Command| {
        work::take();
        let code = engine.apply(command).code;
        // Each search of an index takes a few steps more.
        (code, work::take() / 1_000)
    };
    let too_deep = (ResultCode::FokTooDeep, STEPS / 1_000);
    assert_eq!(steps_of(&buy_limit(12, 40_001)), too_deep);
    assert_eq!(steps_of(&buy(OrderType::FokBudget, 12, 0, 40_001)), too_deep);
    // Journals of before have no bound.
    assert_eq!(steps_of(&buy_limit(0, 40_001)), (ResultCode::FokNotFillable, 20));
    // A bound beyond every number is none.
    assert_eq!(steps_of(&buy_limit(255, 40_001)), (ResultCode::FokNotFillable, 20));

    // Behind all others, so that each order must be looked at.
    let mode = StpMode::CancelResting as u8;
    let own = Command { account: BUYER, ..sell(49_999, 30_000) };
    let set_mode = Command { order_type: mode, account: BUYER, ..command(CommandKind::SetAccount) };
    for prepare in [set_mode, own] {
        assert_eq!(steps_of(&prepare).0, ResultCode::Success);
    }
    assert_eq!(steps_of(&buy_limit(12, 40_001)), too_deep);
    assert_eq!(steps_of(&buy(OrderType::FokBudget, 12, 0, 40_001)), too_deep);
    assert_eq!(steps_of(&buy_limit(0, 40_001)), (ResultCode::FokNotFillable, 40));
}
