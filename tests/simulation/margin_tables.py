"""The margin tables of the simulation, and the functions of `store`, `loan_store` and `liquidation_store` on them.

The rules are those of the SQL: a transaction is all or nothing, what it writes is seen by others when it commits, and
its row locks last until it ends. A killed process loses its open transactions with their locks. A commit may arrive
while its reply is lost.
"""

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from unittest.mock import patch

import asyncpg

from openspot.kit.clock import datetime_from_ms
from openspot.margin import liquidation_store, loan_store, store
from openspot.margin.crossings import RiskBand
from openspot.margin.interest import LoanAccrual
from openspot.margin.lifecycle import AccountStatus, LoanStatus, MarginPositionStatus
from openspot.margin.liquidation import Liquidation
from openspot.margin.records import (
    LiquidationRow,
    MarginAccountRow,
    MarginLoanRow,
    MarginPositionRow,
    MarginTransferRow,
    Purpose,
)
from tests.simulation.process import Place, Process, Weather
from tests.simulation.rows import Rows

LOST_REPLY = 0.01
"""The probability that a commit is carried out and its reply is lost."""
_UNENDED = (
    MarginPositionStatus.OPENING,
    MarginPositionStatus.OPEN,
    MarginPositionStatus.CLOSING,
    MarginPositionStatus.LIQUIDATING,
)
_DUE = (LoanStatus.PENDING, LoanStatus.ACTIVE)

Key = tuple[str, str]
"""(table, primary key) of a row."""


@dataclass(slots=True)
class AccountRow:
    """A row of `margin_accounts`."""

    account: MarginAccountRow
    changes: int


@dataclass(slots=True)
class InterestRow:
    """A row of `margin_interest`."""

    posting_id: str
    loan_id: str
    amount: int


class MarginTables:
    """The committed rows of all margin tables, and who holds which lock."""

    def __init__(self) -> None:
        self.rows: dict[Key, Any] = {}
        self.locks: dict[Key, Connection] = {}
        self._waiting: dict[Key, deque[asyncio.Future[None]]] = {}
        self._changes = 0

    def next_change(self) -> int:
        """The next value of the sequence `margin_changes`."""
        self._changes += 1
        return self._changes

    def all(self, table: str) -> list[Any]:
        """The committed rows of a table, oldest first."""
        return [row for (name, _), row in self.rows.items() if name == table]

    @property
    def loans(self) -> list[MarginLoanRow]:
        """The loans."""
        return self.all("loans")

    @property
    def transfers(self) -> list[MarginTransferRow]:
        """The transfers."""
        return self.all("transfers")

    @property
    def positions(self) -> list[MarginPositionRow]:
        """The positions."""
        return self.all("positions")

    @property
    def liquidations(self) -> list[LiquidationRow]:
        """The liquidations."""
        return self.all("liquidations")

    def commit(self, writes: dict[Key, Any], inserted: set[Key]) -> None:
        """Make a transaction's rows visible. Raises asyncpg.UniqueViolationError, and then changes nothing."""
        for key in inserted:
            if key in self.rows:
                raise asyncpg.UniqueViolationError(str(key))
        self.rows |= writes

    async def lock(self, key: Key, holder: "Connection") -> None:
        """Wait until nobody else holds a row, and hold it."""
        while self.locks.get(key, holder) is not holder:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(key, deque()).append(turn)
            await turn
        self.locks[key] = holder

    def is_free(self, key: Key, asking: "Connection") -> bool:
        """Whether nobody else holds a row."""
        return self.locks.get(key, asking) is asking

    def unlock(self, holder: "Connection") -> None:
        """Release all that a connection holds."""
        for key in [key for key, other in self.locks.items() if other is holder]:
            del self.locks[key]
            for turn in self._waiting.pop(key, ()):
                if not turn.done():
                    turn.set_result(None)


