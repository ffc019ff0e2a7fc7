"""A running engine for every test of this folder, on the real bus and database, and what is published."""

from collections.abc import AsyncIterator

import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient, running_engine
from tests.support.market_data import Heard, listening


@pytest.fixture
async def engine(settings: Settings) -> AsyncIterator[EngineClient]:
    """A new engine in which alice and bob have funds."""
    async with running_engine(settings) as client:
        for user in ("alice", "bob"):
            await client.fund(user, USD="100000000", BTC="100000", ETH="100000")
        yield client


@pytest.fixture
async def heard(bus: Bus) -> Heard:
    """What is published from now on."""
    return await listening(bus)
