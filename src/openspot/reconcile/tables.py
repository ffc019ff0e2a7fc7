"""A database session with a snapshot of the mirrors and, in temporary tables, the engine's side.

PostgreSQL does all comparing: neither side has to fit into memory, and one join finds both what a mirror lacks and what
it has in excess. The session sees the mirrors as of its beginning and writes to its temporary tables only.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import astuple
from decimal import Decimal
from typing import Any, Generic, NamedTuple, TypeVar

import asyncpg

from openspot.contracts.engine_events import BalanceEvent, TransferEvent
from openspot.domain.accounts import AccountKey
from openspot.ledger.rebuild import booking_id
from openspot.ledger.store import NEWEST_SETTLED
from openspot.reconcile.money_checks import SCOPE, CopiedTable, MoneyCheck, listed
from openspot.reconcile.queries import (
    ANALYZE,
    BALANCE_GAPS,
    COUNTS,
    ENTRY_GAPS,
    FIND_GAPS,
    FLOORS,
    HOUSE_BALANCES,
    IMBALANCES,
    ORDER_FIELDS,
    ORDER_PAIRS,
    TEMPORARY_TABLES,
    TRADE_FIELDS,
    TRADE_PAIRS,
    UNEVEN_ASSETS,
    UNSUMMED,
)
from openspot.reconcile.records import Difference, OrderFacts, TradeFacts
from openspot.router.rows_position import RowsPosition, rows_position

CONNECT_TIMEOUT_S = 10.0
_ROWS_AT_A_TIME = 1000
_APPLICATION = "openspot-reconcile"


class EntryGap(NamedTuple):
    """Entries of one trade, transfer or movement of money that are missing, extra or altered in the ledger (`state`).

    `source` is `trade`, `transfer` or `money`. `engine` and `mirror` show the first of its `entries`. `refusal` is why
    the ledger refused the trade or transfer, None if it did not.
    """

    source: str
    state: str
    name: str
    entries: int
    transaction_id: str
    engine: str | None
    mirror: str | None
    refusal: str | None


class BalanceGap(NamedTuple):
    """An account whose totals differ, and how much of the difference each kind of gap explains."""

    user_id: str
    asset: str
    engine: Decimal
    ledger: Decimal
    adjusted: Decimal
    unreferenced: Decimal
    in_flight: Decimal
    missing: Decimal
    other: Decimal


class Imbalance(NamedTuple):
    """A ledger account that is not the sum of its entries, or whose locked part is not the sum of its locks.

    `total` is None if there is no such account. `newest` is the running balance of its newest entry; `off` counts the
    entries whose running balance does not follow from those before. `by_locks` is the sum of its locks less unlocks.
    """

    user_id: str
    asset: str
    total: Decimal | None
    entries: Decimal
    newest: Decimal
    off: int
    locked: Decimal
    by_locks: Decimal


class HouseBalance(NamedTuple):
    """What an account of the house holds. A side that does not have it is None."""

    user_id: str
    asset: str
    engine: Decimal | None
    ledger: Decimal | None


class Counts(NamedTuple):
    """How much was compared."""

    orders: int
    trades: int
    adjustments: int
    unbooked: int
    entries: int
    accounts: int


class OrderPair(NamedTuple):
    """An order: the engine's and the row's. A side that does not have it is None."""

    engine: OrderFacts | None
    row: OrderFacts | None


class TradePair(NamedTuple):
    """A trade: the engine's and the row's. A side that does not have it is None."""

    engine: TradeFacts | None
    row: TradeFacts | None


Listed = TypeVar("Listed")


class Findings(NamedTuple, Generic[Listed]):
    """The findings that a query listed, and how many there are in all."""

    listed: list[Listed]
    found: int


class ComparisonTables:
    """The session. `open_tables` makes it. Every method raises what asyncpg raises.

    A method with a `limit` lists at most that many findings.
    """

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def rows_position(self) -> RowsPosition | None:
        """The position of the order and trade rows in the snapshot."""
        return await rows_position(self._connection)

    async def floors(self) -> dict[str, int]:
        """By kind of row (`orders`, `trades`, `entries`): the event up to which rows may be in the archive."""
        return {row["kind"]: row["sequence"] for row in await self._connection.fetch(FLOORS)}

    async def settled_sequence(self) -> int:
        """The engine sequence of the newest trade in the ledger, 0 before the first."""
        return await self._connection.fetchval(NEWEST_SETTLED) or 0

    async def add_rows(self, table: CopiedTable, database_url: str) -> None:
        """Copy a table from a service's own database. If the service never ran here, there are no rows."""
        if not database_url:
            return
        try:
            own = await asyncpg.connect(database_url, timeout=CONNECT_TIMEOUT_S)
        except asyncpg.InvalidCatalogNameError:
            return
        try:
            if not await own.fetchval("SELECT to_regclass($1) IS NOT NULL", table.table):
                return
            async with own.transaction(readonly=True):
                rows = await own.cursor(f"SELECT {', '.join(table.columns)} FROM {table.table}")  # noqa: S608
                while part := await rows.fetch(_ROWS_AT_A_TIME):
                    await self._copy(table.rows, map(tuple, part))
        finally:
            await own.close(timeout=CONNECT_TIMEOUT_S)

    # What the engine says

    async def add_orders(self, orders: Iterable[OrderFacts]) -> None:
        """Add the engine's orders, as they were at the position of the rows."""
        await self._copy("reconcile_orders", map(astuple, orders))

    async def add_trades(self, trades: Iterable[TradeFacts]) -> None:
        """Add the engine's trades."""
        rows = ((int(trade.trade_id.rpartition("-")[2]), *astuple(trade)) for trade in trades)
        await self._copy("reconcile_trades", rows)

    async def add_money(self, events: Iterable[BalanceEvent], epoch: str) -> None:
        """Add the engine's deposits, withdrawals and adjustments. Reservations and releases do not change a total.

        The reference of an adjustment is the one that its entry in the ledger has if it is booked.
        """
        rows = (
            (
                event.seq,
                event.kind,
                event.participant_id,
                event.asset,
                Decimal(event.amount),
                booking_id(epoch, event.seq) if event.kind == "ADJUST" else event.reference,
            )
            for event in events
            if event.kind not in ("RESERVE", "RELEASE")
        )
        await self._copy("reconcile_money", rows)

    async def add_transfers(self, events: Iterable[TransferEvent]) -> None:
        """Add the movements of the engine's transfers."""
        rows = (
            (
                event.seq,
                event.reference,
                event.index,
                event.source,
                event.destination,
                event.asset,
                Decimal(event.amount),
                event.kind,
            )
            for event in events
        )
        await self._copy("reconcile_transfers", rows)

    async def add_balances(self, balances: Mapping[AccountKey, Decimal]) -> None:
        """Add the totals of the engine's accounts."""
        await self._copy("reconcile_balances", ((*account, total) for account, total in balances.items()))

    async def unsummed(self) -> dict[AccountKey, Decimal]:
        """Accounts whose balance in the engine is not the sum of the added events, and the excess."""
        return {AccountKey(row["user_id"], row["asset"]): row["rest"] for row in await self._connection.fetch(UNSUMMED)}

    async def find_gaps(self, first_sequence: int) -> None:
        """Find the entries that the ledger lacks or has in excess. The engine's events begin at `first_sequence`."""
        await self._connection.execute(ANALYZE)
        await self._connection.execute(FIND_GAPS, first_sequence)

    # What differs

    async def entry_gaps(self, until: int, limit: int) -> Findings[EntryGap]:
        """Gaps in the ledger's entries. A missing entry for an event after `until` is no gap: it may still come."""
        rows = await self._connection.fetch(ENTRY_GAPS, until, limit)
        return Findings([EntryGap(**_fields(row)) for row in rows], _found(rows))

    async def balance_gaps(self, until: int, limit: int) -> Findings[BalanceGap]:
        """Accounts with a difference that events after `until` do not explain."""
        rows = await self._connection.fetch(BALANCE_GAPS, until, limit)
        return Findings([BalanceGap(**_fields(row)) for row in rows], _found(rows))

    async def order_pairs(self, complete: bool, limit: int) -> Findings[OrderPair]:
        """Orders that differ.

        If the events are not `complete`, a row without events is no difference: it may be older than the oldest event.
        """
        rows = await self._connection.fetch(ORDER_PAIRS, complete, limit)
        width = len(ORDER_FIELDS)
        pairs = [OrderPair(_order(row[:width]), _order(row[width : 2 * width])) for row in map(tuple, rows)]
        return Findings(pairs, _found(rows))

    async def trade_pairs(
        self, until: int, later: Sequence[str], first_sequence: int, limit: int
    ) -> Findings[TradePair]:
        """Trades that differ, of those up to the event `until` and those with the ids `later`."""
        rows = await self._connection.fetch(TRADE_PAIRS, until, first_sequence, limit, later)
        width = len(TRADE_FIELDS)
        pairs = [TradePair(_trade(row[:width]), _trade(row[width : 2 * width])) for row in map(tuple, rows)]
        return Findings(pairs, _found(rows))

    async def set_scope(self, mark: int, *, is_complete: bool, settled: bool, counted: bool) -> None:
        """Say up to where the services' own rows are compared, and how far the services have come."""
        await self._copy("reconcile_scope", [(mark, is_complete, settled, counted)])

    async def check_money(self, check: MoneyCheck, limit: int) -> Findings[Difference]:
        """Rows of a service that differ from the engine, or from the rows that they follow from."""
        rows = await self._connection.fetch(listed(check), limit)
        differences = [
            Difference(check.kind, row["name"], row["field"], row["engine"], row["mirror"], check.cause) for row in rows
        ]
        return Findings(differences, _found(rows))

    async def imbalances(self, limit: int) -> Findings[Imbalance]:
        """Ledger accounts that are not the sum of their entries."""
        rows = await self._connection.fetch(IMBALANCES, limit)
        return Findings([Imbalance(**_fields(row)) for row in rows], _found(rows))

    async def unbalanced_assets(self) -> list[tuple[str, Decimal]]:
        """Assets whose ledger accounts, the outside world's included, do not sum to zero, with their sums."""
        return [(row["asset"], row["total"]) for row in await self._connection.fetch(UNEVEN_ASSETS)]

    async def house_balances(self) -> list[HouseBalance]:
        """What the house's own accounts hold. Empty accounts are left out."""
        return [HouseBalance(*row.values()) for row in await self._connection.fetch(HOUSE_BALANCES)]

    async def counts(self) -> Counts:
        """How much there was to compare."""
        row = await self._connection.fetchrow(COUNTS)
        assert row is not None, "a count always has a row"
        return Counts(*row.values())

    async def _copy(self, table: str, rows: Iterable[Sequence[object]]) -> None:
        await self._connection.copy_records_to_table(table, records=rows)


