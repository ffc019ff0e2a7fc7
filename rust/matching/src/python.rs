//! The Python module `openspot_matching`: the class `RustCore` over [`Engine`].
//!
//! A batch of records crosses as bytes, and queries return plain tuples. A single command can also cross as
//! plain integers; its events gather until they are drained. `openspot_matching.pyi` says what each method
//! means and raises. The interpreter lock is held throughout: a core belongs to one thread, and a batch is
//! short.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::engine::Engine;
use crate::market_phase::MarketPhase;
use crate::order::Order;
use crate::order_book::OrderBook;
use crate::records::{COMMAND_SIZE, Command, EVENT_SIZE, RESULT_SIZE};
use crate::types::{CommandKind, NIL, Side, TriggerKind};
use crate::waiting::WaitingOrder;

/// Most open orders that address space can be set aside for.
const OPEN_ORDERS_EXPECTED_MAX: usize = 1 << 28;
/// Bytes of undrained events beyond which single commands raise `BufferError`: 2 GiB.
const UNDRAINED_BYTES_MAX: usize = 1 << 31;
/// First size of a buffer of events, in bytes.
const EVENT_BYTES_EXPECTED: usize = 4_096 * EVENT_SIZE;

/// Why a core answers nothing any more.
const UNUSABLE: &str =
    "the core is unusable since a command found its state broken: end the process and replay";

type DepthRow = (i64, i128, u32);
type VolumeRow = (i64, i128);
type OrderRow = (u64, u64, u32, u8, u8, i64, i64, i64, i64, u64);
type BalanceRow = (u64, u32, i128, i128, i128);
type AccountRow = (u64, bool, u8, Option<i16>, Option<i16>);
type WaitingRow = (u64, u32, u8, u8, u8, i64, i64, i64, i64);
type ListRow = (u64, u8, u64, u32, u64, i64, Vec<u64>, Vec<u64>);
type SymbolRow = (u32, u32, u32, i64, i64, i64, i64, i16, i16, bool);

/// A matching core: one deterministic state, without clock, IO and threads.
#[pyclass(subclass, module = "openspot_matching")]
struct RustCore {
    /// Its buffer holds the undrained events of single commands.
    engine: Engine,
    /// Buffer for the events of a batch.
    batch: Vec<u8>,
    /// Open orders that address space is set aside for.
    open_orders_expected: usize,
    /// Whether a command is being applied. It stays so if one ends in a panic, and the state is unusable.
    applying: bool,
}

impl RustCore {
    /// Applies one command, whose events gather, and returns its result code.
    #[inline]
    fn apply_one(&mut self, command: &Command) -> PyResult<u16> {
        if self.engine.events.len() > UNDRAINED_BYTES_MAX {
            return Err(PyBufferError::new_err("too many events wait: call drain_events()"));
        }
        self.require_usable()?;
        self.applying = true;
        let code = self.engine.apply_single(command).code as u16;
        self.applying = false;
        Ok(code)
    }

    /// An error if an earlier command ended in a panic.
    #[inline]
    fn require_usable(&self) -> PyResult<()> {
        if self.applying {
            return Err(PyRuntimeError::new_err(UNUSABLE));
        }
        Ok(())
    }

    fn waiting_order_row(&self, order: &WaitingOrder) -> OrderRow {
        (
            order.id,
            self.engine.waiting_owner(order),
            self.engine.books.book(order.book).symbol,
            order.side as u8,
            order.order_type as u8,
            order.price,
            order.reserve_price,
            order.quantity,
            order.remaining,
            order.timestamp,
        )
    }

    fn waiting_row(&self, order: &WaitingOrder) -> WaitingRow {
        let trigger = order.trigger;
        (
            order.id,
            self.engine.books.book(order.book).symbol,
            order.order_type as u8,
            trigger.kind as u8,
            trigger.flags,
            trigger.value,
            trigger.price(),
            order.limit(),
            order.fired_price,
        )
    }

    fn order_row(&self, order: &Order) -> OrderRow {
        let level = self.engine.books.levels.at(order.level);
        (
            order.id,
            self.engine.accounts.balances.at(order.held_balance).account_number,
            self.engine.books.book(level.book).symbol,
            level.side as u8,
            order.terms.order_type() as u8,
            level.price,
            order.reserve_price,
            order.quantity,
            order.remaining,
            order.timestamp,
        )
    }
}

