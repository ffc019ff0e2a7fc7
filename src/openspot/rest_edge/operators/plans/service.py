"""Asks the subscription service for plans, subscriptions and their payments, and lets it end a subscription.

The service has a database of its own. So the entry in the trail is written before the service is asked: no end is
without one. An entry whose end the service then refused says so by the next look at the subscription.
"""

from typing import TypeVar

from openspot.contracts import subjects
from openspot.contracts.messages import (
    CancelSubscription,
    CancelSubscriptionReply,
    GetPlans,
    GetPlansReply,
    ListSubscriptionPayments,
    ListSubscriptionPaymentsReply,
    ListSubscriptions,
    ListSubscriptionsReply,
    PlanRecord,
    SubscriptionPaymentRecord,
    SubscriptionRecord,
)
from openspot.contracts.messages.reply import RefusableReply
from openspot.contracts.refusals import RefusalCode
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.kit.bus import Bus, RequestFailedError
from openspot.kit.database import Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.pending.rules import require_other_person
from openspot.rest_edge.operators.pending.store import linked_with

log = get_logger("operators")

Reply = TypeVar("Reply", bound=RefusableReply)


class Plans:
    """Plans and subscriptions. Methods raise HttpError: 503 if the subscription service does not respond."""

    def __init__(self, pool: Pool, bus: Bus) -> None:
        self._pool = pool
        self._bus = bus

    async def plans(self) -> tuple[PlanRecord, ...]:
        """Every plan, the lowest rank first."""
        try:
            reply = await self._bus.request(
                subjects.SUBSCRIPTIONS_PLANS_GET, GetPlans(), GetPlansReply, self._bus.read_timeout_s
            )
        except RequestFailedError as error:
            raise _silent(error) from error
        return _believed(reply).plans

    async def subscriptions(self, wanted: ListSubscriptions) -> tuple[tuple[SubscriptionRecord, ...], str | None]:
        """A page of the subscriptions of all users, newest first, and the cursor of the next."""
        try:
            reply = await self._bus.request(
                subjects.SUBSCRIPTIONS_LIST, wanted, ListSubscriptionsReply, self._bus.read_timeout_s
            )
        except RequestFailedError as error:
            raise _silent(error) from error
        page = _believed(reply)
        return page.subscriptions, page.next_cursor

    async def payments(
        self, wanted: ListSubscriptionPayments
    ) -> tuple[tuple[SubscriptionPaymentRecord, ...], str | None]:
        """A page of the payments of all users, newest first, and the cursor of the next."""
        try:
            reply = await self._bus.request(
                subjects.SUBSCRIPTIONS_PAYMENTS_LIST, wanted, ListSubscriptionPaymentsReply, self._bus.read_timeout_s
            )
        except RequestFailedError as error:
            raise _silent(error) from error
        page = _believed(reply)
        return page.payments, page.next_cursor

    async def cancel(self, user_id: str, acting: Acting) -> SubscriptionRecord:
        """End a user's subscription with its paid period, or at once if it is past due. Twice changes nothing.

        404 if the user has none, 403 for one's own account, 409 while a charge is being made.
        """
        require_other_person(acting.operator.name, user_id, await linked_with(self._pool, acting.operator.name))
        found, _ = await self.subscriptions(ListSubscriptions(1, user_id=user_id))
        if not found or found[0].status == "expired":
            raise HttpError(404, "the user has no subscription", "SUBSCRIPTION_NOT_FOUND")
        before = found[0]
        if before.cancel_at_period_end:
            return before
        async with self._pool.acquire() as connection, connection.transaction():
            await record(
                connection, acting, "user.subscription.cancelled", "user", user_id,
                {"subscription": before.id, "plan": before.plan_id, "status": before.status}, {"plan": None},
            )  # fmt: skip
        try:
            reply = await self._bus.request(
                subjects.SUBSCRIPTIONS_CANCEL, CancelSubscription(user_id), CancelSubscriptionReply
            )
        except RequestFailedError as error:
            raise _silent(error) from error
        ended = _believed(reply).subscription
        assert ended is not None, "a reply without a refusal has the subscription"
        return ended


def _believed(reply: Reply) -> Reply:
    """The reply, unless it is a refusal. Raises HttpError."""
    if reply.error is None:
        return reply
    if reply.code is RefusalCode.VALIDATION:
        raise validation_error([reply.error])
    if reply.code is RefusalCode.NOT_FOUND:
        raise HttpError(404, "the user has no subscription", "SUBSCRIPTION_NOT_FOUND")
    if reply.code is RefusalCode.BUSY:
        raise HttpError(409, "a charge of the user is being made: try again in a moment", "CHARGE_UNDER_WAY")
    log.warning("the subscription service refused", error=reply.error, code=reply.code)
    raise service_unavailable("the subscription service cannot do it now")


def _silent(error: RequestFailedError) -> HttpError:
    log.warning("the subscription service does not answer an operator", error=str(error))
    return service_unavailable("the subscription service does not respond")
