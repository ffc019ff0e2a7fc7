"""The engine's HTTP interface (Document B 4.4): markets, order book, deposit, balances, administration, health.

Errors are `{"statusCode", "message", "error", "code"}`; the message names the field.
"""

import hmac
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.domain.money import decimal_to_text
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SymbolSpec
from openspot.engine.administration import AdministrationError
from openspot.engine.balances import balance_views
from openspot.engine.core.records import CommandKind
from openspot.engine.door import REFERENCE_LENGTH_MAX, Refusal
from openspot.engine.engine import Engine
from openspot.engine.event_stream import EventStream
from openspot.engine.grpc_accounts import money_answer
from openspot.engine.market_views import Level, book_levels, lot_text, tick_text
from openspot.engine.schemas import BODY_BYTES_MAX, Body, BodyError, DepositBody, read_body
from openspot.engine.sequencer import EngineStoppedError
from openspot.kit.clock import NANOSECONDS_PER_MS
from openspot.kit.health import Health
from openspot.kit.settings import Settings

DEPTH_DEFAULT = 100
DEPTH_MAX = 5000

Handler = Callable[[Request], Awaitable[Response]]

_CONFLICTS = frozenset(
    {
        ResultCode.SYMBOL_ALREADY_EXISTS,
        ResultCode.SYMBOL_HAS_OPEN_ORDERS,
        ResultCode.CURRENCY_ALREADY_EXISTS,
        ResultCode.CURRENCY_IN_USE,
        ResultCode.REFERENCE_CONFLICT,
    }
)


class ServiceKeys:
    """The shared secret of service calls (Document A 5)."""

    def __init__(self, settings: Settings) -> None:
        assert settings.engine_api_key and settings.engine_api_secret, "with_secrets fills them in"
        self._key = settings.engine_api_key.encode()
        self._secret = settings.engine_api_secret.encode()

    def fault(self, headers: Headers) -> str | None:
        """Why these headers do not open the door, None if they do."""
        key, secret = headers.get("x-api-key", ""), headers.get("x-api-secret", "")
        known_key = hmac.compare_digest(key.encode("utf-8", "surrogateescape"), self._key)
        known_secret = hmac.compare_digest(secret.encode("utf-8", "surrogateescape"), self._secret)
        if not (known_key and known_secret):
            return "x-api-key and x-api-secret must be those of a service"
        if headers.get("x-participant-type") != "SYSTEM":
            return "x-participant-type must be SYSTEM"
        return None

    def guard(self, handler: Handler) -> Handler:
        """`handler` for services alone; others get 401."""

        async def guarded(request: Request) -> Response:
            fault = self.fault(request.headers)
            return error_response(401, fault, "UNAUTHORIZED") if fault else await handler(request)

        return guarded


