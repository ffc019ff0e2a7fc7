"""Writes order and trade rows in micro-batches. Publishing comes first and never waits for a row.

The writer writes only the newest state of an order. The queue is bounded: when it is full, `put` waits, and so does the
translator. After a foreign-key violation the writer tries once more, after a short delay (facts A8-12 to A8-13). If the
database still refuses, the writer writes row by row, and logs, counts and drops each refused row, so that one bad row
does not hold back the rest. While the database is away, the writer waits for it.
"""

import asyncio
from collections.abc import Sequence
from typing import NoReturn

import asyncpg

from openspot.engine_client.position import StreamPosition
from openspot.kit import tracing
from openspot.kit.backoff import Backoff
from openspot.kit.batching import Batcher
from openspot.kit.bus import RetryingPublisher
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.router.metrics import ROW_WRITE_FAILURES, ROWS_DROPPED
from openspot.router.store import BAD_ROW_ERRORS, RefusedRow, RouterStore, RowBatch
from openspot.router.tracked_order import TrackedOrder
from openspot.router.trade_row import TradeRow

log = get_logger("row_writer")

WRITE_INTERVAL_S = 0.05
"""Seconds between two statements, at least: fifty rows cost the database about as much as one."""
FOREIGN_KEY_PAUSE_S = 0.05
RETRY_PAUSE_S = 0.05
RETRY_PAUSE_S_MAX = 2.0


class RowWriter:
    """Writes rows in the order of the engine's events.

    `written` is the position of the rows in the database. `publisher` holds the events that the bus has not stored.
    When the rows move past a held event, the same statement stores the event, so that it survives this process.
    """

    def __init__(
        self, store: RouterStore, publisher: RetryingPublisher, written: StreamPosition | None, rows_max: int
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._written = written
        self._batcher: Batcher[RowBatch, None] = Batcher(
            self._write_batch,
            batch_max=rows_max,
            waiting_max=rows_max,
            interval_s=WRITE_INTERVAL_S,
            pace="rows",
            size=lambda batch: len(batch.orders) + len(batch.trades),
        )

    async def put(self, orders: Sequence[TrackedOrder], trades: Sequence[TradeRow], position: StreamPosition) -> None:
        """Queue rows that bring the database to `position`. Waits while the queue is full.

        Raises FencedError if another writer has taken over.
        """
        await self._batcher.put(RowBatch(orders, trades, (), position))

    @property
    def waiting(self) -> int:
        """The number of rows that wait to be written."""
        return self._batcher.waiting

    async def drained(self) -> None:
        """Wait until all queued rows are written. Raises FencedError if another writer has taken over."""
        await self._batcher.drained()

    async def failure(self) -> NoReturn:
        """Wait until another writer takes over, and raise FencedError."""
        await self._batcher.failure()

    async def cancel(self) -> None:
        """Stop at once. The statement under way is rolled back; the next writer writes its rows and the queued ones."""
        await self._batcher.cancel()

    async def _write_batch(self, batch: list[RowBatch]) -> None:
        orders = {order.order_id: order for rows in batch for order in rows.orders}
        trades = [trade for rows in batch for trade in rows.trades]
        began = tracing.begin()
        await self._write(list(orders.values()), trades, batch[-1].position)
        if began:
            for order in orders.values():
                key = str(order.last_sequence)
                tracing.end(order.order_id, tracing.Step.ROWS, began, key=key, orders=len(orders), trades=len(trades))

    async def _write(self, orders: list[TrackedOrder], trades: list[TradeRow], position: StreamPosition) -> None:
        """Write rows, and retry until the database has stored every row that it accepts. Raises FencedError."""
        foreign_key_failures = 0
        one_by_one = False
        backoff = Backoff(RETRY_PAUSE_S, RETRY_PAUSE_S_MAX)
        while True:
            held = self._publisher.unstored(position.sequence)
            batch = RowBatch(orders, trades, held, position)
            try:
                if one_by_one:
                    _note_dropped(await self._store.write_singly(self._written, batch))
                else:
                    await self._store.write(self._written, batch)
            except asyncpg.ForeignKeyViolationError as error:
                ROW_WRITE_FAILURES.labels("foreign_key").inc()
                log.warning("rows refused by a foreign key", error=str(error), detail=error.detail)
                foreign_key_failures += 1
                one_by_one = foreign_key_failures > 1
                await asyncio.sleep(FOREIGN_KEY_PAUSE_S)
            except BAD_ROW_ERRORS as error:
                ROW_WRITE_FAILURES.labels("refused").inc()
                log.error("rows refused by the database", error=repr(error))
                assert not one_by_one, "a single refused row is dropped"
                one_by_one = True
            except (*TRANSIENT_ERRORS, asyncpg.PostgresError) as error:
                ROW_WRITE_FAILURES.labels("unavailable").inc()
                log.warning("rows not written yet", error=repr(error), rows=len(orders) + len(trades))
                await asyncio.sleep(backoff.failed())
            else:
                self._written = position
                self._publisher.note_stored(held)
                return


def _note_dropped(refused: Sequence[RefusedRow]) -> None:
    for row, error in refused:
        if isinstance(row, TradeRow):
            ROWS_DROPPED.labels("trades").inc()
            log.error("trade row dropped", trade_id=row.trade_id, sequence=row.sequence, error=str(error))
        else:
            ROWS_DROPPED.labels("orders").inc()
            log.error("order row dropped", order_id=row.order_id, sequence=row.last_sequence, error=str(error))
