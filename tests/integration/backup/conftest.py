"""A market with all its mirrors, and a folder for its backups."""

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.backups import BackupSite
from tests.support.mirrored_market import MirroredMarket, mirrored_market


@pytest.fixture
async def market(settings: Settings, bus: Bus, pool: asyncpg.Pool) -> AsyncIterator[MirroredMarket]:
    """Engine, router and ledger, and users with funds."""
    async with mirrored_market(settings, bus, pool) as made:
        await made.fund()
        yield made


@pytest.fixture
def site(tmp_path: Path, postgres_server: EmbeddedPostgres) -> BackupSite:
    """Where backups go, without a key."""
    return BackupSite(tmp_path / "backups", postgres_server)
