"""A replacement survives kill -9 of engine, router and edge: one of the two orders is open, never both, never none."""

import asyncio
import contextlib
import signal
from decimal import Decimal
from typing import Any

import aiohttp
import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.engine_faults import KILLED_AFTER_APPLY, KILLED_AFTER_COMMIT, KILLED_BEFORE_COMMIT, tell_to_die
from tests.support.fake_ledger import FakeLedger
from tests.support.killable_platform import Platform, platform, platform_with_edge_process
from tests.support.rest_client import Reply
from tests.support.router_client import router_ready
from tests.support.waiting import eventually

pytestmark = pytest.mark.proof

OLD = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "90", "clientOrderId": "mine"}
NEW = OLD | {"price": "95"}


class Replaced:
    """Alice's order at 90, and the request that replaces it with one at 95, always under the same key."""

    def __init__(self, exchange: Platform, old_id: str, held: Decimal) -> None:
        self.exchange, self.old_id, self._held = exchange, old_id, held

    @classmethod
    async def begin(cls, exchange: Platform) -> "Replaced":
        """Place the order that is to be replaced."""
        exchange.rest.as_user("alice")
        placed = await exchange.rest("POST", "/orders", OLD)
        assert placed.status == 201, placed.body
        return cls(exchange, placed.body["orderId"], await held(exchange))

    async def request(self) -> Reply:
        """Send the request once."""
        return await self.exchange.rest(
            "POST", f"/orders/{self.old_id}/replace", NEW, headers={"Idempotency-Key": "once"}
        )

    async def is_done_once(self, pool: asyncpg.Pool) -> None:
        """Repeat the request until it has an outcome, which is that the new order alone is open and holds funds."""

        async def again() -> Reply | None:
            reply = await self.request()
            assert reply.status in (201, 409, 503, 504), reply.body
            return reply if reply.status == 201 else None

        done = await eventually(again)
        new_id = done.body["order"]["orderId"]
        assert (done.body["order"]["price"], done.body["cancelled"]["orderId"]) == ("95", self.old_id), done.body
        assert (await self.request()).body == done.body

        async def rows() -> dict[str, Any] | None:
            found = {row["order_id"]: row["status"] for row in await pool.fetch("SELECT order_id, status FROM orders")}
            return found if found == {self.old_id: "cancelled", new_id: "open"} else None

        await eventually(rows)
        engine = self.exchange.engine
        states = [(await engine.find(external_id=order_id)).status for order_id in (self.old_id, new_id)]
        assert states == ["CANCELLED", "OPEN"]
        assert await held(self.exchange) == self._held * 95 / 90
        assert (await self.exchange.events())["accepted"] == 2


async def held(exchange: Platform) -> Decimal:
    """What alice's open orders hold."""
    return Decimal((await exchange.engine.balances("alice"))["USD"].locked or "0")


@pytest.mark.parametrize("point", [KILLED_BEFORE_COMMIT, KILLED_AFTER_COMMIT, KILLED_AFTER_APPLY])
async def test_a_replacement_is_whole_and_once_wherever_the_engine_dies(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, ledger: FakeLedger, point: str
) -> None:
    async with platform(settings, point) as exchange:
        replaced = await Replaced.begin(exchange)
        tell_to_die(exchange.engine.settings)
        reply = await replaced.request()
        assert reply.status in (503, 504), reply.body
        await exchange.restart_engine()
        # The engine knows one of the two, whether anybody asks again or not.
        is_old_open = (await exchange.engine.find(external_id=replaced.old_id)).status == "OPEN"
        assert is_old_open is (point == KILLED_BEFORE_COMMIT)
        await replaced.is_done_once(pool)


async def test_a_replacement_is_whole_and_once_if_the_router_dies_before_its_reply(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, ledger: FakeLedger
) -> None:
    async with platform(settings) as exchange:
        replaced = await Replaced.begin(exchange)
        before = await exchange.engine.last_sequence()
        call = asyncio.create_task(replaced.request())
        await eventually(lambda: exchange.has_gone_on(before))
        exchange.router.kill()
        reply = await call
        assert reply.status in (201, 503, 504), reply.body
        exchange.router.start()
        await router_ready(exchange.engine.settings)
        await replaced.is_done_once(pool)


async def test_a_replacement_is_whole_and_once_if_the_edge_dies_while_the_router_works(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, ledger: FakeLedger
) -> None:
    async with platform_with_edge_process(settings) as (exchange, edge):
        replaced = await Replaced.begin(exchange)
        before = await exchange.engine.last_sequence()
        # The request waits before the router, which goes on once nobody waits for the reply.
        exchange.router.signal(signal.SIGSTOP)
        call = asyncio.create_task(replaced.request())
        await eventually(lambda: is_claimed(pool))
        edge.kill()
        with contextlib.suppress(aiohttp.ClientError):
            await call
        exchange.router.signal(signal.SIGCONT)
        await pool.execute("UPDATE idempotency_keys SET claimed_until = now()")
        edge.start()
        await edge.ready(exchange.rest)
        await replaced.is_done_once(pool)
        assert await exchange.has_gone_on(before)


async def is_claimed(pool: asyncpg.Pool) -> bool:
    """Whether the edge has begun the operation."""
    return bool(await pool.fetchval("SELECT count(*) FROM idempotency_keys"))
