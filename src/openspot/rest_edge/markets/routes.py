"""Paths of the markets (Document B 4.1). Read-only, and the only routes of the edge that need no token."""

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from openspot.rest_edge.answers import json_response, page_response, refusals
from openspot.rest_edge.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit, decode_cursor, encode_cursor
from openspot.rest_edge.markets.schemas import MarketAnswer, OrderBookAnswer, TickerAnswer, TradeAnswer
from openspot.rest_edge.markets.service import MarketService
from openspot.rest_edge.validation import Symbol

DEPTH_DEFAULT = 50
DEPTH_MAX = 1000

SymbolPath = Annotated[Symbol, Path()]
EngineSequence = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Depth = Annotated[int, Query(ge=1, le=DEPTH_MAX, description="Levels a side at most")]

_UNKNOWN = refusals(_404="no such market", _503="the engine does not answer")
_PAGE: dict[int | str, dict[str, Any]] = {200: {"headers": NEXT_CURSOR_HEADER}}


def market_routes(markets: MarketService) -> APIRouter:
    """The routes below `/markets`."""
    router = APIRouter(prefix="/markets", tags=["markets"])

    @router.get("", response_model=list[MarketAnswer], responses=refusals(_503="the engine does not answer"),
                summary="All markets")  # fmt: skip
    async def list_markets() -> Response:
        return json_response(await markets.markets())

    @router.get("/tickers", response_model=list[TickerAnswer], responses=refusals(_503="the engine does not answer"),
                summary="The tickers of all markets")  # fmt: skip
    async def list_tickers() -> Response:
        return json_response(await markets.tickers())

    @router.get("/{symbol}", response_model=MarketAnswer, responses=_UNKNOWN, summary="One market")
    async def get_market(symbol: SymbolPath) -> Response:
        return json_response(await markets.market(symbol))

    @router.get("/{symbol}/ticker", response_model=TickerAnswer, responses=_UNKNOWN, summary="One market's ticker")
    async def get_ticker(symbol: SymbolPath) -> Response:
        return json_response(await markets.ticker(symbol))

    @router.get("/{symbol}/orderbook", response_model=OrderBookAnswer, responses=_UNKNOWN, summary="Level-2 book")
    async def get_order_book(symbol: SymbolPath, depth: Depth = DEPTH_DEFAULT) -> Response:
        return json_response(await markets.book(symbol, depth))

    @router.get("/{symbol}/trades", response_model=list[TradeAnswer], responses=_PAGE | _UNKNOWN,
                summary="Recent trades, newest first")  # fmt: skip
    async def list_trades(symbol: SymbolPath, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        before = decode_cursor(cursor, tuple[EngineSequence])[0] if cursor is not None else None
        trades = await markets.trades(symbol, limit, before)
        return page_response(trades, encode_cursor([trades[-1].sequence]) if len(trades) == limit else None)

    return router
