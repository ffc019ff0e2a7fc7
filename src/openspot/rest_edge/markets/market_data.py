"""Requests to the market data service, with refusals as the responses that clients get."""

from datetime import datetime
from typing import TypeVar

import msgspec

from openspot.contracts import subjects
from openspot.contracts.messages import (
    GetBook,
    GetBookReply,
    GetCandles,
    GetCandlesReply,
    GetMarketTrades,
    GetMarketTradesReply,
    GetTickers,
    GetTickersReply,
    MarketCandle,
    MarketTicker,
    OrderBookEvent,
    RecentTrade,
)
from openspot.contracts.refusals import RefusalCode
from openspot.domain.candles import Window
from openspot.http.errors import service_unavailable
from openspot.kit.bus import Bus, NotSentError, RequestFailedError

TIMEOUT_S = 2.0
NOT_THERE = "nobody provides market data now"
SILENT = "market data does not respond"

Reply = TypeVar("Reply", GetBookReply, GetTickersReply, GetMarketTradesReply, GetCandlesReply)


class UnknownMarketError(Exception):
    """The service has no such market."""


class MarketDataClient:
    """Requests to market data.

    Every method raises HttpError 503, with the reason, if no current data can be had.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def book(self, symbol: str, depth: int) -> OrderBookEvent:
        """The book of this moment. Raises UnknownMarketError."""
        reply = await self._ask(subjects.MARKETDATA_BOOKS_GET, GetBook(symbol, depth), GetBookReply)
        assert reply.book is not None, "a reply without an error has a book"
        return reply.book

    async def tickers(self, symbol: str | None = None) -> list[MarketTicker]:
        """The tickers of all markets, or of one. Raises UnknownMarketError."""
        return (await self._ask(subjects.MARKETDATA_TICKERS_GET, GetTickers(symbol), GetTickersReply)).tickers

    async def trades(self, symbol: str, limit: int, before: tuple[int, int] | None) -> list[RecentTrade]:
        """Trades, newest first, older than `before`: (milliseconds since 1970, sequence)."""
        request = GetMarketTrades(symbol, limit, before)
        return (await self._ask(subjects.MARKETDATA_TRADES_GET, request, GetMarketTradesReply)).trades

    async def candles(self, symbol: str, window: Window) -> list[MarketCandle]:
        """The candles of a window, oldest first."""
        request = GetCandles(symbol, window.interval.value, _milliseconds(window.begin), _milliseconds(window.end))
        return (await self._ask(subjects.MARKETDATA_CANDLES_GET, request, GetCandlesReply)).candles

    async def _ask(self, subject: str, request: msgspec.Struct, reply_type: type[Reply]) -> Reply:
        try:
            reply = await self._bus.request(subject, request, reply_type, TIMEOUT_S)
        except NotSentError as error:
            raise service_unavailable(NOT_THERE) from error
        except RequestFailedError as error:
            raise service_unavailable(SILENT) from error
        if reply.code is RefusalCode.NOT_FOUND:
            raise UnknownMarketError
        if reply.error is not None:
            raise service_unavailable(reply.error if reply.code is RefusalCode.UNAVAILABLE else SILENT)
        return reply


def _milliseconds(time: datetime) -> int:
    return round(time.timestamp() * 1000)
