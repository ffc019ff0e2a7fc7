"""The sections of one user in the operators' routes: each has the rows of that user, all of them, and nobody else's."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

import asyncpg
import pytest

from openspot.http.operators import OperatorRole
from openspot.kit.clock import iso_of
from tests.support.authenticator import PASSWORD, log_in, register
from tests.support.edge_operators import make_operator
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.filled_tables import insert
from tests.support.rest_client import RestClient

ADA, EVE, BOB = "ada@example.org", "eve@example.org", "bob@example.org"
SECTIONS = {
    "orders": "orderId", "trades": "tradeId", "sessions": "sessionId", "api-keys": "id", "activity": "id",
    "notifications": "id", "notes": "text", "transactions": "transactionId",
}  # fmt: skip
"""The field that tells a section's rows apart."""
WHOLE = {"sessions", "api-keys"}
"""Sections that come in one piece, because what a user can have of them is bounded."""


class Filled(NamedTuple):
    """A user with rows in every section, and what each section must show, newest first."""

    user_id: str
    shown: dict[str, list[str]]


async def filled(edge: RestClient, pool: asyncpg.Pool, email: str, first: int) -> Filled:
    """A user with three rows in every section but the notes; the numbers of the rows begin at `first`."""
    numbers = range(first, first + 3)
    user = RestClient(edge.settings)
    user_id = await register(user, email)
    for _ in range(2):
        await log_in(user, email)
    owner = {"user_id": user_id, "buyer_id": user_id}
    await insert(pool, "ledger_accounts", owner, asset="BTC")
    for number in numbers:
        at = f"2026-01-{number:02}T00:00:00Z"
        await insert(
            pool, "orders", owner, order_id=f"order-{number}", engine_order_id=number, created_at=at, symbol="BTC-USD",
        )  # fmt: skip
        await insert(
            pool, "trades", owner, trade_id=f"epoch-{number}", sequence=number, seller_id="maker", taker_side="buy",
            executed_at=at, symbol="BTC-USD",
        )  # fmt: skip
        await insert(pool, "api_keys", owner, key_id=f"key-{number}")
        await insert(pool, "notifications", owner, notification_id=f"notice-{number}", created_at=at)
        await insert(
            pool, "ledger_entries", owner, transaction_id=f"posting-{number}", asset="BTC", created_at=at,
            amount=str(number),
        )  # fmt: skip

    def newest_first(prefix: str) -> list[str]:
        return [f"{prefix}{number}" for number in reversed(numbers)]

    sessions = [row["sessionId"] for row in (await user("GET", "/users/me/sessions")).body]
    activity = [row["id"] for row in (await user("GET", "/users/me/activity")).body]
    await user.close()
    return Filled(user_id, {
        "orders": newest_first("order-"),
        "trades": newest_first("epoch-"),
        "sessions": sessions,
        "api-keys": newest_first("key-"),
        "activity": activity,
        "notifications": newest_first("notice-"),
        "notes": newest_first(f"about {email} "),
        "transactions": newest_first("posting-"),
    })  # fmt: skip


async def walked(edge: RestClient, path: str, limit: int, span: str = "") -> list[dict[str, Any]]:
    """All rows of a list, page by page. Every page but the last is full."""
    rows: list[dict[str, Any]] = []
    cursor = ""
    while True:
        reply = await edge("GET", f"{path}?limit={limit}{span}{cursor}")
        assert reply.status == 200, reply.body
        rows += reply.body
        if "X-Next-Cursor" not in reply.headers:
            return rows
        assert len(reply.body) == limit
        cursor = f"&cursor={reply.headers['X-Next-Cursor']}"


