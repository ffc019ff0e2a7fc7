"""Lists by time and client order id, and batches of orders."""

from datetime import datetime, timedelta
from typing import Any

import asyncpg
import pytest

from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.rest_edge.orders.schemas import BatchEntry
from tests.integration.rest_edge.test_orders import LIMIT, NOW, add_row
from tests.support.fake_router import FakeRouter
from tests.support.records import read_exactly
from tests.support.rest_client import RestClient


def ids(reply: Any) -> list[str]:
    return [order["orderId"] for order in reply.body]


async def test_from_and_to_bound_when_an_order_was_created(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.as_user("lister-by-time")
    for minutes in range(4):
        await add_row(
            pool, f"order{minutes}", user_id="lister-by-time", created_at=NOW + timedelta(minutes=minutes),
            status="filled" if minutes % 2 else "open",
        )  # fmt: skip
    since, until = (NOW + timedelta(minutes=1)), (NOW + timedelta(minutes=3))
    for first, last in (
        (since.isoformat().replace("+00:00", "Z"), until.isoformat().replace("+00:00", "Z")),
        (int(since.timestamp() * 1000), int(until.timestamp() * 1000)),
    ):
        # The first is inside, the last is not.
        assert ids(await edge("GET", f"/orders?from={first}&to={last}")) == ["order2", "order1"]
        assert ids(await edge("GET", f"/orders/history?from={first}&to={last}")) == ["order1"]
    for query in ("from=x", "to=2026-01-01T00:00:00", "from=", "to=99999999999999999999"):
        assert (await edge("GET", f"/orders?{query}")).code == "VALIDATION_FAILED"


async def test_pages_stay_whole_while_orders_are_added(edge: RestClient, pool: asyncpg.Pool) -> None:
    async def add(order_id: str, **fields: Any) -> None:
        await add_row(pool, order_id, user_id="pager-by-name", **fields)

    edge.as_user("pager-by-name")
    # Several of one moment: the id decides.
    for number in range(7):
        await add(f"order{number}", created_at=NOW + timedelta(minutes=number // 3), client_order_id="mine")
    await add("other", client_order_id="another")
    seen, cursor = [], ""
    while True:
        reply = await edge("GET", f"/orders?clientOrderId=mine&limit=2&cursor={cursor}" if cursor else
                           "/orders?clientOrderId=mine&limit=2")  # fmt: skip
        seen += ids(reply)
        await add(f"new{len(seen)}", created_at=NOW + timedelta(days=1), client_order_id="mine")
        cursor = reply.headers.get("X-Next-Cursor", "")
        if not cursor:
            break
    assert seen == [f"order{number}" for number in (6, 5, 4, 3, 2, 1, 0)]


async def test_an_order_that_others_fill_at_once_is_not_listed_as_open(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    edge.as_user("filled-by-others")
    first, second = [(await edge("POST", "/orders", LIMIT)).body for _ in range(2)]
    assert sorted(ids(await edge("GET", "/orders?status=open"))) == sorted([first["orderId"], second["orderId"]])
    filled_at = datetime.fromisoformat(first["updatedAt"]) + timedelta(milliseconds=1)
    await add_row(
        pool, first["orderId"], user_id="filled-by-others", status="filled",
        created_at=datetime.fromisoformat(first["createdAt"]), updated_at=filled_at,
    )  # fmt: skip
    assert ids(await edge("GET", "/orders?status=open")) == [second["orderId"]]
    assert ids(await edge("GET", "/orders?status=filled")) == [first["orderId"]]


async def test_an_order_is_found_by_its_client_order_id(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    await add_row(pool, "older", client_order_id="a 1", created_at=NOW - timedelta(days=1))
    await add_row(pool, "newer", client_order_id="a 1")
    await add_row(pool, "others", client_order_id="theirs", user_id="u2")
    assert (await edge("GET", "/orders/client/a%201")).body["orderId"] == "newer"
    # At once, although the row is written later.
    placed = await edge("POST", "/orders", LIMIT | {"clientOrderId": "fresh"})
    assert (await edge("GET", "/orders/client/fresh")).body["orderId"] == placed.body["orderId"]
    for name in ("theirs", "unknown"):
        reply = await edge("GET", f"/orders/client/{name}")
        assert (reply.status, reply.code) == (404, "ORDER_NOT_FOUND")


async def test_each_order_of_a_batch_is_answered_alone(edge: RestClient, router: FakeRouter) -> None:
    orders = [LIMIT | {"clientOrderId": "0"}, LIMIT | {"quantity": "-1"}, {}, 7, LIMIT | {"clientOrderId": "4"}]
    reply = await edge("POST", "/orders/batch", {"orders": orders})
    assert reply.status == 200
    entries = [read_exactly(entry, BatchEntry) for entry in reply.body]
    assert [entry.status for entry in entries] == [201, 400, 400, 400, 201]
    assert [entry.order.client_order_id for entry in entries if entry.order] == ["0", "4"]
    assert entries[1].error is not None and entries[1].error.message == ["quantity must be greater than 0"]
    assert len({request.order.order_id for request in router.submitted}) == 2
    router.reject_with = "RISK_NSF"
    [rejected] = (await edge("POST", "/orders/batch", {"orders": [LIMIT]})).body
    assert (rejected["status"], rejected["error"]["code"]) == (400, "RISK_NSF")


@pytest.mark.parametrize("orders", [[], [LIMIT] * 21, None, {}, "x"])
async def test_a_batch_has_one_to_twenty_orders(edge: RestClient, router: FakeRouter, orders: Any) -> None:
    reply = await edge("POST", "/orders/batch", {"orders": orders})
    assert (reply.status, reply.code) == (400, "VALIDATION_FAILED")
    assert router.submitted == []


async def test_twenty_orders_make_a_batch(edge: RestClient, router: FakeRouter) -> None:
    reply = await edge("POST", "/orders/batch", {"orders": [LIMIT] * 20})
    assert [entry["status"] for entry in reply.body] == [201] * 20


async def test_a_repeated_batch_places_each_order_once(edge: RestClient, router: FakeRouter) -> None:
    key = {"Idempotency-Key": "batch-1"}
    router.refusal = Refusal(RefusalCode.STATUS_UNKNOWN, "no answer")
    unknown = await edge("POST", "/orders/batch", {"orders": [LIMIT, LIMIT]}, headers=key)
    assert (unknown.status, unknown.code) == (504, "ORDER_STATUS_UNKNOWN")
    router.refusal = None
    # One of the two had reached the engine.
    first = router.submitted[0]
    await router._submit(first)
    del router.submitted[:]
    again = await edge("POST", "/orders/batch", {"orders": [LIMIT, LIMIT]}, headers=key)
    assert [entry["status"] for entry in again.body] == [201, 201]
    assert first.order.order_id in [entry["order"]["orderId"] for entry in again.body]
    assert len(router.submitted) == 1
    hit = await edge("POST", "/orders/batch", {"orders": [LIMIT, LIMIT]}, headers=key)
    assert (hit.body, hit.headers["Idempotency-Hit"]) == (again.body, "true")
