"""A subject that the bus refuses holds back itself alone, and what is held survives the router that holds it."""

import asyncpg
import pytest

from openspot.contracts.streams import ORDERS, TRADES, StreamDefinition
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient
from tests.support.fake_ledger import FakeLedger
from tests.support.router_client import RouterClient, router_process, router_ready, running_router, stored
from tests.support.stream_limits import limit_stream
from tests.support.waiting import eventually, hasty


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """A router soon gives up waiting for an acknowledgement."""
    return hasty(settings)


async def message_ids(pool: asyncpg.Pool) -> list[str]:
    """What is held on disk, oldest first."""
    return [row[0] for row in await pool.fetch("SELECT message_id FROM router_held_events ORDER BY held_id")]


async def subjects_of(nats_url: str, stream: StreamDefinition, user_id: str = "") -> list[str]:
    """The subjects of a stream's events, oldest first, each event once."""
    events = await stored(nats_url, stream.name)
    assert len({message_id for *_, message_id in events}) == len(events)
    return [subject for subject, *_ in events if subject.endswith(user_id)]


async def has_row(pool: asyncpg.Pool, order_id: str, status: str) -> bool:
    return await pool.fetchval("SELECT status FROM orders WHERE order_id = $1", order_id) == status


@pytest.mark.spec("A6.1-10", "A6.4-07")
async def test_a_user_whose_order_events_fail_holds_back_no_trade_and_nobody_else(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient, ledger: FakeLedger, nats_url: str
) -> None:
    router = RouterClient(bus)
    async with running_router(settings):
        await limit_stream(bus, ORDERS, *(subject.replace("*", "bob") for subject in ORDERS.subjects))
        await router.place("alice", order_id="maker", quantity="2")
        for number in (1, 2):
            await router.place("bob", order_id=f"taker{number}", side="sell")
        await eventually(lambda: has_row(pool, "maker", "filled"))
        assert await subjects_of(nats_url, TRADES) == ["trades.executed"] * 2
        # The server acknowledges news before it can be read.
        await eventually(lambda: _are(nats_url, ORDERS, "bob", 4))
        assert await subjects_of(nats_url, ORDERS) == ["orders.created.bob", "orders.filled.bob"] * 2

        async def all_are_on_disk() -> bool:
            return len(await message_ids(pool)) == 3

        await eventually(all_are_on_disk)
    async with running_router(settings):
        await eventually(lambda: _is_empty(pool))
        assert await subjects_of(nats_url, ORDERS, "alice") == [
            "orders.created.alice",
            "orders.updated.alice",
            "orders.filled.alice",
        ]
        # What comes after goes the usual way.
        order_id = await router.place("alice")
        assert (await router.cancel(order_id)).success
        await eventually(lambda: _are(nats_url, ORDERS, "alice", 5))
    assert await subjects_of(nats_url, TRADES) == ["trades.executed"] * 2
    assert len(await subjects_of(nats_url, ORDERS)) == 9


@pytest.mark.spec("A6.4-07")
async def test_trades_that_the_bus_refuses_survive_a_killed_router_and_are_published_once(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient, ledger: FakeLedger, nats_url: str
) -> None:
    router = RouterClient(bus)
    async with router_process(settings) as child:
        await limit_stream(bus, TRADES, "nothing.that.is.published")
        await router.place("alice", order_id="maker", quantity="3")
        for number in range(3):
            await router.place("bob", order_id=f"taker{number}", side="sell")
        # Orders and rows go on without the trades.
        await eventually(lambda: has_row(pool, "maker", "filled"))
        await eventually(lambda: _are(nats_url, ORDERS, "alice", 4))
        held = await message_ids(pool)
        assert len(held) == 3
        child.kill()
        child.start()
        await router_ready(settings)
        await eventually(lambda: _is_empty(pool))
    trades = await stored(nats_url, TRADES.name)
    assert [message_id for *_, message_id in trades] == held
    assert len(await subjects_of(nats_url, ORDERS, "alice")) == 4


async def _is_empty(pool: asyncpg.Pool) -> bool:
    return not await message_ids(pool)


async def _are(nats_url: str, stream: StreamDefinition, user_id: str, number: int) -> bool:
    return len(await subjects_of(nats_url, stream, user_id)) == number
