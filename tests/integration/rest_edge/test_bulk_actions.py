"""Bulk actions of operators: a dry run that changes nothing, and rows that each stand for themselves."""

from typing import Any

import asyncpg
import pytest

from openspot.contracts.messages import CancelOpenOrdersReply
from openspot.http.context import IdempotentOperation
from openspot.http.operators import OperatorRole, user_operator
from openspot.rest_edge.operators.acting import Acting
from openspot.rest_edge.operators.bulk.schemas import ROWS_MAX
from openspot.rest_edge.operators.bulk.service import BulkActions
from openspot.rest_edge.operators.users.service import OperatedUsers
from tests.support.authenticator import log_in, register
from tests.support.edge_operators import make_operator
from tests.support.fake_router import FakeRouter
from tests.support.filled_tables import insert
from tests.support.rest_client import RestClient
from tests.support.sample_documents import pdf

ADA, BOB, EVE = "ada@example.org", "bob@example.org", "eve@example.org"
SUPPORT, COMPLIANCE, MARKETS = OperatorRole.SUPPORT, OperatorRole.COMPLIANCE, OperatorRole.MARKET_OPERATIONS
INFORMATION = {
    "firstName": "Eve", "lastName": "Under", "dateOfBirth": "1990-12-10", "country": "GB", "city": "London",
    "street": "12 St James's Square", "postalCode": "SW1Y 4JH",
}  # fmt: skip
WATCHED = ("user_locks", "user_activity", "notifications", "operator_actions", "kyc_profiles", "refresh_tokens")


async def everything(pool: asyncpg.Pool) -> dict[str, list[str]]:
    """What a dry run must not change."""
    return {
        table: sorted(row["row"] for row in await pool.fetch(f"SELECT row::text AS row FROM {table} AS row"))
        for table in WATCHED
    }


async def bulk(edge: RestClient, action: str, ids: list[str], *, dry: bool = False, **more: Any) -> list[Any]:
    body = {"userIds": ids, "dryRun": dry, "reason": "ticket 4711"} | more
    reply = await edge("POST", f"/operator/bulk/{action}", body)
    assert reply.status == 200, reply.body
    assert reply.body["dryRun"] is dry
    return [(row["id"], row["outcome"], row["code"]) for row in reply.body["rows"]]


async def test_a_dry_run_tells_what_would_happen_and_changes_nothing(edge: RestClient, pool: asyncpg.Pool) -> None:
    user = RestClient(edge.settings)
    eve, bob = await register(user, EVE), await register(user, BOB)
    await pool.execute("INSERT INTO user_locks VALUES ($1, 'login', 'before', 'user:x', now())", bob)
    await make_operator(edge, pool, ADA, SUPPORT)
    ada = await pool.fetchval("SELECT user_id FROM users WHERE email = $1", ADA)
    before = await everything(pool)
    wanted = [eve, bob, "nobody", ada, eve]
    assert await bulk(edge, "lock-login", wanted, dry=True) == [
        (eve, "would_change", None), (bob, "unchanged", None), ("nobody", "refused", "USER_NOT_FOUND"),
        (ada, "refused", "OWN_ACCOUNT"),
    ]  # fmt: skip
    assert await bulk(edge, "unlock-login", [eve], dry=True) == [(eve, "refused", "NOT_LOCKED")]
    assert await bulk(edge, "end-sessions", [eve], dry=True) == [(eve, "would_change", None)]
    assert await everything(pool) == before
    # In earnest the same rows come out, and each has its own entry with the reason.
    assert await bulk(edge, "lock-login", wanted) == [
        (eve, "changed", None), (bob, "unchanged", None), ("nobody", "refused", "USER_NOT_FOUND"),
        (ada, "refused", "OWN_ACCOUNT"),
    ]  # fmt: skip
    assert (await log_in(user, EVE)).code == "ACCOUNT_LOCKED"
    entries = await pool.fetch("SELECT action, subject_id, reason FROM operator_actions")
    assert [tuple(entry) for entry in entries] == [("user.login.locked", eve, "ticket 4711")]
    assert await bulk(edge, "unlock-login", [eve, bob]) == [(eve, "changed", None), (bob, "changed", None)]
    assert await bulk(edge, "end-sessions", [eve]) == [(eve, "unchanged", None)]
    await user.close()


