"""The engine's HTTP interface (facts B4.4-01 to B4.4-06): markets, order book, deposit, balances, event stream.

Operators manage symbols and currencies through admin/listing_routes.py, and everything else through AdminService.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from fastapi import Path, Query
from starlette.responses import Response
from starlette.types import ASGIApp

from openspot.contracts.listings import MarketTerms
from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import scaled_to_text
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SymbolSpec
from openspot.engine.core.protocol import SymbolPhase
from openspot.engine.core.records import CommandKind
from openspot.engine.engine import Engine
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.intake.sequencer import EngineStoppedError
from openspot.engine.transport.account_service import money_result
from openspot.engine.transport.balance_views import balance_views
from openspot.engine.transport.event_stream import EventStream
from openspot.engine.transport.market_views import LevelView, book_levels, lot_text, tick_text
from openspot.engine.transport.schemas import (
    BalanceResponse,
    BalancesResponse,
    DepositBody,
    DepositResponse,
    OrderBookResponse,
    SymbolResponse,
)
from openspot.http.app import make_http_app
from openspot.http.audit import LogAudit
from openspot.http.authentication import Authenticator
from openspot.http.documentation import openapi_document
from openspot.http.errors import ErrorTranslation, HttpError
from openspot.http.policy import PUBLIC, Access, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.http.validation import ParticipantId
from openspot.kit.clock import NANOSECONDS_PER_MS
from openspot.kit.health import Health

PREFIX = "/api/v1"
TITLE = "OpenSpot matching engine"
DESCRIPTION = """What the matching engine offers to other services and to operators.

