"""The doctor at a real database and a real bus, and where nothing runs at all."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest

from openspot.doctor import servers
from openspot.doctor.findings import Level
from openspot.doctor.servers import bus_findings, database_findings
from openspot.kit.settings import Settings

pytestmark = pytest.mark.proof


async def of_database(settings: Any, url: str = "") -> list[str]:
    """The lines of what is not fine with a database."""
    found = await asyncio.to_thread(lambda: list(database_findings(url or settings.database_url, settings)))
    return [each.line for each in found if each.level is not Level.FINE]


def given(settings: Settings, *, demo: bool = False) -> Any:
    """The settings of a test, as the doctor asks for them."""
    from openspot.up.services import PlatformSettings

    return PlatformSettings(database_url=settings.database_url, nats_url=settings.nats_url, demo=demo)


async def test_a_database_in_order_is_fine_and_each_fault_is_named(
    settings: Settings, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = given(settings)
    # The server of the tests is started without syncs.
    off = await of_database(platform)
    assert off == [
        f"the database has {name} = off: a power cut loses what it confirmed; set {name} = on in postgresql.conf"
        for name in ("fsync", "full_page_writes")
    ]
    monkeypatch.setattr(servers, "_MUST_BE_ON", ())
    assert await of_database(platform) == []
    for least, most, words in ((99, 100, "is too old"), (1, 2, "`openspot backup` cannot read PostgreSQL")):
        with monkeypatch.context() as patch:
            patch.setattr(servers, "VERSION_MIN", least)
            patch.setattr(servers, "VERSION_MAX", most)
            assert words in (await of_database(platform))[0]
    with monkeypatch.context() as patch:
        patch.setattr(servers, "CLOCK_S_MAX", -1.0)
        assert "s away from this machine's" in (await of_database(platform))[0]
    await pool.execute("INSERT INTO users (user_id, email, password_hash, role) VALUES ('u', 'a@b.c', 'x', 'user'), "
                       "('demo-maker', 'maker@demo.invalid', 'x', 'user')")  # fmt: skip
    assert await of_database(platform) == []
    assert "trades with 1 users who are no bots" in (await of_database(given(settings, demo=True)))[0]
    nobody = "postgresql://someone:secret@127.0.0.1:9/none"
    (line,) = await of_database(platform, nobody)
    assert "postgresql://someone:***@127.0.0.1:9/none does not answer" in line
    assert "secret" not in line


async def test_missing_and_unknown_migrations_are_named(settings: Settings, pool: asyncpg.Pool) -> None:
    head = await pool.fetchval("SELECT version_num FROM alembic_version")
    try:
        await pool.execute("UPDATE alembic_version SET version_num = '0042'")
        assert "the database lacks" in " ".join(await of_database(given(settings)))
        assert "0043_flow_indexes" in " ".join(await of_database(given(settings)))
        await pool.execute("UPDATE alembic_version SET version_num = '9999'")
        assert "has the migration 9999, which this release does not know" in " ".join(
            await of_database(given(settings))
        )
    finally:
        await pool.execute("UPDATE alembic_version SET version_num = $1", head)


async def test_the_database_is_only_read(settings: Settings, pool: asyncpg.Pool) -> None:
    with psycopg.connect(settings.database_url) as connection:
        connection.read_only = True
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("DELETE FROM users")
    assert pool is not None


async def test_a_bus_says_how_much_it_keeps_and_a_silent_or_full_one_is_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found(url: str, *, is_embedded: bool = False) -> tuple[Level, str]:
        platform = given(settings).model_copy(update={"nats_url": url})
        (one,) = await asyncio.to_thread(lambda: list(bus_findings(platform, is_embedded=is_embedded)))
        return one.level, one.line

    level, line = await found(settings.nats_url)
    assert (level, "its streams take" in line) == (Level.FINE, True)
    assert (await found(settings.nats_url, is_embedded=True))[0] is Level.FINE
    monkeypatch.setattr(servers, "TIMEOUT_S", 0.5)
    level, line = await found("nats://user:secret@127.0.0.1:9")
    assert level is Level.PROBLEM
    assert "nats://user:***@127.0.0.1:9 does not answer, or has no JetStream: no answer within 0.5 s" in line

    async def full(*_: Any, **__: Any) -> tuple[int, int]:
        return 81, 100

    monkeypatch.setattr(servers, "_storage", full)
    assert "the bus has used" in (await found(settings.nats_url))[1]


def test_the_command_works_where_nothing_was_ever_started_and_makes_nothing(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENSPOT_")}
    environment |= {"OPENSPOT_DATA_DIR": str(tmp_path / "data")}

    def doctor(*arguments: str, **given: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "openspot.cli", "doctor", *arguments],
            env=environment | given, capture_output=True, text=True, check=False,
        )  # fmt: skip

    told = json.loads(doctor("--json").stdout)
    assert told["fine"] + told["warning"] + told["problem"] == len(told["findings"]) > 10
    assert {"python", "core", "data-directory", "disk-space", "ports", "services"} <= {
        each["name"] for each in told["findings"]
    }
    assert list(tmp_path.iterdir()) == []
    wrong = doctor(OPENSPOT_WEB_PORT="none", OPENSPOT_HOST="0.0.0.0")
    assert wrong.returncode == 1
    assert "✗ settings" in wrong.stdout
    assert "OPENSPOT_WEB_PORT: Input should be a valid integer" in wrong.stdout
