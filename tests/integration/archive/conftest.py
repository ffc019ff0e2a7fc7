"""A market with all its mirrors."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.mirrored_market import MirroredMarket, mirrored_market


@pytest.fixture
async def market(settings: Settings, bus: Bus, pool: asyncpg.Pool) -> AsyncIterator[MirroredMarket]:
    """Engine, router and ledger, and users with funds."""
    async with mirrored_market(settings, bus, pool) as made:
        await made.fund()
        yield made
