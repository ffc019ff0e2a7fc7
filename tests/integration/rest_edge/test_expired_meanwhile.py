"""A request that is repeated after its order's time is over is told what became of the order."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.kit.clock import iso_from_ms
from openspot.kit.settings import Settings
from tests.integration.rest_edge.test_orders import add_row, remember
from tests.support.fake_router import FakeRouter
from tests.support.rest_client import Reply, RestClient, running_edge
from tests.support.waiting import eventually

LIFE_MS = 600
ORDER = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.5", "price": "100", "timeInForce": "gtd"}
STOP = {"symbol": "BTC-USD", "side": "sell", "type": "stop_market", "quantity": "0.5", "stopPrice": "95"}
KEY = {"Idempotency-Key": "once"}


@pytest.fixture
async def edge(settings: Settings) -> AsyncIterator[RestClient]:
    """An edge of this test alone with the complete rules, asked as the user `u1`."""
    async with running_edge(settings.model_copy(update={"rules": "complete"})) as client:
        client.as_user("u1")
        yield client


class Expiring:
    """Requests with an order that expires in a moment."""

    def __init__(self) -> None:
        self.expires_ms = time.time_ns() // 1_000_000 + LIFE_MS
        self.order = ORDER | {"expiresAt": iso_from_ms(self.expires_ms)}

    async def end(self) -> None:
        """Wait until the time is over."""
        await eventually(lambda: asyncio.sleep(0, time.time_ns() // 1_000_000 > self.expires_ms))


async def repeated(edge: RestClient, router: FakeRouter, path: str, body: dict[str, Any], expiring: Expiring) -> Reply:
    """The reply to a request whose first reply was lost on the way from the router, when its time is over."""
    router.refusal = Refusal(RefusalCode.STATUS_UNKNOWN, "no answer")
    lost = await edge("POST", path, body, headers=KEY)
    assert (lost.status, lost.code) == (504, "ORDER_STATUS_UNKNOWN")
    router.refusal = None
    for request in list(router.submitted):
        await router._submit(request)
    for wanted in list(router.lists):
        await router._submit_list(wanted)
    await expiring.end()
    return await edge("POST", path, body, headers=KEY)


async def test_an_order_that_expired_meanwhile_is_found(edge: RestClient, router: FakeRouter) -> None:
    expiring = Expiring()
    reply = await repeated(edge, router, "/orders", expiring.order, expiring)
    assert (reply.status, reply.body["orderId"]) == (201, router.submitted[0].order.order_id)
    late = await edge("POST", "/orders", expiring.order)
    assert (late.status, late.body["message"]) == (400, ["expiresAt must be in the future"])


async def test_a_list_that_expired_meanwhile_is_found(edge: RestClient, router: FakeRouter) -> None:
    expiring = Expiring()
    body = {"type": "oto", "orders": [expiring.order, STOP]}
    reply = await repeated(edge, router, "/orders/lists", body, expiring)
    assert (reply.status, reply.body["listId"]) == (201, router.lists[0].list_id)
    late = await edge("POST", "/orders/lists", body)
    assert (late.status, late.body["message"]) == (400, ["orders.0.expiresAt must be in the future"])


async def test_a_replacement_that_expired_meanwhile_is_found(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    await add_row(pool, "order1")
    remember(router, ("order1", "u1"))
    await pool.execute("UPDATE orders SET status = 'cancelled' WHERE order_id = 'order1'")
    expiring = Expiring()
    reply = await repeated(edge, router, "/orders/order1/replace", expiring.order, expiring)
    assert reply.status == 201, reply.body
    assert reply.body["order"]["orderId"] == router.submitted[0].order.order_id
    assert reply.body["cancelled"]["orderId"] == "order1"
