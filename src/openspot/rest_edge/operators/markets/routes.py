"""The routes of `/operator/markets`: an operator lists a market, changes it, opens it, halts it and delists it."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.engine_client.listing_schemas import (
    DelistingBody,
    ListingChanges,
    MarketListing,
    NewMarketBody,
    OpeningBody,
    PhaseChange,
    PhaseOfMarket,
    RuleCheck,
    StatusBody,
    TermsChange,
)
from openspot.http.context import operator
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.http.validation import Symbol
from openspot.rest_edge.operators.acting import require_permission
from openspot.rest_edge.operators.markets.rules import needed_beside
from openspot.rest_edge.operators.markets.schemas import CancelOrdersBody, CancelOrdersResponse
from openspot.rest_edge.operators.markets.service import OperatorMarkets

SymbolPath = Annotated[Symbol, Path(description="The market, for example BTC-USD")]

_READ = Policy(Access.OPERATOR, permission=Permission.MARKETS_READ)
_LIST = Policy(Access.OPERATOR, permission=Permission.SYMBOLS_CREATE, audit=True)
_CHANGE = Policy(Access.OPERATOR, permission=Permission.SYMBOLS_UPDATE, audit=True)
_SET_PHASE = Policy(Access.OPERATOR, permission=Permission.SYMBOLS_SET_PHASE, audit=True)
_DELIST = Policy(Access.OPERATOR, permission=Permission.SYMBOLS_DEACTIVATE, audit=True)
_CANCEL = Policy(Access.OPERATOR, permission=Permission.ORDERS_CANCEL_ALL, audit=True, idempotency=True)
_SILENT = {503: "the engine does not respond"}
_UNKNOWN = {404: "no such market"} | _SILENT
_OUTDATED = {409: "the market is not as the operator saw it: MARKET_CHANGED"}
_IN_ANOTHER_PHASE = {409: "the market is in another phase than expected: PHASE_CHANGED; or its auction is being traded"}
_NEEDED = {
    409: "margin offers the market: accounts need it, its delisting is not scheduled, or it was changed meanwhile:"
    " MARKET_NEEDED_ON_MARGIN, DELISTING_NOT_SCHEDULED, MARKET_CHANGED",
    503: "the engine or margin does not respond",
}
_BESIDE = {
    403: "the permission is missing: fees and terms of payments and staking need fees.configure too, and limits of "
    "orders risk.set_limits"
}
_INVALID = {400: "a field breaks a rule, and the message names each; or the markets are fixed: UNSUPPORTED_COMMAND"}


def operator_market_routes(prefix: str, markets: OperatorMarkets) -> Router:
    """The routes, below `prefix`."""
    router = Router(f"{prefix}/operator/markets", tag="operators")

    @router.get("", _READ, response=list[MarketListing], refusals=_SILENT, summary="All markets with their terms")
    async def list_operator_markets() -> Response:
        return json_response(await markets.all())

    @router.post(
        "/checks", _READ, response=list[RuleCheck], refusals=_INVALID | _SILENT,
        summary="Every rule for a new market, each with what is wrong",
    )  # fmt: skip
    async def check_new_market(body: NewMarketBody) -> Response:
        return json_response(await markets.checks(body))

    @router.post(
        "", _LIST, status=201, response=MarketListing, refusals=_INVALID | _SILENT,
        summary="List a market, and its base asset",
    )  # fmt: skip
    async def list_new_market(request: Request, body: NewMarketBody) -> Response:
        return json_response(await markets.list_market(request, body), 201)

    @router.get("/{symbol}", _READ, response=MarketListing, refusals=_UNKNOWN, summary="One market with its terms")
    async def get_operator_market(symbol: SymbolPath) -> Response:
        return json_response(await markets.market(symbol))

    @router.get(
        "/{symbol}/changes", _READ, response=ListingChanges, refusals=_UNKNOWN, summary="The changes of a market"
    )
    async def list_market_changes(symbol: SymbolPath) -> Response:
        return json_response(await markets.changes(symbol))

    @router.patch(
        "/{symbol}", _CHANGE, response=MarketListing, refusals=_INVALID | _UNKNOWN | _OUTDATED | _BESIDE,
        summary="Change bounds, fees, texts, schedule or offers of a market",
    )  # fmt: skip
    async def change_market(request: Request, symbol: SymbolPath, body: TermsChange) -> Response:
        for permission in needed_beside(body):
            require_permission(operator(request), permission)
        return json_response(await markets.change(request, symbol, body))

    @router.put(
        "/{symbol}/status", _SET_PHASE, response=MarketListing, refusals=_INVALID | _UNKNOWN,
        summary="Open a market, or let it get another status on the way there",
    )  # fmt: skip
    async def set_market_status(request: Request, symbol: SymbolPath, body: OpeningBody) -> Response:
        wanted = StatusBody(status=body.status, reason=body.reason)
        return json_response(await markets.set_status(request, symbol, wanted))

    @router.put(
        "/{symbol}/phase", _SET_PHASE, response=PhaseOfMarket,
        refusals={400: "a field breaks a rule; or the markets have no phases: UNSUPPORTED_COMMAND"}
        | _UNKNOWN | _IN_ANOTHER_PHASE,
        summary="Let a market enter a phase: halt it, hold an auction, go on trading",
    )  # fmt: skip
    async def set_market_phase(request: Request, symbol: SymbolPath, body: PhaseChange) -> Response:
        return json_response(await markets.set_phase(request, symbol, body))

    @router.post(
        "/{symbol}/delisting", _DELIST, response=MarketListing, refusals=_INVALID | _UNKNOWN | _NEEDED,
        summary="Delist a market: its open orders are cancelled, and balances can be withdrawn",
    )  # fmt: skip
    async def delist_market(request: Request, symbol: SymbolPath, body: DelistingBody) -> Response:
        return json_response(await markets.delist(request, symbol, body))

    @router.post(
        "/{symbol}/cancel-orders", _CANCEL, response=CancelOrdersResponse,
        refusals={400: "the body is not valid", 409: "many more are open by now: ORDER_COUNT_CHANGED"} | _UNKNOWN,
        summary="Count the open orders of everybody on a market, or cancel them",
    )  # fmt: skip
    async def cancel_orders_of_market(request: Request, symbol: SymbolPath, body: CancelOrdersBody) -> Response:
        return json_response((await markets.cancel_orders(request, symbol, body)).model_dump(by_alias=True))

    return router
