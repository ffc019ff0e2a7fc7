"""Payments through the edge: sessions, signed callbacks, and credits that happen once."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.domain.ids import PAYMENTS_ACCOUNT_ID
from openspot.rest_edge.common.payload_digest import payload_digest
from openspot.rest_edge.products.payments.schemas import PaymentResponse, PaymentRouteResponse, PaymentSessionResponse
from openspot.rest_edge.settings import RestEdgeSettings
from tests.support.asgi import Reply
from tests.support.edge_products import CALLBACK_SECRET, EdgeProducts

WANTED = {"routeId": "development-usd", "amount": "100", "currency": "USD"}


@pytest.fixture
def edge(pool: asyncpg.Pool) -> EdgeProducts:
    """An edge whose deposits reach the engine at once."""
    edge = EdgeProducts(pool, payment_return_origins="https://shop.example")

    def credit(event: DepositConfirmed) -> None:
        edge.transfers.fund(event.user_id, event.asset, event.amount)

    edge.bus.on_publish = credit
    return edge


async def opened(edge: EdgeProducts, **change: Any) -> Any:
    reply = await edge("POST", "/payments/session", WANTED | change)
    assert reply.status == 201, reply.json
    return reply.json


async def callback(edge: EdgeProducts, session: Any, event: str = "e1", **change: Any) -> Reply:
    body = {"eventId": event, "paymentId": session["id"], "paymentStatus": "paid", "amount": "100", "currency": "USD"}
    raw = json.dumps(body | change).encode()
    digest = {"X-Payload-Digest".lower(): payload_digest(CALLBACK_SECRET, raw)}
    return await edge("POST", "/payments/callback", raw=raw, user=None, headers=digest)


async def shown(edge: EdgeProducts, session: Any) -> Any:
    return (await edge("GET", f"/payments/{session['id']}")).json


@pytest.mark.spec("B4.1-53", "B4.1-54")
async def test_routes_are_public_and_say_that_they_are_simulated(edge: EdgeProducts) -> None:
    rows = (await edge("GET", "/payments/routes", user=None)).json
    assert [PaymentRouteResponse.model_validate(row).id for row in rows] == ["development-brl", "development-usd"]
    one = (await edge("GET", "/payments/routes/development-usd", user=None)).json
    assert (one, one["simulated"], one["feeFixed"]) == (rows[1], True, "0.3")
    assert (await edge("GET", "/payments/routes/none", user=None)).status == 404


@pytest.mark.spec("B4.1-55", "B4.1-57")
async def test_a_signed_callback_completes_a_session_and_credits_what_the_fee_leaves(edge: EdgeProducts) -> None:
    session = await opened(edge, returnUrl="https://shop.example/done")
    PaymentSessionResponse.model_validate(session)
    assert (session["status"], session["paymentStatus"]) == ("open", "unpaid")
    assert session["expiresAt"] == "2026-03-02T12:00:00.000Z"
    page = await edge("GET", session["url"].partition("/api/v1")[2], user=None)
    assert (page.json["amount"], page.json["simulated"]) == ("100", True)
    taken = await callback(edge, session)
    assert (taken.status, taken.json) == (200, {"paymentId": session["id"], "repeated": False})
    payment = await shown(edge, session)
    PaymentResponse.model_validate(payment)
    refused = await edge("GET", f"/payments/{session['id']}", user="u2")
    assert (refused.status, refused.json["code"]) == (404, "PAYMENT_NOT_FOUND")
    assert (await edge("GET", "/payments", user="u2")).json == []
    assert (payment["fee"], payment["netAmount"], payment["credited"]) == ("1.8", "98.2", True)
    assert (payment["status"], payment["paymentStatus"]) == ("complete", "paid")
    assert edge.transfers.held("u1", "USD") == "98.2"
    assert edge.transfers.held(PAYMENTS_ACCOUNT_ID, "USD") == "1.8"
    [(subject, event)] = edge.bus.published.values()
    assert (subject, event.user_id, event.amount) == (subjects.CUSTODY_DEPOSIT_CONFIRMED, PAYMENTS_ACCOUNT_ID, "100")
    # The engine takes a reference once, for whatever it is.
    assert event.tx_hash not in edge.transfers.done


async def test_a_repeated_callback_does_nothing_whatever_it_is_called(edge: EdgeProducts) -> None:
    session = await opened(edge)
    await callback(edge, session)
    others = [callback(edge, session, event) for event in ("e1", "e2", "e1")]
    late = callback(edge, session, "e3", paymentStatus="failed")
    for reply in await asyncio.gather(*others, late):
        assert (reply.status, reply.json["repeated"]) == (200, True)
    assert edge.transfers.held("u1", "USD") == "98.2"
    assert (await shown(edge, session))["paymentStatus"] == "paid"


async def test_callbacks_at_once_credit_once(edge: EdgeProducts) -> None:
    session = await opened(edge)
    replies = await asyncio.gather(*(callback(edge, session, f"e{number}") for number in range(6)))
    assert sorted(reply.json["repeated"] for reply in replies) == [False] + [True] * 5
    assert edge.transfers.held("u1", "USD") == "98.2"
    assert len(edge.transfers.calls) == 1


@pytest.mark.parametrize("digest", [None, "", "0" * 64, "é"])
async def test_a_callback_without_the_right_signature_is_refused(edge: EdgeProducts, digest: str | None) -> None:
    session = await opened(edge)
    body = {"eventId": "e1", "paymentId": session["id"], "paymentStatus": "paid", "amount": "100", "currency": "USD"}
    raw = json.dumps(body).encode()
    headers = {} if digest is None else {"x-payload-digest": digest}
    reply = await edge("POST", "/payments/callback", raw=raw, user=None, headers=headers)
    assert (reply.status, reply.json["code"]) == (401, "SIGNATURE_INVALID")
    # A signature of another body is none of this one.
    forged = {"x-payload-digest": payload_digest(CALLBACK_SECRET, raw)}
    changed = raw.replace(b"e1", b"e2")
    assert (await edge("POST", "/payments/callback", raw=changed, user=None, headers=forged)).status == 401
    assert (await shown(edge, session))["paymentStatus"] == "unpaid"


@pytest.mark.parametrize("change", [{"amount": "99.99"}, {"amount": "1000"}, {"currency": "BRL"}])
async def test_a_callback_of_another_amount_is_refused(edge: EdgeProducts, change: dict[str, str]) -> None:
    session = await opened(edge)
    reply = await callback(edge, session, **change)
    assert (reply.status, reply.json["message"]) == (409, "the payment is of 100 USD")
    assert edge.transfers.calls == []
    # It does not use up its event: the provider can correct itself.
    assert (await callback(edge, session)).json["repeated"] is False


async def test_a_failed_payment_credits_nothing_and_money_that_comes_after_all_is_credited(edge: EdgeProducts) -> None:
    session = await opened(edge)
    assert (await callback(edge, session, paymentStatus="failed")).json["repeated"] is False
    payment = await shown(edge, session)
    assert (payment["status"], payment["paymentStatus"], payment["credited"]) == ("complete", "failed", False)
    edge.pass_time(days=2)
    assert (await callback(edge, session, "e2")).json["repeated"] is False
    assert (await shown(edge, session))["credited"] is True


async def test_a_session_expires_after_a_day(edge: EdgeProducts) -> None:
    session = await opened(edge)
    edge.pass_time(hours=23, minutes=59)
    assert (await shown(edge, session))["status"] == "open"
    edge.pass_time(minutes=1)
    assert (await shown(edge, session))["status"] == "expired"


async def test_a_credit_waits_until_the_deposit_has_arrived(edge: EdgeProducts) -> None:
    edge.bus.on_publish = None
    session = await opened(edge)
    await callback(edge, session)
    assert (await shown(edge, session))["credited"] is False
    edge.transfers.fund(PAYMENTS_ACCOUNT_ID, "USD", "100")
    edge.pass_time(seconds=2)
    assert await edge.products.runner.resume() == 1
    assert (await shown(edge, session))["credited"] is True
    # The deposit was announced again, under the same id.
    assert len(edge.bus.published) == 1


@pytest.mark.parametrize("fault", ["lost", "late", "unsent"])
async def test_a_credit_whose_outcome_is_unknown_is_made_once(edge: EdgeProducts, fault: str) -> None:
    session = await opened(edge)
    edge.transfers.faults = [fault]
    await callback(edge, session)
    assert (await shown(edge, session))["credited"] is False
    edge.pass_time(seconds=2)
    assert await edge.products.runner.resume() == 1
    assert edge.transfers.held("u1", "USD") == "98.2"
    assert (await shown(edge, session))["credited"] is True


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"routeId": "none"}, 404, "payment route none not found"),
        ({"amount": "4.99"}, 400, ["amount must be between 5 and 50000 USD"]),
        ({"amount": "10.001"}, 400, ["amount must have at most 2 decimal places for USD"]),
        ({"currency": "BRL"}, 400, ["currency must be USD on this route"]),
        ({"returnUrl": "https://evil.test/"}, 400, ["returnUrl must lie at an origin that the platform allows"]),
        ({"userId": "u2"}, 400, ["property userId should not exist"]),
    ],
)
async def test_a_bad_session_names_the_field_and_the_reason(
    edge: EdgeProducts, change: dict[str, str], status: int, said: Any
) -> None:
    reply = await edge("POST", "/payments/session", WANTED | change)
    assert (reply.status, reply.json["message"]) == (status, said)


@pytest.mark.spec("B4.1-56")
async def test_payments_are_listed_newest_first_to_their_user_alone(edge: EdgeProducts) -> None:
    ids = []
    for _ in range(3):
        ids.append((await opened(edge))["id"])
        edge.pass_time(seconds=1)
    first = await edge("GET", "/payments?limit=2")
    rest = await edge("GET", f"/payments?limit=2&cursor={first.header('X-Next-Cursor')}")
    assert [row["id"] for row in first.json + rest.json] == ids[::-1]
    assert (await edge("GET", "/payments", user="u2")).json == []
    assert (await edge("GET", f"/payments/{ids[0]}", user="u2")).status == 404


async def test_a_user_has_a_bounded_number_of_payments_that_wait_for_money(pool: asyncpg.Pool) -> None:
    edge = EdgeProducts(pool, payments_open_max=2)
    replies = await asyncio.gather(*(edge("POST", "/payments/session", WANTED) for _ in range(5)))
    refused = [reply for reply in replies if reply.status != 201]
    assert {(reply.status, reply.json["code"]) for reply in refused} == {(409, "TOO_MANY_PAYMENTS")}
    message = "2 payments of yours wait for money: pay one, or wait until 2026-03-02T12:00:00.000Z"
    assert [reply.json["message"] for reply in refused] == [message] * 3
    assert (await edge("POST", "/payments/session", WANTED, user="u2")).status == 201
    # One that is paid makes room, and so does the end of a session.
    (first, _) = [reply.json for reply in replies if reply.status == 201]
    await callback(edge, first)
    await opened(edge)
    assert (await edge("POST", "/payments/session", WANTED)).status == 409
    edge.now += timedelta(hours=24)
    await opened(edge)
    await opened(edge)


async def test_payments_without_money_are_deleted_after_a_time_and_paid_ones_stay(pool: asyncpg.Pool) -> None:
    edge = EdgeProducts(pool, payments_unpaid_kept_days=30)

    def credit(event: DepositConfirmed) -> None:
        edge.transfers.fund(event.user_id, event.asset, event.amount)

    edge.bus.on_publish = credit
    paid, failed, unpaid = [await opened(edge) for _ in range(3)]
    await callback(edge, paid, "paid")
    await callback(edge, failed, "failed", paymentStatus="failed")
    edge.now += timedelta(days=31)
    young = await opened(edge)
    await edge.products.payments.delete_unpaid()
    assert [(await edge("GET", f"/payments/{one['id']}")).status for one in (paid, failed, unpaid, young)] == [
        200, 200, 200, 200,
    ]  # fmt: skip
    edge.now += timedelta(seconds=1)
    await edge.products.payments.delete_unpaid()
    assert [(await edge("GET", f"/payments/{one['id']}")).status for one in (paid, failed, unpaid, young)] == [
        200, 404, 404, 200,
    ]  # fmt: skip
    # Callbacks that come again are harmless: the paid one is known, the others belong to no payment any more.
    again = await callback(edge, paid, "paid")
    assert (again.status, again.json["repeated"]) == (200, True)
    assert (await callback(edge, failed, "failed", paymentStatus="failed")).status == 404
    assert (await callback(edge, unpaid, "late")).status == 404
    assert edge.transfers.held("u1", "USD") == "98.2"
    assert await pool.fetch("SELECT event_id FROM payment_events") == [("paid",)]


def test_the_bounds_of_payments_by_default() -> None:
    settings = RestEdgeSettings()
    assert (settings.payments_open_max, settings.payments_unpaid_kept_days) == (20, 90)
