"""The routes of the subscription service: what they return, refuse, and leave in the database."""

import asyncio
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from importlib.resources import files
from typing import Any

import pytest

from openspot.http.context import IdempotentOperation, Identity
from openspot.http.policy import Access
from openspot.kit.database import Connection
from openspot.subscriptions.plans import load_plans
from openspot.subscriptions.schemas import SubscribeBody, UpgradeBody
from openspot.subscriptions.store import StoredSubscription
from tests.support.http_routes import documents
from tests.support.subscriptions import SubscriptionShop
from tests.support.waiting import stretched

PRO = {"planId": "pro", "asset": "USD"}
RICH = {"staking_balance": Decimal(100_000)}


@pytest.mark.spec("B4.6-01", "B4.6-02", "B4.6-03", "B4.6-15", "A2.8-11", "A9-04")
async def test_plans_are_public_and_show_prices_features_and_limits(shop: SubscriptionShop) -> None:
    plans = await shop.good("", "GET", "/api/plans")
    assert [plan["id"] for plan in plans] == ["basic", "pro", "premium"]
    assert plans[1] == {
        "id": "pro", "name": "Pro", "rank": 2, "intervalMonths": 1, "active": True,
        "prices": {"USD": "30", "USDT": "30"}, "paymentToken": "USDT", "features": [],
        "limits": {"api_keys": 20, "saved_addresses": 50, "price_alerts": 100},
    }  # fmt: skip
    assert await shop.good("", "GET", "/api/plans/pro") == plans[1]
    unknown = await shop("", "GET", "/api/plans/gold")
    assert (unknown.status, unknown.json["code"]) == (404, "PLAN_NOT_FOUND")
    assert (await shop("", "GET", "/api/plans/Gold!")).status == 400


@pytest.mark.spec("B4.6-02")
async def test_a_plan_that_is_withdrawn_is_not_listed_and_takes_nobody_but_keeps_its_subscribers(
    shop: SubscriptionShop,
) -> None:
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    shop.configure(without_pro())
    assert [plan["id"] for plan in await shop.good("", "GET", "/api/plans")] == ["basic", "premium"]
    assert (await shop.good("", "GET", "/api/plans/pro"))["active"] is False
    refused = await shop("bob", "POST", "/api/subscribe", PRO)
    assert (refused.status, refused.json["code"]) == (409, "PLAN_NOT_OFFERED")
    assert await shop.pass_days(28) == 1
    assert (await shop.good("ada", "GET", "/api/entitlements"))["planId"] == "pro"


def without_pro() -> Any:
    text = files("openspot.subscriptions").joinpath("plans.toml").read_text("utf-8")
    before, pro = text.split("[plans.pro]", 1)
    return load_plans(f"{before}[plans.pro]{pro.replace('active = true', 'active = false', 1)}")


@pytest.mark.spec("B4.6-04", "B4.6-05", "B4.6-13", "A2.8-12", "A2.8-13")
async def test_subscribing_begins_a_period_and_records_its_payment_as_completed(shop: SubscriptionShop) -> None:
    charged = await shop.good("ada", "POST", "/api/subscribe", PRO)
    subscription, payment = charged["subscription"], charged["payment"]
    assert subscription == {
        "id": subscription["id"], "planId": "pro", "status": "active", "cancelAtPeriodEnd": False, "asset": "USD",
        "price": "30", "credit": "0", "periodStart": "2025-01-31", "periodEnd": "2025-02-28",
        "nextChargeOn": "2025-02-28", "pastDueSince": None, "accessUntil": "2025-03-08",
        "createdAt": "2025-01-31T12:00:00.000Z",
    }  # fmt: skip
    assert payment == {
        "id": payment["id"], "subscriptionId": subscription["id"], "planId": "pro", "kind": "subscribe",
        "status": "completed", "reason": None, "asset": "USD", "price": "30", "discountBps": 0, "credit": "0",
        "amount": "30", "periodStart": "2025-01-31", "periodEnd": "2025-02-28",
        "createdAt": "2025-01-31T12:00:00.000Z",
    }  # fmt: skip
    assert await shop.good("ada", "GET", "/api/subscription") == subscription
    assert await shop.good("ada", "GET", "/api/payments") == [payment]


