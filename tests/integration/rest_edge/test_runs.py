"""A comparison and a proof that the console's web server begins have an entry: who, why and from where."""

import asyncpg
import pytest

from openspot.http.operators import OperatorRole
from tests.support.edge_operators import make_operator
from tests.support.rest_client import RestClient

WHY = {"reason": "an account looks wrong"}


@pytest.mark.parametrize(
    ("run", "role", "other", "action", "command"),
    [
        ("comparison", OperatorRole.ADMINISTRATOR, OperatorRole.AUDITOR, "reconcile.run", "openspot reconcile"),
        ("proof", OperatorRole.TREASURY, OperatorRole.SUPPORT, "reserves.prove", "openspot reserves prove"),
    ],
)
async def test_a_run_is_in_the_trail_and_needs_its_permission_and_a_reason(
    edge: RestClient, pool: asyncpg.Pool, run: str, role: OperatorRole, other: OperatorRole, action: str, command: str
) -> None:
    path = f"/operator/runs/{run}"
    await make_operator(edge, pool, "bob@example.org", other)
    assert (await edge("POST", path, WHY)).code == "PERMISSION_MISSING"
    await make_operator(edge, pool, "ada@example.org", role)
    for body in ({}, {"reason": " no "}, WHY | {"more": 1}):
        assert (await edge("POST", path, body)).status == 400
    assert await pool.fetchval("SELECT count(*) FROM operator_actions") == 0
    noted = await edge("POST", path, WHY)
    assert (noted.status, noted.body) == (201, {"entry": 1})
    who = (await edge("GET", "/operator/session")).body["operator"]
    entry = await pool.fetchrow("SELECT operator, action, subject_kind, subject_id, reason FROM operator_actions")
    assert tuple(entry) == (who, action, "command", command, WHY["reason"])
    assert await pool.fetchval("SELECT address FROM operator_action_origins") == "127.0.0.1"
