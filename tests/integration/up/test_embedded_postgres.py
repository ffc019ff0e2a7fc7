"""The embedded PostgreSQL: who gets in, what an earlier release left, and awkward surroundings."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import asyncpg
import psutil
import pytest

from openspot.migrations import upgrade
from openspot.up import embedded_postgres
from openspot.up.embedded_nats import EmbeddedServerError
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.other_account import STRANGER, as_account, needs_root
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name, open to others."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-pg-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running(directory: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(directory, durable=False)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def run_on(url: str, statement: str) -> list[asyncpg.Record]:
    """Run a statement over a connection of its own; returns the rows."""

    async def run() -> list[asyncpg.Record]:
        connection = await asyncpg.connect(url)
        try:
            return list(await connection.fetch(statement))
        finally:
            await connection.close()

    return asyncio.run(run())


def value_of(url: str, query: str) -> object:
    """The only value that a query returns."""
    ((value,),) = run_on(url, query)
    return value


def serves(server: EmbeddedPostgres) -> bool:
    """Whether both roles get in."""
    return [value_of(url, "SELECT current_user") for url in (server.url(), server.administrator_url())] == [
        "openspot",
        "postgres",
    ]


def refusal(url: str) -> str:
    """Why a connection of this process is refused; "none" if it is not."""
    try:
        run_on(url, "SELECT 1")
    except asyncpg.PostgresError as error:
        return str(error)
    return "none"


def open_to_everybody(server: EmbeddedPostgres) -> None:
    """Take away the protection of the folders, so that only the server's own rules are left."""
    for folder in (server.directory, server._data):
        folder.chmod(0o755)
    (server._data / ".s.PGSQL.5432").chmod(0o777)


@needs_root
def test_the_server_refuses_another_account_that_reaches_its_socket(folder: Path) -> None:
    with running(folder / "postgres") as server:
        open_to_everybody(server)
        urls = {role: server.url().replace("openspot@", f"{role}@") for role in ("openspot", "postgres", STRANGER)}
        reasons = {role: as_account(STRANGER, refusal, url) for role, url in urls.items()}
    assert reasons["openspot"] == 'Peer authentication failed for user "openspot"'
    assert reasons["postgres"] == 'Peer authentication failed for user "postgres"'
    assert reasons[STRANGER].startswith("no pg_hba.conf entry")


EARLIER_OBJECTS = """
    CREATE SCHEMA dbos;
    CREATE TYPE dbos.mood AS ENUM ('good', 'bad');
    CREATE DOMAIN dbos.name AS text;
    CREATE TYPE dbos.pair AS (one int, two int);
    CREATE TABLE dbos.steps (id bigserial PRIMARY KEY, mood dbos.mood, place dbos.pair);
    CREATE SEQUENCE dbos.alone;
    CREATE VIEW dbos.view AS SELECT * FROM dbos.steps;
    CREATE MATERIALIZED VIEW dbos.stored AS SELECT * FROM dbos.steps;
    CREATE FUNCTION dbos.one() RETURNS int LANGUAGE sql AS 'SELECT 1';
    INSERT INTO dbos.steps (mood) VALUES ('good');
"""
OWNED_BY_SUPERUSER = """
    SELECT nspname || '.' || relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
    WHERE relowner = 'postgres'::regrole AND nspname !~ '^pg_' AND nspname <> 'information_schema'
    UNION SELECT nspname FROM pg_namespace WHERE nspowner = 'postgres'::regrole AND nspname = 'dbos'
    UNION SELECT typname FROM pg_type JOIN pg_namespace n ON n.oid = typnamespace
    WHERE typowner = 'postgres'::regrole AND nspname IN ('dbos', 'public')
    UNION SELECT proname FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace
    WHERE proowner = 'postgres'::regrole AND nspname IN ('dbos', 'public')
    UNION SELECT datname FROM pg_database WHERE datdba = 'postgres'::regrole AND datname = 'openspot'
"""


