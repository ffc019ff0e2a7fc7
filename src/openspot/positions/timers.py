"""The work that the service does without a request: mark-to-market, snapshots, valuation of fills."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from openspot.kit.clock import NANOSECONDS_PER_MS, Clock, datetime_from_ms
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.positions.holdings.store import HoldingStore
from openspot.positions.metrics import MARKINGS, SNAPSHOTS
from openspot.positions.prices import Prices

log = get_logger("positions")


class Marking:
    """Marks positions to the present prices."""

    def __init__(self, store: HoldingStore, prices: Prices) -> None:
        self._store = store
        self._prices = prices

    async def run_once(self) -> None:
        """Note the present prices. Without market data the earlier ones stay until they are too old."""
        try:
            prices = await self._prices.latest()
        except MarketDataUnavailableError as error:
            MARKINGS.labels("no prices").inc()
            log.warning("positions not marked", reason=str(error))
            return
        await self._store.mark(prices)
        MARKINGS.labels("marked").inc()


LATE_S_MAX = 60.0
"""A snapshot later than this, or than half an interval, is left out: it would show positions of another time."""


class Snapshots:
    """Stores all open positions at whole multiples of an interval since 1970. Only one process does it each time."""

    def __init__(self, store: HoldingStore, clock: Clock, interval_s: float, kept_days: int) -> None:
        self._store = store
        self._clock = clock
        self._interval_ms = round(interval_s * 1000)
        self._kept = timedelta(days=kept_days)
        self._late_ms_max = min(LATE_S_MAX * 1000, self._interval_ms / 2)

    def seconds_to_next(self) -> float:
        """Seconds until the next interval begins."""
        return (self._interval_ms - self._clock() // NANOSECONDS_PER_MS % self._interval_ms) / 1000

    async def run(self) -> None:
        """Store the positions whenever an interval begins, until cancelled.

        Old snapshots are deleted first, also at the start: a process that never lives for a whole interval deletes too.
        """
        while True:
            await attempt("forget snapshots", self.forget)
            await asyncio.sleep(self.seconds_to_next())
            await attempt("take snapshots", self.take)

    async def take(self) -> None:
        """Store the positions for the interval that has just begun.

        Does nothing if it began too long ago. Then this process was held up, or woke a moment before the next interval,
        and what is open now was perhaps not open then.
        """
        now_ms = self._clock() // NANOSECONDS_PER_MS
        late_ms = now_ms % self._interval_ms
        if late_ms > self._late_ms_max:
            log.warning("no snapshot of positions: it would be late", late_s=late_ms / 1000)
            return
        SNAPSHOTS.inc(await self._store.take_snapshot(datetime_from_ms(now_ms - late_ms)))

    async def forget(self) -> None:
        """Delete the snapshots that are older than they are kept."""
        await self._store.forget_snapshots(datetime_from_ms(self._clock() // NANOSECONDS_PER_MS) - self._kept)


async def repeat(what: str, work: Callable[[], Awaitable[object]], interval_s: float) -> None:
    """Do `work` every `interval_s` seconds until cancelled, and go on after a failure."""
    while True:
        await attempt(what, work)
        await asyncio.sleep(interval_s)


async def attempt(what: str, work: Callable[[], Awaitable[object]]) -> None:
    """Do `work`. A failure is only logged, because the next attempt may succeed."""
    try:
        await work()
    except TRANSIENT_ERRORS as error:
        log.warning("the database does not respond", work=what, error=repr(error))
    except Exception:
        log.exception("work failed", work=what)
