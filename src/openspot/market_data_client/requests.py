"""Books, tickers, trades and candles, by requests over the bus."""

from typing import TypeVar

import msgspec

from openspot.contracts import subjects
from openspot.contracts.messages import (
    Candle,
    FairPriceEvent,
    GetAggregateTrades,
    GetAggregateTradesReply,
    GetBook,
    GetBookReply,
    GetCandles,
    GetCandlesReply,
    GetFairPrices,
    GetFairPricesReply,
    GetMarketTrades,
    GetMarketTradesReply,
    GetTickers,
    GetTickersReply,
    MarketTrade,
    OrderBookEvent,
    TickerEvent,
)
from openspot.contracts.refusals import RefusalCode
from openspot.kit.bus import Bus, BusError, NotSentError
from openspot.market_data_client.errors import MarketDataUnavailableError, UnknownMarketError

NOT_THERE = "nobody provides market data now"
SILENT = "market data does not respond"

Reply = TypeVar(
    "Reply",
    GetBookReply,
    GetTickersReply,
    GetMarketTradesReply,
    GetAggregateTradesReply,
    GetCandlesReply,
    GetFairPricesReply,
)


class MarketDataClient:
    """Requests to market data. Every method raises MarketDataUnavailableError if there is no current data."""

    def __init__(self, bus: Bus, timeout_s: float | None = None) -> None:
        """A request fails after `timeout_s`; without it, after the bus's time for a request that only reads."""
        self._bus = bus
        self._timeout_s = bus.read_timeout_s if timeout_s is None else timeout_s

    async def book(self, symbol: str, depth: int | None = None) -> OrderBookEvent:
        """The present book, at most `depth` levels a side. Without `depth`, the snapshot that the updates continue.

        Raises UnknownMarketError.
        """
        reply = await self._ask(subjects.MARKETDATA_BOOKS_GET, GetBook(symbol, depth), GetBookReply)
        if reply.book is None:
            raise MarketDataUnavailableError(SILENT)
        return reply.book

    async def tickers(self) -> list[TickerEvent]:
        """The tickers of all markets."""
        try:
            return (await self._ask(subjects.MARKETDATA_TICKERS_GET, GetTickers(), GetTickersReply)).tickers
        except UnknownMarketError as error:
            raise MarketDataUnavailableError(SILENT) from error

    async def ticker(self, symbol: str) -> TickerEvent:
        """The ticker of a market. Raises UnknownMarketError."""
        reply = await self._ask(subjects.MARKETDATA_TICKERS_GET, GetTickers(symbol), GetTickersReply)
        if not reply.tickers:
            raise UnknownMarketError
        return reply.tickers[0]

    async def trades(self, symbol: str, limit: int, before: tuple[int, int] | None) -> list[MarketTrade]:
        """Trades, newest first, older than `before`: (milliseconds since 1970, sequence). Raises UnknownMarketError."""
        request = GetMarketTrades(symbol, limit, before)
        return (await self._ask(subjects.MARKETDATA_TRADES_GET, request, GetMarketTradesReply)).trades

    async def aggregate_trades(self, request: GetAggregateTrades) -> GetAggregateTradesReply:
        """Aggregate trades of a market. Raises UnknownMarketError for a `from_trade_id` that it does not have."""
        return await self._ask(subjects.MARKETDATA_AGGREGATES_GET, request, GetAggregateTradesReply)

    async def candles(self, request: GetCandles) -> list[Candle]:
        """The candles of a window, oldest first. Raises UnknownMarketError."""
        return (await self._ask(subjects.MARKETDATA_CANDLES_GET, request, GetCandlesReply)).candles

    async def fair_prices(self) -> list[FairPriceEvent]:
        """The fair prices of all markets that ever had one."""
        try:
            return (await self._ask(subjects.MARKETDATA_FAIR_PRICES_GET, GetFairPrices(), GetFairPricesReply)).prices
        except UnknownMarketError as error:
            raise MarketDataUnavailableError(SILENT) from error

    async def _ask(self, subject: str, request: msgspec.Struct, reply_type: type[Reply]) -> Reply:
        try:
            reply = await self._bus.request(subject, request, reply_type, self._timeout_s)
        except NotSentError as error:
            raise MarketDataUnavailableError(NOT_THERE) from error
        except BusError as error:
            raise MarketDataUnavailableError(SILENT) from error
        if reply.code is RefusalCode.NOT_FOUND:
            raise UnknownMarketError
        if reply.error is not None:
            raise MarketDataUnavailableError(reply.error if reply.code is RefusalCode.UNAVAILABLE else SILENT)
        return reply
