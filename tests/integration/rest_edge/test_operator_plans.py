"""Plans and subscriptions as operators see and end them, with a subscription service of this process on the bus."""

import csv
import io

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import (
    CancelSubscription,
    CancelSubscriptionReply,
    ListSubscriptionPayments,
    ListSubscriptionPaymentsReply,
    ListSubscriptions,
    ListSubscriptionsReply,
    SubscriptionPaymentRecord,
    SubscriptionRecord,
)
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.http.operators import OperatorRole
from openspot.kit.bus import Bus
from openspot.rest_edge.operators import exports
from tests.support.edge_operators import make_operator
from tests.support.rest_client import RestClient

WHY = {"reason": "ticket 4711"}


def record_of(user_id: str, *, ends: bool = False) -> SubscriptionRecord:
    return SubscriptionRecord(
        "s1", user_id, "pro", "active", ends, "USD", "30", "0", "2025-01-31", "2025-02-28", 0, None, None, None,
        "2025-01-31T12:00:00.000Z",
    )  # fmt: skip


def payment_of(number: int) -> SubscriptionPaymentRecord:
    return SubscriptionPaymentRecord(
        f"p{number}", "eve", "s1", "pro", "renewal", "failed", "=HYPERLINK(1)", "USD", "30", None, None, 1,
        "2025-01-31", "2025-02-28", "2025-01-31T12:00:00.000Z",
    )  # fmt: skip


async def test_lists_are_narrowed_by_time_and_saved_page_by_page(
    edge: RestClient, pool: asyncpg.Pool, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "ROWS_AT_A_TIME", 2)
    subscriptions: list[ListSubscriptions] = []
    payments: list[ListSubscriptionPayments] = []

    async def listed(request: ListSubscriptions) -> ListSubscriptionsReply:
        subscriptions.append(request)
        return ListSubscriptionsReply((record_of("eve"),))

    async def paid(request: ListSubscriptionPayments) -> ListSubscriptionPaymentsReply:
        payments.append(request)
        first = request.cursor is None
        shown = tuple(map(payment_of, (3, 2) if first else (1,)))
        return ListSubscriptionPaymentsReply(shown, "next" if first else None)

    queue = "subscriptions"
    await bus.serve(subjects.SUBSCRIPTIONS_LIST, queue, ListSubscriptions, listed, ListSubscriptionsReply.refused)
    await bus.serve(
        subjects.SUBSCRIPTIONS_PAYMENTS_LIST, queue, ListSubscriptionPayments, paid,
        ListSubscriptionPaymentsReply.refused,
    )  # fmt: skip
    await make_operator(edge, pool, "aud@example.org", OperatorRole.AUDITOR)
    span = "from=1970-01-01T00:00:01Z&to=1970-01-01T00:00:02.5Z"
    assert (await edge("GET", f"/operator/subscriptions?{span}")).status == 200
    assert (await edge("GET", f"/operator/subscription-payments?{span}")).status == 200
    assert [(asked.since, asked.until) for asked in (*subscriptions, *payments)] == [(1000, 2500)] * 2
    assert (await edge("GET", "/operator/subscriptions?from=yesterday")).status == 400

    reply = await edge("GET", f"/operator/subscription-payments/export?reason=yearly%20audit&status=failed&{span}")
    assert reply.headers["Content-Disposition"] == 'attachment; filename="subscription_payments.csv"'
    rows = list(csv.DictReader(io.StringIO(reply.body)))
    assert [(row["id"], row["price"], row["reason"]) for row in rows] == [
        (f"p{number}", "30", "'=HYPERLINK(1)") for number in (3, 2, 1)
    ]
    asked = [(each.limit, each.cursor, each.status, each.since) for each in payments[1:]]
    assert asked == [(2, None, "failed", 1000), (2, "next", "failed", 1000)]
    reply = await edge("GET", "/operator/subscriptions/export?reason=yearly%20audit&planId=pro")
    assert [row["user_id"] for row in csv.DictReader(io.StringIO(reply.body))] == ["eve"]
    entries = await pool.fetch("SELECT action, after FROM operator_actions ORDER BY entry_number")
    assert [entry["action"] for entry in entries] == ["subscription_payments.exported", "subscriptions.exported"]
    assert '"plan":"pro"' in entries[1]["after"] and '"state":"failed"' in entries[0]["after"]

    # Support reads the lists and saves none.
    await make_operator(edge, pool, "sam@example.org", OperatorRole.SUPPORT)
    assert (await edge("GET", "/operator/subscriptions")).status == 200
    for name in ("subscriptions", "subscription-payments"):
        refused = await edge("GET", f"/operator/{name}/export?reason=curious")
        assert (refused.status, refused.code) == (403, "PERMISSION_MISSING")
    assert await pool.fetchval("SELECT count(*) FROM operator_actions") == 2


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
