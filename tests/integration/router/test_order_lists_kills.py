"""A list survives kill -9 of router and engine at each step between request and reply: all of it, or nothing."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.integration.router.test_order_lists import bracket, state_of
from tests.support.engine_client import EngineClient, EngineProcess, engine_process
from tests.support.engine_faults import KILLED_AFTER_APPLY, KILLED_AFTER_COMMIT, KILLED_BEFORE_COMMIT, tell_to_die
from tests.support.fake_ledger import FakeLedger
from tests.support.in_process_platform import running
from tests.support.rest_client import Reply, RestClient
from tests.support.router_client import RouterProcess, router_process, router_ready
from tests.support.waiting import eventually

pytestmark = pytest.mark.proof

AS_PLACED = ["open active 3", "open planned 3", "open planned 3"]


class Platform:
    """An edge in this process; an engine and a router in processes that can be killed."""

    def __init__(self, rest: RestClient, engine: EngineClient, child: EngineProcess, router: RouterProcess) -> None:
        self.rest, self.engine, self.child, self.router = rest, engine, child, router

    async def place(self) -> Reply:
        """The same list as ever: alice's bracket under the id `mine`."""
        self.rest.as_user("alice")
        return await self.rest("POST", "/orders/lists", bracket(clientListId="mine"))

    async def restart_engine(self) -> None:
        assert self.child.process is not None
        await asyncio.to_thread(self.child.process.wait)
        self.child.start()
        await self.child.ready(self.engine)

    async def placed(self) -> Reply:
        """The list, once a repetition of its request is answered with it."""

        async def again() -> Reply | None:
            reply = await self.place()
            assert reply.status in (201, 503, 504), reply.body
            return reply if reply.status == 201 else None

        return await eventually(again)

    async def shown(self, list_id: str, states: list[str]) -> None:
        """Wait until the orders of the list have these states."""

        async def has_them() -> bool:
            reply = await self.rest("GET", f"/orders/lists/{list_id}")
            return reply.status == 200 and [state_of(order) for order in reply.body["orders"]] == states

        await eventually(has_them)

    async def events(self) -> Counter[str]:
        """How many events of each type the engine has."""
        return Counter(event["type"] for event in await self.engine.events(1, await self.engine.last_sequence()))


@asynccontextmanager
async def platform(settings: Settings, preparation: str = "") -> AsyncIterator[Platform]:
    complete = settings.model_copy(update={"rules": "complete"})
    async with engine_process(complete, preparation) as (child, engine):
        await engine.fund("alice")
        await engine.fund("bob")
        async with router_process(complete) as router, running(complete, "rest-edge"):
            rest = RestClient(complete)
            try:
                yield Platform(rest, engine, child, router)
            finally:
                await rest.close()


@pytest.mark.parametrize("point", [KILLED_BEFORE_COMMIT, KILLED_AFTER_COMMIT, KILLED_AFTER_APPLY])
async def test_a_list_is_placed_whole_and_once_wherever_the_engine_dies(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, ledger: FakeLedger, point: str
) -> None:
    async with platform(settings, point) as exchange:
        tell_to_die(exchange.engine.settings)
        reply = await exchange.place()
        assert reply.status in (503, 504), reply.body
        await exchange.restart_engine()
        placed = await exchange.placed()
        await exchange.shown(placed.body["listId"], AS_PLACED)
        assert (await exchange.events())["listed"] == 3
        assert await pool.fetchval("SELECT count(*) FROM orders") == 3


@pytest.mark.parametrize("point", [KILLED_BEFORE_COMMIT, KILLED_AFTER_COMMIT, KILLED_AFTER_APPLY])
async def test_a_list_ends_once_wherever_the_engine_dies(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, ledger: FakeLedger, point: str
) -> None:
    async with platform(settings, point) as exchange:
        list_id = (await exchange.place()).body["listId"]
        tell_to_die(exchange.engine.settings)
        reply = await exchange.rest("DELETE", f"/orders/lists/{list_id}")
        assert reply.status in (503, 504), reply.body
        await exchange.restart_engine()

        async def is_gone() -> bool:
            reply = await exchange.rest("DELETE", f"/orders/lists/{list_id}")
            assert reply.status in (200, 409, 503, 504), reply.body
            return reply.status in (200, 409)

        await eventually(is_gone)
        await exchange.shown(list_id, ["cancelled active 0", "cancelled planned 0", "cancelled planned 0"])
        events = await exchange.events()
        assert (events["listEnded"], events["reduce"]) == (1, 3)


async def test_a_router_that_dies_between_request_and_reply_leaves_no_half_list(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, ledger: FakeLedger
) -> None:
    async with platform(settings) as exchange:
        before = await exchange.engine.last_sequence()
        call = asyncio.create_task(exchange.place())
        # The engine has the list, and the router waits for its rows or for the reply.
        await eventually(lambda: _has_gone_on(exchange.engine, before))
        exchange.router.kill()
        reply = await call
        assert reply.status in (201, 504), reply.body
        exchange.router.start()
        await router_ready(exchange.engine.settings)
        placed = await exchange.placed()
        list_id = placed.body["listId"]
        await exchange.shown(list_id, AS_PLACED)
        assert (await exchange.events())["listed"] == 3

        # The entry fills while no router follows: the exits are armed all the same, and the rows learn of it.
        exchange.router.kill()
        await exchange.engine.place("sell", "100", "1", "bob", order_id=10**12)
        await exchange.engine.place("sell", "100", "1", "bob", order_id=10**12 + 1)
        exchange.router.start()
        await router_ready(exchange.engine.settings)
        await exchange.shown(list_id, ["partially_filled active 1", "open active 2", "open active 2"])
        rows: list[Any] = await pool.fetch("SELECT list_role, quantity FROM orders WHERE list_id = $1", list_id)
        assert {row["list_role"]: int(row["quantity"]) for row in rows} == {
            "entry": 3, "take_profit": 2, "stop_loss": 2,
        }  # fmt: skip


async def _has_gone_on(engine: EngineClient, sequence: int) -> bool:
    return await engine.last_sequence() > sequence
