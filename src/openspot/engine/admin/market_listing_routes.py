"""The routes of listings: what services follow, and by which administrators and services list and change markets."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.contracts.listings import MarketList
from openspot.domain.market_phase import MarketPhase
from openspot.engine.admin.acting import acting_by
from openspot.engine.admin.listing_routes import listings_of
from openspot.engine.admin.listings import ListingError
from openspot.engine.admin.market_listings import MarketListings, MarketView
from openspot.engine.engine import Engine
from openspot.engine.transport.http_app import PREFIX
from openspot.engine.transport.market_views import lot_text, tick_text
from openspot.engine_client.listing_schemas import (
    ListingChanges,
    MarketListing,
    NewMarketBody,
    RuleCheck,
    StatusBody,
    TermsChange,
)
from openspot.http.errors import HttpError
from openspot.http.policy import PUBLIC, Access, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.kit.clock import NANOSECONDS_PER_MS
from openspot.kit.log import get_logger

log = get_logger("listings")

WAIT_S_MAX = 20
WAITING_MAX = 64
"""How many requests wait for a change at a time; one more is answered at once."""

SymbolPath = Annotated[str, Path(description="The market, for example BTC-USD")]
_READ = Policy(Access.ADMIN | Access.SERVICE)
_CHANGE = Policy(Access.ADMIN | Access.SERVICE, audit=True)
_UNKNOWN = {404: "no such market"}
_OUTDATED = {409: "the market is not as the operator saw it: MARKET_CHANGED"}
_NOT_NOW = {
    409: "the market is not as the operator saw it: MARKET_CHANGED; or margin offers it, and its delisting is not"
    " scheduled, or nobody asked margin: DELISTING_NOT_SCHEDULED, MARGIN_NOT_ASKED"
}
_INVALID = {400: "a field breaks a rule; the details name each"}


def market_listings_of(engine: Engine) -> MarketListings:
    """The listing of an engine's markets."""
    return MarketListings(engine, listings_of(engine))


def market_listing_routers(engine: Engine) -> list[Router]:
    """The routes of listings."""
    return [_list_routes(engine), _change_routes(engine, market_listings_of(engine))]


def _list_routes(engine: Engine) -> Router:
    router = Router(PREFIX, tag="markets")
    waiting = 0

    @router.get(
        "/listings", PUBLIC, response=MarketList, refusals={},
        summary="All markets and assets with their terms; waits for a change if asked to",
    )  # fmt: skip
    async def get_listings(
        version: Annotated[str, Query(max_length=64, description="The version that the caller has")] = "",
        wait: Annotated[
            int, Query(ge=0, le=WAIT_S_MAX, description="Seconds to wait for another version; then 204")
        ] = 0,
    ) -> Response:
        nonlocal waiting
        waiting += 1
        try:
            may_wait = waiting <= WAITING_MAX and not engine.board.is_over
            document = await engine.board.next_version(version, wait if may_wait else 0)
        finally:
            waiting -= 1
        return Response(status_code=204) if document is None else json_response(document)

    return router


def _change_routes(engine: Engine, listings: MarketListings) -> Router:
    router = Router(f"{PREFIX}/admin/listings", tag="administration")

    @router.post(
        "/checks", _READ, response=list[RuleCheck], summary="Every rule for a new market, each with what is wrong"
    )
    async def check_market(body: NewMarketBody) -> Response:
        return json_response([RuleCheck(*check) for check in listings.checks(body)])

    @router.post(
        "", _CHANGE, status=201, response=MarketListing, refusals=_INVALID, summary="List a market, and its base asset"
    )
    async def list_market(request: Request, body: NewMarketBody) -> Response:
        acting = acting_by(request, engine.origins)
        listed = await listings.list_market(body, acting)
        log.info(
            "listed a market", symbol=body.symbol, status=body.status, operator=acting.operator, reason=body.reason
        )
        return json_response(market_listing(listed), 201)

    @router.get("", _READ, response=list[MarketListing], summary="All markets with their terms")
    async def list_listings() -> Response:
        return json_response([market_listing(view) for view in listings.all()])

    @router.get("/{symbol}", _READ, response=MarketListing, refusals=_UNKNOWN, summary="One market with its terms")
    async def get_market(symbol: SymbolPath) -> Response:
        with _not_found():
            return json_response(market_listing(listings.view(symbol)))

    @router.get(
        "/{symbol}/changes", _READ, response=ListingChanges, refusals=_UNKNOWN, summary="The changes of a market"
    )
    async def get_changes(symbol: SymbolPath) -> Response:
        with _not_found():
            return json_response(ListingChanges(listings.changes(symbol)))

    @router.patch(
        "/{symbol}", _CHANGE, response=MarketListing, refusals=_UNKNOWN | _INVALID | _OUTDATED,
        summary="Change bounds, fees, texts, schedule or offers of a market",
    )  # fmt: skip
    async def change_market(request: Request, symbol: SymbolPath, body: TermsChange) -> Response:
        with _not_found():
            listings.view(symbol)
        acting = acting_by(request, engine.origins)
        changed = await listings.change(symbol, body, acting)
        log.info("changed a market", symbol=symbol, operator=acting.operator, reason=body.reason)
        return json_response(market_listing(changed))

    @router.put(
        "/{symbol}/status", _CHANGE, response=MarketListing, refusals=_UNKNOWN | _INVALID | _NOT_NOW,
        summary="Open a market, or delist it",
    )  # fmt: skip
    async def set_status(request: Request, symbol: SymbolPath, body: StatusBody) -> Response:
        with _not_found():
            listings.view(symbol)
        acting = acting_by(request, engine.origins)
        changed = await listings.set_status(symbol, body, acting)
        log.info(
            "set a market's status", symbol=symbol, status=body.status, operator=acting.operator, reason=body.reason
        )
        return json_response(market_listing(changed))

    return router


def market_listing(view: MarketView) -> MarketListing:
    """The response for a market."""
    spec, phase = view.spec, view.phase
    return MarketListing(
        symbol=spec.symbol,
        base_currency=spec.base,
        quote_currency=spec.quote,
        tick_size=tick_text(spec),
        lot_size=lot_text(spec),
        taker_fee=spec.taker_fee_bps,
        maker_fee=spec.maker_fee_bps,
        active=spec.active,
        phase=MarketPhase(phase.phase if phase else MarketPhase.CONTINUOUS).text,
        phase_ends_at=phase.ends_ns // NANOSECONDS_PER_MS if phase else 0,
        phase_cause=view.phase_cause,
        version=view.version,
        terms=view.terms,
    )


@contextmanager
def _not_found() -> Iterator[None]:
    """Turn a ListingError into 404, because the path names something that does not exist."""
    try:
        yield
    except ListingError as error:
        raise HttpError(404, str(error), error.code.name) from error
