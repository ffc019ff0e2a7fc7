"""Data of earlier releases come up with this one: the same state, the same balances. What would go wrong is named."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import msgspec
import psycopg
import pytest
from typer.testing import CliRunner

from openspot.cli import app
from openspot.engine.engine import journal_path
from openspot.engine.journal.snapshots import read_snapshot, snapshot_paths, write_snapshot
from openspot.kit.bus import Bus
from openspot.migrations import missing_migrations, upgrade
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.upgrade_check import databases
from openspot.upgrade_check.check import check_upgrade, unknown_variables
from openspot.upgrade_check.contents import TableContent, contents_of, lost
from openspot.upgrade_check.report import UpgradeCheckError, UpgradeReport
from tests.integration.backup.business import ROWS
from tests.integration.upgrade_check.conftest import RELEASES, EarlierRelease
from tests.integration.upgrade_check.test_make_release import BESIDE
from tests.support import engine_client
from tests.support.backups import state_at
from tests.support.mirrored_market import MIRRORS, mirrored_market
from tests.support.waiting import until

STATES = {
    "3896cd4": (157, 171, "1eed91425cd8d13ee5b3313c72fbab0d5d8daed84d63b95c86c6e0e3012350ea"),
    "4b93ed6": (156, 172, "8dc1ed578c7ffb4739e79bedea14c92be842368b268033f01659b71ad20d8a71"),
    "ff4be40": (354, 466, "427d67341ce44c22f549e85ece595a26c69f4201ecedf2ce82868aa1941e71ce"),
}
"""Commands, events and state hash of each release, as its own code printed them."""
ALL = pytest.mark.parametrize("release", sorted(STATES), indirect=True, ids=str)
BALANCES = "SELECT user_id, asset, available, locked FROM ledger_accounts ORDER BY user_id, asset"
pytestmark = pytest.mark.proof

SUBSCRIPTION_REVISIONS = ["0001", "0002", "0003", "0004"]
"""Those of the database of subscriptions; an earlier release that has one has the first two."""


def checked(release: EarlierRelease, **given: Any) -> UpgradeReport:
    """Check the upgrade of a release."""
    return check_upgrade(release.settings, **given)


def state_of(release: EarlierRelease) -> tuple[int, int, str]:
    """What this release's data must be."""
    return STATES[release.files.name]


def run(settings: Any, *statements: str) -> None:
    """Run statements on the release's database."""
    with psycopg.connect(settings.database_url) as connection:
        for statement in statements:
            connection.execute(statement)


def test_every_release_has_its_state_here() -> None:
    assert sorted(path.name for path in RELEASES.iterdir()) == sorted(STATES)


@ALL
def test_an_earlier_release_is_taken_over_and_the_check_leaves_it_as_it_was(release: EarlierRelease) -> None:
    data_dir = release.settings.data_dir
    before = {path: path.read_bytes() for path in data_dir.rglob("*") if path.is_file()}
    contents = contents_of(release.settings.database_url)
    report = checked(release)
    assert report.problems == []
    assert report.journal is not None
    assert (report.journal.commands, report.journal.events, report.journal.state_hash) == state_of(release)
    assert (report.journal.compared, report.journal.compared_command) == (1, report.journal.commands)
    platform, subscriptions = report.databases
    assert platform.migrations == missing_migrations(platform.revision)
    assert platform.rows == sum(each.rows for each in contents.values()) > 500
    assert [f"openspot: migration {name}" for name in platform.migrations] == report.changes[: len(platform.migrations)]
    is_new = not (release.files / "subscriptions.sql.gz").exists()
    assert ("subscriptions: the database is made" in report.changes) is is_new
    assert [name[:4] for name in subscriptions.migrations] == SUBSCRIPTION_REVISIONS[0 if is_new else 2 :]
    assert {path: path.read_bytes() for path in data_dir.rglob("*") if path.is_file()} == before
    assert contents_of(release.settings.database_url) == contents
    assert sorted(path.name for path in data_dir.parent.iterdir()) == ["data", "data.upgrade-check.lock"]


