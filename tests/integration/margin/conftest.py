"""One market for each module of this folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.support.databases import TestDatabases
from tests.support.margin import MarginMarket, Process, margin_market, margin_process


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(run_folder: Path, databases: TestDatabases) -> AsyncIterator[MarginMarket]:
    """A market with two margin processes side by side."""
    async with margin_market(run_folder, databases, margins=2) as market:
        yield market


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def process(run_folder: Path, databases: TestDatabases) -> AsyncIterator[Process]:
    """A market without margin service, and the service's parts."""
    async with margin_market(run_folder, databases) as market, margin_process(market) as made:
        yield made
