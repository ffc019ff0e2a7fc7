"""The operators' routes of plans: `/operator/plans`, `/operator/subscriptions`, `/operator/subscription-payments`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends, Query
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
from openspot.rest_edge.operators.exports import Exports, WantedFileQuery
from openspot.rest_edge.operators.plans.service import Plans
from openspot.rest_edge.operators.schemas import ReasonBody
from openspot.rest_edge.operators.spans import Span, SpanQuery
from openspot.rest_edge.operators.table_files import TABLE_FILE, columns_of
from openspot.rest_edge.operators.user_parameters import UserPath, UserQuery

PlanQuery = Annotated[
    str | None, Query(alias="planId", pattern="^[a-z0-9_-]{1,64}$", description="Only those of this plan")
]
StatusQuery = Annotated[
    Literal["active", "past_due", "expired"] | None, Query(description="Only subscriptions in this state")
]
PaidQuery = Annotated[Literal["completed", "failed"] | None, Query(description="Only payments in this state")]

_READ = Policy(Access.OPERATOR, permission=Permission.PLANS_READ)
_EXPORT = Policy(Access.OPERATOR, permission=Permission.PAYMENTS_EXPORT)
_CHANGE = Policy(Access.OPERATOR, permission=Permission.PLANS_CHANGE, audit=True)
_SILENT = {503: "the subscription service does not respond"}
_BAD = {400: "a parameter is not valid"}


@dataclass(frozen=True, slots=True)
class _Filter:
    """Whose rows a list has, in which state, and of which span of time. None admits all."""

    user_id: str | None
    plan_id: str | None
    status: str | None
    span: Span

    def subscriptions(self, limit: int, cursor: str | None) -> ListSubscriptions:
        since, until = self.span.milliseconds()
        return ListSubscriptions(limit, cursor, self.user_id, self.plan_id, self.status, since, until)

    def payments(self, limit: int, cursor: str | None) -> ListSubscriptionPayments:
        since, until = self.span.milliseconds()
        return ListSubscriptionPayments(limit, cursor, self.user_id, self.status, since, until)

    def texts(self) -> dict[str, str | None]:
        return {"user": self.user_id, "plan": self.plan_id, "state": self.status} | self.span.texts()


async def _of_subscriptions(
    span: SpanQuery, user_id: UserQuery = None, plan_id: PlanQuery = None, status: StatusQuery = None
) -> _Filter:
    return _Filter(user_id, plan_id, status, span)


async def _of_payments(span: SpanQuery, user_id: UserQuery = None, status: PaidQuery = None) -> _Filter:
    return _Filter(user_id, None, status, span)


_Subscriptions = Annotated[_Filter, Depends(_of_subscriptions)]
_Payments = Annotated[_Filter, Depends(_of_payments)]


def plan_routes(prefix: str, plans: Plans, exports: Exports) -> Router:
    """The routes, below `prefix`."""
    router = Router(f"{prefix}/operator", tag="operator")
    subscription_columns, payment_columns = columns_of(SubscriptionRecord), columns_of(SubscriptionPaymentRecord)

    @router.get("/plans", _READ, response=list[PlanRecord], refusals=_SILENT, summary="All plans, lowest rank first")
    async def list_all_plans() -> Response:
        return json_response(await plans.plans())

    @router.get(
        "/subscriptions", _READ, response=list[SubscriptionRecord], headers=NEXT_CURSOR_HEADER,
        refusals=_BAD | _SILENT, summary="The subscriptions of all users, newest first",
    )  # fmt: skip
    async def list_all_subscriptions(
        wanted: _Subscriptions, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        return page_response(*await plans.subscriptions(wanted.subscriptions(limit, cursor)))

    @router.get(
        "/subscriptions/export", _EXPORT, responses=TABLE_FILE, refusals=_BAD | _SILENT,
        summary="The subscriptions of all users as a file, newest first",
    )  # fmt: skip
    async def export_all_subscriptions(wanted: _Subscriptions, file: WantedFileQuery) -> Response:
        async def read(limit: int, cursor: str | None) -> tuple[tuple[SubscriptionRecord, ...], str | None]:
            return await plans.subscriptions(wanted.subscriptions(limit, cursor))

        return await exports.file(
            "subscriptions", subscription_columns, file, wanted.texts(), read, needs=Permission.PLANS_READ
        )

    @router.get(
        "/subscription-payments", _READ, response=list[SubscriptionPaymentRecord], headers=NEXT_CURSOR_HEADER,
        refusals=_BAD | _SILENT, summary="The payments of plans, newest first",
    )  # fmt: skip
    async def list_all_subscription_payments(
        wanted: _Payments, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        return page_response(*await plans.payments(wanted.payments(limit, cursor)))

    @router.get(
        "/subscription-payments/export", _EXPORT, responses=TABLE_FILE, refusals=_BAD | _SILENT,
        summary="The payments of plans as a file, newest first",
    )  # fmt: skip
    async def export_all_subscription_payments(wanted: _Payments, file: WantedFileQuery) -> Response:
        async def read(limit: int, cursor: str | None) -> tuple[tuple[SubscriptionPaymentRecord, ...], str | None]:
            return await plans.payments(wanted.payments(limit, cursor))

        return await exports.file(
            "subscription_payments", payment_columns, file, wanted.texts(), read, needs=Permission.PLANS_READ
        )

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