@pytest.mark.spec("B4.6-14")
def test_nothing_confirms_a_payment_later() -> None:
    document = documents()["subscriptions"]
    assert not [path for path in document["paths"] if "callback" in path or "confirm" in path or "webhook" in path]
    states = document["components"]["schemas"]["PaymentResponse"]["properties"]["status"]["enum"]
    assert states == ["completed", "failed"]


@pytest.mark.spec("A7-08")
async def test_a_second_subscription_is_refused_while_one_is_active(shop: SubscriptionShop) -> None:
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    second = await shop("ada", "POST", "/api/subscribe", {"planId": "basic"})
    assert (second.status, second.json["code"]) == (409, "SUBSCRIPTION_ACTIVE")
    # A cancel does not make room before the period is over.
    await shop.good("ada", "POST", "/api/cancel")
    assert (await shop("ada", "POST", "/api/subscribe", PRO)).status == 409
    assert await shop.charged() == [("ada", 1, "completed")]


async def test_a_hundred_subscribes_at_once_yield_one(shop: SubscriptionShop) -> None:
    replies = await asyncio.gather(*(shop("ada", "POST", "/api/subscribe", PRO) for _ in range(100)))
    assert Counter(reply.status for reply in replies) == {201: 1, 409: 99}
    assert await shop.charged() == [("ada", 1, "completed")]
    assert await shop.pool.fetchval("SELECT count(*) FROM subscriptions") == 1


