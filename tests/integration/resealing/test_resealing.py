"""An exchanged sealing secret: everything opens all the time, and at the end without the former one."""

import os
from typing import Any

import asyncpg
import pytest

from openspot.backup.secrets_needed import keys_needed
from openspot.doctor.findings import Level
from openspot.doctor.servers import database_findings
from openspot.http.api_keys.settings import ApiKeySettings
from openspot.kit.sealing import Sealer, key_id_of
from openspot.kit.settings import Settings, as_part
from openspot.resealing import columns, run
from openspot.resealing.run import ResealError, Use, reseal, uses
from openspot.up.services import PlatformSettings
from tests.support.rest_client import running_edge
from tests.support.sealed_user import SealedUser

pytestmark = pytest.mark.proof

OLD, NEW = "o" * 40, "n" * 40
OLD_KEY, NEW_KEY = key_id_of(OLD), key_id_of(NEW)
SEALED = (
    "secrets of API keys", "secrets of second factors", "statements of users for verification", "names of documents",
    "documents", "tag keys of API keys",
)  # fmt: skip


class KilledError(BaseException):
    """Ends the work in the middle, and nothing can clean up."""


def with_sealing(settings: Settings, current: str, *former: str) -> Any:
    """The settings of a platform with these sealing secrets."""
    given = {"sealing_secret": current, "sealing_secrets_former": ",".join(former)}
    return as_part(settings, PlatformSettings).model_copy(update=given)


async def test_everything_opens_before_while_and_after_it_is_sealed_anew(
    settings: Settings, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_edge(with_sealing(settings, OLD)) as edge:
        eve = await SealedUser.made(edge)
        await eve.opens_everything(edge, pool, (OLD,))
    # As a release left it that gave keys no names.
    secret = await pool.fetchval("SELECT sealed_secret FROM user_mfa")
    await pool.execute("UPDATE user_mfa SET sealed_secret = substring($1::bytea FROM 10)", secret)
    rotated = with_sealing(settings, NEW, OLD)
    part = as_part(rotated, ApiKeySettings)
    with pytest.raises(ResealError, match=f"seals with key {OLD_KEY}, and the secret here has key {NEW_KEY}"):
        await reseal(part)
    async with running_edge(rotated) as edge:
        await eve.opens_everything(edge, pool, (NEW, OLD))
        assert Use("documents", OLD_KEY, 1) in await uses(part)
        assert Use("secrets of second factors", "", 1) in await uses(part)
        assert keys_needed(settings.database_url) == {OLD_KEY, NEW_KEY}
        # Killed after every batch, it goes on where it was.
        monkeypatch.setattr(run, "COLUMNS", [column._replace(batch=1) for column in columns.COLUMNS])
        kills = 0
        while True:
            seen: list[str] = []

            def killer(title: str, rows: int, seen: list[str] = seen) -> None:
                seen.append(title)
                raise KilledError

            try:
                outcome = await reseal(part, killer)
            except KilledError:
                kills += 1
                await eve.opens_everything(edge, pool, (NEW, OLD))
                continue
            break
        assert kills >= len(SEALED)
        assert (outcome.rows, outcome.unopened) == ({}, {})
        assert {use.key_id for use in await uses(part)} == {NEW_KEY}
        assert {use.title for use in await uses(part)} == set(SEALED)
        assert keys_needed(settings.database_url) == {NEW_KEY}
        assert [finding.line for finding in sealing_findings(rotated)] == [
            "no row needs the former sealing secrets; `openspot secrets forget`"
        ]
    async with running_edge(with_sealing(settings, NEW)) as edge:
        await eve.opens_everything(edge, pool, (NEW,))
    assert [finding.level for finding in sealing_findings(with_sealing(settings, NEW))] == [Level.FINE]


async def add_users(pool: asyncpg.Pool) -> None:
    """Two users."""
    for name in ("u1", "u2"):
        await pool.execute(
            "INSERT INTO users (user_id, email, password_hash, role) VALUES ($1, $1 || '@example.org', 'x', 'user')",
            name,
        )


def sealing_findings(settings: Any) -> list[Any]:
    """What the doctor says of sealing secrets."""
    return [each for each in database_findings(settings.database_url, settings) if each.name == "sealing"]


async def test_what_no_secret_opens_stays_and_is_named(settings: Settings, pool: asyncpg.Pool) -> None:
    await pool.execute(
        "INSERT INTO sealing_keys (key_id, sealed_tag_key, current_at) VALUES ($1, $3, now()), ($2, $3, NULL)",
        NEW_KEY,
        OLD_KEY,
        Sealer(NEW).seal(b"tag key", "any"),
    )
    await add_users(pool)
    lost, kept = Sealer(OLD).seal(b"lost", "totp:u1"), Sealer("k" * 40).seal(b"kept", "totp:u2")
    rows = [("u1", lost), ("u2", kept)]
    await pool.executemany("INSERT INTO user_mfa (user_id, sealed_secret) VALUES ($1, $2)", rows)
    given = with_sealing(settings, NEW, "k" * 40)
    outcome = await reseal(as_part(given, ApiKeySettings))
    assert outcome.rows == {"secrets of second factors": 1}
    assert outcome.unopened == {"secrets of second factors": ["u1"]}
    found = {row["user_id"]: row["sealed_secret"] for row in await pool.fetch("SELECT * FROM user_mfa")}
    assert found["u1"] == lost
    assert Sealer(NEW).open(found["u2"], "totp:u2") == b"kept"
    [missing, _] = sealing_findings(given)
    assert missing.line == (
        f"1 rows are sealed with a secret that is not here, key {OLD_KEY}; add it to OPENSPOT_SEALING_SECRETS_FORMER"
    )
    assert missing.level is Level.PROBLEM


async def test_a_change_meanwhile_is_not_overwritten_and_one_run_is_under_way_at_a_time(
    settings: Settings, pool: asyncpg.Pool
) -> None:
    await pool.execute("INSERT INTO sealing_keys (key_id, sealed_tag_key) VALUES ($1, $2)", NEW_KEY, os.urandom(40))
    await add_users(pool)
    await pool.execute("INSERT INTO user_mfa (user_id, sealed_secret) VALUES ('u1', $1)", Sealer(OLD).seal(b"a", "x"))
    column = columns.COLUMNS[1]
    before = await pool.fetchval("SELECT sealed_secret FROM user_mfa")
    meanwhile = Sealer(NEW).seal(b"b", "totp:u1")
    await pool.execute("UPDATE user_mfa SET sealed_secret = $1", meanwhile)
    assert await pool.execute(column.update, "u1", before, b"late") == "UPDATE 0"
    assert await pool.fetchval("SELECT sealed_secret FROM user_mfa") == meanwhile
    async with pool.acquire() as connection:
        assert await connection.fetchval(run._LOCK)
        with pytest.raises(ResealError, match="another run is under way"):
            await reseal(as_part(with_sealing(settings, NEW), ApiKeySettings))
