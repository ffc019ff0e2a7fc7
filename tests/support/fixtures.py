"""Real servers for tests: one PostgreSQL a process, a database cloned from a template and one NATS a test."""

import itertools
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import argon2
import asyncpg
import pytest

from openspot.kit import passwords
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.migrations import upgrade
from openspot.up.embedded_nats import EmbeddedNats
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.nats_configuration import NatsConfiguration
from openspot.up.services import PlatformSettings
from tests.support.engine_client import OPEN_ORDERS_EXPECTED
from tests.support.ports import free_port, free_ports

_serial = itertools.count(1)


@pytest.fixture(scope="session")
def run_folder() -> Iterator[Path]:
    """A folder of this process of tests."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-tests-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server(run_folder: Path) -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL server with a migrated template database."""
    server = EmbeddedPostgres(run_folder / "postgres", durable=False)
    server.start()
    upgrade(server.url())
    server.ensure_database("openspot_subscriptions")
    upgrade(server.url("openspot_subscriptions"), "subscriptions")
    yield server
    server.stop()


@pytest.fixture
async def database_url(postgres_server: EmbeddedPostgres) -> AsyncIterator[str]:
    """A fresh, migrated database of this test."""
    name = f"test_{next(_serial)}"
    connection = await asyncpg.connect(postgres_server.administrator_url())
    try:
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE openspot OWNER openspot")
        yield postgres_server.url(name)
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await connection.close()


@pytest.fixture
async def subscriptions_database_url(postgres_server: EmbeddedPostgres) -> AsyncIterator[str]:
    """A fresh, migrated database of this test's subscription service."""
    name = f"subscriptions_{next(_serial)}"
    connection = await asyncpg.connect(postgres_server.administrator_url())
    try:
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE openspot_subscriptions OWNER openspot")
        yield postgres_server.url(name)
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await connection.close()


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[asyncpg.Pool]:
    """Connections to this test's database."""
    async with asyncpg.create_pool(database_url, min_size=1, max_size=5) as connections:
        yield connections


@pytest.fixture
def nats_server(run_folder: Path) -> Iterator[EmbeddedNats]:
    """A NATS server of this test: streams and durables of one test never meet another's."""
    folder = run_folder / f"nats-{next(_serial)}"
    # Like the tests' PostgreSQL, it does not wait for the disk. A test that depends on that starts its own server.
    server = EmbeddedNats(folder, free_port(), configuration=NatsConfiguration(is_synced=False))
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def nats_url(nats_server: EmbeddedNats) -> str:
    """Address of this test's NATS server."""
    return nats_server.url


@pytest.fixture
def settings(tmp_path: Path, database_url: str, nats_url: str) -> Settings:
    """Settings of this test: its own database, bus, data directory and free ports."""
    return PlatformSettings(
        database_url=database_url,
        nats_url=nats_url,
        data_dir=tmp_path,
        jwt_secret="test-secret-of-at-least-thirty-two-bytes",
        engine_api_key="test-key",
        engine_api_secret="test-api-secret",
        admin_password="test-admin-password",
        throttle_enabled=False,
        engine_open_orders_expected=OPEN_ORDERS_EXPECTED,
        **free_ports(),
    )


@pytest.fixture
async def bus(settings: Settings) -> AsyncIterator[Bus]:
    """A connection to this test's bus, its streams made."""
    connection = await Bus.connect(settings, "test")
    await connection.ensure_streams()
    yield connection
    await connection.close()


@pytest.fixture
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords of this process with the least work, where a test is not about that work."""
    monkeypatch.setattr(passwords, "_HASHER", argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