async def test_a_subscribe_that_another_has_overtaken_waits_for_no_lock_of_its_subscription(
    shop: SubscriptionShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has locked it may wait for this charge: the two would wait for each other."""
    lock_running = shop.store.lock_running
    async with shop.pool.acquire() as holder, holder.transaction():

        async def overtaken(connection: Connection, user_id: str) -> StoredSubscription | None:
            monkeypatch.setattr(shop.store, "lock_running", lock_running)
            found = await lock_running(connection, user_id)
            await shop.good("ada", "POST", "/api/subscribe", PRO)
            assert await lock_running(holder, user_id) is not None
            return found

        monkeypatch.setattr(shop.store, "lock_running", overtaken)
        async with asyncio.timeout(stretched(20)):
            late = await shop("ada", "POST", "/api/subscribe", PRO)
    assert (late.status, late.json["code"]) == (409, "SUBSCRIPTION_ACTIVE")
    assert await shop.charged() == [("ada", 1, "completed")]
    await shop.good("ada", "POST", "/api/upgrade", {"planId": "premium"})


async def test_fifty_upgrades_at_once_charge_once(shop: SubscriptionShop) -> None:
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    replies = await asyncio.gather(
        *(shop("ada", "POST", "/api/upgrade", {"planId": "premium"}) for _ in range(50)),
        *(shop("ada", "POST", "/api/cancel") for _ in range(5)),
    )
    assert Counter(reply.status for reply in replies[:50]) == {200: 1, 409: 49}
    assert await shop.charged() == [("ada", 1, "completed"), ("ada", 2, "completed")]


@pytest.mark.spec("A8-21", "A5-06", "A5-07")
@pytest.mark.parametrize(
    ("claims", "bps", "amount"),
    [({}, 1000, "27"), ({"staking_balance": Decimal(50_000)}, 1500, "25.5"), (RICH, 2000, "24")],
)
async def test_the_claim_staking_balance_decides_the_discount_of_the_payment_token(
    shop: SubscriptionShop, claims: dict[str, Any], bps: int, amount: str
) -> None:
    charged = await shop.good("ada", "POST", "/api/subscribe", {"planId": "pro"}, **claims)
    payment = charged["payment"]
    assert (payment["asset"], payment["discountBps"], payment["amount"]) == ("USDT", bps, amount)
    assert await shop.pool.fetchval("SELECT user_id FROM subscriptions") == "ada"
    # A renewal, at which there is no token, has the discount of the last one.
    assert await shop.pass_days(28) == 1
    assert [row["amount"] for row in await shop.good("ada", "GET", "/api/payments")] == [amount, amount]


@pytest.mark.spec("B4.6-06", "B4.6-07", "A3.2-03")
async def test_after_a_cancel_access_lasts_until_the_periods_end_and_ends_then(shop: SubscriptionShop) -> None:
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    cancelled = await shop.good("ada", "POST", "/api/cancel")
    assert (cancelled["status"], cancelled["cancelAtPeriodEnd"]) == ("active", True)
    assert (cancelled["nextChargeOn"], cancelled["accessUntil"]) == (None, "2025-02-28")
    assert await shop.good("ada", "POST", "/api/cancel") == cancelled
    shop.time += timedelta(days=27)
    assert (await shop.good("ada", "GET", "/api/entitlements"))["planId"] == "pro"
    # The day after the period, even before the service has recorded the end.
    shop.time += timedelta(days=1)
    assert (await shop.good("ada", "GET", "/api/entitlements"))["planId"] is None
    for method, path in (("GET", "/api/subscription"), ("POST", "/api/cancel")):
        over = await shop("ada", method, path)
        assert (over.status, over.json["code"]) == (404, "SUBSCRIPTION_NOT_FOUND")
    again = await shop.good("ada", "POST", "/api/subscribe", PRO)
    assert again["subscription"]["periodStart"] == "2025-02-28"
    assert await shop.renewals.run_due() == 0
    rows = await shop.pool.fetch("SELECT status FROM subscriptions ORDER BY created_at")
    assert [row["status"] for row in rows] == ["expired", "active"]


@pytest.mark.spec("B4.6-08", "B4.6-09")
async def test_an_upgrade_credits_the_remaining_days_against_the_new_price(shop: SubscriptionShop) -> None:
    """The worked example: 18 of 28 days of 30.00 are left, so 19.29 of 90.00 are paid by credit."""
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    shop.time += timedelta(days=10)
    charged = await shop.good("ada", "POST", "/api/upgrade", {"planId": "premium"})
    subscription, payment = charged["subscription"], charged["payment"]
    assert (subscription["planId"], subscription["periodStart"], subscription["periodEnd"]) == (
        "premium", "2025-02-10", "2025-03-10",
    )  # fmt: skip
    assert (payment["kind"], payment["price"], payment["credit"], payment["amount"]) == (
        "upgrade", "90", "19.29", "70.71",
    )  # fmt: skip
    assert (await shop.good("ada", "GET", "/api/entitlements"))["planId"] == "premium"
    for plan, status, code in (
        ("premium", 409, "SUBSCRIPTION_STATE"),
        ("basic", 409, "SUBSCRIPTION_STATE"),
        ("gold", 404, "PLAN_NOT_FOUND"),
    ):
        refused = await shop("ada", "POST", "/api/upgrade", {"planId": plan})
        assert (refused.status, refused.json["code"]) == (status, code)
    nobody = await shop("bob", "POST", "/api/upgrade", {"planId": "premium"})
    assert (nobody.status, nobody.json["code"]) == (404, "SUBSCRIPTION_NOT_FOUND")


@pytest.mark.spec("B4.6-10")
async def test_payments_are_listed_newest_first_in_pages_and_only_ones_own(shop: SubscriptionShop) -> None:
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    await shop.good("bob", "POST", "/api/subscribe", PRO)
    await shop.pass_days(120)
    seen, cursor = [], ""
    while True:
        page = await shop("ada", "GET", f"/api/payments?limit=2{cursor}")
        assert page.status == 200
        assert len(page.json) <= 2
        seen += page.json
        following = page.header("x-next-cursor")
        if following is None:
            break
        cursor = f"&cursor={following}"
    assert [row["periodStart"] for row in seen] == [
        "2025-05-31", "2025-04-30", "2025-03-31", "2025-02-28", "2025-01-31",
    ]  # fmt: skip
    assert len({row["subscriptionId"] for row in seen}) == 1
    for query in ("limit=0", "limit=x", "cursor=zzz", "cursor=WyJ4Il0", "cursor=Wy0xXQ", "cursor=WzFlOTld"):
        refused = await shop("ada", "GET", f"/api/payments?{query}")
        assert (refused.status, refused.json["code"]) == (400, "VALIDATION_FAILED")


@pytest.mark.spec("B4.6-11")
async def test_entitlements_are_those_of_the_plan_or_the_free_ones(shop: SubscriptionShop) -> None:
    assert await shop.good("ada", "GET", "/api/entitlements") == {
        "planId": None, "features": [], "limits": {"api_keys": 2, "saved_addresses": 3, "price_alerts": 20},
        "validUntil": None,
    }  # fmt: skip
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    assert await shop.good("ada", "GET", "/api/entitlements") == {
        "planId": "pro", "features": [],
        "limits": {"api_keys": 20, "saved_addresses": 50, "price_alerts": 100}, "validUntil": "2025-03-08",
    }  # fmt: skip
    assert (await shop.good("bob", "GET", "/api/entitlements"))["planId"] is None


async def test_nobody_reaches_the_subscription_of_another(shop: SubscriptionShop) -> None:
    mine = await shop.good("ada", "POST", "/api/subscribe", PRO)
    assert (await shop("bob", "GET", "/api/subscription")).status == 404
    assert (await shop("bob", "POST", "/api/cancel")).status == 404
    assert await shop.good("bob", "GET", "/api/payments") == []
    assert await shop.good("ada", "GET", "/api/subscription") == mine["subscription"]


USER_ROUTES = [
    ("GET", "/api/subscription", None), ("POST", "/api/subscribe", PRO), ("POST", "/api/cancel", None),
    ("POST", "/api/upgrade", {"planId": "premium"}), ("GET", "/api/payments", None),
    ("GET", "/api/entitlements", None),
]  # fmt: skip


@pytest.mark.spec("A5-31")
async def test_every_route_but_plans_and_health_needs_a_valid_token(shop: SubscriptionShop) -> None:
    documented = {
        (method.upper(), path)
        for path, operations in documents()["subscriptions"]["paths"].items()
        for method in operations
        if not path.startswith("/api/plans")
    }
    assert {(method, path) for method, path, _ in USER_ROUTES} == documented
    for method, path, body in USER_ROUTES:
        refused = await shop("", method, path, body)
        assert (refused.status, refused.json["code"]) == (401, "UNAUTHENTICATED"), path
    assert (await shop("", "GET", "/health")).status == 200
    assert await shop.charged() == []


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/api/subscribe", {}, "planId is required"),
        ("/api/subscribe", {"planId": "pro", "price": "0"}, "property price should not exist"),
        ("/api/subscribe", {"planId": "Pro"}, "planId has characters that are not allowed"),
        ("/api/subscribe", {"planId": "pro", "asset": "usd"}, "asset must be 2 to 10 capital letters or digits"),
        ("/api/subscribe", {"planId": "pro", "asset": "BTC"}, "asset BTC does not pay for plan pro, only USD, USDT"),
        ("/api/upgrade", {"planId": ["premium"]}, "planId must be a text"),
    ],
)
async def test_a_bad_body_is_refused_by_field_and_reason(
    shop: SubscriptionShop, path: str, body: dict[str, Any], message: str
) -> None:
    refused = await shop("ada", "POST", path, body)
    assert refused.status == 400
    assert message in refused.json["message"][0]
    assert await shop.charged() == []


async def test_a_repeated_request_under_one_key_charges_once(shop: SubscriptionShop) -> None:
    first = await shop("ada", "POST", "/api/subscribe", PRO, key="begin")
    again = await shop("ada", "POST", "/api/subscribe", PRO, key="begin")
    assert (first.status, again.status, again.json) == (201, 201, first.json)
    assert again.header("idempotency-hit") == "true"
    upgrades = [await shop("ada", "POST", "/api/upgrade", {"planId": "premium"}, key="up") for _ in range(2)]
    assert upgrades[0].json == upgrades[1].json
    other = await shop("ada", "POST", "/api/subscribe", {"planId": "basic"}, key="begin")
    assert (other.status, other.json["code"]) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert await shop.charged() == [("ada", 1, "completed"), ("ada", 2, "completed")]


async def test_an_operation_that_was_done_before_its_process_died_is_not_done_again(shop: SubscriptionShop) -> None:
    ada = Identity("ada", Access.USER)
    for work, body in (
        (shop.billing.subscribe, SubscribeBody(planId="pro", asset="USD")),
        (shop.billing.upgrade, UpgradeBody(planId="premium")),
    ):
        operation = IdempotentOperation(f"operation-{work.__name__}")
        done = await work(ada, body, operation)  # type: ignore[operator]
        resumed = await work(ada, body, IdempotentOperation(operation.operation_id, is_resumed=True))  # type: ignore[operator]
        assert resumed == done
        # Another user's operation of the same id is another one.
        assert await shop.store.payment(operation.operation_id, "bob") is None
    assert len(await shop.charged()) == 2
