"""Markets, proxied from the engine; trades and day figures from the trades table.

Specifications and day figures are cached for a second or more: they are the same for everybody, and the day figures
cost a walk over a day's trades. Books are never cached.
"""

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Generic, TypeVar

import msgspec

from openspot.domain.candles import Interval, Window, window_of
from openspot.domain.market import MarketLimits
from openspot.domain.money import decimal_to_text
from openspot.engine_client.errors import EngineError
from openspot.engine_client.queries import EngineBook, EngineMarket, EngineQueries
from openspot.http.errors import HttpError, service_unavailable
from openspot.kit.single_flight import SingleFlight
from openspot.rest_edge.markets.store import Candle, DayFigures, Trade, TradeStore

Value = TypeVar("Value")

KEPT_S = 1.0
# A value that takes long to make is cached longer: making it may take at most this share of the time.
_WORK_SHARE = 0.05
_BOOKS_AT_A_TIME = 8
CANDLES_KEPT_MAX = 256
"""Lists of candles that are cached at a time; the one that nobody wanted for longest is dropped first."""


class Market(msgspec.Struct, rename="camel", frozen=True):
    """A market: the engine's specification and the limits of the pre-trade check."""

    symbol: str
    base_asset: str
    quote_asset: str
    active: bool
    tick_size: str
    lot_size: str
    taker_fee: int
    maker_fee: int
    base_scale_k: int
    quote_scale_k: int
    quantity_min: str | None = None
    quantity_max: str | None = None
    notional_min: str | None = None
    notional_max: str | None = None


class Ticker(msgspec.Struct, rename="camel", frozen=True):
    """A market's last 24 hours and its current best prices."""

    symbol: str
    last_price: str | None
    bid_price: str | None
    ask_price: str | None
    open_price: str | None
    high_price: str | None
    low_price: str | None
    volume: str
    quote_volume: str
    price_change: str | None
    price_change_percent: str | None
    timestamp: int


class Kept(Generic[Value]):
    """A cached value. It is made at most once at a time; callers that come meanwhile share the outcome."""

    def __init__(self, make: Callable[[], Awaitable[Value]], now: Callable[[], float] = time.monotonic) -> None:
        self._make = make
        self._now = now
        self._value: Value | None = None
        self._until = 0.0
        self._flight: SingleFlight[None, Value] = SingleFlight(self._made)

    async def get(self) -> Value:
        """The value. Raises what making it raises."""
        if self._value is not None and self._now() < self._until:
            return self._value
        return await self._flight.get(None)

    async def _made(self, _: None) -> Value:
        began = self._now()
        value = await self._make()
        ended = self._now()
        self._value, self._until = value, ended + max(KEPT_S, (ended - began) / _WORK_SHARE)
        return value


class MarketService:
    """What the market routes do. Every method raises HttpError with what the client is told."""

    def __init__(self, engine: EngineQueries, trades: TradeStore, limits: Mapping[str, MarketLimits]) -> None:
        self._engine = engine
        self._trades = trades
        self._limits = limits
        self._specifications: Kept[dict[str, EngineMarket]] = Kept(self._load)
        self._candles: dict[tuple[str, Window], Kept[list[Candle]]] = {}
        self._days: Kept[dict[str, DayFigures]] = Kept(self._sum_up)

    async def markets(self) -> list[Market]:
        """All markets, by symbol. 503 if the engine does not respond."""
        return [self._market(specification) for _, specification in sorted((await self._known()).items())]

    async def market(self, symbol: str) -> Market:
        """One market. 404 if the engine does not know the symbol."""
        return self._market(await self._specification(symbol))

    async def book(self, symbol: str, depth: int) -> EngineBook:
        """The engine's current book, at most `depth` levels a side. 404 for an unknown symbol."""
        try:
            book = await self._engine.book(symbol, depth)
        except EngineError as error:
            raise _unavailable() from error
        if book is None:
            raise _not_found(symbol)
        return book

    async def trades(self, symbol: str, limit: int, before: int | None) -> list[Trade]:
        """Trades, newest first, before an engine sequence. 404 for an unknown symbol."""
        await self._specification(symbol)
        return await self._trades.recent(symbol, limit, before)

    async def candles(
        self, symbol: str, interval: Interval, since: datetime | None, until: datetime | None, limit: int
    ) -> list[Candle]:
        """Candles, oldest first, at most `limit` intervals. 404 for an unknown symbol."""
        await self._specification(symbol)
        wanted = symbol, window_of(interval, since, until, limit, datetime.now(UTC))
        kept = self._candles.pop(wanted, None)
        if kept is None:
            kept = Kept(functools.partial(self._trades.candles, *wanted))
        self._candles[wanted] = kept
        if len(self._candles) > CANDLES_KEPT_MAX:
            del self._candles[next(iter(self._candles))]
        return await kept.get()

    async def ticker(self, symbol: str) -> Ticker:
        """One market's ticker. 404 for an unknown symbol."""
        await self._specification(symbol)
        return (await self._tickers([symbol]))[0]

    async def tickers(self) -> list[Ticker]:
        """The tickers of all markets, by symbol."""
        return await self._tickers(sorted(await self._known()))

    async def _tickers(self, symbols: Iterable[str]) -> list[Ticker]:
        days = await self._days.get()
        places = asyncio.Semaphore(_BOOKS_AT_A_TIME)

        async def best(symbol: str) -> EngineBook:
            async with places:
                return await self.book(symbol, 1)

        books = await asyncio.gather(*(best(symbol) for symbol in symbols))
        return [_ticker(book, days.get(book.symbol, DayFigures())) for book in books]

    async def _known(self) -> dict[str, EngineMarket]:
        try:
            return await self._specifications.get()
        except EngineError as error:
            raise _unavailable() from error

    async def _specification(self, symbol: str) -> EngineMarket:
        specification = (await self._known()).get(symbol)
        if specification is None:
            raise _not_found(symbol)
        return specification

    async def _load(self) -> dict[str, EngineMarket]:
        return {market.symbol: market for market in await self._engine.markets()}

    async def _sum_up(self) -> dict[str, DayFigures]:
        return await self._trades.day_figures(sorted(await self._known()), datetime.now(UTC))

    def _market(self, specification: EngineMarket) -> Market:
        limits = self._limits.get(specification.symbol)
        return Market(
            specification.symbol,
            specification.base_currency,
            specification.quote_currency,
            specification.active,
            specification.tick_size,
            specification.lot_size,
            specification.taker_fee,
            specification.maker_fee,
            specification.base_scale_k,
            specification.quote_scale_k,
            *(
                decimal_to_text(limit)
                for limit in (
                    (limits.quantity_min, limits.quantity_max, limits.notional_min, limits.notional_max)
                    if limits is not None
                    else ()
                )
            ),
        )


def _ticker(book: EngineBook, day: DayFigures) -> Ticker:
    return Ticker(
        book.symbol,
        day.last,
        book.bids[0][0] if book.bids else None,
        book.asks[0][0] if book.asks else None,
        day.open,
        day.high,
        day.low,
        day.volume,
        day.quote_volume,
        day.change,
        day.change_percent,
        book.timestamp,
    )


def _not_found(symbol: str) -> HttpError:
    return HttpError(404, f"Market {symbol} not found", "MARKET_NOT_FOUND")


def _unavailable() -> HttpError:
    return service_unavailable("the matching engine does not respond")
