"""Sessions that were refreshed very often: they end by one row, whoever ends them, and are refreshed at a pace."""

from datetime import timedelta
from typing import Any

import asyncpg

from openspot.http.operator_store import standing_of
from openspot.kit.clock import utc_now
from openspot.rest_edge.identity.credentials.refresh_pace import AT_ONCE
from openspot.rest_edge.identity.credentials.store import END_FAMILIES, LIVING_FAMILIES, AuthStore
from tests.support.histories import plan_of
from tests.support.rest_client import Reply, RestClient

CREDENTIALS = {"email": "ada@example.org", "password": "correct horse battery"}
USED = 50_000
REVOKED = "SELECT count(*) FROM refresh_tokens WHERE revoked_at IS NOT NULL"
REVOKED_FAMILIES = "SELECT string_agg(family_id, ' ') FROM refresh_tokens WHERE revoked_at IS NOT NULL"


async def log_in(client: RestClient) -> dict[str, Any]:
    client.token = None
    await client("POST", "/auth/register", CREDENTIALS)
    reply = await client("POST", "/auth/login", CREDENTIALS)
    client.token = reply.body["accessToken"]
    return dict(reply.body)


async def refresh(client: RestClient, token: str) -> Reply:
    return await client("POST", "/auth/refresh", {"refreshToken": token})


async def use_many(pool: asyncpg.Pool) -> tuple[str, str]:
    """Add many used tokens to the only session. Returns its id and that of its user."""
    row = await pool.fetchrow("SELECT family_id, user_id FROM refresh_tokens WHERE used_at IS NULL")
    await pool.execute(
        """
        INSERT INTO refresh_tokens (token_hash, family_id, user_id, expires_at, used_at)
        SELECT sha256(n::text::bytea), $1, $2, now() + interval '20 days', now() FROM generate_series(1, $3::int) AS n
        """,
        row["family_id"],
        row["user_id"],
        USED,
    )
    await pool.execute("ANALYZE refresh_tokens")
    return row["family_id"], row["user_id"]


async def test_a_session_with_many_used_tokens_ends_by_one_row(edge: RestClient, pool: asyncpg.Pool) -> None:
    tokens = await log_in(edge)
    session_id, user_id = await use_many(pool)
    now = utc_now()
    async with pool.acquire() as connection:
        for query, values in (
            (LIVING_FAMILIES, [user_id, ""]),
            (END_FAMILIES, [[session_id], user_id, now]),
        ):
            for mode in ("force_custom_plan", "force_generic_plan"):
                undone = connection.transaction()
                await undone.start()
                nodes = await plan_of(connection, query, values, mode)
                await undone.rollback()
                read = [node for node in nodes if node.table]
                assert {node.index for node in nodes if node.index} <= {
                    "refresh_tokens_unused", "refresh_tokens_unused_of_user",
                }  # fmt: skip
                assert max(node.rows for node in read) <= 1, f"{query}: {nodes}"
    assert (await edge("POST", "/auth/logout")).status == 200
    assert await pool.fetchval(REVOKED) == 1
    assert (await standing_of(pool, user_id, session_id)).has_ended
    assert (await refresh(edge, tokens["refreshToken"])).code == "INVALID_REFRESH_TOKEN"


async def test_all_sessions_of_a_user_end_by_one_row_each(edge: RestClient, pool: asyncpg.Pool) -> None:
    await log_in(edge)
    session_id, user_id = await use_many(pool)
    kept = await log_in(edge)
    body = {"currentPassword": CREDENTIALS["password"], "newPassword": "wrong horse batteries"}
    assert (await edge("POST", "/users/me/password", body)).status == 200
    assert await pool.fetchval(REVOKED_FAMILIES) == session_id
    assert await AuthStore(pool).revoke_all(user_id, "", utc_now()) != []
    assert await pool.fetchval(REVOKED) == 2
    assert (await refresh(edge, kept["refreshToken"])).status == 401


async def test_a_second_use_ends_a_session_with_many_used_tokens_and_is_told_once(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    first = await log_in(edge)
    second = (await refresh(edge, first["refreshToken"])).body
    await use_many(pool)
    assert (await refresh(edge, first["refreshToken"])).code == "REFRESH_TOKEN_REUSED"
    assert await pool.fetchval(REVOKED) == 1
    for tokens in (first, second):
        reply = await refresh(edge, tokens["refreshToken"])
        assert (reply.status, reply.code, reply.message) == (401, "INVALID_REFRESH_TOKEN", "the session has ended")
    told = "SELECT count(*) FROM user_activity WHERE kind = 'refresh_token_reused'"
    assert await pool.fetchval(told) == 1


async def test_a_session_is_refreshed_at_the_pace_of_access_tokens(pool: asyncpg.Pool, edge: RestClient) -> None:
    await log_in(edge)
    store, life, start = AuthStore(pool), timedelta(seconds=900), utc_now()
    await pool.execute("UPDATE refresh_tokens SET token_hash = '0'")
    for number in range(AT_ONCE):
        used, following = b"%d" % number, b"%d" % (number + 1)
        assert (await store.rotate(used, following, start, start + timedelta(days=30), life)).fault is None
    await pool.execute("UPDATE refresh_tokens SET token_hash = sha256('last') WHERE used_at IS NULL")
    reply = await refresh(edge, "last")
    assert (reply.status, reply.code) == (429, "TOO_MANY_REFRESHES")
    assert 1 <= int(reply.headers["Retry-After"]) <= 90
    assert "this session is refreshed too often" in str(reply.message)
    assert await pool.fetchval("SELECT count(*) FROM refresh_tokens") == AT_ONCE + 1
    # The refused token is as good as before.
    await pool.execute("UPDATE refresh_tokens SET allowance_full_at = now() WHERE used_at IS NULL")
    assert (await refresh(edge, "last")).status == 200
