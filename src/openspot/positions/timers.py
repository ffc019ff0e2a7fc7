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
    """Marks positions to the latest prices."""

    def __init__(self, store: HoldingStore, prices: Prices) -> None:
        self._store = store
        self._prices = prices

    async def run_once(self) -> None:
        """Note the latest prices. Without market data the earlier ones stay until they are too old."""
        try:
            prices = await self._prices.latest()
        except MarketDataUnavailableError as error:
            MARKINGS.labels("no prices").inc()
            log.warning("positions not marked", reason=str(error))
            return
        await self._store.mark(prices)
        MARKINGS.labels("marked").inc()


class Snapshots:
    """Stores all open positions at whole multiples of an interval since 1970. Only one process does it each time."""

    def __init__(self, store: HoldingStore, clock: Clock, interval_s: float, kept_days: int) -> None:
        self._store = store
        self._clock = clock
        self._interval_ms = round(interval_s * 1000)
        self._kept = timedelta(days=kept_days)

    def seconds_to_next(self) -> float:
        """Seconds until the next interval begins."""
        return (self._interval_ms - self._clock() // NANOSECONDS_PER_MS % self._interval_ms) / 1000

    async def run(self) -> None:
        """Store the positions whenever an interval begins, until cancelled."""
        while True:
            await asyncio.sleep(self.seconds_to_next())
            await attempt("take snapshots", self.run_once)

    async def run_once(self) -> None:
        """Store the positions for the interval that has begun, and delete old snapshots."""
        now_ms = self._clock() // NANOSECONDS_PER_MS
        taken_at = datetime_from_ms(now_ms - now_ms % self._interval_ms)
        SNAPSHOTS.inc(await self._store.take_snapshot(taken_at))
        await self._store.forget_snapshots(datetime_from_ms(now_ms) - self._kept)


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
