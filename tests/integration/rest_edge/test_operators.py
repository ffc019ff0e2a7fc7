"""Operators of the edge: which sessions open their routes, and how roles are given and taken."""

import asyncio

import asyncpg
import pytest

from openspot.http.operators import PERMISSIONS, OperatorRole
from openspot.http.policy import Permission
from openspot.kit.settings import Settings, SettingsError, as_part, load
from openspot.rest_edge.operators.role_command import OperatorError, change_operator, operators
from openspot.rest_edge.settings import RestEdgeSettings
from tests.support.authenticator import enable_mfa, register
from tests.support.edge_operators import ENGINE_TOKEN, log_in_as_operator, make_operator
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.rest_client import RestClient, running_edge
from tests.support.waiting import eventually

ADA, BOB, EVE = "ada@example.org", "bob@example.org", "eve@example.org"
SUPPORT, TREASURY, ADMINISTRATOR = OperatorRole.SUPPORT, OperatorRole.TREASURY, OperatorRole.ADMINISTRATOR


async def give(pool: asyncpg.Pool, user_id: str, *roles: OperatorRole) -> None:
    await pool.executemany(
        "INSERT INTO operator_roles (user_id, role, granted_by, granted_at) VALUES ($1, $2, 'shell:test', now())",
        [(user_id, role) for role in roles],
    )


