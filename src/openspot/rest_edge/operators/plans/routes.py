"""The operators' routes of plans: `/operator/plans`, `/operator/subscriptions`, `/operator/subscription-payments`."""

from typing import Annotated, Literal

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.contracts.messages import (
    ListSubscriptionPayments,
    ListSubscriptions,
    PlanRecord,
    SubscriptionPaymentRecord,
    SubscriptionRecord,
)
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response, page_response
from openspot.http.routing import Router
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.plans.service import Plans
from openspot.rest_edge.operators.schemas import ReasonBody
from openspot.rest_edge.operators.users.paths import UserPath, UserQuery

PlanQuery = Annotated[
    str | None, Query(alias="planId", pattern="^[a-z0-9_-]{1,64}$", description="Only those of this plan")
]
StatusQuery = Annotated[
    Literal["active", "past_due", "expired"] | None, Query(description="Only subscriptions in this state")
]
PaidQuery = Annotated[Literal["completed", "failed"] | None, Query(description="Only payments in this state")]

_READ = Policy(Access.OPERATOR, permission=Permission.PLANS_READ)
_CHANGE = Policy(Access.OPERATOR, permission=Permission.PLANS_CHANGE, audit=True)
_SILENT = {503: "the subscription service does not respond"}


def plan_routes(prefix: str, plans: Plans) -> Router:
    """The routes, below `prefix`."""
    router = Router(f"{prefix}/operator", tag="operator")

    @router.get("/plans", _READ, response=list[PlanRecord], refusals=_SILENT, summary="All plans, lowest rank first")
    async def list_all_plans() -> Response:
        return json_response(await plans.plans())

    @router.get(
        "/subscriptions", _READ, response=list[SubscriptionRecord], headers=NEXT_CURSOR_HEADER,
        refusals={400: "a parameter is not valid"} | _SILENT, summary="The subscriptions of all users, newest first",
    )  # fmt: skip
    async def list_all_subscriptions(
        user_id: UserQuery = None,
        plan_id: PlanQuery = None,
        status: StatusQuery = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        return page_response(*await plans.subscriptions(ListSubscriptions(limit, cursor, user_id, plan_id, status)))

    @router.get(
        "/subscription-payments", _READ, response=list[SubscriptionPaymentRecord], headers=NEXT_CURSOR_HEADER,
        refusals={400: "a parameter is not valid"} | _SILENT, summary="The payments of plans, newest first",
    )  # fmt: skip
    async def list_all_subscription_payments(
        user_id: UserQuery = None, status: PaidQuery = None, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        return page_response(*await plans.payments(ListSubscriptionPayments(limit, cursor, user_id, status)))

    @router.post(
        "/users/{userId}/subscription/cancellation", _CHANGE, response=SubscriptionRecord,
        refusals={
            403: "the permission is missing, or it is your own account",
            404: "the user has no subscription: SUBSCRIPTION_NOT_FOUND",
            409: "a charge is being made: CHARGE_UNDER_WAY",
        } | _SILENT,
        summary="End a user's subscription with its paid period, as the user could",
    )  # fmt: skip
    async def cancel_user_subscription(request: Request, user_id: UserPath, body: ReasonBody) -> Response:
        return json_response(await plans.cancel(user_id, acting(request, body.reason)))

    return router
