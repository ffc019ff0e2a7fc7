"""Bulk cancels through the REST edge: real bus and database, a router of this process."""

import asyncio
from typing import Any

import asyncpg
import pytest

from openspot.contracts.messages import CancelOpenOrders, CancelOpenOrdersReply
from openspot.contracts.refusals import Refusal, RefusalCode
from tests.integration.rest_edge.test_orders import NOW, add_many, add_row, remember
from tests.support.fake_router import FakeRouter
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually

BULKS: tuple[tuple[dict[str, Any], list[int]], ...] = (
    ({}, [0, 1, 5, 6, 7, 11]),
    ({"symbol": "BTC-USD"}, [1, 5, 7, 11]),
    ({"side": "SELL"}, [6, 7, 11]),
    ({"symbol": "BTC-USD", "side": "buy"}, [1, 5]),
    ({"orderIds": ["order00", "order01"]}, [0, 1]),
    ({"orderIds": ["order00", "order01"], "symbol": "ETH-USD"}, [0]),
)


@pytest.mark.spec("B4.1-11")
async def test_a_bulk_cancel_takes_the_open_orders_that_fit(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    edge.as_user("canceller")
    await add_many(pool, "canceller")
    remember(router, *((f"order{number:02}", "canceller") for number in range(12)), ("theirs", "u2"))
    for conditions, cancelled in BULKS:
        query = "&".join(f"{k}={','.join(v) if isinstance(v, list) else v}" for k, v in conditions.items())
        for reply in (await edge("DELETE", f"/orders?{query}"), await edge("DELETE", "/orders", conditions)):
            assert reply.status == 200
            assert sorted(reply.body["cancelled"]) == [f"order{number:02}" for number in cancelled], conditions
            assert reply.body["failed"] == []


@pytest.mark.spec("B4.1-11")
async def test_a_bulk_cancel_says_which_orders_failed_and_why(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    edge.as_user("canceller-of-six")
    await add_many(pool, "canceller-of-six")
    remember(router, ("order00", "canceller-of-six"), ("unrecorded", "canceller-of-six"), ("theirs", "u2"))
    ids = ["order00", "order02", "theirs", "nobodys", "unrecorded", "order00"]
    reply = await edge("DELETE", "/orders", {"orderIds": ids})
    assert sorted(reply.body["cancelled"]) == ["order00", "unrecorded"]
    assert sorted(reply.body["failed"], key=lambda row: row["orderId"]) == [
        {"orderId": "nobodys", "reason": "order not found"},
        {"orderId": "order02", "reason": "the order is filled"},
        {"orderId": "theirs", "reason": "order not found"},
    ]


async def test_a_bulk_cancel_of_many_orders_tries_each_once(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    """More than one page of open orders."""
    edge.as_user("canceller-of-many")
    await pool.execute(
        """
        INSERT INTO orders (order_id, user_id, symbol, side, type, time_in_force, price, quantity,
            remaining_quantity, fee_currency, status, created_at, updated_at)
        SELECT 'many' || n, 'canceller-of-many', 'BTC-USD', 'buy', 'limit', 'gtc', 1, 1, 1, 'USD', 'open', $1, $1
        FROM generate_series(1, 1203) AS n
        """,
        NOW,
    )
    remember(router, *((f"many{number}", "canceller-of-many") for number in range(1, 1204)))
    reply = await edge("DELETE", "/orders")
    assert len(reply.body["cancelled"]) == 1203
    assert len(router.cancelled) == 1203


@pytest.mark.spec("A2.1-04", "B4.1-11")
async def test_a_client_order_id_cancels_all_open_orders_that_have_it_and_no_others(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    edge.as_user("namer")
    rows = {"first": "mine", "second": "mine", "sold": "mine", "other": "yours", "nameless": None, "ended": "mine"}
    for order_id, name in rows.items():
        side, status = "sell" if order_id == "sold" else "buy", "filled" if order_id == "ended" else "open"
        await add_row(pool, order_id, user_id="namer", client_order_id=name, side=side, status=status)
    await add_row(pool, "stranger", user_id="u2", client_order_id="mine")
    remember(router, *((order_id, "namer") for order_id in rows), ("stranger", "u2"))
    for conditions, cancelled in (
        ({"clientOrderId": "mine"}, ["first", "second", "sold"]),
        ({"clientOrderId": "mine", "side": "buy"}, ["first", "second"]),
        ({"clientOrderId": "nobodys"}, []),
    ):
        query = "&".join(f"{name}={value}" for name, value in conditions.items())
        for reply in (await edge("DELETE", f"/orders?{query}"), await edge("DELETE", "/orders", conditions)):
            assert reply.status == 200
            assert sorted(reply.body["cancelled"]) == cancelled
            assert reply.body["failed"] == []
    assert not router.bulk_cancels


async def test_one_request_cancels_at_most_1000_orders_by_client_order_id(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    edge.as_user("namer-of-many")
    await pool.execute(
        """
        INSERT INTO orders (order_id, client_order_id, user_id, symbol, side, type, time_in_force, price, quantity,
            remaining_quantity, fee_currency, status, created_at, updated_at)
        SELECT 'named' || n, 'mine', 'namer-of-many', 'BTC-USD', 'buy', 'limit', 'gtc', 1, 1, 1, 'USD', 'open', $1, $1
        FROM generate_series(1, 1002) AS n
        """,
        NOW,
    )
    remember(router, *((f"named{number}", "namer-of-many") for number in range(1, 1003)))
    reply = await edge("DELETE", "/orders?clientOrderId=mine")
    assert len(reply.body["cancelled"]) == len(router.cancelled) == 1000
    reason = "one request cancels at most 1000 orders by clientOrderId: repeat it"
    assert [failure["reason"] for failure in reply.body["failed"]] == [reason] * 2


@pytest.mark.spec("B4.1-11")
async def test_a_bulk_cancel_without_ids_is_one_request_and_tries_alone_only_what_it_did_not_cancel(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    """The fake router writes no rows, so the rows of the cancelled orders still look open."""
    edge.as_user("canceller-of-all")
    for order_id in ("engine1", "engine2", "stale"):
        await add_row(pool, order_id, user_id="canceller-of-all")
    router.bulk_replies = [CancelOpenOrdersReply(True, ("engine1", "engine2"))]
    reply = await edge("DELETE", "/orders?side=BUY&symbol=BTC-USD")
    assert reply.body == {
        "cancelled": ["engine1", "engine2"],
        "failed": [{"orderId": "stale", "reason": "order not found"}],
    }
    assert router.bulk_cancels == [CancelOpenOrders("canceller-of-all", "BTC-USD", "buy")]
    assert [request.order_id for request in router.cancelled] == ["stale"]


@pytest.mark.spec("B4.1-11")
async def test_a_bulk_cancel_that_fails_half_way_names_the_rest_with_the_reason(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    edge.as_user("half-way")
    for order_id in ("done", "left"):
        await add_row(pool, order_id, user_id="half-way")
    router.bulk_replies = [
        CancelOpenOrdersReply(True, ("done",), more_remain=True),
        CancelOpenOrdersReply.refused(Refusal(RefusalCode.BUSY, "ENGINE_BUSY")),
    ]
    reply = await edge("DELETE", "/orders")
    reason = "orders cannot be cancelled at this moment: repeat the request"
    assert (reply.status, reply.body) == (
        200,
        {"cancelled": ["done"], "failed": [{"orderId": "left", "reason": reason}]},
    )
    assert not router.cancelled


async def test_a_second_bulk_cancel_of_a_user_waits_for_the_first(edge: RestClient, router: FakeRouter) -> None:
    edge.as_user("impatient")
    router.bulk_gate.clear()
    waiting = [asyncio.create_task(edge("DELETE", f"/orders?{query}")) for query in ("side=buy", "side=sell")]
    await eventually(lambda: router.bulk_cancels)
    edge.as_user("somebody-else")
    other = asyncio.create_task(edge("DELETE", "/orders"))
    await eventually(lambda: len(router.bulk_cancels) == 2)
    assert {request.user_id for request in router.bulk_cancels} == {"impatient", "somebody-else"}
    router.bulk_gate.set()
    assert [reply.status for reply in await asyncio.gather(*waiting, other)] == [200] * 3
    assert len(router.bulk_cancels) == 3


BAD_BULKS: tuple[tuple[str, Any, str], ...] = (
    ("?symbol=x", None, "symbol must have the format <BASE>-<QUOTE>, for example BTC-USD"),
    ("", {"orderIds": []}, "orderIds must have at least 1 entries"),
    ("", {"orderIds": "a"}, "orderIds must be a list"),
    ("", {"all": True}, "property all should not exist"),
    ("?clientOrderId=", None, "clientOrderId has characters that are not allowed"),
    ("", {"clientOrderId": ""}, "clientOrderId has characters that are not allowed"),
    ("?orderIds=a&clientOrderId=mine", None, "give orderIds or clientOrderId, not both"),
    ("", {"orderIds": ["a"], "clientOrderId": "mine"}, "give orderIds or clientOrderId, not both"),
    ("?clientOrderId=mine", {"side": "buy"}, "give the conditions in the query or in the body, not in both"),
    ("?side=buy", {"side": "buy"}, "give the conditions in the query or in the body, not in both"),
)


async def test_a_bad_bulk_cancel_is_refused(edge: RestClient) -> None:
    for query, body, message in BAD_BULKS:
        reply = await edge("DELETE", f"/orders{query}", body)
        assert (reply.status, reply.message) == (400, [message]), (query, body)
