"""The sealing secret is exchanged by commands that are killed, and a backup without it is restored elsewhere."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import aiohttp
import asyncpg
import pytest

from openspot.http.operators import OperatorRole
from openspot.kit.sealing import Sealer, key_id_of
from openspot.up.child_platform import ChildPlatform
from tests.e2e.test_backup import command
from tests.support.authenticator import register
from tests.support.edge_operators import make_operator
from tests.support.money_user import BASIC_INFORMATION
from tests.support.platforms import child_platform
from tests.support.rest_client import PREFIX, RestClient
from tests.support.sample_documents import pdf

pytestmark = [pytest.mark.proof, pytest.mark.timeout(1800)]

BILL = pdf("Electricity bill")
FACTORS = 5_000
KILLS = 3
QUIET = {"OPENSPOT_THROTTLE_ENABLED": "false"}


async def upload(platform: ChildPlatform) -> tuple[str, str]:
    """(user, document) of somebody who uploads one."""
    user = RestClient(platform.settings)
    try:
        user_id = await register(user, "eve@example.org")
        assert (await user("POST", "/kyc/basic-info", BASIC_INFORMATION)).status == 200
        assert (await user("POST", "/kyc/start", {"level": "verified"})).status == 201
        path, headers = "/kyc/documents?kind=proof_of_address", {"Content-Type": "application/pdf"}
        document = await user("POST", path, raw=BILL, headers=headers)
        assert document.status == 201, document.body
        return user_id, document.body["id"]
    finally:
        await user.close()


async def add_factors(platform: ChildPlatform, secret: str) -> None:
    """Add users with second factors, so that sealing anew takes many batches."""
    sealer = Sealer(secret)
    connection = await asyncpg.connect(platform.settings.database_url)
    try:
        names = [f"user{number:05}" for number in range(FACTORS)]
        await connection.executemany(
            "INSERT INTO users (user_id, email, password_hash, role) VALUES ($1, $1 || '@example.org', 'x', 'user')",
            [(name,) for name in names],
        )
        await connection.executemany(
            "INSERT INTO user_mfa (user_id, sealed_secret) VALUES ($1, $2)",
            [(name, sealer.seal(name.encode(), f"totp:{name}")) for name in names],
        )
    finally:
        await connection.close()


async def assert_everything_opens(platform: ChildPlatform, user_id: str, document_id: str, secret: str) -> None:
    """An operator sees the document, and each factor is its user's own."""
    ada = RestClient(platform.settings)
    pool = await asyncpg.create_pool(platform.settings.database_url, min_size=1, max_size=2)
    try:
        await make_operator(ada, pool, "ada@example.org", OperatorRole.COMPLIANCE)
        path = f"/operator/verifications/{user_id}/documents/{document_id}?reason=check"
        headers = {"Authorization": f"Bearer {ada.token}"}
        url = f"{platform.settings.rest_url}{PREFIX}{path}"
        async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as response:
            assert await response.read() == BILL
        rows = await pool.fetch("SELECT user_id, sealed_secret FROM user_mfa WHERE user_id LIKE 'user%'")
        assert len(rows) == FACTORS
        for row in rows:
            name = row["user_id"]
            assert Sealer(secret).open(row["sealed_secret"], f"totp:{name}") == name.encode()
    finally:
        await ada.close()
        await pool.execute("DELETE FROM users WHERE email = 'ada@example.org'")
        await pool.close()


def kill_in_the_middle(environment: dict[str, str]) -> None:
    """Begin to seal anew, and kill the command when it says that a batch is done."""
    process = subprocess.Popen(
        [sys.executable, "-m", "openspot.cli", "secrets", "reseal"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    line = process.stderr.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert "secrets of second factors: " in line or "documents: " in line, line


def kept_secrets(platform: ChildPlatform) -> dict[str, str]:
    """The secrets in the data directory."""
    kept: dict[str, str] = json.loads((platform.data_dir / "secrets.json").read_text("utf-8"))
    return kept


def test_the_secret_is_exchanged_and_a_backup_without_it_is_restored_only_beside_it(own_folder: Path) -> None:
    platform = child_platform(own_folder / "one", QUIET)
    environment = platform._environment
    platform.start()
    try:
        user_id, document_id = asyncio.run(upload(platform))
        old = kept_secrets(platform)["sealing_secret"]
        asyncio.run(add_factors(platform, old))
        refused = command(environment, "secrets", "rotate")
        assert refused.returncode == 1
        assert "stop it first" in refused.stderr
    finally:
        platform.stop()
    rotated = command(environment, "secrets", "rotate")
    assert rotated.returncode == 0, rotated
    new = kept_secrets(platform)["sealing_secret"]
    assert f"new key {key_id_of(new)}, former key {key_id_of(old)}" in rotated.stdout
    platform.start()
    try:
        doctor = command(environment, "doctor", "--json").stdout
        assert "rows still need a former sealing secret" in doctor
        refused = command(environment, "secrets", "forget")
        assert refused.returncode == 1
        assert "rows are not sealed with the current secret yet" in refused.stderr
        for _ in range(KILLS):
            kill_in_the_middle(environment)
        done = command(environment, "secrets", "reseal")
        assert done.returncode == 0, done
        asyncio.run(assert_everything_opens(platform, user_id, document_id, new))
        status = command(environment, "secrets", "status")
        assert f"former key {key_id_of(old)}: nothing" in status.stdout, status
        forgotten = command(environment, "secrets", "forget")
        assert forgotten.stdout == f"forgotten: {key_id_of(old)}\n"
        assert old not in (platform.data_dir / "secrets.json").read_text("utf-8")
        assert command(environment, "audit", "verify").returncode == 0
    finally:
        platform.stop()
    # From now on the environment gives the secret, so no backup has it.
    kept = kept_secrets(platform)
    del kept["sealing_secret"]
    (platform.data_dir / "secrets.json").write_text(json.dumps(kept), "utf-8")
    given = {"OPENSPOT_SEALING_SECRET": new}
    backups = {"OPENSPOT_BACKUP_DIR": str(own_folder / "backups")}
    platform._environment = environment | given
    platform.start()
    try:
        asyncio.run(assert_everything_opens(platform, user_id, document_id, new))
        # A command from cron, which does not know the secret.
        assert command(environment | backups, "backup").returncode == 0
    finally:
        platform.stop()

    other = child_platform(own_folder / "two", QUIET | given)
    without = other._environment | backups | {"OPENSPOT_SEALING_SECRET": ""}
    for wrong in ("", "w" * 40):
        refused = command(without | {"OPENSPOT_SEALING_SECRET": wrong}, "restore")
        assert refused.returncode == 1
        assert f"sealed with a secret that is not here, key {key_id_of(new)}: set OPENSPOT_SEALING" in refused.stderr
        assert not [each for each in own_folder.iterdir() if each.name in ("two", "two.restoring")]
    restored = command(other._environment | backups, "restore")
    assert restored.returncode == 0, restored
    other.start()
    try:
        asyncio.run(assert_everything_opens(other, user_id, document_id, new))
    finally:
        other.stop()
