"""A running REST edge on the real bus and database, with a router and an engine of this process behind it."""

from collections.abc import AsyncIterator

import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.fake_router import FakeRouter
from tests.support.rest_client import RestClient, running_edge


@pytest.fixture
async def router(bus: Bus) -> FakeRouter:
    """An order router that accepts."""
    fake = FakeRouter(bus)
    await fake.start()
    return fake


@pytest.fixture
async def engine(settings: Settings) -> AsyncIterator[FakeEngineHttp]:
    """An engine with two markets."""
    fake = FakeEngineHttp(settings)
    await fake.start()
    yield fake
    await fake.stop()


@pytest.fixture
async def edge(settings: Settings) -> AsyncIterator[RestClient]:
    """The edge alone, asked as the user `u1`."""
    async with running_edge(settings) as client:
        client.as_user("u1")
        yield client
