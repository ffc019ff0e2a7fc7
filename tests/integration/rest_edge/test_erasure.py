"""What deleting an account does to every table of the platform, and what money on its way stops it."""

import json
from typing import Any

import asyncpg
import pytest

from openspot.kit.secrets_file import with_secrets
from openspot.kit.settings import Settings, as_part
from openspot.rest_edge.common.payload_digest import payload_digest
from openspot.rest_edge.funds.accounts.service import AccountService
from openspot.rest_edge.identity.credentials.login_throttling import account_key
from openspot.rest_edge.identity.second_factor.code_check import SecondFactor
from openspot.rest_edge.operators.trail import OperatorAction, record_action
from openspot.rest_edge.settings import RestEdgeSettings
from tests.support.authenticator import PASSWORD, register
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.filled_tables import USER_COLUMNS, all_tables, fill, insert
from tests.support.rest_client import Reply, RestClient, running_edge
from tests.support.waiting import eventually

EMAIL = "ada@example.org"

GOES = {
    "users", "user_networks", "user_sessions", "user_activity", "user_mfa", "user_recovery_codes", "mfa_challenges",
    "mail_tokens", "mail_outbox", "check_ins", "api_keys", "idempotency_keys", "notification_settings",
    "kyc_profiles", "kyc_events", "kyc_documents", "withdrawal_addresses", "conversion_quotes", "fee_quotes",
    "notifications", "cancel_timers", "price_alerts", "watchlists", "chart_drawings", "screen_layouts", "user_locks",
    "user_notes", "user_limits", "push_subscriptions", "push_messages",
}  # fmt: skip
"""Personal data: no row of the user is left."""

STAYS = {
    "orders", "trades", "ledger_accounts", "ledger_entries", "ledger_movements", "ledger_outbox", "conversions",
    "staking_balances", "staking_accruals", "staking_unstakes", "staking_events", "payments", "payment_events",
    "edge_transfers", "custody_addresses", "custody_deposits", "custody_withdrawals", "custody_approvals",
    "custody_signatures", "custody_audit", "positions", "position_trades", "position_balances", "position_transfers",
    "position_snapshots", "fifo_owners", "fifo_transactions", "fifo_disposals", "fifo_lots", "fifo_checkpoints",
    "fifo_pending_fills", "broker_reports", "broker_exceptions", "margin_accounts", "margin_loans", "margin_interest",
    "margin_positions", "margin_reductions", "margin_transfers", "margin_liquidations", "owner_links", "ledger_carried",
    "operator_requests", "adjustments", "reserve_leaves",
}  # fmt: skip
"""Money, and what explains it, under the user's id: not a column of any row changes."""

NO_USERS = {
    "engine_cursors", "router_held_events", "ledger_rejected_trades", "custody_chain_transactions",
    "market_trades", "market_candles", "market_data_checkpoints", "position_marks", "position_checkpoints",
    "position_refused_trades", "fair_prices", "fair_price_samples", "operator_prices", "archive_batches",
    "archive_floors", "price_alert_markets", "report_movements", "report_volumes", "report_users", "report_reserves",
    "reserve_proofs", "reserve_nodes", "withdrawal_assignments", "house_transfers", "house_levels", "house_flows",
    "download_links",
    "listed_networks", "listed_network_assets", "transfer_pauses", "report_loans",
    "engine_action_positions", "sealing_keys", "fill_notification_positions", "custody_audit_origins",
    "custody_trail_position",
}  # fmt: skip
"""Their rows name no user, or are not about users."""

OTHERWISE = {
    "audit_records", "refresh_tokens", "login_attempts", "deleted_users",
    "operator_roles", "operator_actions", "operator_action_origins", "operator_views",
}  # fmt: skip
"""Each has a test of its own below."""


@pytest.fixture
async def ada(edge: RestClient, engine: FakeEngineHttp) -> RestClient:
    """A client that is logged in as a registered user without balances."""
    edge.token = None
    await register(edge, EMAIL)
    return edge


@pytest.fixture
async def own_ada(own_edge: RestClient, engine: FakeEngineHttp) -> RestClient:
    """The same at an edge of this test, which shares the test's event loop and so the connections of a patch."""
    own_edge.token = None
    await register(own_edge, EMAIL)
    return own_edge