@pytest.mark.usefixtures("ledger")
async def test_each_section_shows_all_rows_of_its_user_and_nobody_elses(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    users = [await filled(edge, pool, EVE, 1), await filled(edge, pool, BOB, 11)]
    await make_operator(edge, pool, ADA, OperatorRole.SUPPORT)
    for user in users:
        for text in reversed(user.shown["notes"]):
            assert (await edge("POST", f"/operator/users/{user.user_id}/notes", {"text": text})).status == 201
    assert users[0].shown.keys() == SECTIONS.keys()
    for user in users:
        for section, field in SECTIONS.items():
            assert len(user.shown[section]) >= 3, section
            path = f"/operator/users/{user.user_id}/{section}"
            if section in WHOLE:
                rows = (await edge("GET", path)).body
                assert sorted(row[field] for row in rows) == sorted(user.shown[section]), section
                continue
            for limit in (1, 2, 100):
                rows = await walked(edge, path, limit)
                assert [row[field] for row in rows] == user.shown[section], (section, limit)
    # An id that nobody has is not an error: what a deleted user left is shown under its id.
    for section in SECTIONS:
        reply = await edge("GET", f"/operator/users/nobody/{section}")
        assert (reply.status, reply.body) == (200, []), section


@pytest.mark.usefixtures("ledger")
async def test_a_section_of_some_days_is_read_on_where_rows_have_the_same_time(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    edge.token = None
    users = [await filled(edge, pool, EVE, 1), await filled(edge, pool, BOB, 11)]
    await make_operator(edge, pool, ADA, OperatorRole.SUPPORT)
    for user in users:
        for text in reversed(user.shown["notes"]):
            assert (await edge("POST", f"/operator/users/{user.user_id}/notes", {"text": text})).status == 201
    noon = datetime(2026, 1, 2, 12, tzinfo=UTC)
    times = {
        "orders": ("orders", "created_at"), "trades": ("trades", "executed_at"),
        "activity": ("user_activity", "created_at"), "notifications": ("notifications", "created_at"),
        "notes": ("user_notes", "created_at"), "transactions": ("ledger_entries", "created_at"),
    }  # fmt: skip
    assert times.keys() == SECTIONS.keys() - WHOLE
    for table, column in times.values():
        await pool.execute(f"UPDATE {table} SET {column} = $1", noon)
    for section in times:
        path, shown = f"/operator/users/{users[0].user_id}/{section}", users[0].shown[section]
        for limit in (1, 2, 100):
            # The first moment counts, the last does not.
            rows = await walked(edge, path, limit, "&from=2026-01-02T12:00:00Z&to=2026-01-02T12:00:00.001Z")
            assert [row[SECTIONS[section]] for row in rows] == shown, (section, limit)
        for beside in ("from=2026-01-02T12:00:00.001Z", "to=2026-01-02T12:00:00Z"):
            assert (await edge("GET", f"{path}?{beside}")).body == [], (section, beside)


@pytest.mark.usefixtures("ledger")
async def test_of_a_closed_account_everything_but_what_is_personal_is_shown(
    edge: RestClient, pool: asyncpg.Pool, engine: FakeEngineHttp
) -> None:
    eve = await filled(edge, pool, EVE, 1)
    owner = {"user_id": eve.user_id}
    await insert(pool, "custody_withdrawals", owner, withdrawal_id="sent")
    await insert(pool, "custody_deposits", owner, tx_hash="came")
    await insert(pool, "payments", owner, payment_id="paid")
    clients = [RestClient(edge.settings) for _ in range(2)]
    names = []
    for client, email in zip(clients, (ADA, BOB), strict=True):
        await make_operator(client, pool, email, OperatorRole.COMPLIANCE, OperatorRole.SUPPORT)
        names.append(f"user:{await pool.fetchval('SELECT user_id FROM users WHERE email = $1', email)}")
    ada, bob = clients
    path = f"/operator/users/{eve.user_id}"
    assert (await ada("POST", f"{path}/notes", {"text": "calls at night"})).status == 201
    asked = await ada("POST", f"{path}/closure", {"reason": "asked by letter"})
    approval = f"/operator/requests/{asked.body['id']}/approval"
    assert (await bob("POST", approval, {"reason": "letter seen"})).body["status"] == "approved"

    closed = (await ada("GET", path)).body
    assert iso_of(await pool.fetchval("SELECT deleted_at FROM deleted_users")) == closed.pop("closedAt")
    assert closed == {
        "userId": eve.user_id,
        "closure": {
            "requestedBy": names[0], "reason": "asked by letter",
            "approvedBy": names[1], "approvalReason": "letter seen",
        },
        "marginAccounts": [],
    }  # fmt: skip
    found = (await ada("GET", f"/operator/users/search?q={eve.user_id}")).body["users"]
    assert [(row["userId"], row["email"], row["foundBy"]) for row in found] == [(eve.user_id, None, "id")]
    for section in ("orders", "trades", "transactions"):
        rows = await walked(ada, f"{path}/{section}", 2)
        assert [row[SECTIONS[section]] for row in rows] == eve.shown[section], section
    for section in ("sessions", "api-keys", "activity", "notifications", "notes"):
        assert (await ada("GET", f"{path}/{section}")).body == [], section
    money = {"withdrawals": ("id", "sent"), "deposits": ("txHash", "came"), "payments": ("id", "paid")}
    for name, (field, row_id) in money.items():
        shown = (await ada("GET", f"/operator/{name}?userId={eve.user_id}")).body
        assert [row[field] for row in shown] == [row_id], name
    balances = {row["asset"]: row["ledgerTotal"] for row in (await ada("GET", f"{path}/balances")).body}
    assert balances["BTC"] == "0"
    trail = await ada("GET", f"/operator/trail?subjectId={eve.user_id}&action=account_closure.approved")
    assert [entry["operator"] for entry in trail.body] == [names[1]]
    for method, action in (("PUT", "locks/login"), ("DELETE", "sessions"), ("POST", "closure")):
        refused = await ada(method, f"{path}/{action}", {"reason": "too late"})
        assert (refused.status, refused.code) == (404, "USER_NOT_FOUND"), action
    for client in clients:
        await client.close()


async def test_an_account_that_its_user_closed_was_closed_by_no_operator(
    edge: RestClient, pool: asyncpg.Pool, engine: FakeEngineHttp
) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    # A request that was refused closed nothing.
    await insert(
        pool, "operator_requests", {"user_id": eve}, kind="account_closure", status="rejected", reason="by mistake",
    )  # fmt: skip
    assert (await edge("DELETE", "/users/me", {"password": PASSWORD})).status in (200, 204)
    await make_operator(edge, pool, ADA, OperatorRole.SUPPORT)
    closed = await edge("GET", f"/operator/users/{eve}")
    assert (closed.status, closed.body["closure"], closed.body["marginAccounts"]) == (200, None, [])
    assert closed.body.keys() == {"userId", "closedAt", "closure", "marginAccounts"}
    assert (await edge("GET", "/operator/users/nobody")).code == "USER_NOT_FOUND"


@pytest.mark.usefixtures("ledger")
async def test_movements_are_the_ledgers_entries_with_the_balance_after_each(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    user = {"user_id": "mover"}
    for asset in ("BTC", "USD"):
        await insert(pool, "ledger_accounts", user, asset=asset)
    entries = (
        ("t1", "USD", "100", "100", "deposit"),
        ("t2", "USD", "-40.5", "59.5", "trade"),
        ("t3", "BTC", "1", "1", "trade"),
    )
    for number, (transaction, asset, amount, balance, kind) in enumerate(entries, 1):
        await insert(
            pool, "ledger_entries", user, transaction_id=transaction, asset=asset, amount=amount, balance=balance,
            entry_type=kind, reference_type=kind, reference_id=f"r{number}",
            created_at=f"2026-01-0{number}T00:00:00Z",
        )  # fmt: skip
    await make_operator(edge, pool, ADA, OperatorRole.SUPPORT)
    rows = await walked(edge, "/operator/users/mover/transactions", 2)
    assert rows == [
        {
            "transactionId": transaction, "asset": asset, "amount": amount, "balance": balance, "entryType": kind,
            "referenceType": kind, "referenceId": f"r{number}", "createdAt": f"2026-01-0{number}T00:00:00.000Z",
        }
        for number, (transaction, asset, amount, balance, kind) in reversed([*enumerate(entries, 1)])
    ]  # fmt: skip
    path = "/operator/users/mover/transactions"
    for query, reason in (
        ("cursor=zzz", "cursor is not one that this list gave"),
        # It is rounded to the first millisecond of the year 10000, which no message can name.
        ("to=9999-12-31T23:59:59.9999Z", "to must be a time from 1970 on and before the year 10000"),
    ):
        refused = await edge("GET", f"{path}?{query}")
        assert (refused.status, refused.message) == (400, [reason])


async def test_without_the_ledger_movements_answer_503(edge: RestClient, pool: asyncpg.Pool) -> None:
    await make_operator(edge, pool, ADA, OperatorRole.SUPPORT)
    refused = await edge("GET", "/operator/users/mover/transactions")
    assert (refused.status, refused.message) == (503, "transactions cannot be read now")
