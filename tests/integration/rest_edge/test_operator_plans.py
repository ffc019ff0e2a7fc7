"""Plans and subscriptions as operators see and end them, with a subscription service of this process on the bus."""

import asyncpg

from openspot.contracts import subjects
from openspot.contracts.messages import (
    CancelSubscription,
    CancelSubscriptionReply,
    ListSubscriptions,
    ListSubscriptionsReply,
    SubscriptionRecord,
)
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.http.operators import OperatorRole
from openspot.kit.bus import Bus
from tests.support.edge_operators import make_operator
from tests.support.rest_client import RestClient

WHY = {"reason": "ticket 4711"}


def record_of(user_id: str, *, ends: bool = False) -> SubscriptionRecord:
    return SubscriptionRecord(
        "s1", user_id, "pro", "active", ends, "USD", "30", "0", "2025-01-31", "2025-02-28", 0, None, None, None,
        "2025-01-31T12:00:00.000Z",
    )  # fmt: skip


async def test_a_subscription_is_ended_with_an_entry_and_only_once(
    edge: RestClient, pool: asyncpg.Pool, bus: Bus
) -> None:
    ended: list[str] = []
    asked: list[ListSubscriptions] = []
    entries_at_cancel: list[int] = []

    async def listed(request: ListSubscriptions) -> ListSubscriptionsReply:
        asked.append(request)
        if request.user_id in ("eve", "mal"):
            return ListSubscriptionsReply((record_of(request.user_id, ends=request.user_id in ended),), "next")
        return ListSubscriptionsReply()

    async def cancel(request: CancelSubscription) -> CancelSubscriptionReply:
        entries_at_cancel.append(await pool.fetchval("SELECT count(*) FROM operator_actions"))
        if request.user_id == "mal":
            return CancelSubscriptionReply.refused(Refusal(RefusalCode.BUSY, "a charge is being made"))
        ended.append(request.user_id)
        return CancelSubscriptionReply(subscription=record_of(request.user_id, ends=True))

    await bus.serve(
        subjects.SUBSCRIPTIONS_LIST, "subscriptions", ListSubscriptions, listed, ListSubscriptionsReply.refused
    )
    await bus.serve(
        subjects.SUBSCRIPTIONS_CANCEL, "subscriptions", CancelSubscription, cancel, CancelSubscriptionReply.refused
    )
    await make_operator(edge, pool, "sam@example.org", OperatorRole.SUPPORT)
    shown = await edge("GET", "/operator/subscriptions?userId=eve&planId=pro&status=active&limit=5")
    assert (shown.body[0]["planId"], shown.headers["X-Next-Cursor"]) == ("pro", "next")
    assert (asked[0].limit, asked[0].user_id, asked[0].plan_id, asked[0].status) == (5, "eve", "pro", "active")
    assert (await edge("GET", "/operator/subscriptions?status=other")).status == 400
    path = "/operator/users/eve/subscription/cancellation"
    assert (await edge("POST", path, WHY)).code == "PERMISSION_MISSING"
    await make_operator(edge, pool, "ada@example.org", OperatorRole.ADMINISTRATOR)
    assert (await edge("POST", path, WHY)).body["cancelAtPeriodEnd"] is True
    assert (await edge("POST", path, WHY)).body["cancelAtPeriodEnd"] is True
    # The entry was there before the service was asked, and the second request changed nothing.
    assert (ended, entries_at_cancel) == (["eve"], [1])
    refused = await edge("POST", "/operator/users/bob/subscription/cancellation", WHY)
    assert (refused.status, refused.code) == (404, "SUBSCRIPTION_NOT_FOUND")
    refused = await edge("POST", "/operator/users/mal/subscription/cancellation", WHY)
    assert (refused.status, refused.code) == (409, "CHARGE_UNDER_WAY")
    entries = await pool.fetch("SELECT action, subject_id, before FROM operator_actions")
    assert tuple(entries[0]) == (
        "user.subscription.cancelled", "eve", '{"plan":"pro","status":"active","subscription":"s1"}',
    )  # fmt: skip
    # Nobody answers for payments and plans here.
    assert (await edge("GET", "/operator/subscription-payments")).status == 503
    assert (await edge("GET", "/operator/plans")).status == 503