async def names_of(pool: asyncpg.Pool) -> dict[str, str]:
    """The user as tables name her, by column."""
    user_id = str(await pool.fetchval("SELECT user_id FROM users"))
    columns = ("user_id", "buyer_id", "participant_id", "first_user_id")
    return dict.fromkeys(columns, user_id) | {"email": EMAIL}


async def delete(client: RestClient) -> Reply:
    return await client("DELETE", "/users/me", {"password": PASSWORD})


async def rows_of(pool: asyncpg.Pool, table: str, user: dict[str, str]) -> int:
    column = USER_COLUMNS.get(table, "user_id")
    query = f"SELECT count(*) FROM {table} WHERE {column} = $1"
    # The mail that confirms the deletion is sent after it.
    query += " AND kind <> 'account_deleted'" if table == "mail_outbox" else ""
    return int(await pool.fetchval(query, user[column]))


async def test_every_table_is_classified(pool: asyncpg.Pool) -> None:
    """A new table fails here until it is decided what becomes of its rows when their user is deleted."""
    classes = [GOES, STAYS, NO_USERS, OTHERWISE]
    assert set.union(*classes) == await all_tables(pool)
    assert sum(map(len, classes)) == len(set.union(*classes))
    rows = await pool.fetch("SELECT table_name FROM information_schema.columns WHERE column_name ~ '_?user_id$'")
    assert not {row["table_name"] for row in rows} & NO_USERS


@pytest.mark.spec("B4.1-48")
async def test_all_personal_rows_go_and_all_rows_of_money_stay(ada: RestClient, pool: asyncpg.Pool) -> None:
    user = await names_of(pool)
    await fill(pool, (GOES | STAYS) - {"users"}, user)
    assert [table for table in GOES if not await rows_of(pool, table, user)] == []
    before = {table: await contents(pool, table) for table in STAYS}
    assert all(before.values())
    assert (await delete(ada)).body == {"success": True}
    assert [table for table in GOES if await rows_of(pool, table, user)] == []
    assert {table: await contents(pool, table) for table in STAYS} == before


async def contents(pool: asyncpg.Pool, table: str) -> list[str]:
    rows = await pool.fetch(f"SELECT row::text AS row FROM {table} AS row")
    return sorted(row["row"] for row in rows)


async def test_another_user_keeps_everything(ada: RestClient, pool: asyncpg.Pool) -> None:
    user = await names_of(pool)
    tables = (GOES | STAYS) - {"users"}
    others = dict.fromkeys(user, "bob") | {"email": "bob@example.org"}
    await insert(pool, "users", others, email="bob@example.org", role="user")
    await fill(pool, tables, others)
    before = {table: await rows_of(pool, table, others) for table in tables if table_names_user(table)}
    assert [table for table, count in before.items() if not count] == [] and user["user_id"] != "bob"
    assert (await delete(ada)).status == 200
    assert {table: await rows_of(pool, table, others) for table in before} == before


def table_names_user(table: str) -> bool:
    children = {"staking_accruals", "payment_events", "custody_approvals", "custody_signatures", "custody_audit"}
    margin = {
        "margin_loans",
        "margin_interest",
        "margin_positions",
        "margin_reductions",
        "margin_transfers",
        "margin_liquidations",
    }
    return table not in children | margin | {"edge_transfers", "broker_reports"}


async def test_what_an_operator_did_stays_under_the_id_and_the_addresses_go(
    ada: RestClient, pool: asyncpg.Pool
) -> None:
    user_id = (await names_of(pool))["user_id"]
    await pool.execute("INSERT INTO operator_roles VALUES ($1, 'SUPPORT', 'shell:test', now())", user_id)
    refused = await delete(ada)
    assert (refused.status, refused.code) == (409, "OPERATOR_ROLES_REMAIN")
    await pool.execute("DELETE FROM operator_roles")
    async with pool.acquire() as connection, connection.transaction():
        for name in (f"user:{user_id}", "user:bob"):
            done = OperatorAction(name, "users.annotate", "user", "eve", "asked by phone", address="192.0.2.7")
            await record_action(connection, done)
            await connection.execute("INSERT INTO operator_views VALUES ($1, $1, 'users', 'mine', '', now())", name)
    entries = await contents(pool, "operator_actions")
    assert (await delete(ada)).status == 200
    assert await contents(pool, "operator_actions") == entries
    assert [row["operator"] for row in await pool.fetch("SELECT operator FROM operator_action_origins")] == ["user:bob"]
    assert [row["operator"] for row in await pool.fetch("SELECT operator FROM operator_views")] == ["user:bob"]


