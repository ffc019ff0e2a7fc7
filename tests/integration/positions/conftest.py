"""A position service on the real bus and database, with users and prices, for all tests of this folder."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.positions.descriptor import DESCRIPTOR
from tests.support.background_platform import Background, background
from tests.support.databases import TestDatabases
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.fake_prices import FakePrices
from tests.support.fixtures import platform_settings
from tests.support.own_bus import own_bus
from tests.support.positions import PositionClient, register_users

MARK_S = 0.2
IMPORT_BYTES_MAX = 100_000
USERS = ("alice", "bob", "carol")
EMPTIED = (
    *DESCRIPTOR.tables.owns,
    "orders",
    "trades",
    "ledger_entries",
    "edge_transfers",
    "custody_deposits",
    "idempotency_keys",
)


@dataclass(frozen=True)
class PositionService:
    """A running service that marks often, and market data whose prices a test sets."""

    background: Background
    settings: Any
    prices: FakePrices


@pytest.fixture(scope="package")
def service(run_folder: Path, databases: TestDatabases) -> Iterator[PositionService]:
    """The service. The platform knows alice, bob and carol."""
    with own_bus(run_folder) as (server, data), databases.lend() as database_url:
        settings = platform_settings(data, database_url, server.url, shared=True).model_copy(
            update={"position_mark_s": MARK_S, "position_import_bytes_max": IMPORT_BYTES_MAX}
        )
        prices = FakePrices(settings)
        with background(settings, "positions") as services:
            services.run(prices.start())
            services.run(_register(settings))
            yield PositionService(services, settings, prices)
            services.run(prices.stop())


@pytest.fixture
async def pool(service: PositionService) -> AsyncIterator[asyncpg.Pool]:
    """Connections to the service's database, whose tables are empty."""
    async with asyncpg.create_pool(service.settings.database_url, min_size=1, max_size=4) as connections:
        await connections.execute(f"TRUNCATE {', '.join(EMPTIED)} CASCADE")
        yield connections


@pytest.fixture
def prices(service: PositionService) -> FakePrices:
    """Market data without prices."""
    service.prices.forget()
    return service.prices


@pytest.fixture
async def positions(service: PositionService, prices: FakePrices, pool: asyncpg.Pool) -> AsyncIterator[PositionClient]:
    """Requests to the service, which holds nothing yet."""
    client = PositionClient(service.settings)
    yield client
    await client.close()


@pytest.fixture
async def engine(service: PositionService) -> AsyncIterator[FakeEngineHttp]:
    """An engine that knows the balances that a test sets."""
    fake = FakeEngineHttp(service.settings)
    await fake.start()
    yield fake
    await fake.stop()


async def _register(settings: Any) -> None:
    async with asyncpg.create_pool(settings.database_url, min_size=1, max_size=1) as connections:
        await register_users(connections, *USERS)
