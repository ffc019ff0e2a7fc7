"""What other accounts of the machine can read of a running platform, and reach: nothing that is its own."""

import asyncio
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import grpc
import nats
import nats.errors
import pytest

from openspot.contracts.gen.exchange.v1 import accounts_pb2, accounts_pb2_grpc
from openspot.up.child_platform import ChildPlatform
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.services import enabled
from tests.support.other_account import STRANGER, as_account, needs_root, readable, visible_in_proc
from tests.support.platforms import child_platform
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof

GIVEN_SECRET = "a-secret-of-tokens-from-the-environment"
DEPOSIT = b'{"txHash": "forged", "userId": "mallory", "asset": "USD", "amount": "1000000"}'


@pytest.fixture(scope="module")
def guarded() -> Iterator[ChildPlatform]:
    """A platform that was started with an open umask and with a secret in its environment."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-e2e-"))
    data_dir = folder / "data"
    platform = child_platform(data_dir, {"JWT_SECRET": GIVEN_SECRET})
    folder.chmod(0o755)
    umask = os.umask(0o000)
    try:
        platform.start()
    finally:
        os.umask(umask)
    yield platform
    platform.stop()
    shutil.rmtree(folder, ignore_errors=True)


def postgres_account(platform: ChildPlatform) -> str:
    return (platform.data_dir / "postgres/data/PG_VERSION").owner()


def is_open_to_others(path: Path) -> bool:
    """Whether an account other than the owner may do anything with a file. The servers may replace it meanwhile."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    return not stat.S_ISLNK(status.st_mode) and bool(status.st_mode & 0o077)


def test_no_file_of_the_data_directory_is_open_to_others(guarded: ChildPlatform) -> None:
    paths = [guarded.data_dir, *guarded.data_dir.rglob("*")]
    names = {path.name for path in paths}
    assert {"openspot.log", "secrets.json", "state.json", "nats", "postgres", "PG_VERSION"} <= names
    # Written by the test itself, before the platform begins.
    paths.remove(guarded.output_path)
    assert [path for path in paths if is_open_to_others(path)] == []


@needs_root
def test_a_stranger_reads_no_file_of_the_data_directory(guarded: ChildPlatform) -> None:
    paths = [guarded.data_dir, *guarded.data_dir.rglob("*")]
    closed_to_root = set(paths) - set(readable(paths))
    # The servers replace files while the test looks at them.
    assert all(path.is_socket() or not path.exists() for path in closed_to_root)
    assert as_account(STRANGER, readable, paths) == []


@needs_root
def test_the_account_of_postgres_reads_nothing_outside_its_own_data(guarded: ChildPlatform) -> None:
    paths = [guarded.data_dir, *guarded.data_dir.rglob("*")]
    assert as_account(postgres_account(guarded), readable, paths) == []


def attempt(url: str) -> str:
    """What comes of a connection to PostgreSQL."""

    async def connect() -> str:
        try:
            connection = await asyncpg.connect(url, timeout=stretched(5))
        except (OSError, asyncpg.PostgresError) as error:
            return type(error).__name__
        await connection.close()
        return "connected"

    return asyncio.run(connect())


@needs_root
def test_a_stranger_cannot_reach_postgres(guarded: ChildPlatform) -> None:
    url = guarded.settings.database_url
    urls = [url, EmbeddedPostgres(guarded.data_dir / "postgres").administrator_url()]
    assert [attempt(url) for url in urls] == ["connected", "connected"]
    assert [as_account(STRANGER, attempt, url) for url in urls] == ["PermissionError", "PermissionError"]


def publish_deposit(url: str) -> str:
    """What comes of a deposit that somebody else than the custody service confirms."""

    async def publish() -> str:
        try:
            async with asyncio.timeout(stretched(10)):
                client = await nats.connect(url, allow_reconnect=False, max_reconnect_attempts=1)
        except (OSError, nats.errors.Error) as error:
            return type(error).__name__
        await client.publish("custody.deposit.confirmed", DEPOSIT)
        await client.flush()
        await client.close()
        return "published"

    return asyncio.run(publish())


async def test_the_engine_credits_nobody_without_the_services_credential(guarded: ChildPlatform) -> None:
    async with grpc.aio.insecure_channel(guarded.settings.engine_grpc_address) as channel:
        accounts = accounts_pb2_grpc.AccountServiceStub(channel)
        deposit = accounts_pb2.DepositRequest(participant_id="mallory", currency="USD", amount="1000000")
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await accounts.Deposit(deposit)
        assert refusal.value.code() == grpc.StatusCode.UNAUTHENTICATED
        reply = await accounts.Deposit(deposit, metadata=tuple(guarded.settings.service_headers.items()))
        assert reply.success


def test_the_bus_takes_no_deposit_without_credentials(guarded: ChildPlatform) -> None:
    url = urlsplit(guarded.settings.nats_url)
    assert url.username == "operator"
    bare = url._replace(netloc=f"{url.hostname}:{url.port}").geturl()
    assert publish_deposit(guarded.settings.nats_url) == "published"
    for attempted in (bare, bare.replace("://", "://operator:guessed@")):
        assert publish_deposit(attempted) in ("AuthorizationError", "NoServersError", "Error")


@needs_root
def test_a_stranger_cannot_publish_on_the_bus(guarded: ChildPlatform) -> None:
    url = urlsplit(guarded.settings.nats_url)
    bare = url._replace(netloc=f"{url.hostname}:{url.port}").geturl()
    assert as_account(STRANGER, publish_deposit, bare) in ("AuthorizationError", "NoServersError", "Error")
    credentials = [guarded.data_dir / name for name in ("state.json", "nats/nats.conf", "secrets.json")]
    assert readable(credentials) == credentials
    assert as_account(STRANGER, readable, credentials) == []


@needs_root
def test_no_other_account_sees_a_secret_in_processes(guarded: ChildPlatform) -> None:
    secrets = [GIVEN_SECRET, *json.loads((guarded.data_dir / "secrets.json").read_text("utf-8")).values()]
    bus_urls = guarded.state.bus_urls
    secrets += [str(urlsplit(bus_urls[name]).password) for name in enabled(guarded.settings) if name in bus_urls]
    pids = guarded.state.pids.values()
    own = visible_in_proc()
    # Root sees the one that was given to `openspot up`. Its children get theirs after they have started.
    assert [secret for secret in secrets if any(secret.encode() in text for text in own.values())] == [GIVEN_SECRET]
    for account in (STRANGER, postgres_account(guarded)):
        seen = as_account(account, visible_in_proc)
        assert all(f"/proc/{pid}/cmdline" in seen for pid in pids)
        assert [path for path, text in seen.items() if any(secret.encode() in text for secret in secrets)] == []
    assert f"/proc/{guarded.state.pids['PostgreSQL']}/environ" in seen


async def test_the_services_role_is_no_superuser_and_owns_its_database(guarded: ChildPlatform) -> None:
    connection = await asyncpg.connect(guarded.settings.database_url)
    try:
        role = await connection.fetchrow("SELECT * FROM pg_roles WHERE rolname = current_user")
        assert [role[f"rol{power}"] for power in ("super", "createrole", "createdb", "bypassrls")] == [False] * 4
        assert await connection.fetchval(
            "SELECT pg_get_userbyid(datdba) = current_user FROM pg_database WHERE datname = current_database()"
        )
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("COPY (SELECT 1) TO PROGRAM 'cat'")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetchval("SELECT pg_read_file('/etc/hostname')")
    finally:
        await connection.close()
