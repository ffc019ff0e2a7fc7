"""A market with its ledger, and custody."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.mirrored_market import MIRRORS, MirroredMarket, mirrored_market


@pytest.fixture
async def market(settings: Settings, bus: Bus, pool: asyncpg.Pool) -> AsyncIterator[MirroredMarket]:
    """Custody, engine, router and ledger, and users with funds."""
    async with mirrored_market(settings, bus, pool, ("engine", "custody", *MIRRORS[1:])) as made:
        await made.fund()
        yield made
