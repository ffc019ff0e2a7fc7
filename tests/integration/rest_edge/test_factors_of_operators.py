"""The second factor of a user who is an operator: two administrators reset it, and nobody else."""

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple

import asyncpg
import pytest

from openspot.http.operators import OperatorRole
from openspot.rest_edge.operators.roles import set_roles
from tests.support.authenticator import enable_mfa, register
from tests.support.edge_operators import make_operator
from tests.support.rest_client import Reply, RestClient
from tests.support.waiting import eventually

WHY = {"reason": "the phone is lost, ticket 4711"}
COMPLIANCE, ADMINISTRATOR = OperatorRole.COMPLIANCE, OperatorRole.ADMINISTRATOR
_IS_WAITING = """
    SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')
"""


class People(NamedTuple):
    """Operators, each with a client, and the id of a user who has a second factor and no role."""

    cleo: RestClient
    carl: RestClient
    ada: RestClient
    adam: RestClient
    user_id: str


@pytest.fixture
async def people(edge: RestClient, pool: asyncpg.Pool) -> AsyncIterator[People]:
    """Two of compliance, two administrators, and a user."""
    clients = [RestClient(edge.settings) for _ in range(4)]
    names = ("cleo", "carl", "ada", "adam")
    for client, name, role in zip(clients, names, (COMPLIANCE,) * 2 + (ADMINISTRATOR,) * 2, strict=True):
        await make_operator(client, pool, f"{name}@example.org", role)
    user_id = await register(edge, "dora@example.org")
    await enable_mfa(edge)
    await pool.execute("UPDATE users SET email_verified_at = now() WHERE user_id = $1", user_id)
    yield People(*clients, user_id)
    for client in clients:
        await client.close()


async def id_of(pool: asyncpg.Pool, name: str) -> str:
    return str(await pool.fetchval("SELECT user_id FROM users WHERE email = $1", f"{name}@example.org"))


async def has_factor(pool: asyncpg.Pool, user_id: str) -> bool:
    return bool(await pool.fetchval("SELECT EXISTS (SELECT FROM user_mfa WHERE user_id = $1)", user_id))


def outcome(reply: Reply) -> tuple[int, str | None]:
    return reply.status, reply.code if reply.status >= 400 else None


async def test_administrators_alone_ask_for_it_and_approve_it(pool: asyncpg.Pool, people: People) -> None:
    adam = await id_of(pool, "adam")
    refused = await people.cleo("POST", f"/operator/users/{adam}/second-factor-reset", WHY)
    assert outcome(refused) == (403, "USER_IS_OPERATOR")
    assert refused.body["details"] == {"permission": "operators.end_sessions"}
    assert await pool.fetchval("SELECT count(*) FROM operator_requests") == 0
    # Of an operator who is no administrator, too.
    carl = await id_of(pool, "carl")
    asked = await people.ada("POST", f"/operator/users/{carl}/second-factor-reset", WHY)
    assert asked.status == 202
    path = f"/operator/requests/{asked.body['id']}/approval"
    assert outcome(await people.cleo("POST", path, WHY)) == (403, "USER_IS_OPERATOR")
    assert await has_factor(pool, carl)
    assert (await people.adam("POST", path, WHY)).body["status"] == "approved"
    assert not await has_factor(pool, carl)


async def test_a_role_that_comes_after_the_request_counts(pool: asyncpg.Pool, people: People) -> None:
    overview = f"/operator/users/{people.user_id}"
    asked = await people.cleo("POST", f"{overview}/second-factor-reset", WHY)
    assert asked.status == 202
    assert (await people.cleo("GET", overview)).body["isOperator"] is False
    path = f"/operator/requests/{asked.body['id']}"
    # The role is given, and not committed yet, when somebody approves.
    async with pool.acquire() as connection, connection.transaction():
        await set_roles(connection, people.user_id, lambda _: frozenset({OperatorRole.SUPPORT}), "shell:test")
        approval = asyncio.ensure_future(people.carl("POST", f"{path}/approval", WHY))

        async def is_held_up() -> bool:
            return approval.done() or bool(await pool.fetchval(_IS_WAITING))

        await eventually(is_held_up)
    assert outcome(await approval) == (403, "USER_IS_OPERATOR")
    assert (await people.cleo("GET", overview)).body["isOperator"] is True
    # One administrator is not two: whoever asked is none.
    refused = await people.ada("POST", f"{path}/approval", WHY)
    assert outcome(refused) == (403, "USER_IS_OPERATOR")
    assert (refused.message or "").endswith("reject the request, and let an administrator ask for it")
    assert await has_factor(pool, people.user_id)
    assert (await people.ada("POST", f"{path}/rejection", WHY)).body["status"] == "rejected"
    again = await people.ada("POST", f"{overview}/second-factor-reset", WHY)
    assert (await people.adam("POST", f"/operator/requests/{again.body['id']}/approval", WHY)).status == 200
    assert not await has_factor(pool, people.user_id)
