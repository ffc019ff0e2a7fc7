"""Administrators: made and ended by the operator's command and by other administrators, with real logins."""

import json
from base64 import urlsafe_b64decode
from datetime import UTC, datetime

import asyncpg
import pytest

from openspot.kit.settings import Settings, as_part
from openspot.rest_edge.identity import service as identity
from openspot.rest_edge.identity.credentials.store import AuthStore, NewSession
from openspot.rest_edge.identity.users.role_command import RoleError, change_role, users_with
from openspot.rest_edge.identity.users.roles import Role
from openspot.rest_edge.settings import RestEdgeSettings
from tests.support.authenticator import enable_mfa, log_in, register
from tests.support.rest_client import Reply, RestClient, running_edge
from tests.support.waiting import eventually

ADA, BOB = "ada@example.org", "bob@example.org"


@pytest.fixture
def command_settings(settings: Settings) -> RestEdgeSettings:
    """What `openspot users` works with beside the edge."""
    return as_part(settings, RestEdgeSettings)


def role_in(token: str) -> str:
    payload = token.split(".")[1]
    return str(json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["role"])


async def is_refused(client: RestClient, token: str) -> bool:
    client.token = token
    return (await client("GET", "/users/me/profile")).status == 401


@pytest.mark.spec("A5-11")
async def test_a_promoted_user_has_the_role_at_the_next_refresh_and_a_demoted_one_no_session(
    edge: RestClient, command_settings: RestEdgeSettings, pool: asyncpg.Pool
) -> None:
    edge.token = None
    ada_id = await register(edge, ADA)
    session = (await log_in(edge, ADA)).body
    assert role_in(session["accessToken"]) == "user"

    assert await change_role(command_settings, "Ada@Example.org", Role.ADMIN) == (
        f"{ADA} ({ada_id}) is an administrator, from the next login or refresh on"
    )
    assert "administrator already" in await change_role(command_settings, ada_id, Role.ADMIN)
    assert [user.email for user in await users_with(command_settings, Role.ADMIN)] == [ADA]
    session = (await edge("POST", "/auth/refresh", {"refreshToken": session["refreshToken"]})).body
    assert role_in(session["accessToken"]) == "admin"
    edge.token = session["accessToken"]
    assert (await edge("GET", "/users/me/profile")).body["role"] == "admin"

    assert (await change_role(command_settings, ADA, Role.USER)).endswith("all sessions have ended")
    await eventually(lambda: is_refused(edge, session["accessToken"]))
    assert (await edge("POST", "/auth/refresh", {"refreshToken": session["refreshToken"]})).status == 401
    assert role_in((await log_in(edge, ADA)).body["accessToken"]) == "user"
    assert await users_with(command_settings, Role.ADMIN) == []

    kinds = await pool.fetch("SELECT kind FROM user_activity WHERE user_id = $1 ORDER BY activity_id", ada_id)
    assert [row["kind"] for row in kinds if "administrator" in row["kind"]] == [
        "made_administrator", "administrator_no_more",
    ]  # fmt: skip
    records = await pool.fetch("SELECT path FROM audit_records WHERE method = 'COMMAND' ORDER BY audit_id")
    assert [row["path"].rpartition(" by ")[0] for row in records] == [
        f"openspot users promote {ada_id}", f"openspot users promote {ada_id}", f"openspot users demote {ada_id}",
    ]  # fmt: skip
    titles = await pool.fetch("SELECT kind FROM notifications WHERE user_id = $1 AND kind = 'security.role'", ada_id)
    assert len(titles) == 2


async def test_nobody_is_promoted_who_is_not_registered(edge: RestClient, command_settings: RestEdgeSettings) -> None:
    with pytest.raises(RoleError, match=r"USER: nobody is registered as eve@example\.org"):
        await change_role(command_settings, "eve@example.org", Role.ADMIN)


async def test_a_demotion_that_the_bus_does_not_take_says_so_and_is_told_by_a_repetition(
    settings: Settings, command_settings: RestEdgeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The edge would find the demotion in the database by itself, and tell it.
    monkeypatch.setattr(identity, "UNTOLD_INTERVAL_S", 3600)
    async with running_edge(settings) as edge:
        await register(edge, ADA)
        await change_role(command_settings, ADA, Role.ADMIN)
        token = (await log_in(edge, ADA)).body["accessToken"]
        without_bus = command_settings.model_copy(update={"nats_url": "nats://127.0.0.1:1", "request_timeout_s": 0.1})
        with pytest.raises(RoleError, match="the bus does not answer: access tokens that are out keep the role"):
            await change_role(without_bus, ADA, Role.USER)
        assert not await is_refused(edge, token)
        assert "no administrator already" in await change_role(command_settings, ADA, Role.USER)
        await eventually(lambda: is_refused(edge, token))


async def test_an_administrator_makes_others_and_ends_them_but_not_itself(
    edge: RestClient, command_settings: RestEdgeSettings
) -> None:
    edge.token = None
    bob_id = await register(edge, BOB)
    bobs = edge.token
    ada_id = await register(edge, ADA)
    path = f"/users/{bob_id}/role"
    refused = await edge("PUT", path, {"role": "admin"})
    assert (refused.status, refused.code) == (403, "FORBIDDEN")

    await change_role(command_settings, ADA, Role.ADMIN)
    edge.token = (await log_in(edge, ADA)).body["accessToken"]
    assert (await edge("PUT", path, {"role": "admin"})).body == {"userId": bob_id, "role": "admin", "changed": True}
    assert (await edge("PUT", path, {"role": "admin"})).body["changed"] is False
    own = await edge("PUT", f"/users/{ada_id}/role", {"role": "user"})
    assert (own.status, own.code) == (409, "OWN_ROLE")
    unknown = await edge("PUT", "/users/nobody/role", {"role": "user"})
    assert (unknown.status, unknown.code) == (404, "USER_NOT_FOUND")
    assert (await edge("PUT", path, {"role": "owner"})).status == 400

    app = await enable_mfa(edge)
    without_code = await edge("PUT", path, {"role": "user"})
    assert (without_code.status, without_code.code) == (401, "MFA_REQUIRED")
    ended: Reply = await edge("PUT", path, {"role": "user", "mfaCode": app.code()})
    assert ended.body == {"userId": bob_id, "role": "user", "changed": True}
    assert bobs is not None and await is_refused(edge, bobs)


async def test_a_login_that_began_before_a_demotion_gives_no_session(pool: asyncpg.Pool, edge: RestClient) -> None:
    edge.token = None
    ada_id = await register(edge, ADA)
    store, now = AuthStore(pool), datetime.now(UTC)
    await pool.execute("UPDATE users SET role = 'admin' WHERE user_id = $1", ada_id)
    stale = await store.user_by_id(ada_id)
    assert stale is not None
    session = NewSession("s" * 16, b"h" * 32, now, "127.0.0.1", "")
    await pool.execute("UPDATE users SET role = 'user' WHERE user_id = $1", ada_id)
    assert not await store.start_session(session, stale, now)
    await pool.execute("UPDATE users SET role = 'admin' WHERE user_id = $1", ada_id)
    assert await store.start_session(session, stale, now)
