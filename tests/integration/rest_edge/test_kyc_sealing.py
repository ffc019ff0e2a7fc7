"""What users say about themselves for KYC: the database alone does not give it away."""

from dataclasses import astuple
from datetime import date
from pathlib import Path

import asyncpg
import msgspec
import pytest
from alembic import command
from alembic.config import Config

import openspot.migrations
from openspot.kit.sealing import Sealer, UnsealError
from openspot.kit.secrets_file import with_secrets
from openspot.kit.settings import Settings, as_part
from openspot.migrations import upgrade
from openspot.rest_edge.funds.kyc.store import BasicInformation, sealing_purpose
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.rest_client import RestClient, running_edge

ADA = BasicInformation("Ada", "Lovelace", date(1990, 12, 10), "GB", "Ockham", "12 Hanover Lane", "GU23 6NP")
BODY = {
    "firstName": "Ada", "lastName": "Lovelace", "dateOfBirth": "1990-12-10", "country": "GB", "city": "Ockham",
    "street": "12 Hanover Lane", "postalCode": "GU23 6NP",
}  # fmt: skip
CLEAR = ("Lovelace", "1990-12-10", "Ockham", "Hanover", "GU23")


async def everything(pool: asyncpg.Pool) -> str:
    """All rows of all tables as text."""
    tables = await pool.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    rows = [await pool.fetch(f"SELECT row::text FROM {table['tablename']} AS row") for table in tables]
    return "\n".join(row["row"] for found in rows for row in found)


async def opened(pool: asyncpg.Pool, settings: Settings, user_id: str) -> BasicInformation:
    """The information in the row of `u1`, opened as that of `user_id`."""
    sealed = await pool.fetchval("SELECT sealed_information FROM kyc_profiles WHERE user_id = 'u1'")
    secret = with_secrets(as_part(settings, RestEdgeSettings)).sealing_secret
    plain = Sealer(secret).open(bytes(sealed), sealing_purpose(user_id))
    return msgspec.json.decode(plain, type=BasicInformation)


async def test_no_table_holds_it_in_clear_and_the_key_opens_it_in_its_own_row_only(
    edge: RestClient, pool: asyncpg.Pool, settings: Settings
) -> None:
    reply = await edge("POST", "/kyc/basic-info", BODY)
    assert (reply.status, reply.body["hasBasicInformation"]) == (200, True)
    assert (await edge("GET", "/kyc/status")).body["hasBasicInformation"] is True
    kept = await everything(pool)
    assert "u1" in kept
    assert [text for text in CLEAR if text in kept or text.encode().hex() in kept] == []
    assert await opened(pool, settings, "u1") == ADA
    with pytest.raises(UnsealError):
        await opened(pool, settings, "u2")


def upgrade_to(database_url: str, revision: str) -> None:
    """Apply the migrations up to one."""
    config = Config()
    config.set_main_option("script_location", str(Path(openspot.migrations.__file__).parent))
    config.attributes["database_url"] = database_url
    command.upgrade(config, revision)


async def test_what_an_earlier_version_kept_in_clear_is_sealed_at_the_start(
    settings: Settings, postgres_server: EmbeddedPostgres
) -> None:
    administrator = await asyncpg.connect(postgres_server.administrator_url())
    try:
        await administrator.execute("CREATE DATABASE earlier OWNER openspot")
        url = postgres_server.url("earlier")
        upgrade_to(url, "0008")
        async with asyncpg.create_pool(url, min_size=1, max_size=2) as pool:
            await pool.execute(
                "INSERT INTO kyc_profiles (user_id, level, status, updated_at, first_name, last_name, date_of_birth,"
                " country, city, street, postal_code)"
                " VALUES ('u1', 1, 'not_started', now(), $1, $2, $3, $4, $5, $6, $7),"
                " ('u2', 0, 'not_started', now(), NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
                *astuple(ADA),
            )
            upgrade(url)
            kept = await everything(pool)
            assert [text for text in CLEAR if text not in kept] == []
            earlier = settings.model_copy(update={"database_url": url})
            async with running_edge(earlier) as edge:
                for user_id, level, known in (("u1", "basic", True), ("u2", "none", False)):
                    edge.as_user(user_id)
                    status = (await edge("GET", "/kyc/status")).body
                    assert (status["level"], status["hasBasicInformation"]) == (level, known)
                kept = await everything(pool)
                assert [text for text in CLEAR if text in kept] == []
                assert await opened(pool, earlier, "u1") == ADA
    finally:
        await administrator.execute("DROP DATABASE IF EXISTS earlier WITH (FORCE)")
        await administrator.close()