class Connection:
    """One process's connection. Outside a transaction each statement commits by itself."""

    def __init__(self, tables: MarginTables, orders: Rows, process: Process, weather: Weather) -> None:
        self.tables = tables
        self.orders = orders
        self._process = process
        self._weather = weather
        self._writes: dict[Key, Any] = {}
        self._inserted: set[Key] = set()
        self.is_in_transaction = False

    async def reach(self) -> None:
        """Send a statement. Here a trap may kill or freeze the process."""
        await self._process.io(Place.ROWS)

    def row(self, key: Key) -> Any:
        """A row as this transaction sees it."""
        return self._writes.get(key, self.tables.rows.get(key))

    def all(self, table: str) -> list[Any]:
        """The rows of a table as this transaction sees them, oldest first."""
        rows = self.tables.rows | self._writes
        return [row for (name, _), row in rows.items() if name == table]

    async def write(self, key: Key, row: Any, *, is_new: bool = False) -> None:
        """Insert or replace a row."""
        if is_new and self.row(key) is not None:
            raise asyncpg.UniqueViolationError(str(key))
        self._writes[key] = row
        if is_new:
            self._inserted.add(key)
        if not self.is_in_transaction:
            await self._commit()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """A transaction. Its locks end with it, and with the process."""
        await self.reach()
        self.is_in_transaction = True
        try:
            yield
            await self._commit()
        finally:
            self.is_in_transaction = False
            self._writes, self._inserted = {}, set()
            self.tables.unlock(self)

    async def _commit(self) -> None:
        writes, inserted = self._writes, self._inserted
        self._writes, self._inserted = {}, set()
        ended = False

        def commit() -> None:
            # A commit that comes after the connection was lost is a rollback.
            if not ended:
                self.tables.commit(writes, inserted)

        try:
            await self._process.act(Place.ROWS, commit)
        finally:
            ended = True
        if self._weather.strikes(LOST_REPLY):
            raise asyncpg.PostgresConnectionError("the reply was lost")

    # The two statements of openspot.margin.orders, on the table of the order router

    async def fetchrow(self, query: str, order_id: str) -> dict[str, Any] | None:
        """How an order stands in the router's rows."""
        await self.reach()
        order = self.orders.orders.get(order_id)
        if order is None:
            return None
        return {
            "status": order.status.value,
            "engine_order_id": order.engine_order_id,
            "filled_quantity": order.filled_quantity,
            "filled_notional": order.filled_notional,
            "fee": order.fee,
            "reject_reason": order.reject_reason,
        }

    async def fetchval(self, query: str, order_id: str) -> bool:
        """Whether the router has recorded an order of the engine."""
        await self.reach()
        order = self.orders.orders.get(order_id)
        return order is not None and order.engine_order_id is not None


class SimulatedPool(Connection):
    """A pool: each statement on it commits by itself, and it gives connections out."""

    def __init__(self, tables: MarginTables, orders: Rows, process: Process, weather: Weather) -> None:
        super().__init__(tables, orders, process, weather)
        self._parts = tables, orders, process, weather

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        """A connection."""
        yield Connection(*self._parts)


# The functions of the stores, by their names


async def account_of_user(connection: Connection, user_id: str) -> MarginAccountRow | None:
    await connection.reach()
    for row in connection.all("accounts"):
        if row.account.user_id == user_id and row.account.status is not AccountStatus.CLOSED:
            return replace(row.account)
    return None


async def lock_account(
    connection: Connection, account_id: str, *, skip_locked: bool = False
) -> MarginAccountRow | None:
    await connection.reach()
    key = ("accounts", account_id)
    if connection.row(key) is None or (skip_locked and not connection.tables.is_free(key, connection)):
        return None
    await connection.tables.lock(key, connection)
    return replace(connection.row(key).account)


async def count_accounts(connection: Connection, user_id: str) -> int:
    await connection.reach()
    return sum(row.account.user_id == user_id for row in connection.all("accounts"))


async def add_account(connection: Connection, account_id: str, user_id: str, now_ms: int) -> None:
    await connection.reach()
    key = ("accounts", account_id)
    await connection.tables.lock(key, connection)
    if connection.row(key) is None:
        account = MarginAccountRow(account_id, user_id, AccountStatus.ACTIVE, RiskBand.SAFE, 0)
        await connection.write(key, AccountRow(account, connection.tables.next_change()))


async def _change_account(
    connection: Connection,
    account_id: str,
    change: Callable[[MarginAccountRow], MarginAccountRow],
    *,
    counts: bool = True,
) -> None:
    await connection.reach()
    key, tables = ("accounts", account_id), connection.tables
    await tables.lock(key, connection)
    try:
        row = connection.row(key)
        number = tables.next_change() if counts else row.changes
        await connection.write(key, AccountRow(change(row.account), number))
    finally:
        if not connection.is_in_transaction:
            tables.unlock(connection)


async def set_account_status(connection: Connection, account_id: str, status: AccountStatus, now_ms: int) -> None:
    await _change_account(connection, account_id, lambda account: replace(account, status=status))


async def touch(connection: Connection, account_id: str) -> None:
    await _change_account(connection, account_id, replace)


async def set_risk_band(connection: Connection, account_id: str, risk_band: RiskBand, *, warned: bool) -> None:
    def change(account: MarginAccountRow) -> MarginAccountRow:
        return replace(account, risk_band=risk_band, warnings=account.warnings + int(warned))

    await _change_account(connection, account_id, change, counts=False)


