"""`openspot ledger rebuild`: writes what the mirrors lack, from the engine's events.

The rebuild reads the events twice. The first pass writes order rows, each once in its final state. The second writes
trade rows, which refer to order rows, and ledger entries. Rows and entries get the same ids as in live operation and
are written only if they are missing, so a rebuild can be interrupted, repeated, and run while the platform runs.

Rows are written up to the router's cursor, which does not move: the router publishes and writes what comes after it.
Without a cursor, rows are written up to the engine's newest event.
"""

import itertools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import asyncpg

from openspot.contracts.engine_events import BalanceEvent, EngineEvent
from openspot.contracts.messages import ExecutedTrade, ExecutedTransfer
from openspot.contracts.refusals import InvalidRequestError
from openspot.engine_client.position import StreamPosition
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.database import TRANSIENT_ERRORS, Connection, DatabaseUnavailableError, Pool, create_pool
from openspot.ledger.changes import CreditOrDebit
from openspot.ledger.postings import JournalEntry, PostingError, trade_entry, transfer_entry
from openspot.ledger.rebuild import credit_or_debit_of
from openspot.ledger.store import LedgerStore
from openspot.reconcile.store import EngineReader, EngineUnavailableError
from openspot.router.store import RouterStore, write_orders, write_trades
from openspot.router.tracked_order import TrackedOrder
from openspot.router.trade_row import TradeRow
from openspot.router.translation.order_state_machine import OrderStateMachine

ROWS_AT_A_TIME = 500
PROBLEMS_MAX = 1000
_CONNECTIONS_MAX = 2
_DATABASE_TIMEOUT_S = 5.0
_REFUSALS = (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError)

_LACKING_ORDERS = """
    SELECT given.order_id FROM unnest($1::text[], $2::bigint[]) AS given (order_id, last_sequence)
    LEFT JOIN orders AS row_ ON row_.order_id = given.order_id
    WHERE row_.order_id IS NULL OR (row_.last_sequence < given.last_sequence
        AND row_.status IN ('pending', 'open', 'partially_filled'))
"""
_LACKING_TRADES = """
    SELECT given.trade_id FROM unnest($1::text[]) AS given (trade_id)
    LEFT JOIN trades AS row_ ON row_.trade_id = given.trade_id WHERE row_.trade_id IS NULL
"""
_ENTRIES = "SELECT transaction_id FROM ledger_entries WHERE transaction_id = ANY ($1::text[])"

Row = TypeVar("Row")


class NotRebuiltError(Exception):
    """The rebuild could not begin or finish; the message says why. What was written stays."""


@dataclass(slots=True)
class Rebuilt:
    """How many order rows, trade rows, settled trades, credits and debits, and transfers were or would be written.

    `problems` names each one that cannot be written, with the reason.
    """

    until: int
    orders: int = 0
    trades: int = 0
    settled: int = 0
    postings: int = 0
    transfers: int = 0
    problems: list[str] = field(default_factory=list)

    def problem(self, text: str) -> None:
        """Add a problem to the list."""
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(text)


async def rebuild(settings: EngineConnectionSettings, *, dry_run: bool) -> Rebuilt:
    """Write what the mirrors lack, or only count it. Raises NotRebuiltError."""
    try:
        pool = await create_pool(settings, _CONNECTIONS_MAX, _DATABASE_TIMEOUT_S)
    except DatabaseUnavailableError as error:
        raise NotRebuiltError(f"the database does not answer: {error}") from error
    try:
        async with EngineReader(settings) as engine:
            return await _Rebuild(engine, pool, dry_run=dry_run).run()
    except EngineUnavailableError as error:
        raise NotRebuiltError(f"the engine does not answer: {error}") from error
    except (asyncpg.PostgresError, *TRANSIENT_ERRORS) as error:
        raise NotRebuiltError(f"the database does not answer: {error!r}") from error
    finally:
        await pool.close()


