"""Fixtures of the venue adapter's tests."""

from collections.abc import AsyncIterator

import pytest

from openspot.venue_simulator.server import Simulator
from tests.support.venue import running_simulator, ticks, venue_settings  # noqa: F401  (fixtures are found by name)


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    """A venue that sends what a test tells it."""
    async with running_simulator() as venue:
        yield venue