async def test_a_user_is_an_operator_by_roles_alone(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    assert (await edge("GET", "/operator/session")).status == 401
    user_id = await register(edge, ADA)
    refused = await edge("GET", "/operator/session")
    assert (refused.status, refused.code) == (403, "FORBIDDEN")
    await make_operator(edge, pool, BOB, SUPPORT)
    session = (await edge("GET", "/operator/session")).body
    assert session["operator"].startswith("user:") and session["operator"] != f"user:{user_id}"
    assert (session["roles"], session["permissions"]) == (["SUPPORT"], sorted(PERMISSIONS[SUPPORT]))


async def test_an_administrator_by_token_alone_is_no_operator(edge: RestClient) -> None:
    edge.as_user("u1", role="admin")
    refused = await edge("GET", "/operator/session")
    assert (refused.status, refused.code) == (403, "FORBIDDEN")


async def test_a_session_without_a_second_factor_opens_nothing_though_the_user_has_one_by_now(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    edge.token = None
    user_id = await register(edge, ADA)
    await give(pool, user_id, SUPPORT)
    refused = await edge("GET", "/operator/session")
    assert (refused.status, refused.code) == (403, "OPERATOR_MFA_REQUIRED")
    app = await enable_mfa(edge)
    assert (await edge("GET", "/operator/session")).code == "OPERATOR_MFA_REQUIRED"
    await log_in_as_operator(edge, ADA, app)
    assert (await edge("GET", "/operator/session")).status == 200


async def test_a_role_that_is_taken_opens_nothing_from_the_next_request_on(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    await make_operator(edge, pool, ADA, SUPPORT, TREASURY)
    assert (await edge("GET", "/operator/roles")).status == 200
    await pool.execute("DELETE FROM operator_roles")
    assert (await edge("GET", "/operator/roles")).code == "FORBIDDEN"


async def test_a_session_that_was_ended_opens_nothing_even_before_the_bus_tells_of_it(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    await make_operator(edge, pool, ADA, SUPPORT)
    await pool.execute("UPDATE refresh_tokens SET revoked_at = now()")
    assert (await edge("GET", "/operator/session")).status == 401


async def test_a_permission_that_is_missing_is_named(edge: RestClient, pool: asyncpg.Pool) -> None:
    await make_operator(edge, pool, ADA, SUPPORT)
    body = {"user": ADA, "roles": ["ADMINISTRATOR"], "reason": "because I can"}
    refused = await edge("POST", "/operator/operators", body)
    assert (refused.status, refused.code) == (403, "PERMISSION_MISSING")
    assert "permissions.grant" in refused.message and "SUPPORT" in refused.message
    assert await pool.fetchval("SELECT count(*) FROM operator_actions") == 0


async def test_an_administrator_gives_and_takes_roles_and_the_trail_tells_of_it(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    edge.token = None
    bob_id = await register(edge, BOB)
    await pool.execute("UPDATE users SET email_verified_at = now()")
    bobs = edge.token
    await make_operator(edge, pool, ADA, ADMINISTRATOR)
    ada_id = (await edge("GET", "/operator/session")).body["operator"].removeprefix("user:")

    added = await edge(
        "POST", "/operator/operators", {"user": "Bob@Example.org", "roles": ["SUPPORT"], "reason": "new"}
    )
    assert added.body == {"userId": bob_id, "roles": ["SUPPORT"], "changed": True}
    again = await edge("POST", "/operator/operators", {"user": bob_id, "roles": ["TREASURY"], "reason": "new"})
    assert (again.status, again.code) == (409, "ROLES_CHANGED")
    found = (await edge("GET", "/operator/operators")).body
    assert [(each["email"], each["roles"], each["secondFactor"]) for each in found] == [
        (ADA, ["ADMINISTRATOR"], True), (BOB, ["SUPPORT"], False),
    ]  # fmt: skip

    path = f"/operator/operators/{bob_id}/roles"
    more = {"roles": ["SUPPORT", "TREASURY"], "expected": ["SUPPORT"], "reason": "covers"}
    assert (await edge("PUT", path, more)).body["changed"] is True
    assert (await edge("PUT", path, more)).code == "ROLES_CHANGED"
    none = await edge("PUT", path, {"roles": [], "expected": ["SUPPORT", "TREASURY"], "reason": "has left"})
    assert none.body == {"userId": bob_id, "roles": [], "changed": True}
    edge.token, mine = bobs, edge.token
    assert (await edge("GET", "/users/me/profile")).status == 401
    edge.token = mine

    rows = await pool.fetch("SELECT * FROM operator_actions ORDER BY entry_number")
    assert [(row["entry_number"], row["before"], row["after"], row["reason"]) for row in rows] == [
        (1, '{"roles":null}', '{"roles":"SUPPORT"}', "new"),
        (2, '{"roles":"SUPPORT"}', '{"roles":"SUPPORT,TREASURY"}', "covers"),
        (3, '{"roles":"SUPPORT,TREASURY"}', '{"roles":null}', "has left"),
    ]
    assert {(row["operator"], row["action"], row["subject_kind"], row["subject_id"]) for row in rows} == {
        (f"user:{ada_id}", "operators.roles", "user", bob_id)
    }
    assert await pool.fetchval("SELECT count(*) FROM operator_action_origins WHERE address = '127.0.0.1'") == 3


async def test_only_a_user_with_a_verified_address_gets_a_role(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    bob_id = await register(edge, BOB)
    await make_operator(edge, pool, ADA, ADMINISTRATOR)
    for user in (BOB, bob_id):
        for role in ("SUPPORT", "ADMINISTRATOR"):
            new = {"user": user, "roles": [role], "reason": "new"}
            refused = await edge("POST", "/operator/operators", new)
            assert (refused.status, refused.code) == (409, "EMAIL_NOT_VERIFIED")
            assert refused.message == (
                "the e-mail address of the user is not verified: its owner opens the link of the mail first"
            )
    # Who had roles before this rule gets no more, and can lose them.
    await give(pool, bob_id, SUPPORT, TREASURY)
    path, present = f"/operator/operators/{bob_id}/roles", ["SUPPORT", "TREASURY"]
    more = {"roles": [*present, "AUDITOR"], "expected": present, "reason": "covers"}
    assert (await edge("PUT", path, more)).code == "EMAIL_NOT_VERIFIED"
    less = {"roles": ["SUPPORT"], "expected": present, "reason": "covers no more"}
    assert (await edge("PUT", path, less)).body["changed"] is True
    await pool.execute("UPDATE users SET email_verified_at = now() WHERE user_id = $1", bob_id)
    more = {"roles": ["SUPPORT", "AUDITOR"], "expected": ["SUPPORT"], "reason": "covers"}
    assert (await edge("PUT", path, more)).body["roles"] == ["AUDITOR", "SUPPORT"]


async def test_the_first_administrator_is_made_before_mail_works(edge: RestClient, settings: Settings) -> None:
    command = as_part(settings, RestEdgeSettings)
    edge.token = None
    for email in (ADA, BOB):
        await register(edge, email)
    with pytest.raises(OperatorError, match="is not verified"):
        await change_operator(command, ADA, lambda _: frozenset({SUPPORT}), "no administrator yet")
    change = await change_operator(command, ADA, lambda _: frozenset({ADMINISTRATOR, TREASURY}), "runs the exchange")
    assert change.after == {ADMINISTRATOR, TREASURY}
    with pytest.raises(OperatorError, match="is not verified"):
        await change_operator(command, BOB, lambda _: frozenset({ADMINISTRATOR}), "a second one")


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"user": BOB, "roles": ["SUPPORT"]}, "reason"),
        ({"user": BOB, "roles": ["SUPPORT"], "reason": "  x "}, "reason"),
        ({"user": BOB, "roles": ["SUPPORT"], "reason": "x" * 501}, "reason"),
        ({"user": BOB, "roles": [], "reason": "none at all"}, "roles"),
        ({"user": BOB, "roles": ["OWNER"], "reason": "no such role"}, "roles"),
    ],
)
async def test_a_body_that_is_not_valid_is_refused_by_the_name_of_its_field(
    edge: RestClient, pool: asyncpg.Pool, body: dict[str, object], word: str
) -> None:
    await make_operator(edge, pool, ADA, ADMINISTRATOR)
    refused = await edge("POST", "/operator/operators", body)
    assert refused.status == 400 and word in str(refused.message)


async def test_nobody_changes_their_own_roles_and_the_last_administrator_stays(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    await make_operator(edge, pool, BOB, ADMINISTRATOR)
    bob_id = (await edge("GET", "/operator/session")).body["operator"].removeprefix("user:")
    own = {"roles": [], "expected": ["ADMINISTRATOR"], "reason": "I resign"}
    assert (await edge("PUT", f"/operator/operators/{bob_id}/roles", own)).code == "OWN_ROLES"
    unknown = await edge("POST", "/operator/operators", {"user": "nobody", "roles": ["SUPPORT"], "reason": "typo"})
    assert (unknown.status, unknown.code) == (404, "USER_NOT_FOUND")


async def test_two_administrators_who_end_each_other_at_once_leave_one(
    edge: RestClient, settings: Settings, pool: asyncpg.Pool
) -> None:
    ids, clients = [], []
    for email in (ADA, BOB):
        await make_operator(edge, pool, email, ADMINISTRATOR)
        ids.append((await edge("GET", "/operator/session")).body["operator"].removeprefix("user:"))
        clients.append(RestClient(settings, edge.token))
    body = {"roles": [], "expected": ["ADMINISTRATOR"], "reason": "the other must go"}
    replies = await asyncio.gather(
        *(
            client("PUT", f"/operator/operators/{other}/roles", body)
            for client, other in zip(clients, reversed(ids), strict=True)
        )
    )
    # Whoever comes second has no role any more, or would take the last one.
    assert sorted(reply.status for reply in replies) in ([200, 401], [200, 403], [200, 409])
    assert await pool.fetchval("SELECT count(*) FROM operator_roles WHERE role = 'ADMINISTRATOR'") == 1
    for client in clients:
        await client.close()


async def test_a_session_of_the_engines_administrator_may_everything_and_a_traders_nothing(
    edge: RestClient, engine: FakeEngineHttp, pool: asyncpg.Pool
) -> None:
    engine.sessions = {ENGINE_TOKEN: ("Root", "SUPER_ADMIN")}
    edge.token = None
    bob_id = await register(edge, BOB)
    edge.token = ENGINE_TOKEN
    session = (await edge("GET", "/operator/session")).body
    assert (session["operator"], session["roles"]) == ("engine:root", [])
    assert set(session["permissions"]) == set(Permission)
    new = {"user": bob_id, "roles": ["ADMINISTRATOR"], "reason": "the first one"}
    assert (await edge("POST", "/operator/operators", new)).status == 200
    assert await pool.fetchval("SELECT operator FROM operator_actions") == "engine:root"
    last = {"roles": [], "expected": ["ADMINISTRATOR"], "reason": "the last one"}
    assert (await edge("PUT", f"/operator/operators/{bob_id}/roles", last)).code == "LAST_ADMINISTRATOR"
    engine.sessions = {ENGINE_TOKEN: ("maker", "MAKER")}
    assert (await edge("GET", "/operator/session")).code == "FORBIDDEN"
    engine.sessions = {}
    assert (await edge("GET", "/operator/session")).status == 401
    await engine.stop()
    assert (await edge("GET", "/operator/session")).code == "ENGINE_UNAVAILABLE"


async def test_the_sessions_of_operators_are_listed_and_ended(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    await register(edge, EVE)
    of_nobody = await pool.fetchval("SELECT session_id FROM user_sessions")
    await make_operator(edge, pool, BOB, SUPPORT)
    bobs = edge.token
    await make_operator(edge, pool, ADA, ADMINISTRATOR)
    found = (await edge("GET", "/operator/sessions")).body
    assert {each["email"] for each in found} == {ADA, BOB}
    assert [each["email"] for each in found if each["current"]] == [ADA]
    first, *_ = [each for each in found if each["email"] == BOB]
    path = f"/operator/sessions/{first['sessionId']}/end"
    assert (await edge("POST", path, {"reason": "a lost computer"})).body == {"sessionId": first["sessionId"]}
    assert (await edge("POST", path, {"reason": "a lost computer"})).code == "SESSION_NOT_FOUND"
    assert (await edge("POST", f"/operator/sessions/{of_nobody}/end", {"reason": "is no operator"})).status == 404
    edge.token = bobs
    assert (await edge("GET", "/operator/session")).status == 401
    row = await pool.fetchrow("SELECT action, subject_id, before FROM operator_actions")
    assert dict(row) == {  # type: ignore[call-overload]
        "action": "operators.end_session", "subject_id": first["userId"],
        "before": f'{{"session":"{first["sessionId"]}"}}',
    }  # fmt: skip


async def test_operators_call_from_the_listed_networks_alone(settings: Settings, pool: asyncpg.Pool) -> None:
    for networks, status in (("192.0.2.0/24, 2001:db8::/32", 403), ("192.0.2.0/24,127.0.0.1", 200)):
        async with running_edge(settings.model_copy(update={"operator_networks": networks})) as edge:
            await make_operator(edge, pool, f"op{status}@example.org", SUPPORT)
            reply = await edge("GET", "/operator/session")
            assert reply.status == status
            if status == 403:
                assert reply.code == "OPERATOR_ADDRESS_REFUSED"
                assert "127.0.0.1" in reply.message


def test_a_network_that_is_none_is_refused_at_start() -> None:
    with pytest.raises(SettingsError, match=r"OPENSPOT_OPERATOR_NETWORKS: .*10\.0\.0\.300"):
        load(RestEdgeSettings, operator_networks="10.0.0.0/8,10.0.0.300")


async def test_the_commands_make_and_end_operators(edge: RestClient, settings: Settings, pool: asyncpg.Pool) -> None:
    command = as_part(settings, RestEdgeSettings)
    app = await make_operator(edge, pool, ADA, ADMINISTRATOR)
    assert app is not None
    adas = edge.token
    bob_id = await register(edge, BOB)
    await pool.execute("UPDATE users SET email_verified_at = now()")
    change = await change_operator(command, BOB, lambda present: present | {SUPPORT, TREASURY}, "joins the team")
    assert (change.user_id, change.before, change.after) == (bob_id, frozenset(), {SUPPORT, TREASURY})
    assert [(each.email, each.roles, each.has_second_factor) for each in await operators(command)] == [
        (ADA, [ADMINISTRATOR], True), (BOB, [SUPPORT, TREASURY], False),
    ]  # fmt: skip
    same = await change_operator(command, bob_id, lambda present: present, "nothing new")
    assert not same.is_new
    for user, wanted, reason, refusal in (
        (ADA, (), "the last one", "the last administrator keeps the role"),
        ("nobody@example.org", (SUPPORT,), "unknown", "nobody is registered as nobody@example.org"),
        (BOB, (), "no", "reason: must have 3 to 500 characters"),
    ):
        with pytest.raises(OperatorError, match=refusal):
            await change_operator(command, user, lambda _, to=frozenset(wanted): to, reason)
    await change_operator(command, BOB, lambda _: frozenset(), "has left")

    async def has_ended() -> bool:
        return (await edge("GET", "/users/me/profile")).status == 401

    await eventually(has_ended)
    edge.token = adas
    assert (await edge("GET", "/operator/session")).status == 200
    names = await pool.fetch("SELECT operator, reason FROM operator_actions ORDER BY entry_number")
    assert [row["reason"] for row in names] == ["joins the team", "has left"]
    assert all(row["operator"].startswith("shell:") for row in names)
