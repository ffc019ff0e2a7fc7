"""Who is to decide on a withdrawal, the views that operators save, and API keys that they revoke."""

import asyncpg

from openspot.http.operators import OperatorRole
from openspot.rest_edge.operators.views.store import VIEWS_MAX
from tests.support.authenticator import register
from tests.support.edge_operators import make_operator
from tests.support.filled_tables import insert
from tests.support.rest_client import RestClient

ADA, BOB, EVE = "ada@example.org", "bob@example.org", "eve@example.org"
SUPPORT, COMPLIANCE, TREASURY = OperatorRole.SUPPORT, OperatorRole.COMPLIANCE, OperatorRole.TREASURY
WHY = {"reason": "ticket 4711"}


async def id_of(pool: asyncpg.Pool, email: str) -> str:
    return str(await pool.fetchval("SELECT user_id FROM users WHERE email = $1", email))


async def test_a_withdrawal_gets_an_assignee_who_may_decide_on_it(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    await make_operator(edge, pool, BOB, TREASURY)
    await make_operator(edge, pool, ADA, COMPLIANCE)
    ada, bob = [f"user:{await id_of(pool, email)}" for email in (ADA, BOB)]
    for withdrawal_id, user_id, funds in (("w1", eve, "reserved"), ("w2", eve, "taken"), ("w3", bob[5:], "reserved")):
        await insert(
            pool, "custody_withdrawals", {"user_id": user_id}, withdrawal_id=withdrawal_id, funds=funds,
            client_withdrawal_id=None, status="pending_approval",
        )  # fmt: skip

    async def assign(withdrawal_id: str, assignee: str | None, expected: str | None) -> tuple[int, str]:
        body = {"assignee": assignee, "expected": expected} | WHY
        reply = await edge("PUT", f"/operator/withdrawals/{withdrawal_id}/assignee", body)
        return reply.status, "" if reply.status == 200 else reply.code

    async def listed(query: str) -> list[tuple[str, str | None]]:
        reply = await edge("GET", f"/operator/withdrawals?{query}")
        return sorted((row["id"], row["assignee"]) for row in reply.body)

    assert await assign("w1", bob, None) == (200, "")
    # Another has looked at the list before that: the change is not lost.
    assert await assign("w1", ada, None) == (409, "ASSIGNEE_CHANGED")
    assert await assign("w1", bob, None) == (200, "")
    assert await assign("w1", ada, bob) == (200, "")
    assert await listed(f"assignee={ada}") == [("w1", ada)]
    assert await listed("assignee=nobody&state=open") == [("w3", None)]
    assert (await edge("GET", "/operator/withdrawals?assignee=everybody")).status == 400
    assert await assign("w2", bob, None) == (409, "WITHDRAWAL_SETTLED")
    assert await assign("w3", bob, None) == (409, "ASSIGNEE_CANNOT_DECIDE")
    assert await assign("w3", f"user:{eve}", None) == (409, "ASSIGNEE_CANNOT_DECIDE")
    assert await assign("w3", "engine:admin", None) == (409, "ASSIGNEE_CANNOT_DECIDE")
    assert await assign("nothing", bob, None) == (404, "WITHDRAWAL_NOT_FOUND")
    found = (await edge("GET", "/operator/withdrawals/assignees")).body
    assert [(each["operator"], each["assigned"]) for each in found] == [(ada, 1), (bob, 0)]
    assert await assign("w1", None, ada) == (200, "")
    assert await listed("assignee=nobody&userId=" + eve) == [("w1", None), ("w2", None)]
    entries = await pool.fetch("SELECT action, subject_id, before, after FROM operator_actions ORDER BY entry_number")
    assert [tuple(entry) for entry in entries] == [
        ("withdrawal.assigned", "w1", '{"assignee":null}', f'{{"assignee":"{bob}"}}'),
        ("withdrawal.assigned", "w1", f'{{"assignee":"{bob}"}}', f'{{"assignee":"{ada}"}}'),
        ("withdrawal.assigned", "w1", f'{{"assignee":"{ada}"}}', '{"assignee":null}'),
    ]


async def test_views_belong_to_their_operator_and_are_bounded(edge: RestClient, pool: asyncpg.Pool) -> None:
    bob = RestClient(edge.settings)
    await make_operator(bob, pool, BOB, SUPPORT)
    await make_operator(edge, pool, ADA, SUPPORT)
    view = {"page": "all-withdrawals", "name": "Large ones", "query": "state=open&asset=BTC"}
    saved = await edge("POST", "/operator/views", view)
    assert (saved.status, saved.body["query"]) == (201, "state=open&asset=BTC")
    # The same name again is the same view.
    again = await edge("POST", "/operator/views", view | {"query": "state=open"})
    assert (again.body["id"], again.body["query"]) == (saved.body["id"], "state=open")
    assert [row["name"] for row in (await edge("GET", "/operator/views")).body] == ["Large ones"]
    assert (await bob("GET", "/operator/views")).body == []
    assert (await bob("DELETE", f"/operator/views/{saved.body['id']}")).code == "VIEW_NOT_FOUND"
    for page, query in (
        ("user", "tab=notes&from=2026-01-01"), ("treasury", "tab=outside"), ("reports", "by=month"),
        ("risk", "participant=eve"), ("access", "word=risk"), ("participant", "tab=risk"),
    ):  # fmt: skip
        other = await bob("POST", "/operator/views", {"page": page, "name": "Mine", "query": query})
        assert (other.status, other.body["page"], other.body["query"]) == (201, page, query)
    bad_names, bad_queries = (" ", "x" * 65, 1), ("a b", "x" * 1025)
    for bad in (
        {"page": "nothing"}, *({"name": name} for name in bad_names), *({"query": query} for query in bad_queries),
    ):  # fmt: skip
        assert (await edge("POST", "/operator/views", view | bad)).status == 400, bad
    name = await pool.fetchval("SELECT operator FROM operator_views WHERE name = 'Large ones'")
    await pool.execute(
        "INSERT INTO operator_views SELECT 'v' || n, $1, 'users', 'n' || n, '', now() FROM generate_series(2, $2) AS n",
        name,
        VIEWS_MAX,
    )
    assert (await edge("POST", "/operator/views", view | {"name": "one more"})).code == "TOO_MANY_VIEWS"
    assert (await edge("POST", "/operator/views", view)).status == 201
    assert (await edge("DELETE", f"/operator/views/{saved.body['id']}")).body == {"success": True}
    assert (await edge("POST", "/operator/views", view | {"name": "one more"})).status == 201
    await bob.close()


async def test_a_revoked_key_opens_nothing_and_its_owner_is_told(edge: RestClient, pool: asyncpg.Pool) -> None:
    user = RestClient(edge.settings)
    eve = await register(user, EVE)
    keys = [(await user("POST", "/api-keys", {"name": name, "scopes": ["read"]})).body["id"] for name in "abc"]
    await make_operator(edge, pool, ADA, COMPLIANCE)
    path = f"/operator/users/{eve}/api-keys"
    assert (await edge("DELETE", f"{path}/{keys[0]}", WHY)).body == {"revoked": [keys[0]]}
    # Again: every process is told anew, and there is nothing to write down.
    assert (await edge("DELETE", f"{path}/{keys[0]}", WHY)).body == {"revoked": [keys[0]]}
    assert sorted((await edge("DELETE", path, WHY)).body["revoked"]) == sorted(keys[1:])
    assert (await edge("DELETE", path, WHY)).body == {"revoked": []}
    assert (await user("GET", "/api-keys")).body == []
    sealed = "SELECT count(*) FROM api_keys WHERE sealed_secret IS NOT NULL"
    assert await pool.fetchval(sealed) == 0
    unknown_key = f"{eve}/api-keys/{'z' * len(keys[0])}"
    for unknown, code in ((unknown_key, "API_KEY_NOT_FOUND"), ("u9/api-keys", "USER_NOT_FOUND")):
        refused = await edge("DELETE", f"/operator/users/{unknown}", WHY)
        assert (refused.status, refused.code) == (404, code)
    ada = await id_of(pool, ADA)
    assert (await edge("DELETE", f"/operator/users/{ada}/api-keys", WHY)).code == "OWN_ACCOUNT"
    entries = await pool.fetch("SELECT action, subject_id, reason FROM operator_actions")
    assert [tuple(entry) for entry in entries] == [("user.api_keys.revoked", eve, "ticket 4711")] * 2
    kinds = await pool.fetch("SELECT kind FROM user_activity WHERE user_id = $1 AND kind LIKE 'api_key_rev%'", eve)
    assert [row["kind"] for row in kinds] == ["api_key_revoked_by_operator"] * 2
    told = await pool.fetch("SELECT kind FROM notifications WHERE user_id = $1 AND text LIKE '%has revoked%'", eve)
    assert [row["kind"] for row in told] == ["api_key.changed"] * 2
    await user.close()