def leave_data_of_an_earlier_release(directory: Path) -> None:
    """A data directory as version 0.1.0 made it: everybody trusted, all owned by the superuser, folders open."""
    server = EmbeddedPostgres(directory, durable=False)
    data = directory / "data"
    data.mkdir(parents=True)
    for path in (directory, data):
        server._give_away(path)
    bin_folder = server._installation / "bin"
    initdb = [str(bin_folder / "initdb"), "-D", server._data_argument, "-U", "postgres", "--auth=trust"]
    subprocess.run([*initdb, "--encoding=UTF8", "--locale=C"], check=True, capture_output=True, **server._as_account())
    command = [str(bin_folder / "postgres"), "-D", server._data_argument, *server._options()]
    with (directory / "log").open("wb") as log:
        server.process = subprocess.Popen(command, stdout=log, stderr=log, **server._as_account())
    server._await_ready()
    server._psql("CREATE DATABASE openspot")
    url = server.administrator_url("openspot")
    upgrade(url)
    for statement in filter(str.strip, EARLIER_OBJECTS.split(";")):
        run_on(url, statement)
    assert len(run_on(url, OWNED_BY_SUPERUSER)) > 10
    server.stop()
    directory.chmod(0o755)


def assert_brought_up_to_date(server: EmbeddedPostgres) -> None:
    administrator = server.administrator_url("openspot")
    assert run_on(administrator, OWNED_BY_SUPERUSER) == []
    # The server's own objects are still its own.
    assert value_of(administrator, "SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'pg_class'") == (
        "postgres"
    )
    upgrade(server.url())
    assert value_of(server.url(), "SELECT count(*) FROM dbos.steps") == 1
    run_on(server.url(), "INSERT INTO dbos.steps (mood) VALUES ('bad')")
    run_on(server.url(), "ALTER TABLE users ADD COLUMN nickname text")
    run_on(server.url(), "DROP SCHEMA dbos CASCADE")
    assert [folder.stat().st_mode & 0o777 for folder in (server.directory, server._data)] == [0o700, 0o700]
    assert server.directory.stat().st_uid == os.geteuid()
    open_to_everybody(server)
    if os.geteuid() == 0:
        assert "Peer authentication failed" in as_account(STRANGER, refusal, server.administrator_url())


def test_data_of_an_earlier_release_is_closed_and_handed_to_the_role(folder: Path) -> None:
    leave_data_of_an_earlier_release(folder / "postgres")
    with running(folder / "postgres") as server:
        assert_brought_up_to_date(server)
    with running(folder / "postgres") as server:
        assert serves(server)


@needs_root
def test_data_that_an_earlier_release_kept_below_var_lib_is_moved_into_the_data_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_postgres, "_ROOT_HOME", folder / "var")
    directory = folder / "data/postgres"
    earlier = folder / "var" / f"data-{sha256(str(directory).encode()).hexdigest()[:12]}"
    leave_data_of_an_earlier_release(earlier)
    with running(directory) as server:
        assert (server.directory / "data/PG_VERSION").exists()
        assert not earlier.exists()
        assert_brought_up_to_date(server)


@pytest.mark.parametrize("name", ["with space %41 ü'\"@#?&", "x" * 90])
def test_any_name_of_the_folder_will_do(folder: Path, name: str) -> None:
    with running(folder / name / "postgres") as server:
        upgrade(server.url())
        assert value_of(server.url(), "SELECT count(*) FROM users") == 0
        socket_folder = server._socket_directory
        assert socket_folder.stat().st_mode & 0o777 == 0o700
        assert (socket_folder == server._data) == (len(name) < 90)
    assert socket_folder == server._data or not socket_folder.exists()


def test_variables_for_other_postgres_servers_are_not_followed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGPORT": "6000", "PGHOST": "/nowhere", "PGUSER": "nobody", "PGDATABASE": "none"}.items():
        monkeypatch.setenv(name, value)
    with running(folder / "postgres") as server:
        upgrade(server.url())
        assert value_of(server.url(), "SELECT current_user || ' ' || current_database()") == "openspot openspot"


