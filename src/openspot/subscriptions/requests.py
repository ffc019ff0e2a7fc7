"""The requests of other services: the limits of a user's plan, and what operators see and end."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from openspot.contracts import subjects
from openspot.contracts.messages import (
    CancelSubscription,
    CancelSubscriptionReply,
    GetEntitlements,
    GetEntitlementsReply,
    GetPlans,
    GetPlansReply,
    ListSubscriptionPayments,
    ListSubscriptionPaymentsReply,
    ListSubscriptions,
    ListSubscriptionsReply,
)
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.http.errors import HttpError
from openspot.http.lists import LIMIT_MAX
from openspot.kit.bus import Bus
from openspot.kit.clock import datetime_from_ms, ms_from_datetime
from openspot.subscriptions.billing import Billing
from openspot.subscriptions.lifecycle import SubscriptionStatus
from openspot.subscriptions.operated import Wanted
from openspot.subscriptions.schemas import PLAN_ID_PATTERN

TIME_MS_MAX = ms_from_datetime(datetime(9999, 12, 31, tzinfo=UTC))
_PLAN_ID = re.compile(PLAN_ID_PATTERN)
_CODES = {400: RefusalCode.VALIDATION, 404: RefusalCode.NOT_FOUND, 409: RefusalCode.BUSY}


class SubscriptionRequests:
    """Answers the requests of one process. Each method returns a reply, even to a bad request."""

    def __init__(self, billing: Billing) -> None:
        self._billing = billing

    async def serve(self, bus: Bus) -> None:
        """Serve the requests on `bus`."""
        queue = subjects.SUBSCRIPTIONS_QUEUE
        await bus.serve(
            subjects.ENTITLEMENTS_GET, queue, GetEntitlements, self.entitlements, GetEntitlementsReply.refused
        )
        await bus.serve(subjects.SUBSCRIPTIONS_PLANS_GET, queue, GetPlans, self.plans, GetPlansReply.refused)
        await bus.serve(
            subjects.SUBSCRIPTIONS_LIST, queue, ListSubscriptions, self.subscriptions, ListSubscriptionsReply.refused
        )
        await bus.serve(
            subjects.SUBSCRIPTIONS_PAYMENTS_LIST, queue, ListSubscriptionPayments, self.payments,
            ListSubscriptionPaymentsReply.refused,
        )  # fmt: skip
        await bus.serve(
            subjects.SUBSCRIPTIONS_CANCEL, queue, CancelSubscription, self.cancel, CancelSubscriptionReply.refused
        )

    async def entitlements(self, request: GetEntitlements) -> GetEntitlementsReply:
        """The limits of the user's plan, or those of everybody."""
        found = await self._billing.entitlements(request.user_id)
        return GetEntitlementsReply(found.plan_id, found.limits)

    async def plans(self, request: GetPlans) -> GetPlansReply:
        """Every plan."""
        return GetPlansReply(plans=self._billing.all_plans())

    async def subscriptions(self, request: ListSubscriptions) -> ListSubscriptionsReply:
        """A page of the subscriptions of all users."""
        fault = _fault(request, tuple(SubscriptionStatus))
        if fault is None and request.plan_id is not None and not _PLAN_ID.fullmatch(request.plan_id):
            fault = "planId is no id of a plan"
        if fault is not None:
            return ListSubscriptionsReply.refused(Refusal(RefusalCode.VALIDATION, fault))
        values = {"user_id": request.user_id, "plan_id": request.plan_id, "status": request.status}
        try:
            page = await self._billing.all_subscriptions(_wanted(request, values), request.limit, request.cursor)
            return ListSubscriptionsReply(*page)
        except HttpError as error:
            return ListSubscriptionsReply.refused(_refusal(error))

    async def payments(self, request: ListSubscriptionPayments) -> ListSubscriptionPaymentsReply:
        """A page of the payments of all users."""
        fault = _fault(request, ("completed", "failed"))
        if fault is not None:
            return ListSubscriptionPaymentsReply.refused(Refusal(RefusalCode.VALIDATION, fault))
        values = {"user_id": request.user_id, "status": request.status}
        try:
            page = await self._billing.all_payments(_wanted(request, values), request.limit, request.cursor)
            return ListSubscriptionPaymentsReply(*page)
        except HttpError as error:
            return ListSubscriptionPaymentsReply.refused(_refusal(error))

    async def cancel(self, request: CancelSubscription) -> CancelSubscriptionReply:
        """End a user's subscription as the user could."""
        try:
            return CancelSubscriptionReply(subscription=await self._billing.cancel_for_operator(request.user_id))
        except HttpError as error:
            return CancelSubscriptionReply.refused(_refusal(error))


def _fault(request: ListSubscriptions | ListSubscriptionPayments, statuses: tuple[str, ...]) -> str | None:
    if not 1 <= request.limit <= LIMIT_MAX:
        return f"limit must lie between 1 and {LIMIT_MAX}"
    if request.user_id is not None and not PARTICIPANT_ID_TEXT.fullmatch(request.user_id):
        return "userId is no id of a user"
    if request.status is not None and request.status not in statuses:
        return f"status must be one of {', '.join(statuses)}"
    for name, time in (("from", request.since), ("to", request.until)):
        if time is not None and not 0 <= time <= TIME_MS_MAX:
            return f"{name} must be a time from 1970 on and before the year 10000"
    return None


def _wanted(request: ListSubscriptions | ListSubscriptionPayments, values: Mapping[str, str | None]) -> Wanted:
    since, until = (None if time is None else datetime_from_ms(time) for time in (request.since, request.until))
    return Wanted(values, since, until)


def _refusal(error: HttpError) -> Refusal:
    message = error.message if isinstance(error.message, str) else "; ".join(error.message)
    return Refusal(_CODES.get(error.status_code, RefusalCode.UNAVAILABLE), message)
