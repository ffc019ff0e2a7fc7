"""Market data in this process: last prices and candles as a test sets them."""

from datetime import datetime

from openspot.contracts import subjects
from openspot.contracts.messages import (
    Candle,
    FairPriceEvent,
    GetCandles,
    GetCandlesReply,
    GetFairPrices,
    GetFairPricesReply,
    GetTickers,
    GetTickersReply,
    TickerEvent,
)
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings


class FakePrices:
    """Serves the requests of the position service. `fault` is why there are no current prices."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._bus: Bus | None = None
        self._time = 1_700_000_000_000
        self._candles: dict[tuple[str, str, int], str] = {}
        self.prices: dict[str, str | None] = {}
        self.fair_prices: dict[str, FairPriceEvent] = {}
        self.fault: str | None = None
        self.asked = 0
        """How often the tickers were asked for."""

    async def start(self) -> None:
        """Serve."""
        self._bus = await Bus.connect(self._settings, "fake-prices")
        queue = subjects.MARKET_DATA_QUEUE
        await self._bus.serve(
            subjects.MARKETDATA_TICKERS_GET, queue, GetTickers, self._tickers, GetTickersReply.refused
        )
        await self._bus.serve(
            subjects.MARKETDATA_CANDLES_GET, queue, GetCandles, self._candles_of, GetCandlesReply.refused
        )
        await self._bus.serve(
            subjects.MARKETDATA_FAIR_PRICES_GET, queue, GetFairPrices, self._fair, GetFairPricesReply.refused
        )
        await self._bus.check()

    async def stop(self) -> None:
        """Disappear."""
        if self._bus is not None:
            await self._bus.close()

    def set_candle(self, symbol: str, interval: str, begin: datetime, close: str) -> None:
        """The candle of one interval."""
        self._candles[symbol, interval, round(begin.timestamp() * 1000)] = close

    def forget(self) -> None:
        """Have no prices and no fault."""
        self.prices.clear()
        self.fair_prices.clear()
        self._candles.clear()
        self.fault = None

    async def _tickers(self, _: GetTickers) -> GetTickersReply:
        self.asked += 1
        if self.fault is not None:
            return GetTickersReply.refused(Refusal(RefusalCode.UNAVAILABLE, self.fault))
        self._time += 1
        nothing = (None, None, None, None, None, "0", "0", None, None)
        return GetTickersReply(
            [TickerEvent(symbol, price, *nothing, self._time, 1) for symbol, price in self.prices.items()]
        )

    async def _fair(self, _: GetFairPrices) -> GetFairPricesReply:
        if self.fault is not None:
            return GetFairPricesReply.refused(Refusal(RefusalCode.UNAVAILABLE, self.fault))
        return GetFairPricesReply(list(self.fair_prices.values()))

    async def _candles_of(self, request: GetCandles) -> GetCandlesReply:
        if self.fault is not None:
            return GetCandlesReply.refused(Refusal(RefusalCode.UNAVAILABLE, self.fault))
        found = sorted(
            (begin, close)
            for (symbol, interval, begin), close in self._candles.items()
            if (symbol, interval) == (request.symbol, request.interval) and request.since <= begin < request.until
        )
        return GetCandlesReply([Candle(begin, close, close, close, close, "1", 1) for begin, close in found])
