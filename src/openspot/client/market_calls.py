"""The calls about markets. They need no user."""

from datetime import datetime

from openspot.client.calls import Calls, iso_time, segment
from openspot.client.gen.records import (
    AggregateTrade,
    AssetPrice,
    Candle,
    FairPrice,
    Market,
    MarketTrade,
    OrderBook,
    Ticker,
)
from openspot.client.records import Page


class MarketCalls(Calls):
    """Markets, books, trades, tickers, candles."""

    async def markets(self) -> list[Market]:
        """All markets."""
        return await self._call("GET", "/markets", list[Market])

    async def market(self, symbol: str) -> Market:
        """One market. Raises ApiError 404 if there is none."""
        return await self._call("GET", f"/markets/{segment(symbol)}", Market)

    async def order_book(self, symbol: str, *, depth: int | None = None) -> OrderBook:
        """The book of a market, at most `depth` levels a side."""
        return await self._call("GET", f"/markets/{segment(symbol)}/orderbook", OrderBook, query={"depth": depth})

    async def trades(self, symbol: str, *, limit: int = 100, cursor: str | None = None) -> Page[MarketTrade]:
        """Public trades of a market, newest first."""
        return await self._page(f"/markets/{segment(symbol)}/trades", MarketTrade, {"limit": limit, "cursor": cursor})

    async def aggregate_trades(
        self,
        symbol: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        from_trade_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[AggregateTrade]:
        """What each order took at one price, as one trade: newest first.

        With `from_trade_id` the aggregate that has this trade comes first, then younger ones, and the page has no
        cursor: go on with the `last_trade_id` of its last aggregate, which comes again, and may have grown. Raises
        ApiError 404 TRADE_NOT_FOUND if the market does not have the trade, and ValueError for a time without a zone.
        """
        query = {
            "from": iso_time(since, "since"),
            "to": iso_time(until, "until"),
            "fromTradeId": from_trade_id,
            "limit": limit,
            "cursor": cursor,
        }
        return await self._page(f"/markets/{segment(symbol)}/agg-trades", AggregateTrade, query)

    async def ticker(self, symbol: str) -> Ticker:
        """The last 24 hours of a market."""
        return await self._call("GET", f"/markets/{segment(symbol)}/ticker", Ticker)

    async def fair_price(self, symbol: str) -> FairPrice:
        """What a market's base is worth for decisions about money. Raises ApiError 503 if it has no price yet."""
        return await self._call("GET", f"/markets/{segment(symbol)}/fair-price", FairPrice)

    async def asset_prices(self) -> list[AssetPrice]:
        """What each asset is worth in US dollars, at the fair prices of the markets."""
        return await self._call("GET", "/markets/asset-prices", list[AssetPrice])

    async def tickers(self) -> list[Ticker]:
        """The last 24 hours of every market."""
        return await self._call("GET", "/markets/tickers", list[Ticker])

    async def candles(
        self,
        symbol: str,
        *,
        interval: str = "1h",
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 100,
    ) -> list[Candle]:
        """Candles of a market, oldest first. Intervals are 1m, 5m, 15m, 30m, 1h, 4h, 1d and 1w.

        Without `since` and `until`, these are the newest. An interval without a trade has no candle. Raises ValueError
        for a time without a zone.
        """
        query = {
            "interval": interval,
            "from": iso_time(since, "since"),
            "to": iso_time(until, "until"),
            "limit": limit,
        }
        return await self._call("GET", f"/markets/{segment(symbol)}/candles", list[Candle], query=query)