@ALL
async def test_an_earlier_release_comes_up_with_the_same_state_and_balances_and_trades_on(
    release: EarlierRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands, events, state_hash = state_of(release)
    settings = release.settings
    assert state_at(settings, commands) == (events, state_hash)
    connection: Any = await asyncpg.connect(settings.database_url)
    before = await connection.fetch(BALANCES)
    await connection.close()
    upgrade(settings.database_url)
    monkeypatch.setattr(engine_client, "_order_ids", itertools.count(10**9))
    bus = await Bus.connect(settings, "test")
    await bus.ensure_streams()
    try:
        async with (
            asyncpg.create_pool(settings.database_url, min_size=1, max_size=3) as pool,
            mirrored_market(settings, bus, pool, MIRRORS) as market,
        ):
            assert await market.differences() == []
            assert await pool.fetch(BALANCES) == before != []
            await market.fund()
            await market.trade(1)
            assert await market.differences() == []
    finally:
        await bus.close()


@pytest.mark.parametrize("release", ["ff4be40"], indirect=True)
async def test_what_people_did_is_there_after_the_upgrade(release: EarlierRelease) -> None:
    upgrade(release.settings.database_url)
    connection: Any = await asyncpg.connect(release.settings.database_url)
    try:
        found = {name: await connection.fetchval(query) for name, (query, _) in ROWS.items()}
        assert found == {name: value for name, (_, value) in ROWS.items()}
        for table, _ in BESIDE:
            assert await connection.fetchval(f"SELECT count(*) FROM {table}"), table
    finally:
        await connection.close()


def test_another_state_than_the_old_release_had_is_a_problem(release: EarlierRelease) -> None:
    path = journal_path(release.settings)
    (snapshot,) = snapshot_paths(path.with_name("snapshots"))
    whole = read_snapshot(snapshot, "WgigNGxG")
    write_snapshot(snapshot.parent, msgspec.structs.replace(
        whole, header=msgspec.structs.replace(whole.header, state_hash="0" * 64)))  # fmt: skip
    report = checked(release)
    assert not report.works
    assert report.problems == ["the snapshot at command 157 differs from the replay"]


def test_a_damaged_journal_is_a_problem(release: EarlierRelease) -> None:
    path = journal_path(release.settings)
    path.write_bytes(b"no journal" * 1000)
    report = checked(release)
    assert len(report.problems) == 1
    assert report.problems[0].startswith("this release cannot replay the journal ")


def test_a_migration_that_fails_and_a_newer_database_are_problems(release: EarlierRelease) -> None:
    run(release.settings, "CREATE TABLE login_attempts (in_the_way int)")
    (problem,) = (checked(release)).problems
    assert problem.startswith("the migrations of the database openspot fail: ")
    assert "login_attempts" in problem
    run(release.settings, "UPDATE alembic_version SET version_num = '9999'")
    (problem,) = (checked(release)).problems
    assert problem == (
        "the database openspot has the migration 9999, which this release does not know: it was made by a newer release"
    )


def test_what_cannot_be_tried_is_said(release: EarlierRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "file").touch()
    with pytest.raises(UpgradeCheckError, match=r"taken holds other files: name a folder that is missing or empty"):
        checked(release, scratch=taken)
    assert (taken / "file").exists()
    with monkeypatch.context() as patch:
        patch.setattr(databases, "SPARE_BYTES", 1 << 60)
        with pytest.raises(UpgradeCheckError, match=r"the copy needs [\d,]+ MiB .* name another disk with --scratch"):
            checked(release)
    embedded = release.settings.model_copy(update={"database_url": ""})
    with pytest.raises(UpgradeCheckError, match=r"there is no database in .*: set DATABASE_URL"):
        check_upgrade(embedded)
    missing = release.settings.model_copy(update={"data_dir": tmp_path / "none"})
    with pytest.raises(UpgradeCheckError, match=r"there is no .*none: set OPENSPOT_DATA_DIR"):
        check_upgrade(missing)
    assert not (tmp_path / "data.upgrade-check").exists()
    assert (checked(release)).works


@pytest.fixture
def guarded_url(postgres_server: EmbeddedPostgres) -> Iterator[str]:
    """Address of a database whose owner has the password `right`."""
    owner = f"guarded_{os.getpid()}"
    rules = postgres_server.directory / "data/pg_hba.conf"
    before = rules.read_text("utf-8")
    url = postgres_server.url(owner).partition("@")[2]
    with psycopg.connect(postgres_server.administrator_url(), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {owner} LOGIN PASSWORD 'right'")
        connection.execute(f"CREATE DATABASE {owner} OWNER {owner}")
        rules.write_text(f"{before}local all {owner} scram-sha-256\n", "utf-8")
        try:
            connection.execute("SELECT pg_reload_conf()")
            until(lambda: answers(f"postgresql://{owner}:right@{url}"), "the password is taken")
            yield f"postgresql://{owner}:right@{url}"
        finally:
            rules.write_text(before, "utf-8")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute(f"DROP DATABASE {owner} WITH (FORCE)")
            connection.execute(f"DROP ROLE {owner}")


def answers(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


CLOSED = "postgresql://openspot:s3cret@127.0.0.1:1/subscriptions"
UNREADABLE = "postgresql://openspot:s3cret@127.0.0.1:1/subscriptions?nonsense=1"


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        (CLOSED, "Connection refused"),
        (UNREADABLE, "its address cannot be read"),
        (None, "password authentication failed"),
    ],
    ids=["closed port", "unreadable address", "wrong password"],
)
def test_a_database_of_a_service_that_cannot_be_looked_at_is_not_taken_for_missing(
    release: EarlierRelease, guarded_url: str, address: str | None, reason: str
) -> None:
    url = address or guarded_url.replace(":right@", ":s3cret@")
    environment = {
        "OPENSPOT_DATA_DIR": str(release.settings.data_dir), "DATABASE_URL": release.settings.database_url,
        "OPENSPOT_SUBSCRIPTIONS_DATABASE_URL": url,
    }  # fmt: skip
    done = CliRunner().invoke(app, ["upgrade", "--check"], env=environment)
    assert done.exit_code == 2, done.output
    said = " ".join(done.output.split())
    assert "the database subscriptions at postgresql://" in said and reason in said
    assert "set OPENSPOT_SUBSCRIPTIONS_DATABASE_URL to its address" in said
    assert "s3cret" not in said


def test_a_database_of_a_service_that_its_server_does_not_have_is_made(
    release: EarlierRelease, guarded_url: str
) -> None:
    nowhere = urlsplit(guarded_url)._replace(path="/nowhere").geturl()
    settings = release.settings.model_copy(update={"subscriptions_database_url": nowhere})
    assert "subscriptions: the database is made" in check_upgrade(settings).changes


@pytest.mark.parametrize("release", ["4b93ed6"], indirect=True)
def test_a_database_of_a_service_elsewhere_is_copied_beside_that_of_an_embedded_server(release: EarlierRelease) -> None:
    cluster = EmbeddedPostgres(release.settings.data_dir.resolve() / "postgres", durable=False)
    cluster.start()
    cluster.ensure_database("openspot_subscriptions")
    cluster.stop()
    embedded = release.settings.model_copy(update={"database_url": ""})
    contents = contents_of(embedded.subscriptions_database_url)
    _, subscriptions = check_upgrade(embedded).databases
    assert (subscriptions.revision, subscriptions.tables) == (SUBSCRIPTION_REVISIONS[1], len(contents))
    with pytest.raises(UpgradeCheckError, match=r"the database subscriptions at .* Connection refused"):
        check_upgrade(embedded.model_copy(update={"subscriptions_database_url": CLOSED}))


def test_what_became_less_or_has_another_sum_is_lost_and_what_is_new_is_not() -> None:
    before = {"a": TableContent(2, {"amount": 5, "gone": 1}), "b": TableContent(0, {}), "c": TableContent(1, {})}
    assert lost(before, before | {"new": TableContent(9, {})}) == []
    after = {"a": TableContent(1, {"amount": 4, "other": 7})}
    assert lost(before, after) == [
        "the table a has 1 rows after the migrations, 2 before",
        "the sum of a.amount is 4 after the migrations, 5 before",
        "the table c with 1 rows is gone after the migrations",
    ]


def test_a_variable_that_is_no_setting_is_named() -> None:
    given = {"OPENSPOT_RULES": "complete", "OPENSPOT_RULE": "complete", "PATH": "", "DATABASE_URL": "x"}
    assert unknown_variables(given) == ["OPENSPOT_RULE"]
