"""A running REST edge on the real bus and database, with a router and an engine of this process behind it.

A test that asks for `edge` uses the edge of this folder, and finds its tables and its mailbox empty. Its `settings`,
`pool`, `bus`, `router` and `engine` belong to that edge. For five seconds the edge remembers the last orders of a
user, and for a second the engine's list of markets: a test of lists of orders uses a user of its own, and a test of
another list of markets an edge of its own.

A test that asks for `own_edge` instead has an edge, a bus and a database for itself: because it stops or patches
something, needs an edge that has seen nothing before, or counts what an edge does.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import LedgerHistoryReply, LedgerHistoryRequest
from openspot.kit.bus import Bus
from openspot.kit.mail.transports import MAILBOX_NAME
from openspot.kit.settings import Settings
from openspot.ledger.handlers import RequestHandlers
from openspot.ledger.store import LedgerStore
from tests.support.background_platform import Background, in_background
from tests.support.databases import TestDatabases, empty_tables
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.fake_router import FakeRouter
from tests.support.fixtures import platform_settings
from tests.support.own_bus import own_bus
from tests.support.rest_client import RestClient, running_edge
from tests.support.waiting import eventually

MAILS_BEING_SENT = "SELECT count(*) FROM mail_outbox WHERE attempts > 0 AND next_at < now() + interval '1 hour'"


@pytest.fixture(scope="package")
def shared_edge(run_folder: Path, databases: TestDatabases) -> Iterator[Background]:
    """The edge of this folder, in a thread of its own."""
    with own_bus(run_folder) as (server, data), databases.lend() as database_url:
        settings = platform_settings(data, database_url, server.url, shared=True)
        with in_background(settings, running_edge(settings)) as edge:
            yield edge


@pytest.fixture
def settings(request: pytest.FixtureRequest) -> Settings:
    """Settings of the edge that the test uses. The shared edge begins with empty tables."""
    if "shared_edge" not in request.fixturenames:
        own: Settings = request.getfixturevalue("settings")
        return own
    shared: Background = request.getfixturevalue("shared_edge")
    asyncio.run(_forget(shared.settings))
    return shared.settings.model_copy()


async def _forget(settings: Settings) -> None:
    """Delete everything that the tests before have left. A mail that is being sent must have arrived before that."""
    connection = await asyncpg.connect(settings.database_url)
    try:

        async def no_mail_is_being_sent() -> bool:
            return await connection.fetchval(MAILS_BEING_SENT) == 0

        await connection.execute("DELETE FROM mail_outbox WHERE attempts = 0")
        await eventually(no_mail_is_being_sent)
        await empty_tables(connection)
    finally:
        await connection.close()
    (settings.data_dir / MAILBOX_NAME).unlink(missing_ok=True)


@pytest.fixture
async def pool(settings: Settings) -> AsyncIterator[asyncpg.Pool]:
    """Connections to the edge's database."""
    async with asyncpg.create_pool(settings.database_url, min_size=1, max_size=5) as connections:
        yield connections


@pytest.fixture
async def router(bus: Bus) -> FakeRouter:
    """An order router that accepts."""
    fake = FakeRouter(bus)
    await fake.start()
    return fake


@pytest.fixture
async def ledger(bus: Bus, pool: asyncpg.Pool) -> None:
    """A ledger that tells its entries."""
    nothing: Any = None
    answer = RequestHandlers(LedgerStore(pool), nothing).history
    await bus.serve(
        subjects.LEDGER_HISTORY_GET, subjects.LEDGER_QUEUE, LedgerHistoryRequest, answer, LedgerHistoryReply.refused
    )
    await bus.check()


@pytest.fixture
async def engine(settings: Settings) -> AsyncIterator[FakeEngineHttp]:
    """An engine with two markets."""
    fake = FakeEngineHttp(settings)
    await fake.start()
    yield fake
    await fake.stop()


@pytest.fixture
async def edge(shared_edge: Background, settings: Settings) -> AsyncIterator[RestClient]:
    """The edge of this folder, asked as the user `u1`."""
    client = RestClient(settings)
    client.as_user("u1")
    yield client
    await client.close()


@pytest.fixture
async def own_edge(settings: Settings) -> AsyncIterator[RestClient]:
    """An edge of this test alone, asked as the user `u1`."""
    async with running_edge(settings) as client:
        client.as_user("u1")
        yield client
