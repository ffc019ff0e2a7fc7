"""The routes of margin trading, which no fact asks for: the facts know the service's requests on the bus only."""

from starlette.requests import Request
from starlette.responses import Response

from openspot.contracts.messages import MarginAccount
from openspot.http.context import caller, context_of, operation_of
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.margin.schemas import (
    BorrowBody,
    ClosePositionBody,
    CollateralBody,
    MarginResult,
    OpenPositionBody,
    ReducePositionsBody,
    RepayBody,
)
from openspot.rest_edge.margin.service import MarginClient

_READ = Policy(Access.USER, Scope.READ)
_TRADE = Policy(Access.USER, Scope.TRADE, audit=True, idempotency=True)

_REFUSALS = {
    400: "the body is not valid, or the paying account does not cover the amount",
    404: "you have no margin account, or no such position or loan",
    409: "the margin account does not allow it, the lending pool is empty, or your account is frozen or inactive: "
    "PARTICIPANT_INACTIVE",
    503: "the margin service does not respond, or a price is missing or not sure",
    504: "the outcome is not known yet: repeat the request with its requestId or Idempotency-Key",
}


def margin_routes(prefix: str, margin: MarginClient) -> Router:
    """The routes of `/margin`, below `prefix`."""
    router = Router(f"{prefix}/margin", tag="margin")

    @router.get(
        "/account", _READ, response=MarginAccount | None,
        refusals={503: "the margin service does not respond"},
        summary="Your margin account with its level, positions and loans; null if you have none",
    )  # fmt: skip
    async def get_margin_account(request: Request) -> Response:
        return json_response(await margin.account(caller(request).user_id))

    @router.post(
        "/account/close", _TRADE, response=MarginResult, refusals=_REFUSALS,
        summary="Close your margin account, which must be empty",
    )  # fmt: skip
    async def close_margin_account(request: Request) -> Response:
        operation = operation_of(context_of(request))
        return json_response(await margin.close_account(caller(request).user_id, operation))

    @router.post(
        "/transfers", _TRADE, response=MarginResult, status=201, refusals=_REFUSALS,
        summary="Move collateral between your spot and your margin account",
    )  # fmt: skip
    async def move_collateral(request: Request, body: CollateralBody) -> Response:
        operation = operation_of(context_of(request))
        return json_response(await margin.transfer(caller(request).user_id, body, operation), 201)

    @router.post(
        "/positions", _TRADE, response=MarginResult, status=201, refusals=_REFUSALS,
        summary="Open a position: borrow what is missing and trade at the market",
    )  # fmt: skip
    async def open_margin_position(request: Request, body: OpenPositionBody) -> Response:
        operation = operation_of(context_of(request))
        return json_response(await margin.open(caller(request).user_id, body, operation), 201)

    @router.post(
        "/positions/close", _TRADE, response=MarginResult, refusals=_REFUSALS,
        summary="Trade a position back, or a part of it, and repay its loan",
    )  # fmt: skip
    async def close_margin_position(request: Request, body: ClosePositionBody) -> Response:
        operation = operation_of(context_of(request))
        return json_response(await margin.close(caller(request).user_id, body, operation))

    @router.post(
        "/positions/reduce", _TRADE, response=MarginResult, refusals=_REFUSALS,
        summary="Reduce-only: trade positions of a market back, the oldest first, and open none",
    )  # fmt: skip
    async def reduce_margin_positions(request: Request, body: ReducePositionsBody) -> Response:
        operation = operation_of(context_of(request))
        return json_response(await margin.reduce(caller(request).user_id, body, operation))

    @router.post(
        "/loans", _TRADE, response=MarginResult, status=201, refusals=_REFUSALS,
        summary="Borrow from the lending pool",
    )  # fmt: skip
    async def borrow_margin(request: Request, body: BorrowBody) -> Response:
        operation = operation_of(context_of(request))
        return json_response(await margin.borrow(caller(request).user_id, body, operation), 201)

    @router.post(
        "/loans/repay", _TRADE, response=MarginResult, refusals=_REFUSALS,
        summary="Repay a loan, interest first",
    )  # fmt: skip
    async def repay_margin_loan(request: Request, body: RepayBody) -> Response:
        operation = operation_of(context_of(request))
        return json_response(await margin.repay(caller(request).user_id, body, operation))

    return router
