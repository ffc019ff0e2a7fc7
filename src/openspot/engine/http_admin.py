"""/api/v1/admin/symbols and /api/v1/admin/currencies (Document B 4.4)."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from openspot.engine.administration import Administration, AdministrationError
from openspot.engine.directory import Currency
from openspot.engine.engine import Engine
from openspot.engine.http_api import Handler, body_of, error_response, market_view
from openspot.engine.schemas import CurrencyBody, CurrencyChange, SymbolBody, SymbolChange


def currency_view(currency: Currency) -> dict[str, Any]:
    """A currency as clients see it."""
    return {
        "currency": currency.currency,
        "currencyId": currency.currency_id,
        "name": currency.name,
        "places": currency.places,
    }


class HttpAdmin:
    """The handlers of one engine."""

    def __init__(self, engine: Engine, administration: Administration) -> None:
        self._directory = engine.machine.directory
        self._administration = administration

    async def symbols(self, request: Request) -> Response:
        """GET: the list. POST: a new symbol."""
        if request.method == "POST":
            body = await body_of(request, SymbolBody)
            return JSONResponse(market_view(await self._administration.create_symbol(body)), 201)
        specs = sorted(self._directory.symbols.values(), key=lambda spec: spec.symbol_id)
        return JSONResponse([market_view(spec) for spec in specs])

    async def symbol(self, request: Request) -> Response:
        """GET, PUT, PATCH, DELETE of one symbol."""
        name = request.path_params["symbol"]
        try:
            spec = self._administration.symbol(name)
        except AdministrationError as error:
            return error_response(404, str(error), error.code.name)
        if request.method in ("PUT", "PATCH"):
            spec = await self._administration.change_symbol(name, await body_of(request, SymbolChange))
        elif request.method == "DELETE":
            spec = await self._administration.delete_symbol(name)
        return JSONResponse(market_view(spec))

    async def currencies(self, request: Request) -> Response:
        """GET: the list. POST: a new currency."""
        if request.method == "POST":
            body = await body_of(request, CurrencyBody)
            return JSONResponse(currency_view(await self._administration.create_currency(body)), 201)
        currencies = sorted(self._directory.currencies.values(), key=lambda currency: currency.currency_id)
        return JSONResponse([currency_view(currency) for currency in currencies])

    async def currency(self, request: Request) -> Response:
        """GET, PUT, PATCH, DELETE of one currency."""
        name = request.path_params["currency"]
        try:
            currency = self._administration.currency(name)
        except AdministrationError as error:
            return error_response(404, str(error), error.code.name)
        if request.method in ("PUT", "PATCH"):
            change = await body_of(request, CurrencyChange)
            currency = await self._administration.change_currency(name, change)
        elif request.method == "DELETE":
            currency = await self._administration.delete_currency(name)
        return JSONResponse(currency_view(currency))


def admin_routes(engine: Engine, guard: Callable[[Handler], Handler]) -> list[BaseRoute]:
    """The routes, for those whom `guard` lets in."""
    admin = HttpAdmin(engine, Administration(engine.machine, engine.door))
    collection, item = ["GET", "POST"], ["GET", "PUT", "PATCH", "DELETE"]
    return [
        Route("/api/v1/admin/symbols", guard(admin.symbols), methods=collection),
        Route("/api/v1/admin/symbols/{symbol}", guard(admin.symbol), methods=item),
        Route("/api/v1/admin/currencies", guard(admin.currencies), methods=collection),
        Route("/api/v1/admin/currencies/{currency}", guard(admin.currency), methods=item),
    ]
