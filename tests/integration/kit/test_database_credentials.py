"""A DATABASE_URL with credentials: whatever characters they hold, percent-encoded, every library understands them."""

import string
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.database import DatabaseUnavailableError, create_pool
from openspot.kit.settings import Settings
from openspot.ledger import worker
from openspot.migrations import upgrade
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.ledger import trade
from tests.support.ledger_process import running
from tests.support.waiting import eventually

USER = "us@er:of/it?#%41 é"
PASSWORD = string.punctuation + " %2F%% é\N{SNOWMAN}'\"\\"


@pytest.fixture
async def guarded_url(tmp_path: Path) -> AsyncIterator[str]:
    """Address of a database whose owner needs a password."""
    server = EmbeddedPostgres(tmp_path / "postgres-with-password", durable=False)
    server.start()
    administrator = await asyncpg.connect(server.administrator_url())
    try:
        name, password = '"' + USER.replace('"', '""') + '"', "'" + PASSWORD.replace("'", "''") + "'"
        await administrator.execute(f"CREATE ROLE {name} LOGIN PASSWORD {password}")
        await administrator.execute(f"CREATE DATABASE guarded OWNER {name}")
        rules = server.directory / "data/pg_hba.conf"
        with rules.open("a", encoding="utf-8") as file:
            file.write(f"local all {name} scram-sha-256\n")
        await administrator.execute("SELECT pg_reload_conf()")
        address = server.url("guarded").partition("@")[2]
        yield f"postgresql://{quote(USER, safe='')}:{quote(PASSWORD, safe='')}@{address}"
    finally:
        await administrator.close()
        server.stop()


async def test_migrations_pool_and_workflows_take_any_password(settings: Settings, bus: Bus, guarded_url: str) -> None:
    own = settings.model_copy(update={"database_url": guarded_url})
    upgrade(guarded_url)
    pool = await create_pool(own)
    try:
        async with running(worker, own, own.ledger_worker_port):
            await bus.publish("trades.executed", trade(1), "1-trade")
            await eventually(lambda: pool.fetchval("SELECT count(*) = 8 FROM ledger_entries"))
        assert await pool.fetchval("SELECT current_user") == USER
    finally:
        await pool.close()


async def test_a_wrong_password_is_refused_and_not_printed(settings: Settings, guarded_url: str) -> None:
    wrong = guarded_url.replace(quote(PASSWORD, safe=""), "wr%40ng-word")
    own = settings.model_copy(update={"database_url": wrong})
    with pytest.raises((DatabaseUnavailableError, asyncpg.InvalidPasswordError)) as raised:
        await create_pool(own, timeout_s=1)
    assert "ng-word" not in str(raised.value)
