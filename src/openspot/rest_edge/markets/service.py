"""Markets: specifications from the engine; books, trades, tickers and candles from the market data service.

Specifications and fair prices change at most once a second, so they are cached for a second or more. Everything else
comes from market data at the time of the request.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Generic, TypeVar

import msgspec

from openspot.contracts.messages import (
    Candle,
    FairPriceEvent,
    GetAggregateTrades,
    GetAggregateTradesReply,
    GetCandles,
    MarketTrade,
    Ticker,
    TickerEvent,
)
from openspot.domain.candles import Interval, window_of
from openspot.domain.fair_price.band import PriceReference
from openspot.domain.fair_price.crossing import asset_prices
from openspot.domain.fair_price.reference import DOLLAR
from openspot.domain.margin_offer import margin_offer
from openspot.domain.market import MarketLimits
from openspot.domain.money import amount_to_text, decimal_to_text
from openspot.engine_client.errors import EngineError
from openspot.engine_client.queries import EngineMarket, EngineQueries
from openspot.http.errors import HttpError, service_unavailable
from openspot.kit.clock import ms_from_datetime, utc_now
from openspot.kit.single_flight import SingleFlight
from openspot.market_data_client.errors import MarketDataUnavailableError, UnknownMarketError
from openspot.market_data_client.fair_prices import fair_price_of
from openspot.market_data_client.price_bands import PriceBands
from openspot.market_data_client.requests import MarketDataClient
from openspot.rest_edge.markets.schemas import AssetFairPrice, Market, MarketFairPrice, OrderBook

Value = TypeVar("Value")

KEPT_S = 1.0
# Making the value may take at most this share of the time. So a value that takes long to make is cached longer.
_WORK_SHARE = 0.05


class Kept(Generic[Value]):
    """A cached value. While it is made, further callers wait for the same outcome."""

    def __init__(self, make: Callable[[], Awaitable[Value]], now: Callable[[], float] = time.monotonic) -> None:
        self._make = make
        self._now = now
        self._value: Value | None = None
        self._until = 0.0
        self._flight: SingleFlight[None, Value] = SingleFlight(self._made)

    async def get(self) -> Value:
        """Return the value, and make it if it is too old. Raises the errors of making it."""
        if self._value is not None and self._now() < self._until:
            return self._value
        return await self._flight.get(None)

    async def _made(self, _: None) -> Value:
        began = self._now()
        value = await self._make()
        ended = self._now()
        self._value, self._until = value, ended + max(KEPT_S, (ended - began) / _WORK_SHARE)
        return value


async def provided(reply: Awaitable[Value]) -> Value:
    """Await the reply of market data. Raises HttpError 503, with the reason, if it has no current data."""
    try:
        return await reply
    except MarketDataUnavailableError as error:
        raise service_unavailable(str(error)) from error


class MarketService:
    """Handles the requests to the market routes. Methods raise HttpError to refuse a request.

    `bands` are the bands around fair prices; None if the last trade is the reference. `rules` are those of orders.
    """

    def __init__(
        self,
        engine: EngineQueries,
        market_data: MarketDataClient,
        limits: Mapping[str, MarketLimits],
        bands: PriceBands | None,
        rules: str,
    ) -> None:
        self._engine = engine
        self._market_data = market_data
        self._limits = limits
        self._bands = bands
        self._rules = rules
        self._on_margin = margin_offer().markets
        self._specifications: Kept[dict[str, EngineMarket]] = Kept(self._load)
        self._fair_prices: Kept[dict[str, FairPriceEvent]] = Kept(self._load_fair_prices)

    async def markets(self) -> list[Market]:
        """All markets, by symbol. 503 if the engine does not respond."""
        return [self._market(specification) for _, specification in sorted((await self._known()).items())]

    async def market(self, symbol: str) -> Market:
        """One market. 404 if the engine does not know the symbol."""
        return self._market(await self._specification(symbol))

    async def book(self, symbol: str, depth: int) -> OrderBook:
        """The current book, at most `depth` levels a side. 404 for an unknown symbol."""
        try:
            book = await provided(self._market_data.book(symbol, depth))
        except UnknownMarketError:
            raise await self._not_found_or_new(symbol) from None
        return OrderBook(book.symbol, book.bids, book.asks, book.seq, book.timestamp)

    async def trades(self, symbol: str, limit: int, before: tuple[int, int] | None) -> list[MarketTrade]:
        """Trades, newest first, older than `before`: (milliseconds, sequence). 404 for an unknown symbol."""
        await self._specification(symbol)
        return await provided(self._market_data.trades(symbol, limit, before))

    async def aggregate_trades(self, request: GetAggregateTrades) -> GetAggregateTradesReply:
        """Aggregate trades. 404 for an unknown symbol, or a trade that the market does not have."""
        await self._specification(request.symbol)
        try:
            return await provided(self._market_data.aggregate_trades(request))
        except UnknownMarketError:
            reason = f"{request.symbol} has no trade {request.from_trade_id}, or not any more"
            raise HttpError(404, reason, "TRADE_NOT_FOUND") from None

    async def candles(
        self, symbol: str, interval: Interval, since: datetime | None, until: datetime | None, limit: int
    ) -> list[Candle]:
        """Candles, oldest first, at most `limit` intervals. 404 for an unknown symbol."""
        await self._specification(symbol)
        window = window_of(interval, since, until, limit, utc_now())
        begin, end = (ms_from_datetime(time) for time in (window.begin, window.end))
        return await provided(self._market_data.candles(GetCandles(symbol, window.interval.value, begin, end)))

    async def ticker(self, symbol: str) -> Ticker:
        """One market's ticker. 404 for an unknown symbol."""
        try:
            ticker = await provided(self._market_data.ticker(symbol))
        except UnknownMarketError:
            raise await self._not_found_or_new(symbol) from None
        return _figures(ticker)

    async def tickers(self) -> list[Ticker]:
        """The tickers of all markets, by symbol."""
        known = await self._known()
        return [_figures(ticker) for ticker in await provided(self._market_data.tickers()) if ticker.symbol in known]

    async def fair_price(self, symbol: str) -> MarketFairPrice:
        """One market's fair price. 404 for an unknown symbol, 503 for a market that has no fair price yet."""
        price = (await provided(self._fair_prices.get())).get(symbol)
        if price is None:
            await self._specification(symbol)
            raise service_unavailable(f"nobody has made a price of {symbol} yet")
        return MarketFairPrice(
            price.symbol, price.price, price.low, price.high, price.state, price.reason, price.timestamp
        )

    async def asset_prices(self) -> list[AssetFairPrice]:
        """The price of each asset that markets with a fair price connect with the US dollar, by asset."""
        events = await provided(self._fair_prices.get())
        prices = asset_prices(DOLLAR, {symbol: fair_price_of(event) for symbol, event in events.items()})
        return [
            AssetFairPrice(asset, amount_to_text(price.price), price.state.value)
            for asset, price in sorted(prices.items())
        ]

    async def _load_fair_prices(self) -> dict[str, FairPriceEvent]:
        return {event.symbol: event for event in await self._market_data.fair_prices()}

    async def _not_found_or_new(self, symbol: str) -> HttpError:
        """The refusal: 404, or 503 for a market that the engine has and market data does not have yet."""
        await self._specification(symbol)
        return service_unavailable(f"market data has nothing of {symbol} yet")

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

    def _market(self, specification: EngineMarket) -> Market:
        market = Market(
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
            price_reference=PriceReference.LAST_TRADE if self._bands is None else PriceReference.FAIR_PRICE,
            rules=self._rules,
            phase=specification.phase,
            phase_ends_at=specification.phase_ends_at or None,
            phase_cause=specification.phase_cause or None,
            logo=specification.logo,
            quote_logo=specification.quote_logo,
            margin=specification.symbol in self._on_margin,
        )
        terms = specification.terms
        if terms is not None:
            market = msgspec.structs.replace(
                market,
                status=terms.status,
                name=terms.name,
                announcement=terms.announcement,
                schedule=terms.schedule,
            )
        limits = self._limits.get(specification.symbol)
        if limits is None:
            return market
        width, centre = limits.deviation_bps_max, None
        if self._bands is not None:
            centre, width = self._bands.of(specification.symbol, width)
        return msgspec.structs.replace(
            market,
            quantity_min=decimal_to_text(limits.quantity_min),
            quantity_max=decimal_to_text(limits.quantity_max),
            notional_min=decimal_to_text(limits.notional_min),
            notional_max=decimal_to_text(limits.notional_max),
            deviation_bps_max=width,
            slippage_bps_max=limits.slippage_bps_max,
            reference_price=None if centre is None else decimal_to_text(centre),
        )


def _figures(ticker: TickerEvent) -> Ticker:
    return Ticker(**{name: getattr(ticker, name) for name in Ticker.__struct_fields__})


def _not_found(symbol: str) -> HttpError:
    return HttpError(404, f"Market {symbol} not found", "MARKET_NOT_FOUND")


def _unavailable() -> HttpError:
    return service_unavailable("the matching engine does not respond")