async def test_an_open_margin_account_is_closed_before_its_user_is_deleted(ada: RestClient, pool: asyncpg.Pool) -> None:
    await insert(pool, "margin_accounts", await names_of(pool), status="active")
    reply = await delete(ada)
    assert (reply.status, reply.code) == (409, "MARGIN_ACCOUNT_REMAINS")
    await pool.execute("UPDATE margin_accounts SET status = 'closed'")
    assert (await delete(ada)).status == 200


async def test_the_audit_keeps_its_records_without_addresses(ada: RestClient, pool: asyncpg.Pool) -> None:
    await insert(pool, "audit_records", await names_of(pool))
    assert (await delete(ada)).status == 200
    record = await pool.fetchrow("SELECT user_id, path, address FROM audit_records WHERE request_id = 'request_id'")
    deleted_id = await pool.fetchval("SELECT user_id FROM deleted_users")
    assert tuple(record) == (deleted_id, "path", "")


async def test_refresh_tokens_stay_revoked_so_that_every_process_refuses_them(
    ada: RestClient, pool: asyncpg.Pool
) -> None:
    user = await names_of(pool)
    await insert(pool, "refresh_tokens", user)
    assert (await delete(ada)).status == 200
    rows = await pool.fetch("SELECT user_id, revoked_at IS NOT NULL AS revoked FROM refresh_tokens")
    assert [tuple(row) for row in rows] == [(user["user_id"], True)] * 2


async def test_failed_logins_are_forgotten(ada: RestClient, pool: asyncpg.Pool) -> None:
    assert (await ada("POST", "/auth/login", {"email": EMAIL, "password": "wrong"})).status == 401
    of_ada = f"SELECT count(*) FROM login_attempts WHERE key ~ '{account_key(EMAIL)}'"
    assert await pool.fetchval(of_ada) > 0
    assert (await delete(ada)).status == 200
    assert await pool.fetchval(of_ada) == 0


UNDER_WAY: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("stakes", "staking_balances", {"status": "pending"}, {"status": "failed"}),
    ("stakes", "staking_balances", {"status": "active"}, {"status": "redeemed"}),
    ("stakes", "staking_balances", {"status": "unbonding"}, {"status": "redeemed"}),
    ("payments", "payments", {"credited": False}, {"credited": True}),
    ("conversions", "conversions", {"status": "pending"}, {"status": "failed"}),
    ("deposits", "custody_deposits", {"confirmed_at": None}, {"confirmed_at": "2026-01-01"}),
    ("withdrawals", "custody_withdrawals", {"status": "pending_approval", "funds": "new"}, {"funds": "refused"}),
    ("withdrawals", "custody_withdrawals", {"status": "confirming", "funds": "reserved"}, {"funds": "taken"}),
    # Cancelled, and the money not back yet.
    ("withdrawals", "custody_withdrawals", {"status": "cancelled", "funds": "requested"}, {"funds": "released"}),
]


@pytest.mark.parametrize(("kind", "table", "under_way", "over"), UNDER_WAY)
async def test_money_on_its_way_stops_it(
    ada: RestClient, pool: asyncpg.Pool, kind: str, table: str, under_way: dict[str, Any], over: dict[str, Any]
) -> None:
    user = await names_of(pool)
    await insert(pool, "kyc_profiles", user)
    await insert(pool, table, user, **under_way)
    reply = await delete(ada)
    assert (reply.status, reply.code) == (409, "OBLIGATIONS_REMAIN")
    assert reply.body["details"] == {"obligations": {kind: 1}}
    assert (await ada("GET", "/users/me/profile")).status == 200
    assert await rows_of(pool, "kyc_profiles", user) == 1
    for column, value in over.items():
        await pool.execute(f"UPDATE {table} SET {column} = {value!r}")
    assert (await delete(ada)).status == 200


@pytest.mark.parametrize("status", ["unbonding", "paying"])
async def test_an_unstake_that_is_not_paid_stops_it(ada: RestClient, pool: asyncpg.Pool, status: str) -> None:
    user = await names_of(pool)
    await insert(pool, "staking_balances", user)
    await insert(pool, "staking_unstakes", user, status=status)
    reply = await delete(ada)
    assert (reply.code, reply.body["details"]) == ("OBLIGATIONS_REMAIN", {"obligations": {"unstakes": 1}})


