//! Batches against single commands in books of several sizes, with and without prefetching.
//!
//! Each way applies the same commands to a copy of the same book: a third each places, cancels and moves at
//! random prices. Figures are nanoseconds a command: of many batches of 512 commands the 2 % quantile, because
//! the other batches show what else the machine did meanwhile.
//!
//! `cargo bench` runs it. `batch_prefetch::WORTHWHILE_ORDERS` is where "batch" begins to prefetch.

#![allow(clippy::cast_precision_loss, reason = "the figures are rounded anyway")]

use std::hint::black_box;
use std::time::Instant;

use openspot_matching::engine::Engine;
use openspot_matching::key_hash::{HashSeed, Key, halves};
use openspot_matching::records::{COMMAND_SIZE, Command, RESULT_SIZE};
use openspot_matching::types::{CommandKind, FLAG_ACTIVE, Side};

const BATCH: usize = 512;
const BATCHES: usize = 600;
const ROUNDS: usize = 5;
const MIDDLE: i64 = 1_000_000;
const FIRST_ACCOUNT: u64 = 1_000;

type Record = [u8; COMMAND_SIZE];
type ResultRecord = [[u8; 8]; RESULT_SIZE / 8];

/// Size of a book: orders, prices of a side, accounts.
const BOOKS: [(u64, u64, u64); 9] = [
    (1_200, 49, 100),
    (2_000, 80, 200),
    (4_000, 160, 400),
    (8_000, 320, 800),
    (16_000, 640, 1_600),
    (32_000, 1_280, 3_200),
    (64_000, 2_560, 6_400),
    (250_000, 10_000, 10_000),
    (1_000_000, 40_000, 10_000),
];

struct Random {
    seed: HashSeed,
    drawn: u64,
}

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.drawn += 1;
        u64::from(self.drawn.hash(&self.seed)) % limit
    }
}

#[derive(Clone, Copy)]
struct Resting {
    id: u64,
    account: u64,
    side: Side,
}

/// A flow of commands on one symbol, and the orders that rest.
struct Flow {
    random: Random,
    prices: u64,
    accounts: u64,
    resting: Vec<Resting>,
    last_id: u64,
}

fn command(kind: CommandKind) -> Command {
    Command { kind: kind as u8, flags: FLAG_ACTIVE, ..Command::default() }
}

fn record(command: &Command) -> Record {
    let [low, high] = halves(command.amount.cast_unsigned());
    let head = [command.kind, command.side, command.order_type, command.flags];
    let words = [
        command.timestamp,
        command.order_id,
        command.account,
        command.price.cast_unsigned(),
        command.quantity.cast_unsigned(),
        low,
        high,
    ];
    let symbol = command.symbol.to_le_bytes();
    let bytes = head.into_iter().chain(symbol).chain(words.into_iter().flat_map(u64::to_le_bytes));
    let mut record = [0; COMMAND_SIZE];
    record.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    record
}

impl Flow {
    fn price(&mut self, side: Side) -> i64 {
        let distance = 1 + self.random.below(self.prices).cast_signed();
        if side == Side::Buy { MIDDLE - distance } else { MIDDLE + distance }
    }

    fn place(&mut self) -> Command {
        self.last_id += 1;
        let side = if self.random.below(2) == 0 { Side::Buy } else { Side::Sell };
        // Half of the accounts buy and half sell.
        let half = self.accounts / 2;
        let account = FIRST_ACCOUNT + self.random.below(half) + if side == Side::Sell { half } else { 0 };
        let price = self.price(side);
        self.resting.push(Resting { id: self.last_id, account, side });
        Command {
            side: side as u8,
            order_type: 1,
            symbol: 1,
            order_id: self.last_id,
            account,
            price,
            quantity: 1 + self.random.below(100).cast_signed(),
            amount: if side == Side::Buy { price.into() } else { 0 },
            ..command(CommandKind::Place)
        }
    }