#[pymethods]
impl RustCore {
    #[classattr]
    fn name() -> &'static str {
        "rust"
    }

    #[new]
    #[pyo3(signature = (open_orders_expected = 65_536))]
    fn new(open_orders_expected: usize) -> PyResult<Self> {
        if open_orders_expected > OPEN_ORDERS_EXPECTED_MAX {
            let message = format!("open_orders_expected must be at most {OPEN_ORDERS_EXPECTED_MAX}");
            return Err(PyValueError::new_err(message));
        }
        let mut engine = Engine::new(open_orders_expected);
        engine.events.reserve(EVENT_BYTES_EXPECTED);
        Ok(Self {
            engine,
            batch: Vec::with_capacity(EVENT_BYTES_EXPECTED),
            open_orders_expected,
            applying: false,
        })
    }

    /// Apply whole command records in order and return (results, events).
    fn apply<'py>(
        &mut self,
        py: Python<'py>,
        commands: &[u8],
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let (records, rest) = commands.as_chunks::<COMMAND_SIZE>();
        if !rest.is_empty() {
            let length = commands.len();
            let message = format!("{length} bytes are not a whole number of {COMMAND_SIZE}-byte commands");
            return Err(PyValueError::new_err(message));
        }
        self.require_usable()?;
        self.applying = true;
        let gathered = std::mem::replace(&mut self.engine.events, std::mem::take(&mut self.batch));
        let engine = &mut self.engine;
        let results = PyBytes::new_with(py, records.len() * RESULT_SIZE, |buffer| {
            let (words, _) = buffer.as_chunks_mut::<8>();
            let (results, _) = words.as_chunks_mut::<{ RESULT_SIZE / 8 }>();
            let mut results = results.iter_mut();
            let batch = AssertUnwindSafe(|| {
                engine.apply_batch(records, |result| {
                    if let Some(place) = results.next() {
                        *place = result;
                    }
                });
            });
            // The state is used no more after a panic, so it need not be consistent.
            catch_unwind(batch).map_err(|payload| broken_by(&*payload))
        });
        let results = results.map_err(|error| in_command(&error, engine.command_sequence))?;
        self.applying = false;
        self.batch = std::mem::replace(&mut self.engine.events, gathered);
        let events = PyBytes::new(py, &self.batch);
        self.batch.clear();
        Ok((results, events))
    }

    #[getter]
    fn command_sequence(&self) -> u64 {
        self.engine.command_sequence
    }

    #[getter]
    fn event_sequence(&self) -> u64 {
        self.engine.event_sequence
    }

    /// Whether a TERMS or `SET_MARK_PRICE` was ever applied.
    #[getter]
    fn tracks_prices(&self) -> bool {
        self.engine.tracks_prices
    }

    /// The whole state in its canonical form.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.require_usable()?;
        Ok(PyBytes::new(py, &self.engine.snapshot()))
    }

    /// Replace the state by the one in a snapshot.
    fn restore(&mut self, snapshot: &[u8]) -> PyResult<()> {
        let mut engine = Engine::from_snapshot(snapshot, self.open_orders_expected)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        if !self.applying {
            engine.events = std::mem::take(&mut self.engine.events);
        }
        self.engine = engine;
        self.applying = false;
        Ok(())
    }

    /// Hex SHA-256 of the snapshot.
    fn state_hash(&self) -> String {
        self.engine.state_hash()
    }

    /// (bids, asks), best first, at most `levels` each (0 = all): (price, total remaining, orders).
    fn depth(&self, symbol: u32, levels: usize) -> (Vec<DepthRow>, Vec<DepthRow>) {
        let books = &self.engine.books;
        let book = books.find_book(symbol);
        (books.depth(book, Side::Buy, levels), books.depth(book, Side::Sell, levels))
    }

    /// (bids, asks), best first, at most `levels` each (0 = all): (price, whole quantity).
    fn volumes(&self, symbol: u32, levels: usize) -> (Vec<VolumeRow>, Vec<VolumeRow>) {
        let books = &self.engine.books;
        let book = books.find_book(symbol);
        (books.volumes(book, Side::Buy, levels), books.volumes(book, Side::Sell, levels))
    }

    /// An open order, or None.
    fn order(&self, order_id: u64) -> Option<OrderRow> {
        let Engine { books, waiting, .. } = &self.engine;
        let index = books.find_order(order_id);
        if index != NIL {
            return Some(self.order_row(books.orders.at(index)));
        }
        let index = waiting.find(order_id);
        (index != NIL).then(|| self.waiting_order_row(&waiting.order(index)))
    }

    /// What an open order waits for, or will once it is armed; None if it has no trigger, or is unknown.
    fn waiting_order(&self, order_id: u64) -> Option<WaitingRow> {
        let Engine { waiting, lists, .. } = &self.engine;
        let index = waiting.find(order_id);
        if index != NIL {
            return Some(self.waiting_row(&waiting.order(index)));
        }
        let plans = &lists.get(lists.planning(order_id)?)?.plans;
        let plan = plans.iter().find(|plan| plan.id == order_id && plan.trigger.kind != TriggerKind::None)?;
        Some(self.waiting_row(plan))
    }

    /// What a resting order shows of its quantity at a time, and shows now; None if it shows all.
    fn iceberg(&self, order_id: u64) -> Option<(i64, i64)> {
        self.engine.books.iceberg_row(order_id)
    }

    /// The orders that wait for a trigger, by placement.
    fn waiting_orders(&self) -> Vec<WaitingRow> {
        self.engine.waiting.by_placement().iter().map(|order| self.waiting_row(order)).collect()
    }

    /// The lists whose orders depend on each other, by ascending id.
    fn order_lists(&self) -> Vec<ListRow> {
        let Engine { books, lists, .. } = &self.engine;
        let rows = lists.iter().map(|list| {
            (
                list.id,
                list.list_type as u8,
                list.account,
                books.book(list.book).symbol,
                list.entry,
                list.unarmed,
                list.exits.clone(),
                list.plans.iter().map(|plan| plan.id).collect(),
            )
        });
        rows.collect()
    }

    /// The open orders that expire, by ascending id, each with its time.
    fn expiries(&self) -> Vec<(u64, u64)> {
        let waiting = self.engine.waiting.by_placement();
        let waiting = waiting.iter().filter(|order| order.expiry != 0).map(|order| (order.id, order.expiry));
        let mut rows: Vec<(u64, u64)> = self.engine.books.expiries().chain(waiting).collect();
        rows.sort_unstable();
        rows
    }

    /// The active symbols with fired orders or filled entries that no command has seen to yet, ascending.
    fn activations_due(&self) -> Vec<u32> {
        let Engine { books, waiting, lists, .. } = &self.engine;
        if waiting.queued == 0 && lists.queued() == 0 {
            return Vec::new();
        }
        let due = waiting.books_with_queue().chain(lists.books_with_queue());
        let due = due
            .map(|index| books.book(index))
            .filter(|book| book.active && book.phase.phase == MarketPhase::Continuous);
        let mut symbols: Vec<u32> = due.map(|book| book.symbol).collect();
        symbols.sort_unstable();
        symbols.dedup();
        symbols
    }

    /// The symbols that are not in continuous trading, ascending: phase, end, reference price, whether
    /// they are active.
    fn phases(&self) -> Vec<(u32, u8, u64, i64, bool)> {
        let books = self.engine.books.books();
        let phased = books.filter(|book| book.phase.phase != MarketPhase::Continuous);
        let mut rows: Vec<_> = phased
            .map(|book| {
                let phase = book.phase;
                (book.symbol, phase.phase as u8, phase.ends, book.auction_reference(), book.active)
            })
            .collect();
        rows.sort_unstable();
        rows
    }

    /// The symbols that have a reference price, ascending: last trade and mark, 0 if unknown.
    fn reference_prices(&self) -> Vec<(u32, i64, i64)> {
        if !self.engine.tracks_prices {
            return Vec::new();
        }
        let books = self.engine.books.books_by_symbol();
        let rows = books.into_iter().map(|book| (book.symbol, book.last_price, book.mark_price));
        rows.filter(|&(_, last, mark)| last != 0 || mark != 0).collect()
    }

    /// Open orders by ascending order id; 0 means any account or symbol.
    #[pyo3(signature = (account = 0, symbol = 0))]
    fn open_orders(&self, account: u64, symbol: u32) -> Vec<OrderRow> {
        let Engine { books, accounts, .. } = &self.engine;
        let of_account = |order: &Order| accounts.balances.at(order.held_balance).account_number == account;
        let of_symbol = |order: &Order| books.book_of(order).symbol == symbol;
        let mut rows: Vec<OrderRow> = books
            .orders
            .iter()
            .map(|(_, order)| order)
            .filter(|order| order.id != 0)
            .filter(|order| account == 0 || of_account(order))
            .filter(|order| symbol == 0 || of_symbol(order))
            .map(|order| self.order_row(order))
            .collect();
        let waiting = self.engine.waiting.by_placement();
        let waiting = waiting.iter().map(|order| self.waiting_order_row(order));
        rows.extend(
            waiting.filter(|row| (account == 0 || row.1 == account) && (symbol == 0 || row.2 == symbol)),
        );
        rows.sort_unstable_by_key(|row| row.0);
        rows
    }

    /// Balances by ascending account and currency, without zero totals; 0 means all accounts.
    #[pyo3(signature = (account = 0))]
    fn balances(&self, account: u64) -> Vec<BalanceRow> {
        let accounts = &self.engine.accounts;
        let indices =
            if account == 0 { accounts.accounts_by_number() } else { vec![accounts.find_account(account)] };
        let balances = indices.into_iter().flat_map(|index| accounts.balances_of(index));
        balances
            .map(|(currency, balance)| {
                let reserved = balance.held - balance.locked;
                (balance.account_number, currency, balance.total, balance.locked, reserved)
            })
            .collect()
    }

    /// An account's flags and fees, or None.
    fn account(&self, account: u64) -> Option<AccountRow> {
        let index = self.engine.accounts.find_account(account);
        let entry = self.engine.accounts.accounts.at(index);
        let (taker, maker) = entry.fees.unzip();
        (index != NIL).then_some((entry.number, entry.active, entry.stp_mode as u8, taker, maker))
    }

    /// The accounts that belong to the owner of another, ascending, each with that owner.
    fn owner_links(&self) -> Vec<(u64, u64)> {
        self.engine.accounts.owners.links().collect()
    }

    /// All symbols by ascending number.
    fn symbols(&self) -> Vec<SymbolRow> {
        self.engine.books.books_by_symbol().into_iter().map(symbol_row).collect()
    }

    /// All currencies, ascending.
    fn currencies(&self) -> Vec<u32> {
        self.engine.accounts.currency_numbers()
    }

    /// Apply one PLACE and return its result code.
    #[expect(clippy::too_many_arguments, reason = "an order has that many fields")]
    fn place(
        &mut self,
        order_id: u64,
        account: u64,
        symbol: u32,
        side: u8,
        order_type: u8,
        price: i64,
        quantity: i64,
        reserve_price_or_budget: Amount,
        timestamp: u64,
    ) -> PyResult<u16> {
        self.apply_one(&Command {
            kind: CommandKind::Place as u8,
            side,
            order_type,
            flags: 0,
            symbol,
            timestamp,
            order_id,
            account,
            price,
            quantity,
            amount: reserve_price_or_budget.0,
        })
    }

    /// Apply one CANCEL and return its result code.
    fn cancel(&mut self, order_id: u64, account: u64, symbol: u32, timestamp: u64) -> PyResult<u16> {
        let kind = CommandKind::Cancel as u8;
        self.apply_one(&Command { kind, symbol, timestamp, order_id, account, ..Command::default() })
    }

    /// Apply one MOVE and return its result code.
    fn move_order(&mut self, order_id: u64, account: u64, price: i64, timestamp: u64) -> PyResult<u16> {
        let kind = CommandKind::Move as u8;
        self.apply_one(&Command { kind, timestamp, order_id, account, price, ..Command::default() })
    }

    /// Apply one REDUCE and return its result code.
    fn reduce(&mut self, order_id: u64, account: u64, quantity: i64, timestamp: u64) -> PyResult<u16> {
        let kind = CommandKind::Reduce as u8;
        self.apply_one(&Command { kind, timestamp, order_id, account, quantity, ..Command::default() })
    }

    /// The events of single commands since the last drain.
    fn drain_events<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let events = PyBytes::new(py, &self.engine.events);
        self.engine.events.clear();
        events
    }

    /// Bytes of address space for resting orders, price levels and their indexes.
    fn memory_bytes(&self) -> usize {
        self.engine.books.allocated_bytes()
    }
}

/// The error for a panic with this payload, which is the text of a broken invariant.
fn broken_by(payload: &(dyn Any + Send)) -> PyErr {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    PyRuntimeError::new_err(text.unwrap_or("broken invariant of the matching core").to_owned())
}

/// `error` with the number of the command that met it.
fn in_command(error: &PyErr, command_sequence: u64) -> PyErr {
    Python::attach(|py| {
        PyRuntimeError::new_err(format!("{}, in command {command_sequence}", error.value(py)))
    })
}

/// An amount from Python. Nearly all fit 64 bits, which convert faster.
#[derive(Clone, Copy)]
struct Amount(i128);

impl FromPyObject<'_, '_> for Amount {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match value.extract::<i64>() {
            Ok(small) => Ok(Self(i128::from(small))),
            Err(_) => value.extract::<i128>().map(Self),
        }
    }
}

fn symbol_row(book: &OrderBook) -> SymbolRow {
    (
        book.symbol,
        book.base,
        book.quote,
        book.base_scale,
        book.quote_scale,
        book.tick,
        book.lot,
        book.taker_fee_bps,
        book.maker_fee_bps,
        book.active,
    )
}

/// The matching core in Rust.
#[pymodule]
fn openspot_matching(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RustCore>()
}
