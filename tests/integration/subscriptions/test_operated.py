"""What the subscription service tells and does for operators."""

from datetime import timedelta
from typing import Any

import pytest

from openspot.contracts.messages import (
    CancelSubscription,
    GetPlans,
    ListSubscriptionPayments,
    ListSubscriptions,
)
from openspot.contracts.refusals import RefusalCode
from openspot.kit.clock import ms_from_datetime
from openspot.subscriptions.requests import SubscriptionRequests
from tests.support.subscriptions import SubscriptionShop


@pytest.fixture
def requests(shop: SubscriptionShop) -> SubscriptionRequests:
    return SubscriptionRequests(shop.billing)


async def test_subscriptions_and_payments_of_everybody_come_in_pages(
    shop: SubscriptionShop, requests: SubscriptionRequests
) -> None:
    for user, plan in (("ada", "pro"), ("bob", "premium"), ("cem", "pro")):
        reply = await shop(user, "POST", "/api/subscribe", {"planId": plan, "asset": "USD"})
        assert reply.status == 201, reply.json
    first = await requests.subscriptions(ListSubscriptions(2))
    rest = await requests.subscriptions(ListSubscriptions(2, first.next_cursor))
    seen = [row.user_id for row in (*first.subscriptions, *rest.subscriptions)]
    assert sorted(seen) == ["ada", "bob", "cem"] and rest.next_cursor is None
    of_plan = await requests.subscriptions(ListSubscriptions(9, plan_id="pro"))
    assert {row.user_id for row in of_plan.subscriptions} == {"ada", "cem"}
    assert (await requests.subscriptions(ListSubscriptions(9, user_id="bob", status="past_due"))).subscriptions == ()
    page = await requests.payments(ListSubscriptionPayments(2, status="completed"))
    following = await requests.payments(ListSubscriptionPayments(2, page.next_cursor))
    assert [row.user_id for row in (*page.payments, *following.payments)] == ["cem", "bob", "ada"]
    assert (await requests.payments(ListSubscriptionPayments(2, status="failed"))).payments == ()
    plans = (await requests.plans(GetPlans())).plans
    assert {"pro", "premium"} <= {plan.id for plan in plans}
    assert [plan.rank for plan in plans] == sorted(plan.rank for plan in plans)


async def test_lists_are_narrowed_by_time(shop: SubscriptionShop, requests: SubscriptionRequests) -> None:
    times = []
    for user in ("ada", "bob", "cem"):
        await shop.good(user, "POST", "/api/subscribe", {"planId": "pro", "asset": "USD"})
        times.append(ms_from_datetime(shop.time))
        shop.time += timedelta(days=1)
    # The first moment counts, the last does not.
    page = await requests.subscriptions(ListSubscriptions(1, since=times[0], until=times[2]))
    following = await requests.subscriptions(ListSubscriptions(1, page.next_cursor, since=times[0], until=times[2]))
    assert [row.user_id for row in (*page.subscriptions, *following.subscriptions)] == ["bob", "ada"]
    assert following.next_cursor is None
    paid = (await requests.payments(ListSubscriptionPayments(9, since=times[1]))).payments
    assert [row.user_id for row in paid] == ["cem", "bob"]
    paid = (await requests.payments(ListSubscriptionPayments(9, user_id="ada", until=times[1]))).payments
    assert [row.user_id for row in paid] == ["ada"]


async def test_an_operators_end_is_that_of_the_user(shop: SubscriptionShop, requests: SubscriptionRequests) -> None:
    await shop("ada", "POST", "/api/subscribe", {"planId": "pro", "asset": "USD"})
    ended = (await requests.cancel(CancelSubscription("ada"))).subscription
    assert ended is not None and (ended.status, ended.cancel_at_period_end, ended.next_charge_on) == (
        "active", True, None,
    )  # fmt: skip
    assert (await requests.cancel(CancelSubscription("ada"))).subscription == ended
    assert (await requests.cancel(CancelSubscription("bob"))).code is RefusalCode.NOT_FOUND


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0}, {"limit": 10**9}, {"cursor": "zzz"}, {"user_id": "a\x00b"}, {"plan_id": "'; --"},
        {"status": "other"}, {"since": -1}, {"until": 10**15},
    ],
)  # fmt: skip
async def test_a_bad_request_is_refused(requests: SubscriptionRequests, wrong: dict[str, Any]) -> None:
    refused = await requests.subscriptions(ListSubscriptions(**({"limit": 5} | wrong)))
    assert refused.code is RefusalCode.VALIDATION