def test_the_server_does_not_inherit_secrets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENSPOT_ADMIN_PASSWORD", "of-the-administrator")
    with running(folder / "postgres") as server:
        assert server.process is not None
        environment = psutil.Process(server.process.pid).environ()
    assert "PATH" in environment
    assert "OPENSPOT_ADMIN_PASSWORD" not in environment


def test_an_interrupted_first_start_is_repeated(folder: Path) -> None:
    data = folder / "postgres/data"
    (data / "base/1").mkdir(parents=True)
    (data / "base/1/PG_VERSION").write_text("18\n")
    (data / "postgresql.conf").write_text("")
    with running(folder / "postgres") as server:
        assert serves(server)


def test_a_start_that_was_killed_inside_initdb_is_repeated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(name: str, *arguments: str, folder: Path) -> str:
        # PG_VERSION is the first file that initdb writes, and pg_control one of the last.
        (folder / "PG_VERSION").write_text("18\n")
        raise EmbeddedServerError("killed")

    server = EmbeddedPostgres(folder / "postgres", durable=False)
    with monkeypatch.context() as patch:
        patch.setattr(server, "_command", killed)
        with pytest.raises(EmbeddedServerError, match="killed"):
            server.start()
    with running(folder / "postgres") as again:
        assert serves(again)
        assert not list(again.directory.glob("data.new*"))


def test_root_follows_no_link_that_the_servers_account_could_lay(folder: Path) -> None:
    target = folder / "target"
    (target / "kept").mkdir(parents=True)
    directory = folder / "postgres"
    directory.mkdir()
    (directory / "data").symlink_to(target)
    with pytest.raises(EmbeddedServerError, match="is a symbolic link"):
        EmbeddedPostgres(directory).start()
    (directory / "data").unlink()
    (directory / "data").mkdir()
    for name in ("pg_hba.draft", "link"):  # an interrupted first start, with links in it
        (directory / "data" / name).symlink_to(target / "kept")
    with running(directory) as server:
        (server._data / "pg_hba.draft").symlink_to(target / "new")
        server.kill()
        server.start()
        assert serves(server)
    assert [path.name for path in target.iterdir()] == ["kept"]


def test_a_server_that_was_left_behind_is_ended(folder: Path) -> None:
    left = EmbeddedPostgres(folder / "postgres", durable=False)
    left.start()
    with running(folder / "postgres") as server:
        assert left.process is not None
        assert left.process.wait(stretched(10)) == 0
        assert serves(server)


PARENT = """
import os, subprocess, sys
child = subprocess.Popen([sys.argv[1]])
os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
print(child.pid, flush=True)
sys.stdin.read()
child.wait()
"""


def test_a_killed_server_is_waited_for_until_its_process_is_gone(folder: Path) -> None:
    (folder / "postgres").symlink_to("/bin/true")
    # Its parent asks how it ended only once its own input ends.
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(folder / "postgres")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    gone = psutil.Process(int(parent.stdout.readline()))
    assert gone.status() == psutil.STATUS_ZOMBIE
    server = EmbeddedPostgres(folder / "server", durable=False)
    (folder / "server/data").mkdir(parents=True)
    (folder / "server/data/postmaster.pid").write_text(f"{gone.pid}\n", "utf-8")
    with ThreadPoolExecutor(1) as threads:
        ending = threads.submit(server.end_leftover)
        with pytest.raises(TimeoutError):
            ending.result(0.2)
        parent.stdin.close()
        ending.result(stretched(10))
    assert parent.wait(stretched(10)) == 0
    parent.stdout.close()


def test_a_process_that_got_the_number_of_a_server_since_is_left_alone(folder: Path) -> None:
    with running(folder / "other") as other, running(folder / "postgres") as server:
        server.kill()
        pid_file = folder / "postgres/data/postmaster.pid"
        lines = pid_file.read_text("utf-8").splitlines()
        assert other.process is not None
        pid_file.write_text("\n".join([str(other.process.pid), *lines[1:]]), "utf-8")
        server.end_leftover()
        assert other.process.poll() is None
        assert serves(other)