    fn next(&mut self) -> Command {
        let count = self.resting.len() as u64;
        let chosen = usize::try_from(self.random.below(count)).unwrap_or(0);
        let order = self.resting.get(chosen).copied();
        match (self.random.below(3), order) {
            (0, Some(order)) => {
                self.resting.swap_remove(chosen);
                Command { order_id: order.id, account: order.account, ..command(CommandKind::Cancel) }
            }
            (1, Some(order)) => {
                let price = self.price(order.side);
                Command { order_id: order.id, account: order.account, price, ..command(CommandKind::Move) }
            }
            _ => self.place(),
        }
    }
}

/// A book of the given size, and the batches that follow.
fn prepare((orders, prices, accounts): (u64, u64, u64)) -> (Engine, Vec<Vec<Record>>) {
    let seed = HashSeed::from_words(|number| (number + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93));
    let random = Random { seed, drawn: 0 };
    let mut flow = Flow { random, prices, accounts, resting: Vec::new(), last_id: 0 };
    let mut engine = Engine::new(1 << 20);
    for symbol in [1, 2] {
        engine.apply(&Command { symbol, ..command(CommandKind::CreateCurrency) });
    }
    // Scales 100, tick and lot 1, fees of 25 and 15 basis points, in the layout of CREATE_SYMBOL.
    let fees = (25 + (15 << 32)) << 64;
    engine.apply(&Command {
        symbol: 1,
        order_id: 1 | 2 << 32,
        account: 100,
        price: 100,
        quantity: 1,
        amount: 1 + fees,
        ..command(CommandKind::CreateSymbol)
    });
    for account in FIRST_ACCOUNT..FIRST_ACCOUNT + accounts {
        for symbol in [1, 2] {
            let amount = 10i128.pow(32);
            engine.apply(&Command { symbol, account, amount, ..command(CommandKind::Deposit) });
        }
    }
    for _ in 0..orders {
        engine.apply(&flow.place());
    }
    assert_eq!(engine.books.orders.len() as u64, orders, "the book is not as large as it should be");
    engine.events.clear();
    let batches = (0..BATCHES).map(|_| (0..BATCH).map(|_| record(&flow.next())).collect()).collect();
    (engine, batches)
}

fn apply_each(engine: &mut Engine, batch: &[Record], prefetch: bool) {
    for record in batch {
        let before = engine.event_sequence;
        let command = Command::from_record(record);
        let result = if prefetch { engine.apply_single(&command) } else { engine.apply(&command) };
        let events = u32::try_from(engine.event_sequence - before).unwrap_or(u32::MAX);
        keep(result.to_record(events));
    }
}

type Way = (&'static str, fn(&mut Engine, &[Record]));

const WAYS: [Way; 4] = [
    ("batch", |engine, batch| engine.apply_batch(batch, keep)),
    ("batch, always prefetching", |engine, batch| engine.apply_batch_prefetching(batch, true, keep)),
    ("single", |engine, batch| apply_each(engine, batch, true)),
    ("single, never prefetching", |engine, batch| apply_each(engine, batch, false)),
];

/// Takes a result record in such a way that the compiler cannot leave it out.
fn keep(result: ResultRecord) {
    black_box(result);
}

fn main() {
    let only: Option<u64> = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    println!("nanoseconds a command");
    for (name, _) in WAYS {
        print!("{name:>28}");
    }
    println!("{:>12} orders", "");
    for book in BOOKS.into_iter().filter(|book| only.is_none_or(|orders| orders == book.0)) {
        let (engine, batches) = prepare(book);
        let mut costs: [Vec<u128>; WAYS.len()] = Default::default();
        for _ in 0..ROUNDS {
            for ((_, way), costs) in WAYS.iter().zip(&mut costs) {
                let mut engine = engine.clone();
                for batch in &batches {
                    let began = Instant::now();
                    way(&mut engine, batch);
                    costs.push(began.elapsed().as_nanos());
                    engine.events.clear();
                }
            }
        }
        for costs in &mut costs {
            costs.sort_unstable();
            let quantile = costs.get(costs.len() / 50).copied().unwrap_or(0);
            print!("{:>28.1}", quantile as f64 / BATCH as f64);
        }
        println!("{:>12}", book.0);
    }
}
