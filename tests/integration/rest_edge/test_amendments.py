"""Amendments through a REST edge with the complete rules: real bus and database, a router of this process."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
from pydantic import ValidationError

from openspot.contracts.messages import CancelOpenOrders, CancelOpenOrdersReply, OrderAmendment
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.http.validation import messages_of
from openspot.kit.settings import Settings
from openspot.rest_edge.orders.amendment_schemas import AmendmentBatchBody, AmendmentBody
from tests.integration.rest_edge.test_orders import add_row, remember
from tests.support.fake_router import FakeRouter
from tests.support.rest_client import RestClient, running_edge

PATHS = (("PATCH", "/orders/order1"), ("PATCH", "/orders/client/mine"), ("PATCH", "/orders/batch"))


@pytest.fixture
async def complete_edge(settings: Settings) -> AsyncIterator[RestClient]:
    """An edge of this test alone with the complete rules, asked as the user `u1`."""
    async with running_edge(settings.model_copy(update={"rules": "complete"})) as client:
        client.as_user("u1")
        yield client


async def test_with_the_rules_of_the_specification_there_is_no_such_route(edge: RestClient) -> None:
    for method, path in (*PATHS, ("DELETE", "/orders/client/mine")):
        reply = await edge(method, path, {"price": "1"} if method == "PATCH" else None)
        assert (reply.status, reply.code) in ((404, "ROUTE_NOT_FOUND"), (405, "METHOD_NOT_ALLOWED")), (method, path)


async def test_every_way_to_amend_and_its_refusals(
    complete_edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    edge = complete_edge
    await add_row(pool, "order1", client_order_id="mine")
    await add_row(pool, "order2", client_order_id="mine", status="filled", remaining_quantity="0")
    remember(router, ("order1", "u1"), ("order3", "u1"), ("theirs", "u2"))

    reply = await edge("PATCH", "/orders/order1", {"price": "99.5", "quantity": 3})
    assert (reply.status, reply.body["price"], reply.body["quantity"]) == (200, "99.5", "3")
    reply = await edge("PATCH", "/orders/client/mine", {"price": "98"})
    assert (reply.status, reply.body["orderId"]) == (200, "order1")
    assert [request.orders for request in router.amended] == [
        (OrderAmendment("order1", "99.5", "3"),),
        (OrderAmendment("order1", "98", None),),
    ]
    assert all(request.user_id == "u1" and request.deadline for request in router.amended)
    assert (await edge("PATCH", "/orders/client/nobodys", {"price": "98"})).code == "ORDER_NOT_FOUND"

    router.amend_refusals["order3"] = Refusal(RefusalCode.ENGINE, "RISK_NSF")
    orders = [
        {"orderId": "order1", "quantity": "2"},
        {"orderId": "order3", "price": 5},
        {"orderId": "theirs", "price": 5},
    ]
    reply = await edge("PATCH", "/orders/batch", {"orders": orders})
    assert reply.status == 200
    assert [entry["status"] for entry in reply.body] == [200, 400, 404]
    assert [entry["error"] and entry["error"]["code"] for entry in reply.body] == [None, "RISK_NSF", "ORDER_NOT_FOUND"]
    assert reply.body[0]["order"]["quantity"] == "2"
    assert len(router.amended) == 3

    for refusal, status, code in (
        (Refusal(RefusalCode.ALREADY_ENDED, "order is already filled"), 409, "ORDER_NOT_OPEN"),
        (Refusal(RefusalCode.NOT_OPEN, "not open"), 409, "ORDER_NOT_OPEN"),
        (Refusal(RefusalCode.PRE_TRADE_CHECK, "price 5 deviates"), 400, "AMENDMENT_REJECTED"),
        (Refusal(RefusalCode.ENGINE, "QUANTITY_BELOW_FILLED"), 400, "QUANTITY_BELOW_FILLED"),
        (Refusal(RefusalCode.ENGINE, "ENGINE_BUSY"), 503, "SERVICE_UNAVAILABLE"),
        (Refusal(RefusalCode.UNAVAILABLE, "no engine"), 503, "SERVICE_UNAVAILABLE"),
        (Refusal(RefusalCode.TOO_LATE, "too old"), 503, "SERVICE_UNAVAILABLE"),
        (Refusal(RefusalCode.STATUS_UNKNOWN, "no answer"), 504, "ORDER_STATUS_UNKNOWN"),
        (Refusal(RefusalCode.VALIDATION, "only limit orders can be amended"), 400, "VALIDATION_FAILED"),
    ):
        router.amend_refusals["order1"] = refusal
        reply = await edge("PATCH", "/orders/order1", {"price": "97"})
        assert (reply.status, reply.code) == (status, code), refusal
    batch = {"orders": [{"orderId": "order1", "price": "97"}, {"orderId": "order3", "price": "97"}]}
    for refusal, status in ((Refusal(RefusalCode.BUSY, "busy"), 503), (Refusal(RefusalCode.FAILED, "failed"), 504)):
        router.refusal = refusal
        assert (await edge("PATCH", "/orders/batch", batch)).status == status


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "price, quantity or stopPrice is required"),
        ({"price": None}, "price, quantity or stopPrice is required"),
        ({"price": "0"}, "price"),
        ({"price": "-1"}, "price"),
        ({"price": "much"}, "price"),
        ({"quantity": "0.0000000000000000001"}, "quantity"),
        ({"price": "1", "side": "sell"}, "side"),
        ([], "body"),
        ({"orders": []}, "orders"),
        ({"orders": [{"price": "1"}]}, "orderId"),
        ({"orders": [{"orderId": "a b", "price": "1"}]}, "orderId"),
        ({"orders": [{"orderId": "a"}]}, "price, quantity or stopPrice is required"),
        ({"orders": [{"orderId": "a", "price": "1"}] * 2}, "orders must name each order once"),
        ({"orders": [{"orderId": f"a{number}", "price": "1"} for number in range(21)]}, "orders"),
    ],
)
def test_a_bad_body_is_named(body: Any, message: str) -> None:
    kind = AmendmentBatchBody if isinstance(body, dict) and "orders" in body else AmendmentBody
    with pytest.raises(ValidationError) as refusal:
        kind.model_validate(body)
    assert message in " ".join(messages_of(refusal.value.errors()))


async def test_a_repeated_key_amends_once_and_an_unknown_outcome_is_tried_again(
    complete_edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    await add_row(pool, "order1")
    remember(router, ("order1", "u1"))
    key = {"Idempotency-Key": "amend-order-1"}
    router.amend_refusals["order1"] = Refusal(RefusalCode.STATUS_UNKNOWN, "no answer")
    assert (await complete_edge("PATCH", "/orders/order1", {"price": "99"}, headers=key)).status == 504
    del router.amend_refusals["order1"]
    replies = [await complete_edge("PATCH", "/orders/order1", {"price": "99"}, headers=key) for _ in range(2)]
    assert [(reply.status, reply.body["price"]) for reply in replies] == [(200, "99")] * 2
    assert len(router.amended) == 2, "the third request got the stored reply"
    other = await complete_edge("PATCH", "/orders/order1", {"price": "98"}, headers=key)
    assert other.status in (409, 422)


async def test_named_orders_are_cancelled_together_and_only_the_rest_alone(
    complete_edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    for number in range(3):
        await add_row(pool, f"order{number}", client_order_id="mine")
    await add_row(pool, "ended", status="filled", remaining_quantity="0")
    remember(router, *((f"order{number}", "u1") for number in range(3)))
    router.bulk_replies = [CancelOpenOrdersReply(True, ("order0", "order1"))]
    reply = await complete_edge("DELETE", "/orders", {"orderIds": ["order0", "order1", "order2", "ended"]})
    assert sorted(reply.body["cancelled"]) == ["order0", "order1", "order2"]
    assert reply.body["failed"] == [{"orderId": "ended", "reason": "the order is filled"}]
    named = ("order0", "order1", "order2", "ended")
    assert router.bulk_cancels == [CancelOpenOrders("u1", order_ids=named)]
    assert [request.order_id for request in router.cancelled] == ["order2"]

    reply = await complete_edge("DELETE", "/orders/client/mine")
    assert reply.status == 200
    assert len(reply.body["cancelled"]) >= 1
    assert (await complete_edge("DELETE", "/orders/client/nobodys")).code == "ORDER_NOT_FOUND"
