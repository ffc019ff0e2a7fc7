"""Replacements through a REST edge with the complete rules: real bus and database, a router of this process."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.kit.settings import Settings
from tests.integration.rest_edge.test_orders import add_row, remember
from tests.support.fake_router import FakeRouter
from tests.support.rest_client import RestClient, running_edge

NEW = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "91"}
PATH = "/orders/order1/replace"


@pytest.fixture
async def edge(settings: Settings) -> AsyncIterator[RestClient]:
    """An edge of this test alone with the complete rules, asked as the user `u1`."""
    async with running_edge(settings.model_copy(update={"rules": "complete"})) as client:
        client.as_user("u1")
        yield client


async def test_with_the_rules_of_the_specification_there_is_no_such_route(settings: Settings) -> None:
    async with running_edge(settings) as client:
        client.as_user("u1")
        assert (await client("POST", PATH, NEW)).status in (404, 405)


async def test_the_reply_has_the_record_of_both_orders_and_the_request_says_how(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    await add_row(pool, "order1")
    remember(router, ("order1", "u1"))
    reply = await edge("POST", PATH, NEW | {"mode": "ALLOW_FAILURE", "displayQuantity": "0.5"})
    assert reply.status == 201, reply.body
    assert (reply.body["cancelled"]["orderId"], reply.body["cancelError"]) == ("order1", None)
    (request,) = router.replaced
    assert (request.user_id, request.order_id, request.allow_failure) == ("u1", "order1", True)
    assert request.order.order_id == reply.body["order"]["orderId"]
    assert (request.order.price, request.order.display_quantity) == ("91", "0.5")
    assert request.deadline


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mode": "maybe"}, "mode must be one of"),
        ({"price": None}, "price is required for a limit order"),
        ({"displayQuantity": "-1"}, "displayQuantity must be"),
        ({"orderId": "x"}, "property orderId should not exist"),
    ],
)
async def test_what_is_not_valid_is_refused_with_the_name_of_the_field(
    edge: RestClient, router: FakeRouter, fields: dict[str, Any], message: str
) -> None:
    reply = await edge("POST", PATH, {name: value for name, value in (NEW | fields).items() if value is not None})
    assert reply.status == 400
    assert any(text.startswith(message) for text in reply.message), reply.message
    assert not router.replaced


async def test_without_a_cancel_the_error_is_that_of_the_cancel_unless_it_may_fail(
    edge: RestClient, router: FakeRouter
) -> None:
    reply = await edge("POST", PATH, NEW)
    assert (reply.status, reply.code) == (404, "ORDER_NOT_FOUND")
    assert not router.submitted
    reply = await edge("POST", PATH, NEW | {"mode": "allow_failure"})
    assert (reply.status, reply.body["cancelled"]) == (201, None)
    assert reply.body["cancelError"]["code"] == "ORDER_NOT_FOUND"
    assert len(router.submitted) == 1


async def test_a_refusal_after_the_cancel_says_that_the_old_order_is_gone(edge: RestClient, router: FakeRouter) -> None:
    remember(router, ("order1", "u1"))
    router.reject_with = "RISK_NSF"
    reply = await edge("POST", PATH, NEW)
    assert (reply.status, reply.code) == (409, "REPLACEMENT_REJECTED")
    details = reply.body["details"]
    assert (details["cancelledOrderId"], details["reason"]) == ("order1", "RISK_NSF")
    assert details["orderId"] == router.submitted[0].order.order_id
    router.cancel_refusal = Refusal(RefusalCode.NOT_OPEN, "not open")
    reply = await edge("POST", PATH, NEW | {"mode": "allow_failure"})
    assert (reply.status, reply.code) == (400, "RISK_NSF")


async def test_after_an_unknown_outcome_the_same_key_finds_what_became_of_both(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    remember(router, ("order1", "u1"))
    key = {"Idempotency-Key": "once"}
    router.refusal = Refusal(RefusalCode.STATUS_UNKNOWN, "the engine did not answer")
    reply = await edge("POST", PATH, NEW, headers=key)
    assert (reply.status, reply.code) == (504, "ORDER_STATUS_UNKNOWN")
    new_id = reply.body["details"]["orderId"]
    # Both were done, and their rows came meanwhile.
    await add_row(pool, "order1", status="cancelled", remaining_quantity="0")
    await add_row(pool, new_id)
    reply = await edge("POST", PATH, NEW, headers=key)
    assert reply.status == 201, reply.body
    assert (reply.body["order"]["orderId"], reply.body["cancelled"]["status"]) == (new_id, "cancelled")
    assert len(router.replaced) == 1


async def test_the_same_key_does_not_take_the_old_order_for_open_while_its_row_is_behind(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    remember(router, ("order1", "u1"))
    key = {"Idempotency-Key": "once"}
    router.refusal = Refusal(RefusalCode.STATUS_UNKNOWN, "the engine did not answer")
    new_id = (await edge("POST", PATH, NEW, headers=key)).body["details"]["orderId"]
    await add_row(pool, "order1")
    await add_row(pool, new_id)
    reply = await edge("POST", PATH, NEW, headers=key)
    assert (reply.status, reply.code) == (504, "ORDER_STATUS_UNKNOWN")
    await pool.execute("UPDATE orders SET status = 'cancelled', remaining_quantity = 0 WHERE order_id = 'order1'")
    reply = await edge("POST", PATH, NEW, headers=key)
    assert (reply.status, reply.body["cancelled"]["orderId"]) == (201, "order1"), reply.body


async def test_the_same_key_finds_that_nothing_was_cancelled_and_nothing_placed(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    remember(router, ("order1", "u1"))
    key = {"Idempotency-Key": "once"}
    router.refusal = Refusal(RefusalCode.STATUS_UNKNOWN, "the engine did not answer")
    new_id = (await edge("POST", PATH, NEW, headers=key)).body["details"]["orderId"]
    await add_row(pool, "order1", status="filled", remaining_quantity="0")
    await add_row(pool, new_id, status="rejected", remaining_quantity="0", reject_reason="REPLACEMENT_NOT_ATTEMPTED")
    reply = await edge("POST", PATH, NEW, headers=key)
    assert (reply.status, reply.code) == (409, "ORDER_NOT_OPEN")
    assert len(router.replaced) == 1
