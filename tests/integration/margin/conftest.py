"""One market for each module of this folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.margin import MarginMarket, Process, margin_market, margin_process


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(run_folder: Path, postgres_server: EmbeddedPostgres) -> AsyncIterator[MarginMarket]:
    """A market with two margin processes side by side."""
    async with margin_market(run_folder, postgres_server, margins=2) as market:
        yield market


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def process(run_folder: Path, postgres_server: EmbeddedPostgres) -> AsyncIterator[Process]:
    """A market without margin service, and the service's parts."""
    async with margin_market(run_folder, postgres_server) as market, margin_process(market) as made:
        yield made
