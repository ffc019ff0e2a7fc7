"""The routes of the markets (facts B4.1-21 to B4.1-30). They are read-only, and open to everybody."""

from typing import Annotated

import msgspec
from fastapi import Path, Query
from starlette.responses import Response

from openspot.contracts.messages import AggregateTrade, Candle, GetAggregateTrades, MarketTrade, Ticker
from openspot.domain.candles import Interval
from openspot.http.errors import validation_error
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit, decode_cursor, encode_cursor
from openspot.http.policy import PUBLIC
from openspot.http.responses import json_response, page_response
from openspot.http.routing import Router
from openspot.http.validation import Symbol, UtcDatetime
from openspot.kit.clock import ms_from_datetime
from openspot.rest_edge.markets.schemas import AssetFairPrice, Market, MarketFairPrice, OrderBook
from openspot.rest_edge.markets.service import MarketService

DEPTH_DEFAULT = 50
DEPTH_MAX = 1000
MILLISECONDS_MAX = 253_402_300_799_999
"""The last millisecond of the year 9999."""

SymbolPath = Annotated[Symbol, Path(description="The market, for example BTC-USD")]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=MILLISECONDS_MAX)]
EngineSequence = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Depth = Annotated[int, Query(ge=1, le=DEPTH_MAX, description="Levels a side at most")]

TRADE_ID_PATTERN = r"^[A-Za-z0-9_:-]{1,128}$"

_SILENT = {503: "the engine or market data does not respond"}
_UNKNOWN = {404: "no such market"} | _SILENT


def market_routes(prefix: str, markets: MarketService) -> Router:
    """The routes of `/markets`, below `prefix`."""
    router = Router(f"{prefix}/markets", tag="markets")

    @router.get("", PUBLIC, response=list[Market], refusals=_SILENT, summary="All markets")
    async def list_markets() -> Response:
        return json_response(await markets.markets())

    @router.get("/tickers", PUBLIC, response=list[Ticker], refusals=_SILENT, summary="The tickers of all markets")
    async def list_tickers() -> Response:
        return json_response(await markets.tickers())

    @router.get(
        "/asset-prices",
        PUBLIC,
        response=list[AssetFairPrice],
        refusals=_SILENT,
        summary="What each asset is worth in US dollars, at fair prices",
    )
    async def list_asset_prices() -> Response:
        return json_response(await markets.asset_prices())

    @router.get("/{symbol}", PUBLIC, response=Market, refusals=_UNKNOWN, summary="One market")
    async def get_market(symbol: SymbolPath) -> Response:
        return json_response(await markets.market(symbol))

    @router.get("/{symbol}/ticker", PUBLIC, response=Ticker, refusals=_UNKNOWN, summary="One market's ticker")
    async def get_ticker(symbol: SymbolPath) -> Response:
        return json_response(await markets.ticker(symbol))

    @router.get(
        "/{symbol}/fair-price", PUBLIC, response=MarketFairPrice, refusals=_UNKNOWN, summary="One market's fair price"
    )
    async def get_fair_price(symbol: SymbolPath) -> Response:
        return json_response(await markets.fair_price(symbol))

    @router.get("/{symbol}/orderbook", PUBLIC, response=OrderBook, refusals=_UNKNOWN, summary="Level-2 book")
    async def get_order_book(symbol: SymbolPath, depth: Depth = DEPTH_DEFAULT) -> Response:
        return json_response(await markets.book(symbol, depth))

    @router.get("/{symbol}/trades", PUBLIC, response=list[MarketTrade], headers=NEXT_CURSOR_HEADER,
                refusals=_UNKNOWN, summary="Recent trades, newest first")  # fmt: skip
    async def list_trades(symbol: SymbolPath, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        before = decode_cursor(cursor, tuple[Milliseconds, EngineSequence]) if cursor is not None else None
        trades = await markets.trades(symbol, limit, before)
        following = encode_cursor([trades[-1].timestamp, trades[-1].sequence]) if len(trades) == limit else None
        return page_response(trades, following)

    @router.get(
        "/{symbol}/agg-trades", PUBLIC, response=list[AggregateTrade], headers=NEXT_CURSOR_HEADER,
        refusals={404: "no such market, or no such trade: TRADE_NOT_FOUND"} | _SILENT,
        summary="What each order took at one price, as one trade: newest first, or from one trade on, oldest first",
    )  # fmt: skip
    async def list_aggregate_trades(
        symbol: SymbolPath,
        since: Annotated[UtcDatetime | None, Query(alias="from", description="Trades of that time or later")] = None,
        until: Annotated[UtcDatetime | None, Query(alias="to", description="Trades before that")] = None,
        from_trade_id: Annotated[
            str | None,
            Query(
                alias="fromTradeId", pattern=TRADE_ID_PATTERN,
                description="Begin with the aggregate that has this trade, and go on with younger ones",
            ),
        ] = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:  # fmt: skip
        if from_trade_id is not None and cursor is not None:
            raise validation_error(["give fromTradeId or cursor, not both"])
        if since is not None and until is not None and since > until:
            raise validation_error(["from must not be later than to"])
        begin, end = (None if time is None else ms_from_datetime(time) for time in (since, until))
        before = decode_cursor(cursor, tuple[Milliseconds, EngineSequence]) if cursor is not None else None
        found = await markets.aggregate_trades(GetAggregateTrades(symbol, limit, begin, end, before, from_trade_id))
        following = None
        if found.more_remain and from_trade_id is None:
            last = found.aggregates[-1]
            following = encode_cursor([last.timestamp, last.first_sequence])
        return page_response(found.aggregates, following)

    @router.get("/{symbol}/candles", PUBLIC, response=list[Candle], refusals=_UNKNOWN,
                summary="Candles, oldest first; weeks begin on Mondays, all times are UTC")  # fmt: skip
    async def list_candles(
        symbol: SymbolPath,
        interval: Annotated[Interval, Query(description="Length of a candle")] = Interval.M1,
        since: Annotated[
            UtcDatetime | None, Query(alias="from", description="Candles that begin then or later")
        ] = None,
        until: Annotated[UtcDatetime | None, Query(alias="to", description="Candles that begin before that")] = None,
        limit: Annotated[Limit, Query(description="How many intervals at most")] = LIMIT_DEFAULT,
    ) -> Response:
        if since is not None and until is not None and since > until:
            raise validation_error(["from must not be later than to"])
        return json_response(await markets.candles(symbol, interval, since, until, limit))

    return router