@asynccontextmanager
async def open_tables(database_url: str, elsewhere: Sequence[CopiedTable] = ()) -> AsyncIterator[ComparisonTables]:
    """Open a session with a snapshot of the mirrors, and room for tables that are `elsewhere`.

    Raises what asyncpg raises, OSError or TimeoutError.
    """
    connection = await asyncpg.connect(
        database_url,
        timeout=CONNECT_TIMEOUT_S,
        server_settings={"application_name": _APPLICATION, "timezone": "UTC"},
    )
    try:
        await connection.execute(TEMPORARY_TABLES)
        await connection.execute(SCOPE)
        for table in elsewhere:
            columns = ", ".join(f"{name} {kind}" for name, kind in table.columns.items())
            await connection.execute(f"CREATE TEMPORARY TABLE {table.rows} ({columns})")
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            # The first query takes the snapshot.
            await connection.execute("SELECT 1 FROM engine_cursors")
            yield ComparisonTables(connection)
    finally:
        await connection.close(timeout=CONNECT_TIMEOUT_S)


def _fields(row: asyncpg.Record) -> dict[str, Any]:
    """The columns of a row without `found`, the number of rows."""
    return {name: value for name, value in row.items() if name != "found"}


def _found(rows: Sequence[asyncpg.Record]) -> int:
    return rows[0]["found"] if rows else 0


def _order(values: Sequence[Any]) -> OrderFacts | None:
    return None if values[0] is None else OrderFacts(*values)


def _trade(values: Sequence[Any]) -> TradeFacts | None:
    return None if values[0] is None else TradeFacts(*values)