async def test_operators_among_many_users_are_refused_row_by_row(edge: RestClient, pool: asyncpg.Pool) -> None:
    user = RestClient(edge.settings)
    eve = await register(user, EVE)
    await make_operator(edge, pool, BOB, OperatorRole.AUDITOR)
    bob = await pool.fetchval("SELECT user_id FROM users WHERE email = $1", BOB)
    for kind in ("login", "withdrawals"):
        await pool.execute("INSERT INTO user_locks VALUES ($1, $2, 'before', 'user:x', now())", bob, kind)
        await pool.execute("INSERT INTO user_locks VALUES ($1, $2, 'before', 'user:x', now())", eve, kind)
    await make_operator(edge, pool, ADA, SUPPORT)
    for action in ("unlock-login", "unlock-withdrawals", "lock-login", "lock-withdrawals", "end-sessions"):
        told = await bulk(edge, action, [bob, eve], dry=True)
        assert told[0] == (bob, "refused", "USER_IS_OPERATOR"), action
        outcome = "unchanged" if action == "end-sessions" else "changed"
        assert await bulk(edge, action, [bob, eve]) == [told[0], (eve, outcome, None)], action
    body = {"userIds": [bob], "dryRun": True, "reason": "ticket 4711"}
    [row] = (await edge("POST", "/operator/bulk/lock-login", body)).body["rows"]
    assert row["message"] == "the user is an operator: this needs the permission operators.end_sessions"
    assert await pool.fetchval("SELECT count(*) FROM operator_actions WHERE subject_id = $1", bob) == 0
    assert await pool.fetchval("SELECT count(*) FROM user_locks WHERE user_id = $1", bob) == 2
    ended = "SELECT count(*) FROM refresh_tokens WHERE user_id = $1 AND revoked_at IS NOT NULL"
    assert await pool.fetchval(ended, bob) == 0
    await user.close()


async def test_each_bulk_action_needs_the_permission_of_the_single_one(edge: RestClient, pool: asyncpg.Pool) -> None:
    await make_operator(edge, pool, ADA, SUPPORT)
    body: dict[str, Any] = {"userIds": ["u1"], "dryRun": True, "reason": "ticket 4711"}
    for action, more in (("cancel-orders", {}), ("decide-verifications", {"decision": "approve"})):
        refused = await edge("POST", f"/operator/bulk/{action}", body | more)
        assert (refused.status, refused.code) == (403, "PERMISSION_MISSING")
    bad_ids: list[list[Any]] = [[], ["u1"] * (ROWS_MAX + 1), [1]]
    for bad in (*({"userIds": ids} for ids in bad_ids), {"dryRun": "no"}, {"reason": ""}):
        assert (await edge("POST", "/operator/bulk/lock-login", body | bad)).status == 400, bad
    without = {name: value for name, value in body.items() if name != "dryRun"}
    assert (await edge("POST", "/operator/bulk/lock-login", without)).status == 400


async def test_open_orders_of_users_are_cancelled_after_the_trail_has_it(
    edge: RestClient, pool: asyncpg.Pool, router: FakeRouter
) -> None:
    edge.token = None
    eve, bob = await register(edge, EVE), await register(edge, BOB)
    await insert(pool, "orders", {"user_id": eve}, order_id="o1", status="open", symbol="BTC-USD")
    await make_operator(edge, pool, ADA, MARKETS)
    orders = [(eve, "would_change", None), (bob, "unchanged", None)]
    assert await bulk(edge, "cancel-orders", [eve, bob], dry=True) == orders
    assert await bulk(edge, "cancel-orders", [eve], dry=True, symbol="ETH-USD") == [(eve, "unchanged", None)]
    assert router.bulk_cancels == [] and await pool.fetchval("SELECT count(*) FROM operator_actions") == 0
    router.bulk_replies.append(CancelOpenOrdersReply(True, ("o1",), False))
    assert await bulk(edge, "cancel-orders", [eve], symbol="BTC-USD") == [(eve, "changed", None)]
    assert [(asked.user_id, asked.symbol) for asked in router.bulk_cancels] == [(eve, "BTC-USD")]
    entry = await pool.fetchrow("SELECT action, subject_id, before FROM operator_actions")
    assert tuple(entry) == ("user.orders.cancelled", eve, '{"market":"BTC-USD","openOrders":"1"}')


