"""A position service on the real bus and database, with users and prices, for all tests of this folder."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.positions.descriptor import DESCRIPTOR
from openspot.up.embedded_nats import EmbeddedNats
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.nats_configuration import NatsConfiguration
from openspot.up.services import PlatformSettings
from tests.support.background_platform import Background, background
from tests.support.fake_prices import FakePrices
from tests.support.ports import free_port, free_ports
from tests.support.positions import PositionClient, register_users

DATABASE = "positions_service"
MARK_S = 0.2
IMPORT_BYTES_MAX = 100_000
USERS = ("alice", "bob", "carol")
EMPTIED = (*DESCRIPTOR.tables.owns, "orders", "trades", "idempotency_keys")


@dataclass(frozen=True)
class PositionService:
    """A running service that marks often, and market data whose prices a test sets."""

    background: Background
    settings: Any
    prices: FakePrices


@pytest.fixture(scope="package")
def service(run_folder: Path, postgres_server: EmbeddedPostgres) -> Iterator[PositionService]:
    """The service. The platform knows alice, bob and carol."""
    server = EmbeddedNats(run_folder / "positions-nats", free_port(), configuration=NatsConfiguration(is_synced=False))
    server.start()
    data = run_folder / "positions"
    data.mkdir()
    settings = PlatformSettings(
        database_url=postgres_server.url(DATABASE),
        nats_url=server.url,
        data_dir=data,
        jwt_secret="test-secret-of-at-least-thirty-two-bytes",
        engine_api_key="test-key",
        engine_api_secret="test-api-secret",
        position_mark_s=MARK_S,
        positions_throttle_enabled=False,
        position_import_bytes_max=IMPORT_BYTES_MAX,
        **free_ports(),
    )
    prices = FakePrices(settings)
    try:
        asyncio.run(_administer(postgres_server, f"CREATE DATABASE {DATABASE} TEMPLATE openspot OWNER openspot"))
        with background(settings, "positions") as services:
            services.run(prices.start())
            services.run(_register(settings))
            yield PositionService(services, settings, prices)
            services.run(prices.stop())
        asyncio.run(_administer(postgres_server, f"DROP DATABASE {DATABASE} WITH (FORCE)"))
    finally:
        server.stop()
        shutil.rmtree(server.directory, ignore_errors=True)


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


async def _register(settings: Any) -> None:
    async with asyncpg.create_pool(settings.database_url, min_size=1, max_size=1) as connections:
        await register_users(connections, *USERS)


async def _administer(server: EmbeddedPostgres, statement: str) -> None:
    connection = await asyncpg.connect(server.administrator_url())
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
