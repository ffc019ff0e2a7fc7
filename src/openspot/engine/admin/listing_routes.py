"""The routes /api/v1/admin/symbols and …/currencies (facts B4.4-07 to B4.4-15), for services and administrators."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.domain.market_phase import PHASE_OF_TEXT
from openspot.engine.admin.acting import acting_by
from openspot.engine.admin.listings import ListingError, Listings
from openspot.engine.admin.market_cancellation import MarketCancellation
from openspot.engine.admin.market_listings import MarketListings
from openspot.engine.engine import Engine
from openspot.engine.state.directory import Currency
from openspot.engine.transport.http_app import PREFIX, symbol_view
from openspot.engine.transport.schemas import (
    CancellationBody,
    CancellationResponse,
    CurrencyBody,
    CurrencyChange,
    CurrencyResponse,
    OpenOrdersResponse,
    PhaseBody,
    SymbolBody,
    SymbolChange,
    SymbolResponse,
)
from openspot.http.errors import HttpError
from openspot.http.policy import Access, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.kit.log import get_logger

log = get_logger("listings")

SymbolPath = Annotated[str, Path(description="The symbol, for example BTC-USD")]
CurrencyPath = Annotated[str, Path(description="The currency, for example BTC")]

_READ = Policy(Access.ADMIN | Access.SERVICE)
_CHANGE = Policy(Access.ADMIN | Access.SERVICE, audit=True)


def currency_view(currency: Currency) -> dict[str, Any]:
    """The response for a currency."""
    return {
        "currency": currency.currency,
        "currencyId": currency.currency_id,
        "name": currency.name,
        "places": currency.places,
        "logo": currency.logo,
    }


@contextmanager
def _not_found() -> Iterator[None]:
    """Turn a ListingError into 404, because the path names something that does not exist."""
    try:
        yield
    except ListingError as error:
        raise HttpError(404, str(error), error.code.name) from error


def symbol_routes(engine: Engine, listings: Listings) -> Router:
    """Symbols: list, create, read, change, delete."""
    router = Router(f"{PREFIX}/admin/symbols", tag="administration")
    markets, cancellation = MarketListings(engine, listings), MarketCancellation(engine)
    unknown = {404: "no such symbol"}

    @router.get("", _READ, response=list[SymbolResponse], summary="All symbols")
    async def list_symbols() -> Response:
        specs = sorted(engine.machine.directory.symbols.values(), key=lambda spec: spec.symbol_id)
        return json_response([symbol_view(spec, listings.phase(spec), listings.phase_cause(spec)) for spec in specs])

    @router.post(
        "", _CHANGE, status=201, response=SymbolResponse, refusals={409: "the symbol or its number exists"},
        summary="Create a symbol",
    )  # fmt: skip
    async def create_symbol(request: Request, body: SymbolBody) -> Response:
        return json_response(symbol_view(await listings.create_symbol(body, acting_by(request, engine.origins))), 201)

    @router.get("/{symbol}", _READ, response=SymbolResponse, refusals=unknown, summary="One symbol")
    async def get_symbol(symbol: SymbolPath) -> Response:
        with _not_found():
            spec = listings.symbol(symbol)
        return json_response(symbol_view(spec, listings.phase(spec), listings.phase_cause(spec)))

    async def change_symbol(request: Request, symbol: SymbolPath, body: SymbolChange) -> Response:
        with _not_found():
            listings.symbol(symbol)
        acting = acting_by(request, engine.origins)
        return json_response(symbol_view(await markets.change_symbol(symbol, body, acting)))

    for method in ("PUT", "PATCH"):
        router.route(
            method, "/{symbol}", _CHANGE, response=SymbolResponse, refusals=unknown,
            name=f"{method.lower()}_symbol",
            summary="Change a symbol's fees, or deactivate it: it then takes no orders",
        )(change_symbol)  # fmt: skip

    @router.put(
        "/{symbol}/phase", _CHANGE, response=SymbolResponse,
        refusals=unknown
        | {409: "the market is in another phase than expected: PHASE_CHANGED; or its auction is being traded"},
        summary="Let a market enter a phase: halt it, hold an auction, go on trading",
    )  # fmt: skip
    async def set_phase(request: Request, symbol: SymbolPath, body: PhaseBody) -> Response:
        with _not_found():
            spec = listings.symbol(symbol)
        acting = acting_by(request, engine.origins)
        expected = None if body.expected is None else PHASE_OF_TEXT[body.expected]
        await listings.set_phase(symbol, PHASE_OF_TEXT[body.phase], body.seconds, acting, body.reason, expected)
        log.info(
            "set a phase",
            symbol=symbol, phase=body.phase, seconds=body.seconds, by=acting.operator, reason=body.reason,
        )  # fmt: skip
        return json_response(symbol_view(spec, listings.phase(spec), listings.phase_cause(spec)))

    @router.get(
        "/{symbol}/open-orders", _READ, response=OpenOrdersResponse, refusals=unknown, summary="Count its orders"
    )
    async def count_open_orders(symbol: SymbolPath) -> Response:
        with _not_found():
            return json_response({"symbol": symbol, "openOrders": cancellation.count(listings.symbol(symbol))})

    @router.post(
        "/{symbol}/cancellations", _CHANGE, response=CancellationResponse, refusals=unknown,
        summary="Cancel open orders of everybody on a market, some at a time",
    )  # fmt: skip
    async def cancel_orders(request: Request, symbol: SymbolPath, body: CancellationBody) -> Response:
        with _not_found():
            spec = listings.symbol(symbol)
        acting = acting_by(request, engine.origins)
        cancelled, remaining = await cancellation.cancel(spec, body.orders_max, body.reason, acting)
        log.info("cancelled a market's orders", symbol=symbol, orders=cancelled, by=acting.operator, reason=body.reason)
        return json_response({"symbol": symbol, "cancelled": cancelled, "openOrders": remaining})

    @router.delete(
        "/{symbol}", _CHANGE, response=SymbolResponse, refusals=unknown | {409: "the symbol has open orders"},
        summary="Delete a symbol",
    )  # fmt: skip
    async def delete_symbol(request: Request, symbol: SymbolPath) -> Response:
        with _not_found():
            listings.symbol(symbol)
        acting = acting_by(request, engine.origins)
        return json_response(symbol_view(await listings.delete_symbol(symbol, acting)))

    return router


def currency_routes(engine: Engine, listings: Listings) -> Router:
    """Currencies: list, create, read, change, delete."""
    router = Router(f"{PREFIX}/admin/currencies", tag="administration")
    unknown = {404: "no such currency"}

    @router.get("", _READ, response=list[CurrencyResponse], summary="All currencies")
    async def list_currencies() -> Response:
        currencies = sorted(engine.machine.directory.currencies.values(), key=lambda currency: currency.currency_id)
        return json_response([currency_view(currency) for currency in currencies])

    @router.post(
        "", _CHANGE, status=201, response=CurrencyResponse, refusals={409: "the currency or its number exists"},
        summary="Create a currency",
    )  # fmt: skip
    async def create_currency(request: Request, body: CurrencyBody) -> Response:
        acting = acting_by(request, engine.origins)
        return json_response(currency_view(await listings.create_currency(body, acting)), 201)

    @router.get("/{currency}", _READ, response=CurrencyResponse, refusals=unknown, summary="One currency")
    async def get_currency(currency: CurrencyPath) -> Response:
        with _not_found():
            return json_response(currency_view(listings.currency(currency)))

    async def change_currency(request: Request, currency: CurrencyPath, body: CurrencyChange) -> Response:
        with _not_found():
            listings.currency(currency)
        acting = acting_by(request, engine.origins)
        return json_response(currency_view(await listings.change_currency(currency, body, acting)))

    for method in ("PUT", "PATCH"):
        router.route(
            method, "/{currency}", _CHANGE, response=CurrencyResponse, refusals=unknown,
            name=f"{method.lower()}_currency",
            summary="Change a currency's name or decimal places",
        )(change_currency)  # fmt: skip

    @router.delete(
        "/{currency}", _CHANGE, response=CurrencyResponse, refusals=unknown | {409: "a symbol or a balance uses it"},
        summary="Delete a currency",
    )  # fmt: skip
    async def delete_currency(request: Request, currency: CurrencyPath) -> Response:
        with _not_found():
            listings.currency(currency)
        acting = acting_by(request, engine.origins)
        return json_response(currency_view(await listings.delete_currency(currency, acting)))

    return router


def listings_of(engine: Engine) -> Listings:
    """The symbols and currencies of an engine."""
    return Listings(
        engine.machine,
        engine.intake,
        has_phases=engine.settings.has_complete_rules,
        follows_listings=engine.settings.follows_listings,
        pictures=engine.settings.coin_pictures,
        settle=engine.sequencer.settle,
        turn=engine.listing_turn,
    )


def admin_routers(engine: Engine) -> list[Router]:
    """The routes of symbols and currencies."""
    listings = listings_of(engine)
    return [symbol_routes(engine, listings), currency_routes(engine, listings)]