async def test_verifications_are_decided_together_and_refused_one_by_one(edge: RestClient, pool: asyncpg.Pool) -> None:
    user = RestClient(edge.settings)
    eve = await register(user, EVE)
    assert (await user("POST", "/kyc/basic-info", INFORMATION)).status in (200, 201)
    await insert(pool, "kyc_profiles", {"user_id": "u2"}, status="pending")
    await make_operator(edge, pool, ADA, COMPLIANCE)
    before = await everything(pool)
    rows = [(eve, "would_change", None), ("u2", "refused", "KYC_BASIC_INFO_REQUIRED")]
    rows.append(("u3", "refused", "VERIFICATION_NOT_FOUND"))
    assert await bulk(edge, "decide-verifications", [eve, "u2", "u3"], dry=True, decision="approve") == rows
    assert await everything(pool) == before
    rows[0] = (eve, "changed", None)
    assert await bulk(edge, "decide-verifications", [eve, "u2", "u3"], decision="approve") == rows
    assert await pool.fetchval("SELECT status FROM kyc_profiles WHERE user_id = $1", eve) == "approved"
    await user.close()


async def test_only_verifications_that_are_as_the_dry_run_told_are_decided(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    users = [RestClient(edge.settings) for _ in range(3)]
    ids = [await register(user, f"eve{number}@example.org") for number, user in enumerate(users)]
    for user in users:
        assert (await user("POST", "/kyc/basic-info", INFORMATION)).status == 200
        assert (await user("POST", "/kyc/start", {"level": "verified"})).status == 201
    await make_operator(edge, pool, ADA, COMPLIANCE)
    body = {"userIds": ids, "dryRun": True, "decision": "approve", "reason": "ticket 4711"}
    told = await edge("POST", "/operator/bulk/decide-verifications", body)
    was = [row["was"] for row in told.body["rows"]]
    assert [(each["status"], each["level"], each["documents"]) for each in was] == [("pending", "basic", [])] * 3
    seen = [{"userId": user_id, "state": each["state"]} for user_id, each in zip(ids, was, strict=True)]
    # After the look one states another name, and another one uploads something.
    assert (await users[0]("POST", "/kyc/basic-info", INFORMATION | {"lastName": "Upper"})).status == 200
    path, headers = "/kyc/documents?kind=proof_of_address", {"Content-Type": "application/pdf"}
    assert (await users[1]("POST", path, raw=pdf("bill"), headers=headers)).status == 201
    changed = (ids[0], "refused", "KYC_VERIFICATION_CHANGED"), (ids[1], "refused", "KYC_VERIFICATION_CHANGED")
    decide = {"decision": "approve", "seen": seen}
    rows = [*changed, (ids[2], "would_change", None)]
    assert await bulk(edge, "decide-verifications", ids, dry=True, **decide) == rows
    rows[2] = (ids[2], "changed", None)
    assert await bulk(edge, "decide-verifications", ids, **decide) == rows
    # What was not told is not decided either, and a new look decides the rest.
    unseen = await bulk(edge, "decide-verifications", ids[:1], decision="approve", seen=[])
    assert unseen == [(ids[0], "refused", "KYC_VERIFICATION_CHANGED")]
    again = (await edge("POST", "/operator/bulk/decide-verifications", body)).body["rows"]
    assert len(again[1]["was"]["documents"]) == 1 and again[2]["was"]["status"] == "approved"
    seen = [{"userId": row["id"], "state": row["was"]["state"]} for row in again]
    done = await bulk(edge, "decide-verifications", ids[:2], decision="approve", seen=seen)
    assert [row[1] for row in done] == ["changed", "changed"]
    for bad in ([{"userId": ids[0], "state": "x"}], [{"userId": ids[0]}], [seen[0]] * (ROWS_MAX + 1)):
        refused = await edge("POST", "/operator/bulk/decide-verifications", body | {"seen": bad})
        assert refused.status == 400, refused.body
    for user in users:
        await user.close()


async def test_a_repeated_bulk_action_does_no_row_twice(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    await make_operator(edge, pool, ADA, SUPPORT)
    body = {"userIds": [eve], "dryRun": False, "reason": "ticket 4711"}
    key = {"Idempotency-Key": "once"}
    first = await edge("POST", "/operator/bulk/end-sessions", body, headers=key)
    again = await edge("POST", "/operator/bulk/end-sessions", body, headers=key)
    assert again.headers["Idempotency-Hit"] == "true" and again.body == first.body
    operation = await pool.fetchval("SELECT request_id FROM operator_actions")
    # The edge was killed before it answered: the request is resumed, and the user has logged in again meanwhile.
    bulk_actions = BulkActions(pool, orders=None)  # type: ignore[arg-type]
    acting = Acting(user_operator("ada", frozenset({SUPPORT})), "ticket 4711", "r1", "")
    tried: list[str] = []

    async def act(user_id: str, one: Acting) -> None:
        tried.append(user_id)

    resumed = await bulk_actions.run([eve, "u2"], acting, IdempotentOperation(operation, is_resumed=True), act, allowed)
    assert [(row.id, row.outcome) for row in resumed.rows] == [(eve, "changed"), ("u2", "unchanged")]
    assert tried == ["u2"]


async def allowed() -> None:
    """The operator may go on."""


async def test_who_loses_the_role_or_the_session_in_the_middle_does_no_row_more(
    edge: RestClient, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = RestClient(edge.settings)
    ids = [await register(user, f"eve{number}@example.org") for number in range(4)]
    await user.close()
    await make_operator(edge, pool, ADA, SUPPORT)
    ada = await pool.fetchval("SELECT user_id FROM users WHERE email = $1", ADA)
    url = edge.settings.database_url

    async def change(statement: str) -> None:
        # The edge runs in a loop of its own.
        connection = await asyncpg.connect(url)
        await connection.execute(statement, ada)
        await connection.close()

    done = OperatedUsers.lock

    def meanwhile(statement: str) -> None:
        """Have something happen right after the second row."""
        rows = 0

        async def lock(*given: Any) -> Any:
            nonlocal rows
            rows += 1
            await done(*given)
            if rows == 2:
                await change(statement)

        monkeypatch.setattr(OperatedUsers, "lock", lock)

    meanwhile("UPDATE operator_roles SET role = 'MARKET_OPERATIONS' WHERE user_id = $1")
    assert await bulk(edge, "lock-login", ids) == [
        (ids[0], "changed", None), (ids[1], "changed", None), (ids[2], "refused", "PERMISSION_MISSING"),
        (ids[3], "refused", "PERMISSION_MISSING"),
    ]  # fmt: skip
    assert await pool.fetchval("SELECT count(*) FROM user_locks") == 2
    await change("UPDATE operator_roles SET role = 'SUPPORT' WHERE user_id = $1")
    meanwhile("UPDATE refresh_tokens SET revoked_at = now() WHERE user_id = $1")
    assert [row[1:] for row in await bulk(edge, "lock-withdrawals", ids)] == [
        ("changed", None), ("changed", None), ("refused", "SESSION_ENDED"), ("refused", "SESSION_ENDED"),
    ]  # fmt: skip
    assert await pool.fetchval("SELECT count(*) FROM operator_actions WHERE action LIKE '%locked'") == 4


@pytest.mark.parametrize("seconds", [0, 1, 2])
async def test_rows_are_not_begun_when_the_time_is_over(seconds: int) -> None:
    clock = iter(range(100))
    actions = BulkActions(None, None, lambda: next(clock), seconds + 0.5)  # type: ignore[arg-type]
    acting = Acting(user_operator("ada", frozenset({SUPPORT})), "ticket 4711", "r1", "")

    async def act(user_id: str, one: Acting) -> None:
        one.entries.append(1)

    done = await actions.run(["a", "b", "c"], acting, IdempotentOperation("o1"), act, allowed)
    assert [row.outcome for row in done.rows] == ["changed"] * seconds + ["not_tried"] * (3 - seconds)
