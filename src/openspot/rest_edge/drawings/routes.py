"""The routes of drawings."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.http.validation import Symbol
from openspot.rest_edge.drawings.schemas import Drawings, DrawingsChangeBody, DrawnMarket
from openspot.rest_edge.drawings.service import DrawingService

SymbolPath = Annotated[Symbol, Path(description="The market, for example BTC-USD")]

_READ = Policy(Access.USER, Scope.READ)
_CHANGE = Policy(Access.USER, Scope.TRADE, audit=True)


def drawing_routes(prefix: str, drawings: DrawingService) -> Router:
    """The routes of `/drawings`, below `prefix`."""
    router = Router(f"{prefix}/drawings", tag="drawings")

    @router.get("", _READ, response=list[DrawnMarket], summary="The markets that you have drawn on, by symbol")
    async def list_drawn_markets(request: Request) -> Response:
        return json_response(await drawings.markets_of(caller(request).user_id))

    @router.get("/{symbol}", _READ, response=Drawings, summary="Your drawings on the chart of a market")
    async def get_drawings(request: Request, symbol: SymbolPath) -> Response:
        return json_response(await drawings.on_market(caller(request).user_id, symbol))

    @router.patch(
        "/{symbol}", _CHANGE, response=Drawings,
        refusals={
            400: "symbol or body is not valid",
            404: "there is no such market",
            409: (
                "the market has as many drawings of yours as it may have: TOO_MANY_DRAWINGS_ON_MARKET; or you have as"
                " many as you may have: TOO_MANY_DRAWINGS"
            ),
            503: "the engine does not respond",
        },
        summary="Put drawings on the chart of a market and remove others",
    )  # fmt: skip
    async def change_drawings(request: Request, symbol: SymbolPath, body: DrawingsChangeBody) -> Response:
        return json_response(await drawings.change(caller(request).user_id, symbol, body))

    return router
