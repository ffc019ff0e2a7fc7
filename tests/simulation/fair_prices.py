"""Market data's fair prices in the simulation: the honest price that the simulation knows, whatever anybody prints."""

import asyncio
from dataclasses import dataclass, replace

from openspot.contracts import subjects
from openspot.contracts.messages import FairPriceEvent, GetFairPrices, GetFairPricesReply
from openspot.domain.fair_price.model import PriceState
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from tests.simulation.bus import BusServer, SimulatedBus
from tests.simulation.engine import SYMBOLS
from tests.simulation.process import Process

AGAIN_S = 2.0
STALE_S = 15.0
SEEN_LATE_MS = round(1000 * (STALE_S + AGAIN_S))
"""A process may decide at a price that was replaced this long ago."""
PLENTY = "1000000"


@dataclass(frozen=True, slots=True)
class Known:
    """What market data knows of a market since `since_ms`. `absorbed` is what the market can absorb on either side."""

    since_ms: int
    price: str = "100.00"
    state: PriceState = PriceState.GOOD
    absorbed: str = PLENTY


class MarketData:
    """Publishes the prices that the simulation sets, so that they may fall without a trade."""

    def __init__(self, process: Process, server: BusServer, clock: Clock) -> None:
        self._bus = SimulatedBus(server, process)
        self._process = process
        self._clock = clock
        self.history = {symbol: [Known(self._now_ms())] for symbol in SYMBOLS}
        queue = subjects.MARKET_DATA_QUEUE
        process.start(self._bus.serve(subjects.MARKETDATA_FAIR_PRICES_GET, queue, GetFairPrices, self._reply, None))
        process.start(self._publish_again())

    @property
    def prices(self) -> dict[str, str]:
        """The fair price of each symbol."""
        return {symbol: known[-1].price for symbol, known in self.history.items()}

    def set(
        self,
        symbol: str,
        *,
        price: str | None = None,
        state: PriceState | None = None,
        absorbed: str | None = None,
    ) -> None:
        """Know something else of a market from now on."""
        before = self.history[symbol][-1]
        now = replace(
            before,
            since_ms=self._now_ms(),
            price=price or before.price,
            state=state or before.state,
            absorbed=absorbed or before.absorbed,
        )
        self.history[symbol].append(now)
        self._process.start(self.publish())

    def be_sound(self) -> None:
        """Know 100 for every market, of which everybody is sure and which absorbs everything."""
        for symbol in SYMBOLS:
            self.set(symbol, price="100.00", state=PriceState.GOOD, absorbed=PLENTY)

    def seen(self, symbol: str, at_ms: int) -> list[Known]:
        """What a process may have known of a market when it decided."""
        known = self.history[symbol]
        ends = [*(each.since_ms for each in known[1:]), at_ms + 1]
        return [
            each
            for each, until_ms in zip(known, ends, strict=True)
            if each.since_ms <= at_ms and until_ms >= at_ms - SEEN_LATE_MS
        ]

    def _events(self) -> list[FairPriceEvent]:
        newest = {symbol: known[-1] for symbol, known in self.history.items()}
        return [
            FairPriceEvent(
                symbol=symbol,
                state=known.state.value,
                price=known.price,
                low=known.price,
                high=known.price,
                day_median="100.00",
                sellable=known.absorbed,
                buyable=known.absorbed,
                timestamp=self._now_ms(),
                reason="the simulation says so",
                is_confirmed=True,
            )
            for symbol, known in newest.items()
        ]

    async def publish(self) -> None:
        """Publish every price."""
        for event in self._events():
            await self._bus.announce(f"{subjects.MARKETDATA_FAIR_PRICE}.{event.symbol}", event)

    async def _publish_again(self) -> None:
        while True:
            await self.publish()
            await asyncio.sleep(AGAIN_S)

    async def _reply(self, _: GetFairPrices) -> GetFairPricesReply:
        return GetFairPricesReply(self._events())

    def _now_ms(self) -> int:
        return self._clock() // NANOSECONDS_PER_MS
