"""A list survives kill -9 of router and engine at each step between request and reply: all of it, or nothing."""

import asyncio
from typing import Any

import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.integration.router.test_order_lists import bracket, state_of
from tests.support.engine_faults import KILLED_AFTER_APPLY, KILLED_AFTER_COMMIT, KILLED_BEFORE_COMMIT, tell_to_die
from tests.support.fake_ledger import FakeLedger
from tests.support.killable_platform import Platform, platform
from tests.support.rest_client import Reply
from tests.support.router_client import router_ready
from tests.support.waiting import eventually

pytestmark = pytest.mark.proof

AS_PLACED = ["open active 3", "open planned 3", "open planned 3"]


async def place(exchange: Platform) -> Reply:
    """The same list as ever: alice's bracket under the id `mine`."""
    exchange.rest.as_user("alice")
    return await exchange.rest("POST", "/orders/lists", bracket(clientListId="mine"))


async def placed_list(exchange: Platform) -> Reply:
    """The list, once a repetition of its request is answered with it."""

    async def again() -> Reply | None:
        reply = await place(exchange)
        assert reply.status in (201, 503, 504), reply.body
        return reply if reply.status == 201 else None

    return await eventually(again)


async def shown(exchange: Platform, list_id: str, states: list[str]) -> None:
    """Wait until the orders of the list have these states."""

    async def has_them() -> bool:
        reply = await exchange.rest("GET", f"/orders/lists/{list_id}")
        return reply.status == 200 and [state_of(order) for order in reply.body["orders"]] == states

    await eventually(has_them)


@pytest.mark.parametrize("point", [KILLED_BEFORE_COMMIT, KILLED_AFTER_COMMIT, KILLED_AFTER_APPLY])
async def test_a_list_is_placed_whole_and_once_wherever_the_engine_dies(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, ledger: FakeLedger, point: str
) -> None:
    async with platform(settings, point) as exchange:
        tell_to_die(exchange.engine.settings)
        reply = await place(exchange)
        assert reply.status in (503, 504), reply.body
        await exchange.restart_engine()
        placed = await placed_list(exchange)
        await shown(exchange, placed.body["listId"], AS_PLACED)
        assert (await exchange.events())["listed"] == 3
        assert await pool.fetchval("SELECT count(*) FROM orders") == 3


@pytest.mark.parametrize("point", [KILLED_BEFORE_COMMIT, KILLED_AFTER_COMMIT, KILLED_AFTER_APPLY])
async def test_a_list_ends_once_wherever_the_engine_dies(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, ledger: FakeLedger, point: str
) -> None:
    async with platform(settings, point) as exchange:
        list_id = (await place(exchange)).body["listId"]
        tell_to_die(exchange.engine.settings)
        reply = await exchange.rest("DELETE", f"/orders/lists/{list_id}")
        assert reply.status in (503, 504), reply.body
        await exchange.restart_engine()

        async def is_gone() -> bool:
            reply = await exchange.rest("DELETE", f"/orders/lists/{list_id}")
            assert reply.status in (200, 409, 503, 504), reply.body
            return reply.status in (200, 409)

        await eventually(is_gone)
        await shown(exchange, list_id, ["cancelled active 0", "cancelled planned 0", "cancelled planned 0"])
        events = await exchange.events()
        assert (events["listEnded"], events["reduce"]) == (1, 3)


async def test_a_router_that_dies_between_request_and_reply_leaves_no_half_list(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, ledger: FakeLedger
) -> None:
    async with platform(settings) as exchange:
        before = await exchange.engine.last_sequence()
        call = asyncio.create_task(place(exchange))
        # The engine has the list, and the router waits for its rows or for the reply.
        await eventually(lambda: exchange.has_gone_on(before))
        exchange.router.kill()
        reply = await call
        assert reply.status in (201, 504), reply.body
        exchange.router.start()
        await router_ready(exchange.engine.settings)
        placed = await placed_list(exchange)
        list_id = placed.body["listId"]
        await shown(exchange, list_id, AS_PLACED)
        assert (await exchange.events())["listed"] == 3

        # The entry fills while no router follows: the exits are armed all the same, and the rows learn of it.
        exchange.router.kill()
        await exchange.engine.place("sell", "100", "1", "bob", order_id=10**12)
        await exchange.engine.place("sell", "100", "1", "bob", order_id=10**12 + 1)
        exchange.router.start()
        await router_ready(exchange.engine.settings)
        await shown(exchange, list_id, ["partially_filled active 1", "open active 2", "open active 2"])
        rows: list[Any] = await pool.fetch("SELECT list_role, quantity FROM orders WHERE list_id = $1", list_id)
        assert {row["list_role"]: int(row["quantity"]) for row in rows} == {
            "entry": 3, "take_profit": 2, "stop_loss": 2,
        }  # fmt: skip