@pytest.mark.parametrize("nth", [1, 2])
async def test_money_that_leaves_the_balances_meanwhile_is_seen(
    own_ada: RestClient, pool: asyncpg.Pool, engine: FakeEngineHttp, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    """The stake begins after a look at stakes and before the `nth` look at balances. The second look is the last."""
    user, read = await names_of(pool), AccountService.engine_totals
    reads: list[str] = []

    async def stake_and_read(self: AccountService, user_id: str) -> dict[str, str]:
        reads.append(user_id)
        if len(reads) == nth:
            await insert(pool, "staking_balances", user, status="pending")
        return await read(self, user_id)

    monkeypatch.setattr(AccountService, "engine_totals", stake_and_read)
    assert (await delete(own_ada)).code == "OBLIGATIONS_REMAIN"
    assert len(reads) == nth


SESSION = {"routeId": "development-usd", "amount": "100", "currency": "USD"}


async def callback(edge: RestClient, payment_id: str, payment_status: str) -> Reply:
    """What a provider says of a payment, signed."""
    body = {"eventId": payment_status, "paymentId": payment_id, "paymentStatus": payment_status}
    raw = json.dumps(body | {"amount": "100", "currency": "USD"}).encode()
    digest = payload_digest(with_secrets(as_part(edge.settings, RestEdgeSettings)).payment_callback_secret, raw)
    return await edge("POST", "/payments/callback", raw=raw, headers={"X-Payload-Digest": digest})


@pytest.mark.parametrize("before", ["unpaid", "failed"])
async def test_a_payment_without_money_is_cancelled_and_takes_none_any_more(
    ada: RestClient, pool: asyncpg.Pool, before: str
) -> None:
    payment_id = (await ada("POST", "/payments/session", SESSION)).body["id"]
    if before == "failed":
        assert (await callback(ada, payment_id, "failed")).status == 200
    assert (await delete(ada)).status == 200
    ada.token = None
    for _ in range(2):
        refused = await callback(ada, payment_id, "paid")
        assert (refused.status, refused.code) == (409, "PAYMENT_CANCELLED")
    assert (await callback(ada, payment_id, "failed")).body["repeated"] is True
    assert (await ada("GET", f"/payments/development/{payment_id}")).body["status"] == "cancelled"
    assert await pool.fetchval("SELECT payment_status FROM payments") == before
    assert await pool.fetchval("SELECT count(*) FROM edge_transfers") == 0


async def test_a_payment_that_is_paid_during_the_deletion_stops_it(
    own_ada: RestClient, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The money arrives after the first look at payments, and before they are cancelled."""
    await insert(pool, "payments", await names_of(pool), status="open", payment_status="unpaid", credited=False)
    require = SecondFactor.require

    async def pay_and_require(self: SecondFactor, *given: Any) -> None:
        await pool.execute("UPDATE payments SET status = 'complete', payment_status = 'paid'")
        await require(self, *given)

    monkeypatch.setattr(SecondFactor, "require", pay_and_require)
    reply = await delete(own_ada)
    assert (reply.code, reply.body["details"]) == ("OBLIGATIONS_REMAIN", {"obligations": {"payments": 1}})
    assert await pool.fetchval("SELECT status FROM payments") == "complete"


async def test_rows_that_a_request_under_way_wrote_late_go_with_the_clean_up(
    ada: RestClient, pool: asyncpg.Pool, settings: Settings
) -> None:
    user = await names_of(pool)
    assert (await delete(ada)).status == 200
    late = {"kyc_profiles", "withdrawal_addresses", "notification_settings", "idempotency_keys"}
    await fill(pool, late, user)
    await insert(pool, "payments", user, status="open", payment_status="unpaid", credited=False)
    async with running_edge(settings.model_copy(update={"rest_port": settings.ws_port})):

        async def gone() -> bool:
            return not [table for table in late if await rows_of(pool, table, user)]

        await eventually(gone)

        async def cancelled() -> bool:
            return bool(await pool.fetchval("SELECT status FROM payments") == "cancelled")

        await eventually(cancelled)
