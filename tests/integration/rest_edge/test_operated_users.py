"""What operators do for users: find, lock, end sessions, note, limit, and what needs two persons."""

import asyncio
import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import asyncpg

from openspot.domain.accounts import margin_account_id
from openspot.http.operators import OperatorRole
from openspot.kit.clock import utc_now
from openspot.rest_edge.identity.activity.log import ActivityLog
from openspot.rest_edge.identity.credentials.store import AuthStore, NewSession, User
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.operators.adjustments.store import ADJUSTMENTS, AdjustmentFilter
from openspot.rest_edge.operators.lists.listings import DEPOSITS, PAYMENTS, WITHDRAWALS, ListFilter, ListPosition
from openspot.rest_edge.operators.pending import store as requests
from openspot.rest_edge.operators.pending.rules import RequestStatus
from openspot.rest_edge.operators.pending.store import RequestFilter
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.operators.treasury.flow_store import FLOWS, FlowFilter
from openspot.rest_edge.operators.treasury.store import TRANSFERS, HouseTransferFilter
from openspot.rest_edge.operators.users.search import FOUND, FOUND_MAX, newest, search
from openspot.rest_edge.operators.users.store import margin_accounts, notes_of
from openspot.rest_edge.operators.verification.store import queue
from tests.support.authenticator import enable_mfa, log_in, register
from tests.support.edge_operators import make_operator
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.filled_tables import insert
from tests.support.histories import RecordingPool, fill
from tests.support.rest_client import Reply, RestClient
from tests.support.waiting import eventually

ADA, BOB, EVE = "ada@example.org", "bob@example.org", "eve@example.org"
COMPLIANCE, SUPPORT = OperatorRole.COMPLIANCE, OperatorRole.SUPPORT
WHY = {"reason": "ticket 4711"}


async def trail(pool: asyncpg.Pool) -> list[tuple[str, str]]:
    """The actions of the trail with their subjects, oldest first."""
    rows = await pool.fetch("SELECT action, subject_id FROM operator_actions ORDER BY entry_number")
    return [(row["action"], row["subject_id"]) for row in rows]


async def operators(edge: RestClient, pool: asyncpg.Pool, *roles: OperatorRole) -> list[RestClient]:
    """Clients of the same edge, each of an operator with these roles."""
    clients = []
    for email in (ADA, BOB):
        client = RestClient(edge.settings)
        await make_operator(client, pool, email, *roles)
        clients.append(client)
    return clients


async def close(clients: Sequence[RestClient]) -> None:
    for client in clients:
        await client.close()


