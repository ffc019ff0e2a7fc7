"""An edge that is killed while orders come on a connection: none is lost, and none is placed twice."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from openspot.client import OpenSpotClient, Order, OrderConnection
from openspot.client.transport import RetryPolicy
from openspot.up.child_platform import ChildPlatform
from tests.support.fault_run import kept_after_failure
from tests.support.money_user import WAIT_S, assert_every_book_agrees, credit
from tests.support.platforms import child_platform
from tests.support.waiting import START_S_MAX, eventually, stretched

pytestmark = [pytest.mark.proof, pytest.mark.timeout(stretched(600))]

ORDERS = 300
KILLED_AFTER = 60
PATIENT = RetryPolicy(attempts_max=9, pause_s=0.5)
"""The killed edge has the keys for 15 seconds: the pauses together are longer."""


@pytest.fixture
async def complete(request: pytest.FixtureRequest) -> AsyncIterator[ChildPlatform]:
    """A platform with the complete rules, whose edge is a process of its own."""
    environment = {
        "OPENSPOT_RULES": "complete",
        "OPENSPOT_THROTTLE_ENABLED": "false",
        "OPENSPOT_ONE_PROCESS": "false",
    }
    with kept_after_failure(request) as folder:
        platform = child_platform(folder, environment)
        await asyncio.to_thread(platform.start, stretched(START_S_MAX))
        try:
            yield platform
        finally:
            await asyncio.to_thread(platform.stop)


async def placed(connection: OrderConnection, number: int, done: list[int]) -> Order:
    """Place the order of that number under its key, however often it takes."""
    order = await connection.place_order(
        "BTC-USD", "buy", quantity="0.01", price="100", client_order_id=f"n{number}", idempotency_key=f"key-{number}"
    )
    done.append(number)
    return order


async def test_a_killed_edge_loses_no_order_of_a_connection_and_doubles_none(complete: ChildPlatform) -> None:
    settings = complete.settings
    async with OpenSpotClient(settings.rest_url, timeout_s=stretched(30), retry=PATIENT) as client:
        await client.register("ada@example.org", "a long test password")
        session = await client.login("ada@example.org", "a long test password")
        await credit(complete, session.user_id, "USD", "100000")

        async def funded() -> bool:
            return any(balance.available == 100_000 for balance in await client.balances())

        await eventually(funded, stretched(WAIT_S))
        done: list[int] = []
        async with client.order_connection() as connection:
            placing = asyncio.gather(*(placed(connection, number, done) for number in range(ORDERS)))

            async def under_way() -> bool:
                return len(done) >= KILLED_AFTER

            await eventually(under_way, stretched(WAIT_S))
            complete.kill("rest-edge")
            assert len(done) < ORDERS
            orders = await placing
        answered = {order.order_id: order.client_order_id for order in orders}
        assert len(answered) == ORDERS

        async def all_listed() -> bool:
            return len(await client.open_orders()) >= ORDERS

        await eventually(all_listed, stretched(WAIT_S))
        assert {order.order_id: order.client_order_id for order in await client.open_orders()} == answered
        await assert_every_book_agrees(complete)
