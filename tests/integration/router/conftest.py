"""A running engine, ledger and router for every test of this folder, on the real bus and database."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient, running_engine
from tests.support.fake_ledger import FakeLedger
from tests.support.router_client import Published, RouterClient, listening, running_router


@pytest.fixture
async def engine(settings: Settings) -> AsyncIterator[EngineClient]:
    """A new engine in which alice and bob have funds."""
    async with running_engine(settings) as client:
        await client.fund("alice", USD="1000000", BTC="1000", ETH="1000", BRL="1000000")
        await client.fund("bob", USD="1000000", BTC="1000", ETH="1000", BRL="1000000")
        yield client


@pytest.fixture
async def ledger(settings: Settings) -> AsyncIterator[FakeLedger]:
    """A ledger that mirrors those funds."""
    fake = FakeLedger(settings)
    await fake.start()
    for user_id in ("alice", "bob"):
        fake.fund(user_id, USD="1000000", BTC="1000", ETH="1000", BRL="1000000")
    yield fake
    await fake.stop()


@pytest.fixture
async def router(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient, ledger: FakeLedger
) -> AsyncIterator[RouterClient]:
    """A running router, and a client of it."""
    async with running_router(settings):
        yield RouterClient(bus)


@pytest.fixture
async def published(nats_url: str, bus: Bus) -> AsyncIterator[Published]:
    """What the router publishes from now on."""
    async with listening(nats_url) as heard:
        yield heard