async def accounts_of_same_owner(connection: Connection, user_id: str) -> list[str]:
    """Nobody is linked in the simulation of margin."""
    await connection.reach()
    return []


async def changed_accounts(pool: Connection, after: int, limit: int) -> list[tuple[str, int]]:
    await pool.reach()
    changed = sorted((row.changes, row.account.account_id) for row in pool.all("accounts") if row.changes > after)
    return [(account_id, number) for number, account_id in changed[:limit]]


async def accounts_by_id(pool: Connection, account_ids: Iterable[str]) -> dict[str, MarginAccountRow]:
    await pool.reach()
    found = {account_id: pool.row(("accounts", account_id)) for account_id in account_ids}
    return {account_id: replace(row.account) for account_id, row in found.items() if row is not None}


async def accounts_with_work(pool: Connection, now_ms: int, limit: int) -> list[str]:
    await pool.reach()
    found = {each.account_id for each in pool.all("transfers") if each.status == "pending"}
    found |= {
        each.account_id
        for each in pool.all("positions")
        if each.status in (MarginPositionStatus.OPENING, MarginPositionStatus.CLOSING)
    }
    found |= {
        each.liquidation.account_id
        for each in pool.all("liquidations")
        if each.liquidation.step is not None and each.next_at <= datetime_from_ms(now_ms)
    }
    return sorted(found)[:limit]


async def loans_of(connection: Connection, account_id: str, *, all_states: bool = False) -> list[MarginLoanRow]:
    await connection.reach()
    loans = [replace(each) for each in connection.all("loans") if each.account_id == account_id]
    if all_states:
        return sorted(loans, key=lambda each: (-each.created_at.timestamp(), each.loan_id))[:100]
    return sorted((each for each in loans if each.status in _DUE), key=lambda each: (each.created_at, each.loan_id))


async def loans_of_accounts(pool: Connection, account_ids: Iterable[str]) -> dict[str, list[MarginLoanRow]]:
    await pool.reach()
    wanted = set(account_ids)
    found: dict[str, list[MarginLoanRow]] = {}
    for each in pool.all("loans"):
        if each.account_id in wanted and each.status is LoanStatus.ACTIVE:
            found.setdefault(each.account_id, []).append(replace(each))
    return found


async def open_debts(connection: Connection, asset: str | None = None) -> dict[str, int]:
    await connection.reach()
    found: dict[str, int] = {}
    for each in connection.all("loans"):
        if each.status in _DUE and asset in (None, each.asset):
            accrual = each.accrual
            found[each.asset] = found.get(each.asset, 0) + accrual.principal + accrual.posted - accrual.paid
    return found


async def lock_asset(connection: Connection, asset: str) -> None:
    await connection.reach()
    await connection.tables.lock(("assets", asset), connection)


async def loan(connection: Connection, loan_id: str) -> MarginLoanRow | None:
    await connection.reach()
    key = ("loans", loan_id)
    if connection.row(key) is None:
        return None
    await connection.tables.lock(key, connection)
    return replace(connection.row(key))


async def add_loan(connection: Connection, new: MarginLoanRow) -> None:
    await connection.reach()
    await connection.write(("loans", new.loan_id), replace(new), is_new=True)


async def save_loan(connection: Connection, changed: MarginLoanRow) -> None:
    await connection.reach()
    assert changed.accrual.paid <= changed.accrual.posted, "the table checks it"
    await connection.write(("loans", changed.loan_id), replace(changed))


async def add_interest(connection: Connection, posting_id: str, loan_id: str, amount: int, now_ms: int) -> None:
    await connection.reach()
    await connection.write(("interest", posting_id), InterestRow(posting_id, loan_id, amount), is_new=True)


async def loans_to_accrue(connection: Connection, after: str, limit: int) -> list[MarginLoanRow]:
    await connection.reach()
    loans = [
        each
        for each in sorted(connection.all("loans"), key=lambda each: each.loan_id)
        if each.status is LoanStatus.ACTIVE
        and each.repaying is None
        and each.loan_id > after
        and connection.tables.is_free(("loans", each.loan_id), connection)
    ][:limit]
    for each in loans:
        await connection.tables.lock(("loans", each.loan_id), connection)
    return [replace(each) for each in loans]


async def post_interest(
    connection: Connection, postings: Sequence[tuple[str, str, str, int, int]], now_ms: int
) -> None:
    for posting_id, loan_id, _, amount, posted in postings:
        await add_interest(connection, posting_id, loan_id, amount, now_ms)
        before = connection.row(("loans", loan_id))
        accrual: LoanAccrual = replace(before.accrual, posted=posted)
        await connection.write(("loans", loan_id), replace(before, accrual=accrual))


