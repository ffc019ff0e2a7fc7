"""Operators of the edge: which sessions open their routes, and how roles are given and taken."""

import asyncio

import asyncpg
import pytest

from openspot.http.operators import PERMISSIONS, OperatorRole
from openspot.kit.settings import Settings
from tests.support.authenticator import enable_mfa, register
from tests.support.edge_operators import log_in_as_operator, make_operator
from tests.support.rest_client import RestClient

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