class _Rebuild:
    def __init__(self, engine: EngineReader, pool: Pool, *, dry_run: bool) -> None:
        self._engine = engine
        self._pool = pool
        self._ledger = LedgerStore(pool)
        self._dry_run = dry_run
        self._epoch = ""
        self._rebuilt = Rebuilt(0)

    async def run(self) -> Rebuilt:
        hello = await self._engine.position()
        if hello.first_seq > 1:
            raise NotRebuiltError(
                f"the engine has only its events from {hello.first_seq} on. It can make all of them again from its "
                "journal: stop it, raise OPENSPOT_ENGINE_EVENT_RETENTION, delete engine/events.sqlite in the data "
                "directory, start it"
            )
        self._epoch = hello.epoch
        cursor = (await RouterStore(self._pool).resumption()).position
        rows_until = _rows_until(cursor, hello.epoch, hello.last_seq)
        self._rebuilt = Rebuilt(hello.last_seq)
        await self._write_orders(rows_until)
        await self._write_trades(hello.last_seq, rows_until)
        return self._rebuilt

    # Order rows

    async def _write_orders(self, until: int) -> None:
        machine = OrderStateMachine(self._epoch, [])
        open_orders: dict[str, TrackedOrder] = {}
        async for events in self._engine.events(1, until):
            ended: list[TrackedOrder] = []
            for event in events:
                for order in machine.apply(event).orders:
                    if order.has_ended:
                        open_orders.pop(order.order_id, None)
                        ended.append(order)
                    else:
                        open_orders[order.order_id] = order
            await self._add_orders(ended)
        await self._add_orders(list(open_orders.values()))

    async def _add_orders(self, orders: Sequence[TrackedOrder]) -> None:
        for part in _parts(orders):
            ids, sequences = [order.order_id for order in part], [order.last_sequence for order in part]
            lacking = {row[0] for row in await self._pool.fetch(_LACKING_ORDERS, ids, sequences)}
            wanted = [order for order in part if order.order_id in lacking]
            self._rebuilt.orders += await self._write(write_orders, wanted, lambda order: f"order {order.order_id}")

    # Trade rows and ledger entries

    async def _write_trades(self, until: int, rows_until: int) -> None:
        machine = OrderStateMachine(self._epoch, [])
        async for events in self._engine.events(1, until):
            rows: list[TradeRow] = []
            trades: list[ExecutedTrade] = []
            changes: list[CreditOrDebit] = []
            transfers: list[ExecutedTransfer] = []
            for event in events:
                translated = machine.apply(event)
                rows += translated.trades if event.seq <= rows_until else ()
                messages = [publication.message for publication in translated.publications]
                trades += [message for message in messages if isinstance(message, ExecutedTrade)]
                transfers += [message for message in messages if isinstance(message, ExecutedTransfer)]
                change = self._credit_or_debit_of(event)
                if change is None:
                    continue
                if change.amount < 0:
                    # Post the earlier credits first: this debit may need them.
                    await self._add_entries(changes, trades, transfers)
                    changes, trades, transfers = [], [], []
                changes.append(change)
            await self._add_entries(changes, trades, transfers)
            await self._add_trades(rows)

    def _credit_or_debit_of(self, event: EngineEvent) -> CreditOrDebit | None:
        if not isinstance(event, BalanceEvent):
            return None
        try:
            return credit_or_debit_of(event)
        except InvalidRequestError as error:
            self._rebuilt.problem(f"event {event.seq}, {event.kind} {event.reference!r}: {error}")
            return None

    async def _add_trades(self, trades: Sequence[TradeRow]) -> None:
        for part in _parts(trades):
            lacking = {row[0] for row in await self._pool.fetch(_LACKING_TRADES, [trade.trade_id for trade in part])}
            wanted = [trade for trade in part if trade.trade_id in lacking]
            self._rebuilt.trades += await self._write(write_trades, wanted, lambda trade: f"trade {trade.trade_id}")

    async def _add_entries(
        self, changes: Sequence[CreditOrDebit], trades: Sequence[ExecutedTrade], transfers: Sequence[ExecutedTransfer]
    ) -> None:
        for part in _parts(changes):
            await self._post(part)
        for part_of_trades in _parts(trades):
            await self._settle(part_of_trades)
        for part_of_transfers in _parts(transfers):
            await self._post_transfers(part_of_transfers)

    async def _post(self, changes: Sequence[CreditOrDebit]) -> None:
        known = await self._known_entries(change.transaction_id for change in changes)
        wanted = [change for change in changes if change.transaction_id not in known]
        if self._dry_run or not wanted:
            self._rebuilt.postings += len(wanted)
            return
        results = (await self._ledger.apply(wanted)).decision.results
        for change, result in zip(wanted, results, strict=True):
            if result.refusal is not None:
                self._rebuilt.problem(f"{change.entry_type} {change.transaction_id}: {result.refusal.message}")
            self._rebuilt.postings += result.changed

    async def _settle(self, trades: Sequence[ExecutedTrade]) -> None:
        entries = [entry for trade in trades if (entry := self._trade_entry(trade)) is not None]
        wanted = await self._lacking(entries, lambda entry: f"trade {entry.id}")
        if self._dry_run or not wanted:
            self._rebuilt.settled += len(wanted)
            return
        self._rebuilt.settled += len((await self._ledger.post(wanted)).ids)

    async def _post_transfers(self, transfers: Sequence[ExecutedTransfer]) -> None:
        entries: list[JournalEntry] = []
        for transfer in transfers:
            try:
                entries.append(transfer_entry(transfer))
            except PostingError as error:
                self._rebuilt.problem(f"transfer {transfer.id}: {error}")
        wanted = await self._lacking(entries, lambda entry: f"transfer {entry.id}")
        if self._dry_run or not wanted:
            self._rebuilt.transfers += len(wanted)
            return
        self._rebuilt.transfers += len((await self._ledger.post(wanted)).ids)

    async def _lacking(
        self, entries: Sequence[JournalEntry], name: Callable[[JournalEntry], str]
    ) -> list[JournalEntry]:
        """The entries that the ledger does not have. Notes a problem for each entry that it has in part."""
        ids = [[posting.transaction_id for posting in entry.postings + entry.house_postings] for entry in entries]
        known = await self._known_entries(itertools.chain.from_iterable(ids))
        wanted: list[JournalEntry] = []
        for entry, own in zip(entries, ids, strict=True):
            there = known.intersection(own)
            if not there:
                wanted.append(entry)
            elif len(there) < len(own):
                self._rebuilt.problem(
                    f"{name(entry)}: {len(there)} of its {len(own)} entries exist, but the ledger "
                    "writes all or none: something has deleted the others"
                )
        return wanted

    def _trade_entry(self, trade: ExecutedTrade) -> JournalEntry | None:
        try:
            return trade_entry(trade)
        except PostingError as error:
            self._rebuilt.problem(f"trade {trade.id}: {error}")
            return None

    async def _known_entries(self, transaction_ids: Iterable[str]) -> set[str]:
        return {row[0] for row in await self._pool.fetch(_ENTRIES, list(transaction_ids))}

    # Writing

    async def _write(
        self,
        write: Callable[[Connection, Sequence[Row]], Awaitable[None]],
        rows: Sequence[Row],
        name: Callable[[Row], str],
    ) -> int:
        """Write `rows`, one by one if the database refuses them together. Returns how many were or would be written."""
        if self._dry_run or not rows:
            return len(rows)
        try:
            async with self._pool.acquire() as connection, connection.transaction():
                await write(connection, rows)
        except _REFUSALS as error:
            if len(rows) == 1:
                self._rebuilt.problem(f"{name(rows[0])}: {error}")
                return 0
            return sum([await self._write(write, [row], name) for row in rows])
        return len(rows)


def _rows_until(cursor: StreamPosition | None, epoch: str, last_sequence: int) -> int:
    """The event up to which rows are written. Raises NotRebuiltError if the rows are not this engine's."""
    if cursor is None:
        return last_sequence
    if cursor.epoch != epoch:
        raise NotRebuiltError(
            f"the engine's journal is {epoch}, the rows are those of {cursor.epoch}: "
            "the engine has a new journal, the database is that of an old one"
        )
    if cursor.sequence > last_sequence:
        raise NotRebuiltError(
            f"the rows are at event {cursor.sequence}, the engine's newest is {last_sequence}: "
            "its data directory is older than the database"
        )
    return cursor.sequence


def _parts(rows: Sequence[Row]) -> list[Sequence[Row]]:
    return [rows[start : start + ROWS_AT_A_TIME] for start in range(0, len(rows), ROWS_AT_A_TIME)]
