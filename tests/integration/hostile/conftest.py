"""One running platform for each module of this folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.integration.hostile.target import Target, target


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def attacked(run_folder: Path, postgres_server: EmbeddedPostgres) -> AsyncIterator[Target]:
    """Services under attack."""
    async with target(run_folder, postgres_server) as running_target:
        yield running_target
