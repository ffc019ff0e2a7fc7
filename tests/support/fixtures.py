"""Real servers for tests: a PostgreSQL and a NATS a process, and for each test a database and an account of the bus."""

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
from tests.support.bus_accounts import BusAccounts
from tests.support.databases import TestDatabases
from tests.support.engine_client import OPEN_ORDERS_EXPECTED
from tests.support.memory_disk import DISK_FOLDER
from tests.support.ports import free_port, free_ports
from tests.support.waiting import stretched

_serial = itertools.count(1)


@pytest.fixture(scope="session")
def run_folder() -> Iterator[Path]:
    """A folder of this process of tests."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-tests-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def disk_folder() -> Iterator[Path]:
    """A folder of this test on a real disk: what a power cut loses cannot be seen in memory."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-disk-", dir=DISK_FOLDER))
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


@pytest.fixture(scope="session")
def databases(postgres_server: EmbeddedPostgres) -> Iterator[TestDatabases]:
    """Copies of the platform's database."""
    with TestDatabases(postgres_server, "openspot") as copies:
        yield copies


@pytest.fixture(scope="session")
def subscriptions_databases(postgres_server: EmbeddedPostgres) -> Iterator[TestDatabases]:
    """Copies of the subscription service's database."""
    with TestDatabases(postgres_server, "openspot_subscriptions") as copies:
        yield copies


@pytest.fixture
def database_url(databases: TestDatabases) -> Iterator[str]:
    """A migrated, empty database of this test."""
    with databases.lend() as url:
        yield url


@pytest.fixture
def subscriptions_database_url(subscriptions_databases: TestDatabases) -> Iterator[str]:
    """A migrated, empty database of this test's subscription service."""
    with subscriptions_databases.lend() as url:
        yield url


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[asyncpg.Pool]:
    """Connections to this test's database."""
    async with asyncpg.create_pool(database_url, min_size=1, max_size=5) as connections:
        yield connections


@pytest.fixture(scope="session")
def bus_accounts(run_folder: Path) -> Iterator[BusAccounts]:
    """Accounts of a NATS server that nobody stops."""
    accounts = BusAccounts(run_folder)
    yield accounts
    accounts.stop()


@pytest.fixture
def nats_server(run_folder: Path) -> Iterator[EmbeddedNats]:
    """A NATS server of this test alone, for a test that stops or restarts it."""
    folder = run_folder / f"nats-{next(_serial)}"
    # Like the tests' PostgreSQL, it does not wait for the disk. A test that depends on that starts its own server.
    server = EmbeddedNats(folder, free_port(), configuration=NatsConfiguration(is_synced=False))
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def nats_url(request: pytest.FixtureRequest) -> str:
    """Address of this test's bus: its own server if it asks for one, else an account that no other test uses."""
    if "nats_server" in request.fixturenames:
        server: EmbeddedNats = request.getfixturevalue("nats_server")
        return server.url
    accounts: BusAccounts = request.getfixturevalue("bus_accounts")
    return accounts.next_url()


@pytest.fixture
def settings(tmp_path: Path, database_url: str, nats_url: str) -> Settings:
    """Settings of this test: its own database, bus, data directory and free ports."""
    return platform_settings(tmp_path, database_url, nats_url)


def platform_settings(data_dir: Path, database_url: str, nats_url: str, *, shared: bool = False) -> PlatformSettings:
    """Settings for tests of services, which several may share: these servers, free ports, and no throttling."""
    return PlatformSettings(
        database_url=database_url,
        nats_url=nats_url,
        data_dir=data_dir,
        jwt_secret="test-secret-of-at-least-thirty-two-bytes",
        engine_api_key="test-key",
        engine_api_secret="test-api-secret",
        admin_password="test-admin-password",
        request_timeout_s=stretched(5),
        throttle_enabled=False,
        positions_throttle_enabled=False,
        engine_open_orders_expected=OPEN_ORDERS_EXPECTED,
        **free_ports(lasting=shared),
    )


@pytest.fixture
async def bus(settings: Settings) -> AsyncIterator[Bus]:
    """A connection to this test's bus, its streams made."""
    connection = await Bus.connect(settings, "test")
    await connection.ensure_streams()
    yield connection
    await connection.close()


@pytest.fixture
def costly_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords with the work that the platform does, where a test is about that work."""
    monkeypatch.setattr(passwords, "_HASHER", argon2.PasswordHasher())
