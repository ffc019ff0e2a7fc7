"""The database of a service's own on a server that OpenSpot did not start."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from rich.console import Console
from sqlalchemy.exc import ProgrammingError

from openspot.migrations import create_database, name_of, upgrade
from openspot.subscriptions.descriptor import DESCRIPTOR
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.platform import Platform, StartError
from openspot.up.services import PlatformSettings

NAME = """own "of: 100 %" 's"""


def test_it_is_made_once_by_a_role_that_may_whatever_its_name(postgres_server: EmbeddedPostgres) -> None:
    server = postgres_server
    with ThreadPoolExecutor(4) as threads:
        made = [threads.submit(create_database, NAME, server.administrator_url()) for _ in range(4)]
        for one in made:
            one.result()
    create_database(NAME, server.administrator_url())
    quoted = NAME.replace("'", "''")
    assert server._psql(f"SELECT count(*) FROM pg_database WHERE datname = '{quoted}'").strip() == "1"


def test_a_role_that_may_not_make_it_gets_told_what_to_set(postgres_server: EmbeddedPostgres, tmp_path: Path) -> None:
    server = postgres_server
    with pytest.raises(ProgrammingError, match="permission denied to create database"):
        create_database("refused", server.url())
    given = PlatformSettings(database_url=server.url("elsewhere"), data_dir=tmp_path)
    platform = Platform(given, Console(quiet=True))
    assert DESCRIPTOR.database is not None
    platform.settings = given.model_copy(update={"database_url": server.url()})
    server._psql("ALTER DATABASE openspot_subscriptions RENAME TO away")
    try:
        with pytest.raises(StartError) as raised:
            platform._upgrade_own_database(DESCRIPTOR.database)
    finally:
        server._psql("ALTER DATABASE away RENAME TO openspot_subscriptions")
    assert "permission denied to create database" in str(raised.value)
    assert "create it for the role of DATABASE_URL, or set OPENSPOT_SUBSCRIPTIONS_DATABASE_URL" in str(raised.value)
    # Made by the operator, it is taken and brought up to date.
    server.ensure_database("by_the_operator")
    url = server.url("by_the_operator")
    platform.settings = platform.settings.model_copy(update={"subscriptions_database_url": url})
    platform._upgrade_own_database(DESCRIPTOR.database)
    upgrade(url, "subscriptions")
    assert server._psql("SELECT version_num FROM alembic_version", "by_the_operator").strip() == "0004"


def test_the_name_of_a_database_is_read_from_its_address() -> None:
    assert name_of("postgresql://me@db/a%20b?sslmode=require") == "a b"
    assert name_of("postgresql://me@db") == ""
