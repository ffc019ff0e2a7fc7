"""Market data in this process without the engine's stream: books as a test sets them, trades from the trade rows."""

from datetime import datetime

import asyncpg

from openspot.domain.fair_price.estimate import Remembered
from openspot.domain.fair_price.model import FairPrice
from openspot.engine_client.position import StreamPosition
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings, as_part
from openspot.market_data.book import BookBase
from openspot.market_data.fair_price_store import FairPriceStore
from openspot.market_data.fair_price_work import FairPriceWork
from openspot.market_data.leader_session import StaleError
from openspot.market_data.markets import Markets
from openspot.market_data.requests import RequestHandlers
from openspot.market_data.settings import MarketDataSettings
from openspot.market_data.store import MarketDataStore

EPOCH = "e"
DEPTH = 1000
Levels = list[list[str]]


class FakeMarketData:
    """The service's own handlers, rows and books. Only what follows the engine is not there.

    `symbols` are the markets; `now` is the time at which tickers are asked for; `fault` is why data is stale.
    """

    def __init__(self, settings: Settings, pool: asyncpg.Pool, symbols: tuple[str, ...], now: datetime) -> None:
        self._settings = settings
        self._store = MarketDataStore(pool)
        self._symbols = symbols
        self._now = now
        self._bus: Bus | None = None
        self.markets = Markets(DEPTH)
        self.fair_prices = FairPriceWork(
            as_part(settings, MarketDataSettings), FairPriceStore(pool), token=0, clock=self._nanoseconds
        )
        self.fault: str | None = None

    async def start(self) -> None:
        """Serve the requests."""
        self._bus = await Bus.connect(self._settings, "fake-market-data")
        await self.load()
        handlers = RequestHandlers(self, self._store, self._nanoseconds)  # type: ignore[arg-type]
        await handlers.serve(self._bus)
        await self._bus.check()

    async def stop(self) -> None:
        """Disappear."""
        if self._bus is not None:
            await self._bus.close()

    async def load(self) -> None:
        """Count the trade rows that are not counted yet, and begin all markets again, with empty books."""
        await self._store.count_routers_trades((await self._store.lead()).token, StreamPosition(EPOCH, 0))
        self.markets.begin(await self._store.histories(EPOCH, self._nanoseconds() // 10**6))
        for symbol in self._symbols:
            self.set_book(symbol, [], [])

    def set_book(self, symbol: str, bids: Levels, asks: Levels, sequence: int = 1) -> None:
        """The book of `symbol` from now on."""
        levels = [[(price, quantity) for price, quantity in side] for side in (bids, asks)]
        self.markets.set_base(symbol, BookBase(sequence, 1_700_000_000_000, *levels))

    def set_fair_prices(self, *prices: FairPrice) -> None:
        """The fair prices from now on, of these markets alone."""
        self.fair_prices.board.begin({price.symbol: Remembered(price) for price in prices}, [])

    def check_current(self) -> None:
        """Raise StaleError if there is a fault."""
        if self.fault is not None:
            raise StaleError(self.fault)

    def _nanoseconds(self) -> int:
        return round(self._now.timestamp() * 1000) * 10**6
