"""An order that waits for its trigger outlives kill -9 of router and engine, and fires once."""

import itertools

import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient, engine_process
from tests.support.fake_ledger import FakeLedger
from tests.support.router_client import RouterClient, listening, router_process, router_ready
from tests.support.waiting import eventually

_ids = itertools.count(10**12)
"""Far from those that routers take."""


async def trade_at(engine: EngineClient, price: str) -> None:
    """A trade of bob with himself at `price`, which no router sends."""
    await engine.place("sell", price, "0.01", "bob", order_id=next(_ids))
    assert (await engine.place("buy", price, "0.01", "bob", order_id=next(_ids))).filled_quantity


@pytest.mark.proof
async def test_kills_between_waiting_and_triggered_lose_nothing_and_fire_nothing_twice(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, ledger: FakeLedger
) -> None:
    complete = settings.model_copy(update={"rules": "complete"})
    client = RouterClient(bus)
    async with engine_process(complete) as (engine_child, engine):
        for user in ("alice", "bob"):
            await engine.fund(user)
        async with router_process(complete) as router, listening(settings.nats_url) as heard:
            stop = {"type": "stop_limit", "stop_price": "105", "price": "106"}
            fired_without_router = await client.place(**stop)
            fired_after_restart = await client.place(**stop | {"stop_price": "108", "price": "109"})
            cancelled = await client.place(**stop | {"stop_price": "109", "price": "110"})

            router.kill()
            await trade_at(engine, "105")
            engine_child.kill()
            engine_child.start()
            await engine_child.ready(engine)
            assert (await engine.find(external_id=fired_after_restart)).status == "WAITING"
            router.start()
            await router_ready(settings)

            await eventually(lambda: row(pool, fired_without_router, "triggered_at IS NOT NULL AND stop_price = 105"))
            await eventually(lambda: row(pool, fired_after_restart, "triggered_at IS NULL AND trigger_by = 'last'"))
            assert (await client.cancel(cancelled)).success

            await trade_at(engine, "108")
            await eventually(lambda: row(pool, fired_after_restart, "triggered_at IS NOT NULL AND status = 'open'"))
            await eventually(lambda: row(pool, cancelled, "triggered_at IS NULL AND status = 'cancelled'"))

            def triggered() -> list[str]:
                events = heard.orders("orders.updated.alice")
                return [event.order.order_id for event in events if event.reason == "TRIGGERED"]

            await eventually(lambda: len(triggered()) >= 2)
            assert sorted(triggered()) == sorted([fired_without_router, fired_after_restart])
        events = await engine.events(1, await engine.last_sequence())
        fired = [event["externalId"] for event in events if event["type"] == "triggered"]
        assert fired == [fired_without_router, fired_after_restart]


async def row(pool: asyncpg.Pool, order_id: str, condition: str) -> object:
    """Whether the order's row is there and meets a condition."""
    return await pool.fetchval(f"SELECT 1 FROM orders WHERE order_id = $1 AND {condition}", order_id)
