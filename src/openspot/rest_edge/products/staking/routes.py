"""The routes of staking (facts B4.1-62 to B4.1-69)."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of, operation_of
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.paging import respond_with_page
from openspot.http.policy import PUBLIC, Access, Policy, Scope
from openspot.http.responses import body_of, json_response
from openspot.http.routing import Router
from openspot.rest_edge.products.known_offers import OFFERS_UNKNOWN
from openspot.rest_edge.products.staking.schemas import (
    ProductResponse,
    StakeBody,
    StakingBalanceResponse,
    StakingEventResponse,
    UnstakeBody,
    UnstakeResponse,
)
from openspot.rest_edge.products.staking.service import StakingService

ProductId = Annotated[str, Path(description="Id of the product", alias="id", max_length=64, pattern="^[a-z0-9-]+$")]
BalanceId = Annotated[str, Path(description="Id of the stake", alias="id", max_length=40, pattern="^[A-Za-z0-9]+$")]

_READ = Policy(Access.USER, Scope.READ)
_MOVE = Policy(Access.USER, Scope.TRADE, audit=True, idempotency=True)


def staking_routes(prefix: str, staking: StakingService) -> Router:
    """The routes of `/staking`, below `prefix`."""
    router = Router(f"{prefix}/staking", tag="staking")

    @router.get(
        "/products", PUBLIC, response=list[ProductResponse], refusals=OFFERS_UNKNOWN, summary="Staking products"
    )
    async def list_staking_products() -> Response:
        return json_response([body_of(product) for product in await staking.products()])

    @router.get(
        "/products/{id}", PUBLIC, response=ProductResponse,
        refusals={400: "the id is not valid", 404: "there is no such product"} | OFFERS_UNKNOWN,
        summary="One staking product",
    )  # fmt: skip
    async def get_staking_product(product_id: ProductId) -> Response:
        return json_response(body_of(await staking.product(product_id)))

    @router.get(
        "/balances", _READ, response=list[StakingBalanceResponse], headers=NEXT_CURSOR_HEADER,
        refusals={400: "a parameter is not valid"}, summary="Your stakes, newest first",
    )  # fmt: skip
    async def list_staking_balances(request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        return respond_with_page(await staking.balances(caller(request).user_id, limit, cursor))

    @router.get(
        "/balances/{id}", _READ, response=StakingBalanceResponse,
        refusals={400: "the id is not valid", 404: "there is no such stake of yours"}, summary="One of your stakes",
    )  # fmt: skip
    async def get_staking_balance(request: Request, balance_id: BalanceId) -> Response:
        return json_response(body_of(await staking.balance(caller(request).user_id, balance_id)))

    @router.get(
        "/history", _READ, response=list[StakingEventResponse], headers=NEXT_CURSOR_HEADER,
        refusals={400: "a parameter is not valid"}, summary="Your stakes, rewards and payouts, newest first",
    )  # fmt: skip
    async def list_staking_history(request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        return respond_with_page(await staking.history(caller(request).user_id, limit, cursor))

    @router.get(
        "/pending", _READ, response=list[UnstakeResponse], headers=NEXT_CURSOR_HEADER,
        refusals={400: "a parameter is not valid"}, summary="What is on its way back to you, newest first",
    )  # fmt: skip
    async def list_pending_unstakes(request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        return respond_with_page(await staking.pending(caller(request).user_id, limit, cursor))

    @router.post(
        "/stake", _MOVE, response=StakingBalanceResponse, status=201,
        refusals={
            400: "the body is not valid, or the engine refused: RISK_NSF for too little money",
            404: "there is no such product",
            409: "the amount exceeds what you may stake, or what the product has room for",
            503: "the matching engine does not respond, or has not said yet what its markets offer; nothing was moved",
        },
        summary="Stake an amount",
    )  # fmt: skip
    async def stake(request: Request, body: StakeBody) -> Response:
        operation = operation_of(context_of(request))
        return json_response(body_of(await staking.stake(caller(request).user_id, body, operation)), 201)

    @router.post(
        "/unstake", _MOVE, response=UnstakeResponse, status=201,
        refusals={
            400: "the body is not valid, or the amount exceeds the stake",
            404: "there is no such stake of yours",
            409: "the stake is locked, or not active",
            503: "the matching engine has not said yet what its markets offer, which decides on this stake",
        },
        summary="Take back a stake, or a part of a flexible one",
    )  # fmt: skip
    async def unstake(request: Request, body: UnstakeBody) -> Response:
        operation = operation_of(context_of(request))
        return json_response(body_of(await staking.unstake(caller(request).user_id, body, operation)), 201)

    return router
