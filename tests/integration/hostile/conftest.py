"""One running platform for each module of this folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.integration.hostile.target import Target, target
from tests.support.databases import TestDatabases


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def attacked(run_folder: Path, databases: TestDatabases) -> AsyncIterator[Target]:
    """Services under attack."""
    async with target(run_folder, databases) as running_target:
        yield running_target
