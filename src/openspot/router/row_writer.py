"""The writer of order and trade rows: micro-batches behind the publishing, which never waits for a row.

What waits is merged: of an order only the newest state is written. It is bounded; when it is full, `put` waits
and the follower of the engine pauses. A foreign-key violation is tried once more after a short delay
(Document A 8); what the database then still refuses is found row by row and dropped, named in log and
metrics, so that one bad row never holds back the rest. A database that is away is waited for.
"""

import asyncio
from collections.abc import Sequence

import asyncpg

from openspot.kit.database import TRANSIENT_ERRORS, Connection
from openspot.kit.log import get_logger
from openspot.kit.pacing import Pace
from openspot.router.metrics import ROW_QUEUE, ROW_WRITE_FAILURES, ROWS_DROPPED
from openspot.router.schemas import Position, TrackedOrder, TradeRow
from openspot.router.store import Store, write_orders, write_trades

log = get_logger("row_writer")

WRITE_INTERVAL_S = 0.05
"""Least time between two transactions: one costs the database about the same for a row as for fifty."""
FOREIGN_KEY_PAUSE_S = 0.05
RETRY_PAUSE_S = 0.05
RETRY_PAUSE_S_MAX = 2.0

# What a row itself is to blame for, found by the server or (ValueError) already by the driver.
REFUSALS = (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError, ValueError)


class RowWriter:
    """Writes rows in the order of the engine's events; `written` is where the rows of the database stand."""

    def __init__(self, store: Store, written: Position | None, rows_max: int) -> None:
        self._store = store
        self._written = written
        self._rows_max = rows_max
        self._orders: dict[str, TrackedOrder] = {}
        self._trades: list[TradeRow] = []
        self._position: Position | None = None
        self._arrived = asyncio.Event()
        self._space = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    async def put(self, orders: Sequence[TrackedOrder], trades: Sequence[TradeRow], position: Position) -> None:
        """Have rows written that bring the database to `position`; waits while too many wait already."""
        while len(self._orders) + len(self._trades) >= self._rows_max:
            self._space.clear()
            await self._space.wait()
        for order in orders:
            self._orders[order.order_id] = order
        self._trades.extend(trades)
        self._position = position
        self._idle.clear()
        self._arrived.set()
        ROW_QUEUE.set(len(self._orders) + len(self._trades))

    async def drained(self) -> None:
        """Wait until all that was put is written."""
        await self._idle.wait()

    async def run(self) -> None:
        """Write what arrives until cancelled. Raises FencedError if another writer has taken over."""
        pace = Pace(WRITE_INTERVAL_S)
        while True:
            await self._arrived.wait()
            await pace.begin()
            orders, trades, position = list(self._orders.values()), self._trades, self._position
            assert position is not None, "rows come with a position"
            self._orders, self._trades = {}, []
            self._arrived.clear()
            self._space.set()
            await self._write(orders, trades, position)
            ROW_QUEUE.set(len(self._orders) + len(self._trades))
            if not self._arrived.is_set():
                self._idle.set()

    async def _write(self, orders: list[TrackedOrder], trades: list[TradeRow], position: Position) -> None:
        foreign_key_failures = 0
        one_by_one = False
        pause_s = RETRY_PAUSE_S
        while True:
            try:
                async with self._store.moving_cursor(self._written, position) as connection:
                    if one_by_one:
                        await _write_one_by_one(connection, orders, trades)
                    else:
                        await write_orders(connection, orders)
                        await write_trades(connection, trades)
            except asyncpg.ForeignKeyViolationError as error:
                ROW_WRITE_FAILURES.labels("foreign_key").inc()
                log.warning("rows refused by a foreign key", error=str(error), detail=error.detail)
                foreign_key_failures += 1
                one_by_one = foreign_key_failures > 1
                await asyncio.sleep(FOREIGN_KEY_PAUSE_S)
            except REFUSALS as error:
                ROW_WRITE_FAILURES.labels("refused").inc()
                log.error("rows refused by the database", error=repr(error))
                assert not one_by_one, "single rows are refused one by one"
                one_by_one = True
            except (*TRANSIENT_ERRORS, asyncpg.PostgresError) as error:
                ROW_WRITE_FAILURES.labels("unavailable").inc()
                log.warning("rows wait for the database", error=repr(error), rows=len(orders) + len(trades))
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, RETRY_PAUSE_S_MAX)
            else:
                self._written = position
                return


async def _write_one_by_one(connection: Connection, orders: Sequence[TrackedOrder], trades: Sequence[TradeRow]) -> None:
    """Write what the database takes; the rows that it refuses are named and left out."""
    for order in orders:
        try:
            async with connection.transaction():
                await write_orders(connection, [order])
        except REFUSALS as error:
            ROWS_DROPPED.labels("orders").inc()
            log.error("order row dropped", order_id=order.order_id, sequence=order.last_sequence, error=str(error))
    for trade in trades:
        try:
            async with connection.transaction():
                await write_trades(connection, [trade])
        except REFUSALS as error:
            ROWS_DROPPED.labels("trades").inc()
            log.error("trade row dropped", trade_id=trade.trade_id, sequence=trade.sequence, error=str(error))