async def body_of(request: Request, body_type: type[Body]) -> Body:
    """The request's body. Raises BodyError, also for one that is too long, without reading all of it."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > BODY_BYTES_MAX:
            raise BodyError(f"body must not be longer than {BODY_BYTES_MAX} bytes")
    return read_body(bytes(content), body_type)


def error_response(status: int, message: str, code: str) -> JSONResponse:
    """An error in the shape that all of them have."""
    return JSONResponse(
        {"statusCode": status, "message": message, "error": HTTPStatus(status).phrase, "code": code}, status
    )


def code_response(code: ResultCode, message: str) -> JSONResponse:
    """A refusal by result code."""
    status = 409 if code in _CONFLICTS else 503 if code is ResultCode.ENGINE_BUSY else 400
    return error_response(status, message, code.name)


def market_view(spec: SymbolSpec) -> dict[str, Any]:
    """A symbol as /api/v1/markets shows it (Document A 2.5)."""
    return {
        "symbol": spec.symbol,
        "symbolId": spec.symbol_id,
        "baseCurrency": spec.base,
        "quoteCurrency": spec.quote,
        "baseScaleK": spec.base_scale_k,
        "quoteScaleK": spec.quote_scale_k,
        "tickSize": tick_text(spec),
        "lotSize": lot_text(spec),
        "takerFee": spec.taker_fee_bps,
        "makerFee": spec.maker_fee_bps,
        "active": spec.active,
    }


class HttpApi:
    """The handlers of one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._machine = engine.machine

    async def markets(self, _: Request) -> Response:
        """GET /api/v1/markets."""
        specs = sorted(self._machine.directory.symbols.values(), key=lambda spec: spec.symbol_id)
        return JSONResponse([market_view(spec) for spec in specs])

    async def order_book(self, request: Request) -> Response:
        """GET /api/v1/marketdata/orderbook/{symbol}?depth=."""
        spec = self._machine.directory.symbols.get(request.path_params["symbol"])
        if spec is None:
            return error_response(404, f"symbol: there is no {request.path_params['symbol']!r}", "INVALID_SYMBOL")
        depth = request.query_params.get("depth", str(DEPTH_DEFAULT))
        if not (depth.isascii() and depth.isdigit() and len(depth) < 6 and 1 <= int(depth) <= DEPTH_MAX):
            return error_response(400, f"depth must be a whole number between 1 and {DEPTH_MAX}", "BAD_REQUEST")
        bids, asks = book_levels(self._machine, spec, int(depth))
        return JSONResponse(
            {
                "symbol": spec.symbol,
                "bids": _pairs(bids),
                "asks": _pairs(asks),
                "sequence": self._machine.core.event_sequence,
                "timestamp": self._engine.sequencer.now() // NANOSECONDS_PER_MS,
            }
        )

    async def deposit(self, request: Request) -> Response:
        """POST /api/v1/accounts/deposit."""
        body = await body_of(request, DepositBody)
        if len(body.reference) > REFERENCE_LENGTH_MAX:
            return error_response(400, f"reference must have at most {REFERENCE_LENGTH_MAX} letters", "BAD_REQUEST")
        amount = decimal_to_text(body.amount)
        try:
            answer = await money_answer(
                self._engine.door.money(CommandKind.DEPOSIT, body.participant_id, body.currency, amount, body.reference)
            )
            code = answer.code
        except Refusal as refusal:
            code = refusal.code
        if code is not ResultCode.SUCCESS:
            return code_response(code, _DEPOSIT_FAULTS.get(code, code.name))
        return JSONResponse({"success": True, "resultCode": code.name, "balance": answer.balance})

    async def balances(self, request: Request) -> Response:
        """GET /api/v1/balances?participantId=; without it those of all."""
        participant_id = request.query_params.get("participantId", "")
        if participant_id and not PARTICIPANT_ID_TEXT.fullmatch(participant_id):
            return error_response(400, "participantId must be 1 to 64 letters, digits or _ : -", "BAD_REQUEST")
        rows = [
            {
                "participantId": view.participant_id,
                "currency": view.currency,
                "total": view.total,
                "available": view.available,
                "locked": view.locked,
                "reserved": view.reserved,
            }
            for view in balance_views(self._machine, participant_id)
        ]
        return JSONResponse({"balances": rows})


_DEPOSIT_FAULTS = {
    ResultCode.INVALID_CURRENCY: "currency: Unknown currency",
    ResultCode.INVALID_AMOUNT: "amount must be positive, of at most 18 decimal places, and not too large",
    ResultCode.AUTH_INVALID_USER: "participantId: this account takes no deposits",
    ResultCode.REFERENCE_CONFLICT: "reference was used before for another account, currency or amount",
    ResultCode.ENGINE_BUSY: "too many commands are waiting",
}


def _pairs(levels: list[Level]) -> list[tuple[str, str]]:
    return [(level.price, level.quantity) for level in levels]


def make_http_app(engine: Engine, health: Health, routes: list[BaseRoute]) -> Starlette:
    """The application: what is here, health, and `routes` of further parts."""
    keys = ServiceKeys(engine.settings)
    api = HttpApi(engine)
    stream = EventStream(engine, keys.fault)
    health_routes = health.routes()
    (health_route,) = (route for route in health_routes if isinstance(route, Route) and route.path == "/health")
    return Starlette(
        routes=[
            Route("/api/v1/markets", api.markets),
            Route("/api/v1/marketdata/orderbook/{symbol}", api.order_book),
            Route("/api/v1/accounts/deposit", keys.guard(api.deposit), methods=["POST"]),
            Route("/api/v1/balances", keys.guard(api.balances)),
            WebSocketRoute("/ws/events", stream.serve),
            Route("/actuator/health", health_route.endpoint),
            *health_routes,
            *routes,
        ],
        exception_handlers={
            BodyError: _on_body_error,
            AdministrationError: _on_administration_error,
            Refusal: _on_refusal,
            EngineStoppedError: _on_stopped,
            HTTPException: _on_http_error,
            Exception: _on_fault,
        },
    )


async def _on_body_error(_: Request, error: Exception) -> Response:
    return error_response(400, str(error), "BAD_REQUEST")


async def _on_administration_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, AdministrationError)
    return code_response(error.code, str(error))


async def _on_refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return code_response(error.code, error.code.name)


async def _on_stopped(_: Request, error: Exception) -> Response:
    return error_response(503, str(error), "ENGINE_STOPPED")


async def _on_http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_response(error.status_code, error.detail, HTTPStatus(error.status_code).name)


async def _on_fault(_: Request, error: Exception) -> Response:
    return error_response(500, "internal error", "INTERNAL_ERROR")