async def test_a_user_is_found_by_whatever_the_operator_has(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    await edge("PATCH", "/users/me/profile", {"displayName": "Eve Ünder"})
    user = {"user_id": eve}
    await insert(pool, "custody_addresses", user, address="0xabc1")
    await insert(pool, "withdrawal_addresses", user, address_id="a1", address="bc1saved")
    await insert(pool, "custody_deposits", user, tx_hash="0xdead")
    await insert(
        pool, "custody_withdrawals", user, withdrawal_id="With1", address="0xsent", tx_hash="0xbeef",
        client_withdrawal_id=None,
    )  # fmt: skip
    await insert(
        pool, "orders", user, order_id="Ord3rOrd3rOrd3rX", engine_order_id=907_060_504, client_order_id="my Order-7",
    )  # fmt: skip
    await insert(pool, "trades", {"buyer_id": eve}, trade_id="BTC-USD-77", seller_id="house:x")
    await insert(pool, "ledger_entries", user, transaction_id="transfer:t1")
    await insert(pool, "payments", user, payment_id="Pay1")
    # Everything of another, beside it.
    for table in (
        "custody_addresses", "withdrawal_addresses", "custody_deposits", "custody_withdrawals", "orders",
        "ledger_entries", "payments",
    ):  # fmt: skip
        await insert(pool, table, {"user_id": "another"})
    await make_operator(edge, pool, ADA, SUPPORT)
    for text, by in {
        "EVE@": "email", "EVE Ü": "name", eve: "id", "0xABC1": "deposit address", "BC1SAVED": "saved address",
        "SENT": "withdrawal address", "DEAD": "deposit", "With1": "withdrawal", "BEEF": "withdrawal",
        "Ord3rOrd3rOrd3rX": "order", "907060504": "engine order", "my%20Order-7": "client order id",
        "transfer:t1": "ledger entry", "Pay1": "payment",
    }.items():  # fmt: skip
        reply = await edge("GET", f"/operator/users/search?q={text}")
        assert [(user["userId"], user["foundBy"]) for user in reply.body["users"]] == [(eve, by)], text
    # Of a trade its user alone: no account of the house is a user.
    sides = (await edge("GET", "/operator/users/search?q=BTC-USD-77")).body
    assert [(user["userId"], user["email"], user["foundBy"]) for user in sides["users"]] == [(eve, EVE, "trade")]
    assert sides["complete"] is True
    # Too short for a prefix, a wildcard, a quote, no number of an engine: nothing, and no error.
    for text in ("ev", "%25%25%25", "a'b--", "_ve", "my order-7", "00", "9223372036854775808", "٩٠٧٠٦٠٥٠٤", "9" * 128):
        reply = await edge("GET", f"/operator/users/search?q={text}")
        assert (reply.status, reply.body) == (200, {"users": [], "complete": True}), text
    assert (await edge("GET", "/operator/users/search?q=%00%00")).status == 400
    page = await edge("GET", "/operator/users?limit=1")
    assert [user["email"] for user in page.body] == [ADA]
    cursor = page.headers["X-Next-Cursor"]
    assert [user["email"] for user in (await edge("GET", f"/operator/users?limit=1&cursor={cursor}")).body] == [EVE]
    assert (await edge("GET", "/operator/users?to=2020-01-01T00:00:00Z")).body == []


async def test_what_a_margin_account_did_leads_to_its_user(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    margin = {"user_id": margin_account_id(eve, 2)}
    await insert(pool, "orders", margin, order_id="M4rginM4rginM4rg", engine_order_id=11, client_order_id="on margin")
    await insert(pool, "trades", {"buyer_id": margin["user_id"]}, trade_id="BTC-USD-78", seller_id=eve)
    await insert(pool, "ledger_entries", margin, transaction_id="BTC-USD-78:buyer")
    await insert(pool, "ledger_entries", {"user_id": "house:fees"}, transaction_id="BTC-USD-78:fee")
    await make_operator(edge, pool, ADA, SUPPORT)
    for text, by in {
        "M4rginM4rginM4rg": "order", "11": "engine order", "on%20margin": "client order id", "BTC-USD-78": "trade",
        "BTC-USD-78:buyer": "ledger entry",
    }.items():  # fmt: skip
        users = (await edge("GET", f"/operator/users/search?q={text}")).body["users"]
        assert [(user["userId"], user["email"], user["foundBy"]) for user in users] == [(eve, EVE, by)], text
        assert (await edge("GET", f"/operator/users/{users[0]['userId']}")).status == 200
    assert (await edge("GET", "/operator/users/search?q=BTC-USD-78:fee")).body == {"users": [], "complete": True}


async def test_who_uses_an_id_again_and_again_hides_nobody_else(pool: asyncpg.Pool) -> None:
    await fill(pool, 100)
    await pool.execute("UPDATE orders SET client_order_id = 'bot', user_id = 'a' WHERE engine_order_id < 100")
    await pool.execute("UPDATE orders SET client_order_id = 'bot', user_id = 'b' WHERE engine_order_id = 100")
    found, is_complete = await search(pool, "bot")
    assert ([user.user_id for user in found], is_complete) == (["a", "b"], True)


async def test_a_search_says_that_there_are_more_than_it_shows(pool: asyncpg.Pool) -> None:
    for number in range(FOUND_MAX):
        await insert(pool, "users", {"user_id": f"u{number:02}"}, email=f"many{number:02}@example.org", role="user")
    found, is_complete = await search(pool, "many")
    assert (len({user.user_id for user in found}), is_complete) == (FOUND_MAX, True)
    await insert(pool, "users", {"user_id": "u99"}, email="many99@example.org", role="user")
    found, is_complete = await search(pool, "many")
    assert (len({user.user_id for user in found}), is_complete) == (FOUND_MAX, False)


async def test_days_of_a_users_own_lists_are_read_along_their_order(edge: RestClient, pool: asyncpg.Pool) -> None:
    recording, day = RecordingPool(pool), Span(utc_now() - timedelta(days=1), utc_now())
    nothing: Any = None
    await ActivityLog(recording, nothing).page("u1", 50, 7, since=day.since, until=day.until)
    await NotificationStore(recording, nothing, nothing).page("u1", 50, 7, since=day.since, until=day.until)
    await notes_of(recording, "u1", day, 50, 7)
    indexes = ("user_activity_user", "notifications_user", "user_notes_of_user")
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        await connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        for index, (text, values) in zip(indexes, recording.issued, strict=True):
            plan = "\n".join(row[0] for row in await connection.fetch(f"EXPLAIN {text}", *values))
            assert f" using {index} " in plan and "Sort" not in plan, plan


async def test_a_search_and_every_list_read_indexes(edge: RestClient, pool: asyncpg.Pool) -> None:
    queries: list[tuple[str, list[Any]]] = [(FOUND, ["eve@", "eve@", "eveA", True, ["eve@"], "eve", "evf", 7])]
    recording, day = RecordingPool(pool), Span(utc_now() - timedelta(days=1), utc_now())
    after = (utc_now(), "x")
    for listing in (WITHDRAWALS, DEPOSITS, PAYMENTS):
        queries.append(listing.query(ListFilter(), None, 50))
        queries.append(listing.query(ListFilter(user_id="u1"), None, 50))
        queries.append(listing.query(ListFilter("u1", since=day.since, until=day.until), ListPosition(*after), 50))
    queries.append(WITHDRAWALS.query(ListFilter(assignee="user:ada"), None, 50))
    await newest(recording, 50, after, day)
    await queue(recording, "pending", day, 50, after)
    await queue(recording, "pending", day, 50, after, "u1")
    await ADJUSTMENTS.page(recording, AdjustmentFilter(span=day), 50, after)
    await ADJUSTMENTS.page(recording, AdjustmentFilter("u1", span=day), 50, after)
    await requests.page(recording, RequestFilter(span=day), 50, after)
    await requests.page(recording, RequestFilter(RequestStatus.WAITING, span=day), 50, after)
    await requests.page(recording, RequestFilter(user_id="u1", span=day), 50, after)
    await TRANSFERS.page(recording, HouseTransferFilter(span=day), 50, after)
    await FLOWS.page(recording, FlowFilter(span=day), 50, after)
    await margin_accounts(recording, "u1")
    queries += [(text, list(values)) for text, values in recording.issued]
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("SET LOCAL enable_seqscan = off")
        await connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        for text, values in queries:
            plan = "\n".join(row[0] for row in await connection.fetch(f"EXPLAIN {text}", *values))
            assert "Seq Scan" not in plan, plan
            if text is FOUND:
                used = set(re.findall(r" using (\w+) on orders| on (orders\w+)", plan))
                assert {"".join(names) for names in used} == {
                    "orders_pkey", "orders_engine_order_id_key", "orders_by_client_id",
                }, plan  # fmt: skip


async def test_one_user_is_shown_with_balances_of_both_sides(
    edge: RestClient, pool: asyncpg.Pool, engine: FakeEngineHttp
) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    await insert(pool, "ledger_accounts", {"user_id": eve}, asset="BTC", available="1.5", locked="0.5")
    older, margin = await open_margin_accounts(pool, eve)
    await insert(pool, "ledger_accounts", {"user_id": margin}, asset="BTC", available="3", locked="0")
    engine.balances = {
        eve: [{"currency": "BTC", "total": "2", "available": "2", "locked": "0", "reserved": "0"}],
        margin: [{"currency": "BTC", "total": "4", "available": "1", "locked": "3", "reserved": "0"}],
    }
    await make_operator(edge, pool, ADA, SUPPORT)
    shown = (await edge("GET", f"/operator/users/{eve}")).body
    assert (shown["email"], shown["verificationLevel"], shown["locks"], shown["plan"]) == (EVE, "none", [], None)
    assert shown["marginAccounts"] == [margin, older]
    assert (await edge("GET", f"/operator/users/{eve}/balances")).body == [
        {"account": eve, "asset": "BTC", "engineTotal": "2", "engineAvailable": "2", "ledgerTotal": "2",
         "ledgerAvailable": "1.5", "difference": "0"},
        {"account": margin, "asset": "BTC", "engineTotal": "4", "engineAvailable": "1", "ledgerTotal": "3",
         "ledgerAvailable": "3", "difference": "-1"},
    ]  # fmt: skip
    assert (await edge("GET", "/operator/users/nobody")).code == "USER_NOT_FOUND"


async def test_orders_and_trades_of_all_accounts_of_a_user_are_one_list(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    accounts = [eve, *await open_margin_accounts(pool, eve), "another", "margin:another"]
    for number in range(15):
        account = {"user_id": accounts[number % 5], "buyer_id": accounts[number % 5]}
        order_id, at = f"OrderOrderOrder{chr(97 + number)}", f"2026-05-01T00:00:{number:02}Z"
        await insert(pool, "orders", account, order_id=order_id, engine_order_id=number + 1, created_at=at)
        await insert(
            pool, "trades", account, trade_id=f"BTC-USD-{number}", seller_id="another", taker_side="buy",
            sequence=number, executed_at=at,
        )  # fmt: skip
    await make_operator(edge, pool, ADA, SUPPORT, OperatorRole.AUDITOR)
    newest_first = [accounts[number % 5] for number in range(14, -1, -1) if number % 5 < 3]

    async def read(path: str, limit: int) -> list[dict[str, Any]]:
        rows, cursor = [], ""
        while True:
            page = await edge("GET", f"/operator/users/{eve}/{path}limit={limit}{cursor}")
            rows += page.body
            if "X-Next-Cursor" not in page.headers:
                return rows
            cursor = f"&cursor={page.headers['X-Next-Cursor']}"

    for limit in (1, 2, 4, 9, 50):
        orders, trades = await read("orders?", limit), await read("trades?", limit)
        assert [row["userId"] for row in orders] == newest_first, limit
        assert [row["createdAt"] for row in orders] == sorted((row["createdAt"] for row in orders), reverse=True)
        assert [row["account"] for row in trades] == newest_first, limit
        assert [row["sequence"] for row in trades] == [12, 11, 10, 7, 6, 5, 2, 1, 0]
    for account in accounts[:3]:
        assert [row["userId"] for row in await read(f"orders?account={account}&", 2)] == [account] * 3
        assert [row["account"] for row in await read(f"trades?account={account}&", 2)] == [account] * 3
    for path in ("orders", "trades", "transactions", "orders/export", "trades/export", "transactions/export"):
        refused = await edge("GET", f"/operator/users/{eve}/{path}?account=margin:another&reason=audit")
        assert (refused.status, refused.body["message"]) == (400, [f"account margin:another is not one of user {eve}"])
    file = await edge("GET", f"/operator/users/{eve}/trades/export?account={accounts[1]}&reason=audit")
    heading, *lines = file.body.splitlines()
    assert heading.split(",")[-1] == "account" and [line.split(",")[-1] for line in lines] == [accounts[1]] * 3


async def open_margin_accounts(pool: asyncpg.Pool, user_id: str) -> tuple[str, str]:
    """A margin account that is closed, and one that is open."""
    older, newer = margin_account_id(user_id, 1), margin_account_id(user_id, 2)
    for account_id, status, day in ((older, "closed", "2026-01-01"), (newer, "active", "2026-02-01")):
        await insert(
            pool, "margin_accounts", {"user_id": user_id}, account_id=account_id, status=status, created_at=day
        )
    return older, newer


async def test_a_locked_login_ends_everything_at_once_and_is_undone(edge: RestClient, pool: asyncpg.Pool) -> None:
    user = RestClient(edge.settings)
    eve = await register(user, EVE)
    key = (await user("POST", "/api-keys", {"name": "bot", "scopes": ["read"]})).body
    await make_operator(edge, pool, ADA, SUPPORT)
    locked = await edge("PUT", f"/operator/users/{eve}/locks/login", WHY)
    assert (locked.status, locked.body["kind"], locked.body["reason"]) == (200, "login", "ticket 4711")
    assert (await user("GET", "/users/me/profile")).status == 401
    refused = await log_in(user, EVE)
    assert (refused.status, refused.code) == (403, "ACCOUNT_LOCKED")
    # Whoever does not know the password is not told.
    assert (await log_in(user, EVE, "wrong horse battery")).code == "INVALID_CREDENTIALS"
    usable = "SELECT count(*) FROM api_keys WHERE key_id = $1 AND revoked_at IS NULL"
    assert await pool.fetchval(usable, key["id"]) == 1
    # A second lock keeps the first reason and writes nothing.
    again = await edge("PUT", f"/operator/users/{eve}/locks/login", {"reason": "another reason"})
    assert again.body["reason"] == "ticket 4711"
    assert (await edge("DELETE", f"/operator/users/{eve}/locks/login", WHY)).status == 200
    assert (await edge("DELETE", f"/operator/users/{eve}/locks/login", WHY)).code == "NOT_LOCKED"
    assert (await log_in(user, EVE)).status == 200
    assert await trail(pool) == [("user.login.locked", eve), ("user.login.unlocked", eve)]
    kinds = await pool.fetch("SELECT kind FROM user_activity WHERE user_id = $1 AND kind LIKE 'login_%'", eve)
    assert sorted(row["kind"] for row in kinds) == ["login_locked", "login_unlocked"]
    await user.close()


async def test_a_login_that_waits_for_its_code_does_not_slip_past_the_lock(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    user = RestClient(edge.settings)
    eve = await register(user, EVE)
    app = await enable_mfa(user)
    challenge = (await log_in(user, EVE)).body
    await make_operator(edge, pool, ADA, SUPPORT)
    await edge("PUT", f"/operator/users/{eve}/locks/login", WHY)
    body = {"challengeToken": challenge["challengeToken"], "code": app.code()}
    assert (await user("POST", "/auth/login/mfa", body)).code == "MFA_CHALLENGE_INVALID"
    await user.close()


async def test_locked_withdrawals_are_locked_in_the_table_that_custody_reads(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    await make_operator(edge, pool, ADA, SUPPORT)
    assert (await edge("PUT", f"/operator/users/{eve}/locks/withdrawals", WHY)).status == 200
    assert await pool.fetchval("SELECT kind FROM user_locks WHERE user_id = $1", eve) == "withdrawals"
    found = (await edge("GET", f"/operator/users/search?q={EVE}")).body["users"][0]
    assert found["locks"] == ["withdrawals"]


async def test_sessions_are_ended_one_by_one_or_all_together(edge: RestClient, pool: asyncpg.Pool) -> None:
    user = RestClient(edge.settings)
    eve = await register(user, EVE)
    first = user.token
    second = (await log_in(user, EVE)).body["accessToken"]
    await make_operator(edge, pool, ADA, SUPPORT)
    sessions = (await edge("GET", f"/operator/users/{eve}/sessions")).body
    assert len(sessions) == 2 and not any(session["current"] for session in sessions)
    newest = sessions[0]["sessionId"]
    assert (await edge("DELETE", f"/operator/users/{eve}/sessions/{newest}", WHY)).body == {"ended": 1}
    user.token = second
    assert (await user("GET", "/users/me/profile")).status == 401
    user.token = first
    assert (await user("GET", "/users/me/profile")).status == 200
    assert (await edge("DELETE", f"/operator/users/{eve}/sessions/{newest}", WHY)).code == "SESSION_NOT_FOUND"
    assert (await edge("DELETE", f"/operator/users/{eve}/sessions", WHY)).body == {"ended": 1}
    assert (await user("GET", "/users/me/profile")).status == 401
    # The session of another user is none of this user's.
    other = await register(user, BOB)
    theirs = (await edge("GET", f"/operator/users/{other}/sessions")).body[0]["sessionId"]
    assert (await edge("DELETE", f"/operator/users/{eve}/sessions/{theirs}", WHY)).status == 404
    await user.close()


async def test_notes_limits_and_mails_are_written_and_stand_in_the_trail(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    await make_operator(edge, pool, ADA, SUPPORT, COMPLIANCE)
    noted = await edge("POST", f"/operator/users/{eve}/notes", {"text": "lost the phone"})
    assert (noted.status, noted.body["text"]) == (201, "lost the phone")
    assert [note["text"] for note in (await edge("GET", f"/operator/users/{eve}/notes")).body] == ["lost the phone"]
    limits = {"dailyWithdrawalUsd": 500, "apiKeys": 0, "savedAddresses": None}
    assert (await edge("PUT", f"/operator/users/{eve}/limits", limits | WHY)).body == limits
    assert (await edge("GET", f"/operator/users/{eve}")).body["limits"] == limits
    for bad in ({"apiKeys": -1}, {"apiKeys": "3"}, {"dailyWithdrawalUsd": 1.5}):
        assert (await edge("PUT", f"/operator/users/{eve}/limits", limits | bad | WHY)).status == 400, bad
    assert (await edge("PUT", f"/operator/users/{eve}/limits", limits)).status == 400
    mail = {"kind": "verify_email"} | WHY
    # The mail of the registration was sent just now, and the sender would drop another one.
    await eventually(lambda: pool.fetchval("SELECT EXISTS (SELECT FROM mail_tokens WHERE user_id = $1)", eve))
    refused = await edge("POST", f"/operator/users/{eve}/mails", mail)
    assert (refused.status, refused.code) == (409, "MAIL_SENT_JUST_NOW")
    assert (refused.message or "").endswith("another can be sent 120 s after it")
    await pool.execute("UPDATE mail_tokens SET created_at = now() - interval '121 s' WHERE user_id = $1", eve)
    assert (await edge("POST", f"/operator/users/{eve}/mails", mail)).status == 202
    await pool.execute("UPDATE users SET email_verified_at = now() WHERE user_id = $1", eve)
    assert (await edge("POST", f"/operator/users/{eve}/mails", mail)).code == "EMAIL_VERIFIED_ALREADY"
    assert await trail(pool) == [
        ("user.note.added", eve), ("user.limits.changed", eve), ("user.mail.sent", eve),
    ]  # fmt: skip
    # What a note says is personal data, and the trail stays when the user goes.
    assert not await pool.fetchval("SELECT count(*) FROM operator_actions WHERE after LIKE '%phone%'")
    user = RestClient(edge.settings)
    user.token = (await log_in(user, EVE)).body["accessToken"]
    refused = await user("POST", "/api-keys", {"name": "bot", "scopes": ["read"]})
    assert (refused.status, refused.code) == (409, "TOO_MANY_API_KEYS")
    assert (await user("GET", "/kyc/status")).body["dailyWithdrawalLimit"] == "500"
    await user.close()


async def test_administrators_alone_lock_operators_or_end_their_sessions(edge: RestClient, pool: asyncpg.Pool) -> None:
    ada = RestClient(edge.settings)
    await make_operator(ada, pool, ADA, OperatorRole.ADMINISTRATOR)
    ada_id = await pool.fetchval("SELECT user_id FROM users WHERE email = $1", ADA)
    session = await pool.fetchval("SELECT max(session_id) FROM user_sessions WHERE user_id = $1", ada_id)
    await pool.execute("INSERT INTO user_locks VALUES ($1, 'withdrawals', 'before', 'user:x', now())", ada_id)
    locks, tokens = "SELECT * FROM user_locks", "SELECT * FROM refresh_tokens WHERE user_id = $1 ORDER BY created_at"
    before = await pool.fetch(locks), await pool.fetch(tokens, ada_id)
    for role in (SUPPORT, COMPLIANCE):
        await make_operator(edge, pool, f"{role.lower()}@example.org", role)
        for method, path in (
            ("PUT", "locks/login"), ("PUT", "locks/withdrawals"), ("DELETE", "locks/login"),
            ("DELETE", "locks/withdrawals"), ("DELETE", "sessions"), ("DELETE", f"sessions/{session}"),
        ):  # fmt: skip
            refused = await edge(method, f"/operator/users/{ada_id}/{path}", WHY)
            assert (refused.status, refused.code) == (403, "USER_IS_OPERATOR"), path
            assert refused.message == "the user is an operator: this needs the permission operators.end_sessions"
            assert refused.body["details"] == {"permission": "operators.end_sessions"}
    assert (await pool.fetch(locks), await pool.fetch(tokens, ada_id)) == before
    assert await trail(pool) == []
    # Who may end sessions of operators does all of it.
    await make_operator(edge, pool, BOB, OperatorRole.ADMINISTRATOR)
    for method, path in (
        ("DELETE", "locks/withdrawals"), ("DELETE", f"sessions/{session}"), ("PUT", "locks/login"),
        ("DELETE", "locks/login"),
    ):  # fmt: skip
        assert (await edge(method, f"/operator/users/{ada_id}/{path}", WHY)).status == 200, path
    assert [action for action, _ in await trail(pool)] == [
        "user.withdrawals.unlocked", "user.sessions.ended", "user.login.locked", "user.login.unlocked",
    ]  # fmt: skip
    await ada.close()


async def test_support_alone_reads_and_locks_but_moves_no_money_and_decides_nothing(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    await make_operator(edge, pool, ADA, SUPPORT)
    money = {"asset": "USD", "amount": "1", "category": "goodwill"} | WHY
    limits = {"dailyWithdrawalUsd": 10**9, "apiKeys": None, "savedAddresses": None} | WHY
    for method, path, body in (
        ("POST", f"users/{eve}/adjustments", money),
        ("PUT", f"users/{eve}/limits", limits),
        ("POST", f"users/{eve}/second-factor-reset", WHY),
        ("POST", f"users/{eve}/closure", WHY),
        ("GET", f"verifications/{eve}", None),
        ("POST", f"verifications/{eve}/decision", {"decision": "approve"} | WHY),
        ("GET", "withdrawals/export?reason=curious", None),
        ("GET", "payments/export?reason=curious", None),
    ):
        refused = await edge(method, f"/operator/{path}", body)
        assert (refused.status, refused.code) == (403, "PERMISSION_MISSING"), path
    assert await trail(pool) == []


async def test_nobody_acts_on_an_account_of_their_own(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    await make_operator(edge, pool, ADA, SUPPORT, COMPLIANCE)
    ada = await pool.fetchval("SELECT user_id FROM users WHERE email = $1", ADA)
    limits = {"dailyWithdrawalUsd": 10**9, "apiKeys": None, "savedAddresses": None} | WHY
    assert (await edge("PUT", f"/operator/users/{ada}/limits", limits)).code == "OWN_ACCOUNT"
    assert (await edge("PUT", f"/operator/users/{ada}/locks/login", WHY)).code == "OWN_ACCOUNT"
    first, second = sorted((ada, eve))
    link = "INSERT INTO owner_links (first_user_id, second_user_id, reason, linked_by) VALUES ($1, $2, 'same', 'x')"
    await pool.execute(link, first, second)
    assert (await edge("PUT", f"/operator/users/{eve}/limits", limits)).code == "OWN_ACCOUNT"


async def with_second_factor(edge: RestClient) -> tuple[RestClient, str]:
    """Eve with a second factor, and her id."""
    user = RestClient(edge.settings)
    eve = await register(user, EVE)
    await enable_mfa(user)
    return user, eve


async def test_a_second_factor_is_reset_by_two_persons_once(edge: RestClient, pool: asyncpg.Pool) -> None:
    user, eve = await with_second_factor(edge)
    ada, bob = await operators(edge, pool, COMPLIANCE)
    asked = await ada("POST", f"/operator/users/{eve}/second-factor-reset", WHY)
    assert (asked.status, asked.body["status"]) == (202, "waiting")
    assert (await ada("POST", f"/operator/users/{eve}/second-factor-reset", WHY)).code == "REQUEST_WAITS"
    path = f"/operator/requests/{asked.body['id']}"
    assert (await ada("POST", f"{path}/approval", WHY)).code == "SAME_PERSON"
    assert (await user("GET", "/users/me/mfa")).body["enabled"]

    replies: list[Reply] = await asyncio.gather(*(bob("POST", f"{path}/approval", WHY) for _ in range(4)))
    assert sorted(reply.status for reply in replies) == [200, 409, 409, 409]
    assert {reply.code for reply in replies if reply.status == 409} == {"REQUEST_DECIDED"}
    assert (await user("GET", "/users/me/mfa")).status == 401
    assert "accessToken" in (await log_in(user, EVE)).body
    assert await trail(pool) == [("second_factor_reset.requested", eve), ("second_factor_reset.approved", eve)]
    listed = (await ada("GET", f"/operator/requests?userId={eve}&status=approved")).body
    assert [row["id"] for row in listed] == [asked.body["id"]]
    assert (await ada("POST", f"/operator/users/{eve}/second-factor-reset", WHY)).code == "MFA_NOT_ENABLED"
    await close([user, ada, bob])


async def test_a_request_that_expired_or_was_rejected_does_nothing(edge: RestClient, pool: asyncpg.Pool) -> None:
    user, eve = await with_second_factor(edge)
    ada, bob = await operators(edge, pool, COMPLIANCE)
    first = (await ada("POST", f"/operator/users/{eve}/second-factor-reset", WHY)).body["id"]
    await pool.execute("UPDATE operator_requests SET expires_at = now()")
    assert (await bob("POST", f"/operator/requests/{first}/approval", WHY)).code == "REQUEST_EXPIRED"
    # An expired one is no reason against a new one.
    second = (await ada("POST", f"/operator/users/{eve}/second-factor-reset", WHY)).body["id"]
    # Who asked may call it off.
    assert (await ada("POST", f"/operator/requests/{second}/rejection", WHY)).body["status"] == "rejected"
    assert (await bob("POST", f"/operator/requests/{second}/approval", WHY)).code == "REQUEST_DECIDED"
    assert (await bob("POST", "/operator/requests/nothing/approval", WHY)).code == "REQUEST_NOT_FOUND"
    assert (await user("GET", "/users/me/mfa")).body["enabled"]
    await close([user, ada, bob])


async def test_an_account_is_closed_by_two_persons_and_only_when_nothing_is_left(
    edge: RestClient, pool: asyncpg.Pool, engine: FakeEngineHttp
) -> None:
    user = RestClient(edge.settings)
    eve = await register(user, EVE)
    ada, bob = await operators(edge, pool, COMPLIANCE)
    await insert(pool, "orders", {"user_id": eve}, order_id="o1", status="open")
    assert (await ada("POST", f"/operator/users/{eve}/closure", WHY)).code == "OPEN_ORDERS_REMAIN"
    await pool.execute("UPDATE orders SET status = 'cancelled'")
    path = f"/operator/requests/{(await ada('POST', f'/operator/users/{eve}/closure', WHY)).body['id']}/approval"
    # Orders that were placed between the request and its approval.
    await insert(pool, "orders", {"user_id": eve}, order_id="o2", status="open")
    assert (await bob("POST", path, WHY)).code == "OPEN_ORDERS_REMAIN"
    assert await pool.fetchval("SELECT count(*) FROM users WHERE user_id = $1", eve) == 1
    await pool.execute("UPDATE orders SET status = 'cancelled'")
    assert (await bob("POST", path, WHY)).body["status"] == "approved"
    assert await pool.fetchval("SELECT count(*) FROM users WHERE user_id = $1", eve) == 0
    assert (await user("GET", "/users/me/profile")).status == 401
    assert await trail(pool) == [("account_closure.requested", eve), ("account_closure.approved", eve)]
    # Found by what stays under the id, without a name.
    found = (await ada("GET", "/operator/users/search?q=o2")).body["users"]
    assert [(row["userId"], row["email"]) for row in found] == [(eve, None)]

    async def is_told() -> bool:
        mails = await pool.fetch("SELECT kind FROM mail_outbox WHERE email = $1", EVE)
        return not mails or [row["kind"] for row in mails] == ["account_deleted"]

    await eventually(is_told)
    await close([user, ada, bob])


async def test_no_session_begins_between_the_check_of_the_password_and_the_lock(pool: asyncpg.Pool) -> None:
    await insert(pool, "users", {"user_id": "eve"}, email=EVE, role="user", password_hash="x")
    user = User("eve", EVE, "x", "user", utc_now())
    session = NewSession("s1", b"t", utc_now(), "", "")
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute("SELECT FROM users WHERE user_id = 'eve' FOR UPDATE")
        beginning = asyncio.create_task(AuthStore(pool).start_session(session, user, utc_now()))

        async def waits() -> bool:
            return bool(await pool.fetchval("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"))

        await eventually(waits)
        await connection.execute(
            "INSERT INTO user_locks (user_id, kind, reason, locked_by, locked_at)"
            " VALUES ('eve', 'login', 'stolen phone', 'user:x', now())"
        )
        await transaction.commit()
        assert not await beginning
    assert await pool.fetchval("SELECT count(*) FROM user_sessions") == 0
