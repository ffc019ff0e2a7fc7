"""Paths of the subscription service (facts B4.6-01 to B4.6-12)."""

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of, operation_of
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.policy import PUBLIC, Access, Policy, Scope
from openspot.http.responses import json_response, page_response
from openspot.http.routing import Router
from openspot.subscriptions.billing import Billing
from openspot.subscriptions.schemas import (
    PLAN_ID_PATTERN,
    ChargedResponse,
    EntitlementsResponse,
    PaymentResponse,
    PlanResponse,
    SubscribeBody,
    SubscriptionResponse,
    UpgradeBody,
)

PREFIX = "/api"
PlanId = Annotated[str, Path(description="Id of the plan", alias="id", pattern=PLAN_ID_PATTERN)]

_READ = Policy(Access.USER, Scope.READ)
_CHANGE = Policy(Access.USER, Scope.TRADE, audit=True, idempotency=True)


def plan_routes(billing: Billing) -> Router:
    """The routes of `/api/plans`."""
    router = Router(f"{PREFIX}/plans", tag="plans")

    @router.get("", PUBLIC, response=list[PlanResponse], summary="The plans that can be subscribed to")
    async def list_plans() -> Response:
        return json_response([_body(plan) for plan in billing.plans()])

    @router.get(
        "/{id}", PUBLIC, response=PlanResponse,
        refusals={400: "the id is not valid", 404: "there is no such plan"}, summary="One plan",
    )  # fmt: skip
    async def get_plan(plan_id: PlanId) -> Response:
        return json_response(_body(billing.plan(plan_id)))

    return router


def subscription_routes(billing: Billing) -> Router:
    """The routes of a user's subscription."""
    router = Router(PREFIX, tag="subscription")

    @router.get(
        "/subscription", _READ, response=SubscriptionResponse,
        refusals={404: "you have no subscription"}, summary="Your subscription",
    )  # fmt: skip
    async def get_subscription(request: Request) -> Response:
        return json_response(_body(await billing.current(caller(request).user_id)))

    @router.post(
        "/subscribe", _CHANGE, response=ChargedResponse, status=201,
        refusals={
            400: "the body is not valid, or the asset does not pay for the plan",
            404: "there is no such plan",
            409: "you have a subscription already: SUBSCRIPTION_ACTIVE, the plan is not offered: PLAN_NOT_OFFERED, the "
            "spot account lacks the amount: INSUFFICIENT_FUNDS, or a charge is being made: CHARGE_UNDER_WAY",
            503: "the engine is away: ENGINE_UNREACHABLE, or has not decided yet: CHARGE_UNDER_WAY; try again",
        },
        summary="Subscribe to a plan and pay its first period",
    )  # fmt: skip
    async def subscribe(request: Request, body: SubscribeBody) -> Response:
        operation = operation_of(context_of(request))
        return json_response(_body(await billing.subscribe(caller(request), body, operation)), 201)

    @router.post(
        "/cancel", _CHANGE, response=SubscriptionResponse,
        refusals={404: "you have no subscription", 409: "a charge is being made: CHARGE_UNDER_WAY"},
        summary="End your subscription with its paid period",
    )  # fmt: skip
    async def cancel_subscription(request: Request) -> Response:
        return json_response(_body(await billing.cancel(caller(request).user_id)))

    @router.post(
        "/upgrade", _CHANGE, response=ChargedResponse,
        refusals={
            400: "the body is not valid, or the subscription's asset does not pay for the plan",
            404: "there is no such plan, or you have no subscription",
            409: "the plan is no upgrade, or no period is paid now: SUBSCRIPTION_STATE, the spot account lacks the "
            "amount: INSUFFICIENT_FUNDS, or a charge is being made: CHARGE_UNDER_WAY",
            503: "the engine is away: ENGINE_UNREACHABLE, or has not decided yet: CHARGE_UNDER_WAY; try again",
        },
        summary="Change to a higher plan: the rest of the paid period is credited",
    )  # fmt: skip
    async def upgrade_subscription(request: Request, body: UpgradeBody) -> Response:
        operation = operation_of(context_of(request))
        return json_response(_body(await billing.upgrade(caller(request), body, operation)))

    @router.get(
        "/payments", _READ, response=list[PaymentResponse], headers=NEXT_CURSOR_HEADER,
        refusals={400: "a parameter is not valid"}, summary="Your payments, newest first",
    )  # fmt: skip
    async def list_subscription_payments(
        request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        page, following = await billing.payments(caller(request).user_id, limit, cursor)
        return page_response([_body(payment) for payment in page], following)

    @router.get("/entitlements", _READ, response=EntitlementsResponse, summary="The features and limits that you have")
    async def get_entitlements(request: Request) -> Response:
        return json_response(_body(await billing.entitlements(caller(request).user_id)))

    return router


def _body(response: BaseModel) -> dict[str, object]:
    return response.model_dump(by_alias=True, mode="json")
