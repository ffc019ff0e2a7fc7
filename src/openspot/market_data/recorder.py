"""Records trades in batches: while one transaction is under way, the next batch gathers.

The queue is bounded: when it is full, `put` waits, and no more events are read. While the database is away, the
recorder retries; books, tickers and trades are published meanwhile.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import NamedTuple, NoReturn

import asyncpg

from openspot.contracts.messages import CandleEvent, MarketTradeEvent
from openspot.engine_client.position import StreamPosition
from openspot.kit.backoff import Backoff
from openspot.kit.batching import Batcher
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.market_data.metrics import QUEUE, RECORD_FAILURES, RECORDED_SEQUENCE
from openspot.market_data.store import MarketDataStore

log = get_logger("market-data")

INTERVAL_S = 0.05
"""Seconds between two transactions, at least: many trades cost the database about as much as one."""
BATCH_MAX = 5000
RETRY_PAUSE_S, RETRY_PAUSE_S_MAX = 0.05, 2.0


class NotRecordedError(Exception):
    """The newest trades could not be recorded yet. The message says why."""


class _Trades(NamedTuple):
    """Trades that bring the candles to `position`."""

    trades: Sequence[MarketTradeEvent]
    position: StreamPosition


class Recorder:
    """Records trades under one leader's token."""

    def __init__(self, store: MarketDataStore, token: int, queue_max: int) -> None:
        self._store = store
        self._token = token
        self._fault: str | None = None
        self._changed: dict[tuple[str, str, int], CandleEvent] = {}
        self._batcher: Batcher[_Trades, None] = Batcher(
            self._record,
            batch_max=BATCH_MAX,
            waiting_max=queue_max,
            interval_s=INTERVAL_S,
            pace="market-trades",
            size=lambda item: max(1, len(item.trades)),
        )

    def check(self) -> None:
        """Raise NotRecordedError while trades wait for the database."""
        if self._fault is not None:
            raise NotRecordedError(self._fault)

    async def put(self, trades: Sequence[MarketTradeEvent], position: StreamPosition) -> None:
        """Queue trades that bring the candles to `position`. Waits while the queue is full. Raises FencedError."""
        await self._batcher.put(_Trades(trades, position))
        QUEUE.set(self._batcher.waiting)

    def note_changed(self, candles: Iterable[CandleEvent]) -> None:
        """Add candles to those that `take_changed` returns."""
        for candle in candles:
            self._changed[candle.symbol, candle.interval, candle.timestamp] = candle

    def take_changed(self) -> list[CandleEvent]:
        """The present state of the candles that changed since the last call."""
        changed, self._changed = self._changed, {}
        return list(changed.values())

    async def drained(self) -> None:
        """Wait until all queued trades are recorded. Raises FencedError."""
        await self._batcher.drained()

    async def failure(self) -> NoReturn:
        """Wait until another process leads, and raise FencedError."""
        await self._batcher.failure()

    async def cancel(self) -> None:
        """Stop at once. The next leader records the rest."""
        await self._batcher.cancel()

    async def _record(self, batch: list[_Trades]) -> None:
        trades = [trade for item in batch for trade in item.trades]
        position = batch[-1].position
        backoff = Backoff(RETRY_PAUSE_S, RETRY_PAUSE_S_MAX)
        while True:
            try:
                self.note_changed(await self._store.record(self._token, trades, position))
            except (*TRANSIENT_ERRORS, asyncpg.PostgresError) as error:
                RECORD_FAILURES.inc()
                self._fault = f"trades are not recorded: {error!r}"
                log.warning("trades not recorded yet", error=repr(error), trades=len(trades))
                await asyncio.sleep(backoff.failed())
            else:
                self._fault = None
                RECORDED_SEQUENCE.set(position.sequence)
                QUEUE.set(self._batcher.waiting)
                return