async def touch_many(connection: Connection, account_ids: Sequence[str]) -> None:
    for account_id in sorted(set(account_ids)):
        if connection.tables.is_free(("accounts", account_id), connection):
            await touch(connection, account_id)


async def positions_of(connection: Connection, account_id: str, *, all_states: bool = False) -> list[MarginPositionRow]:
    await connection.reach()
    found = [replace(each) for each in connection.all("positions") if each.account_id == account_id]
    if all_states:
        return sorted(found, key=lambda each: (-each.opened_at.timestamp(), each.position_id))[:100]
    return sorted(
        (each for each in found if each.status in _UNENDED), key=lambda each: (each.opened_at, each.position_id)
    )


async def position(connection: Connection, position_id: str) -> MarginPositionRow | None:
    await connection.reach()
    found = connection.row(("positions", position_id))
    return None if found is None else replace(found)


async def add_position(connection: Connection, new: MarginPositionRow) -> None:
    await connection.reach()
    await connection.write(("positions", new.position_id), replace(new), is_new=True)


async def save_position(connection: Connection, changed: MarginPositionRow) -> None:
    await connection.reach()
    await connection.write(("positions", changed.position_id), replace(changed))


async def add_reduction(connection: Connection, account_id: str, request_id: str, requested_at: datetime) -> bool:
    await connection.reach()
    key = ("reductions", f"{account_id} {request_id}")
    if connection.row(key) is not None:
        return False
    await connection.write(key, requested_at, is_new=True)
    return True


async def has_reduction(connection: Connection, account_id: str, request_id: str) -> bool:
    await connection.reach()
    return connection.row(("reductions", f"{account_id} {request_id}")) is not None


async def add_transfer(connection: Connection, new: MarginTransferRow) -> None:
    await connection.reach()
    await connection.write(("transfers", new.reference), replace(new), is_new=True)


async def transfer(connection: Connection, reference: str) -> MarginTransferRow | None:
    await connection.reach()
    found = connection.row(("transfers", reference))
    return None if found is None else replace(found)


async def pending_transfers(connection: Connection, account_id: str) -> list[MarginTransferRow]:
    await connection.reach()
    return [
        replace(each)
        for each in connection.all("transfers")
        if each.account_id == account_id and each.status == "pending"
    ]


async def decide_transfer(connection: Connection, reference: str, status: str, code: str) -> None:
    await connection.reach()
    key = ("transfers", reference)
    await connection.write(key, replace(connection.row(key), status=status, result_code=code))


async def count_transfers(connection: Connection, loan_id: str) -> int:
    await connection.reach()
    return sum(each.loan_id == loan_id for each in connection.all("transfers"))


async def add_liquidation(connection: Connection, liquidation: Liquidation, level: str | None, now_ms: int) -> None:
    await connection.reach()
    key = ("liquidations", liquidation.liquidation_id)
    await connection.write(key, LiquidationRow(liquidation, None, level, datetime_from_ms(now_ms)), is_new=True)


async def count_liquidations(connection: Connection, account_id: str) -> int:
    await connection.reach()
    return sum(each.liquidation.account_id == account_id for each in connection.all("liquidations"))


async def open_liquidation(connection: Connection, account_id: str) -> LiquidationRow | None:
    await connection.reach()
    for each in connection.all("liquidations"):
        if each.liquidation.account_id == account_id and each.liquidation.step is not None:
            return replace(each)
    return None


async def save_liquidation(connection: Connection, changed: LiquidationRow, now_ms: int) -> None:
    await connection.reach()
    await connection.write(("liquidations", changed.liquidation.liquidation_id), replace(changed))


async def idle_liquidations(pool: Connection, rounds: int) -> int:
    await pool.reach()
    rows = pool.all("liquidations")
    return sum(each.liquidation.step is not None and each.idle_rounds >= rounds for each in rows)


async def uncovered_losses(pool: Connection) -> int:
    await pool.reach()
    pending = [each for each in pool.all("transfers") if each.status == "pending" and each.purpose is Purpose.LOSS]
    return sum(bool(each.result_code) for each in pending)


async def open_orders(connection: Connection, account_id: str, limit: int) -> list[tuple[str, str]]:
    await connection.reach()
    orders = connection.orders.orders.values()
    return [(each.order_id, each.symbol) for each in orders if each.user_id == account_id and not each.has_ended][
        :limit
    ]


@contextmanager
def stored_in_memory() -> Any:
    """Let the margin service keep its rows in a `SimulatedPool`: functions here replace those of the same name."""
    with ExitStack() as stack:
        for module in (store, loan_store, liquidation_store):
            for name, found in vars(module).items():
                if inspect.iscoroutinefunction(found):
                    stack.enter_context(patch.object(module, name, globals()[name]))
        yield