Beside these routes the port serves `/ws/events` (the event stream, service headers) and
`POST /exchange.v1.AdminService/<Method>` (Connect JSON and gRPC-Web). Every refusal has the body `{"statusCode",
"message", "error", "code", "requestId"}`; `code` is a result code where the engine decided.
"""
DEPTH_DEFAULT = 100
DEPTH_MAX = 5000

_SERVICE = Policy(Access.SERVICE)
_MONEY = Policy(Access.SERVICE, audit=True)
_CONFLICTS = frozenset(
    {
        ResultCode.SYMBOL_ALREADY_EXISTS,
        ResultCode.SYMBOL_HAS_OPEN_ORDERS,
        ResultCode.CURRENCY_ALREADY_EXISTS,
        ResultCode.CURRENCY_IN_USE,
        ResultCode.REFERENCE_CONFLICT,
        ResultCode.PHASE_UNCROSSING,
    }
)
_DEPOSIT_FAULTS = {
    ResultCode.INVALID_CURRENCY: "currency: Unknown currency",
    ResultCode.INVALID_AMOUNT: "amount must be positive, of at most 18 decimal places, and not too large",
    ResultCode.AUTH_INVALID_USER: "participantId: this account accepts no deposits",
    ResultCode.REFERENCE_CONFLICT: "reference was used before for another account, currency or amount",
    ResultCode.ENGINE_BUSY: "too many commands are waiting",
}


def http_error(code: ResultCode, message: str) -> HttpError:
    """The HTTP error for a result code."""
    status = 409 if code in _CONFLICTS else 503 if code is ResultCode.ENGINE_BUSY else 400
    return HttpError(status, message, code.name)


def symbol_view(
    spec: SymbolSpec,
    phase: SymbolPhase | None = None,
    cause: str = "",
    terms: MarketTerms | None = None,
    logos: tuple[str, str] = ("", ""),
) -> dict[str, Any]:
    """The response for a symbol (fact A2.5-02), for its phase, if it has another than continuous trading, with the
    cause if the engine began it, for what an operator has set of its terms, and for the logos of base and quote.
    """
    view: dict[str, Any] = {
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
    if phase is not None:
        view["phase"] = MarketPhase(phase.phase).text
        view["phaseEndsAt"] = phase.ends_ns // NANOSECONDS_PER_MS
        view["phaseReference"] = scaled_to_text(phase.reference, spec.quote_scale_k)
    if cause:
        view["phaseCause"] = cause
    if terms is not None:
        view["terms"] = msgspec.to_builtins(terms)
    view |= {field: logo for field, logo in zip(("logo", "quoteLogo"), logos, strict=True) if logo}
    return view


def market_routes(engine: Engine) -> Router:
    """Public routes: markets and order books."""
    router = Router(PREFIX, tag="markets")

    @router.get("/markets", PUBLIC, response=list[SymbolResponse], summary="The specifications of all symbols")
    async def list_markets() -> Response:
        specs = sorted(engine.machine.directory.symbols.values(), key=lambda spec: spec.symbol_id)
        phases = {row.symbol: row for row in engine.machine.core.phases()}
        causes = engine.machine.interruptions.cause
        changed, currencies = engine.machine.directory.terms, engine.machine.directory.currencies
        return json_response(
            [
                symbol_view(
                    spec,
                    phases.get(spec.symbol_id),
                    causes(spec.symbol_id),
                    engine.board.terms(spec) if spec.symbol_id in changed else None,
                    (currencies[spec.base].logo, currencies[spec.quote].logo),
                )
                for spec in specs
            ]
        )

    @router.get(
        "/marketdata/orderbook/{symbol}", PUBLIC, response=OrderBookResponse, refusals={404: "no such symbol"},
        summary="The level-2 book of a symbol",
    )  # fmt: skip
    async def get_order_book(
        symbol: Annotated[str, Path(description="The market, for example BTC-USD")],
        depth: Annotated[int, Query(ge=1, le=DEPTH_MAX, description="Levels of each side")] = DEPTH_DEFAULT,
    ) -> Response:
        spec = engine.machine.directory.symbols.get(symbol)
        if spec is None:
            raise HttpError(404, f"symbol: there is no {symbol!r}", ResultCode.INVALID_SYMBOL.name)
        bids, asks = book_levels(engine.machine, spec, depth)
        return json_response(
            {
                "symbol": spec.symbol,
                "bids": _pairs(bids),
                "asks": _pairs(asks),
                "sequence": engine.machine.core.event_sequence,
                "timestamp": engine.sequencer.now() // NANOSECONDS_PER_MS,
            }
        )

    return router


def account_routes(engine: Engine) -> Router:
    """Routes for services: deposits and balances."""
    router = Router(PREFIX, tag="accounts")

    @router.post(
        "/accounts/deposit", _MONEY, response=DepositResponse,
        refusals={400: "a field is not valid", 409: "the reference was used before for something else"},
        summary="Credit a participant, once for each reference",
    )  # fmt: skip
    async def deposit(body: DepositBody) -> Response:
        try:
            fields = (body.participant_id, body.currency, body.amount, body.reference)
            result = await money_result(engine.money_intake.change_balance(CommandKind.DEPOSIT, *fields))
            code = result.code
        except IntakeRefusal as refusal:
            code = refusal.code
        if code is not ResultCode.SUCCESS:
            raise http_error(code, _DEPOSIT_FAULTS.get(code, code.name))
        return json_response({"success": True, "resultCode": code.name, "balance": result.balance})

    @router.get("/balances", _SERVICE, response=BalancesResponse, summary="The balances of one participant, or of all")
    async def list_balances(
        participant_id: Annotated[
            ParticipantId | None, Query(alias="participantId", description="Only the balances of this participant")
        ] = None,
    ) -> Response:
        rows = [
            BalanceResponse(**view._asdict()).model_dump(by_alias=True)
            for view in balance_views(engine.machine, participant_id or "")
        ]
        return json_response({"balances": rows})

    return router


def _pairs(levels: list[LevelView]) -> list[tuple[str, str]]:
    return [(level.price, level.quantity) for level in levels]


def engine_routers(engine: Engine, routers: Sequence[Router]) -> list[Router]:
    """All routers of the engine: those of this file and `routers`."""
    stream = Router()
    stream.websocket("/ws/events", _SERVICE, EventStream(engine).serve)
    return [market_routes(engine), account_routes(engine), *routers, stream]


def make_engine_app(
    engine: Engine, health: Health, routers: Sequence[Router], authenticators: Sequence[Authenticator]
) -> ASGIApp:
    """The engine's HTTP application."""
    return make_http_app(
        engine_routers(engine, routers),
        title=TITLE,
        description=DESCRIPTION,
        health=health,
        health_aliases=("/actuator/health",),
        authenticators=authenticators,
        audit=LogAudit(),
        translations=_TRANSLATIONS,
    )


def engine_document(routers: Sequence[Router], authenticators: Sequence[Authenticator]) -> dict[str, Any]:
    """The OpenAPI document of all the engine's routers."""
    return openapi_document(TITLE, DESCRIPTION, routers, authenticators, {})


def _refusal_to_http(error: Exception) -> HttpError:
    assert isinstance(error, IntakeRefusal)
    return http_error(error.code, str(error))


def _stop_to_http(error: Exception) -> HttpError:
    return HttpError(503, str(error), "ENGINE_STOPPED", headers={"Retry-After": "1"})


_TRANSLATIONS: Mapping[type[Exception], ErrorTranslation] = {
    IntakeRefusal: _refusal_to_http,
    EngineStoppedError: _stop_to_http,
}
