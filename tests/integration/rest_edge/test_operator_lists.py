"""Operators' lists over all users, their files, and the queue of verifications."""

import io
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

import asyncpg
import pyarrow.parquet
import pytest
from aiohttp import ClientSession

from openspot.http.operators import OperatorRole
from openspot.kit import parquet_rows
from openspot.kit.clock import utc_now
from openspot.rest_edge.operators import table_files
from openspot.rest_edge.operators.lists import service
from openspot.rest_edge.operators.lists.listings import DEPOSITS, WITHDRAWALS, ListFilter
from openspot.rest_edge.operators.lists.schemas import OperatedDepositResponse
from openspot.rest_edge.operators.lists.service import Lists
from openspot.rest_edge.operators.table_files import columns_of, csv_pieces, parquet_pieces
from tests.support.authenticator import register
from tests.support.edge_operators import make_operator
from tests.support.filled_tables import insert
from tests.support.rest_client import PREFIX, RestClient

ADA, EVE = "ada@example.org", "eve@example.org"
TREASURY, COMPLIANCE, AUDITOR = OperatorRole.TREASURY, OperatorRole.COMPLIANCE, OperatorRole.AUDITOR
INFORMATION = {
    "firstName": "Eve", "lastName": "Under", "dateOfBirth": "1990-12-10", "country": "GB", "city": "London",
    "street": "12 St James's Square", "postalCode": "SW1Y 4JH",
}  # fmt: skip


async def three_withdrawals(pool: asyncpg.Pool) -> None:
    for number, status in enumerate(("completed", "pending_approval", "rejected"), 1):
        await insert(
            pool, "custody_withdrawals", {"user_id": f"u{number}"}, withdrawal_id=f"w{number}", status=status,
            amount="3", fee="1", net_amount="2", asset="BTC", value_cents=12345, tx_hash=None,
            client_withdrawal_id=None, funds="reserved" if number == 2 else "taken",
            created_at=f"2026-01-0{number}T00:00:00Z", address="=1+1",
        )  # fmt: skip


async def test_withdrawals_of_all_users_are_filtered_and_paged(edge: RestClient, pool: asyncpg.Pool) -> None:
    await three_withdrawals(pool)
    await pool.execute("INSERT INTO custody_approvals VALUES ('w2', 'user:x', now())")
    await make_operator(edge, pool, ADA, TREASURY)

    async def ids(query: str) -> list[str]:
        reply = await edge("GET", f"/operator/withdrawals?{query}")
        assert reply.status == 200, reply.body
        return [row["id"] for row in reply.body]

    assert await ids("") == ["w3", "w2", "w1"]
    assert await ids("state=open") == ["w2"]
    assert await ids("state=rejected") == ["w3"]
    assert await ids("userId=u1") == ["w1"]
    assert await ids("from=2026-01-02T00:00:00Z&to=2026-01-03T00:00:00Z") == ["w2"]
    assert await ids("asset=USD") == []
    page = await edge("GET", "/operator/withdrawals?limit=2")
    assert await ids(f"limit=2&cursor={page.headers['X-Next-Cursor']}") == ["w1"]
    row = (await edge("GET", "/operator/withdrawals?state=open")).body[0]
    assert (row["approvals"], row["valueUsd"], row["amount"]) == ("user:x", "123.45", "3")
    for bad in ("state=nothing", "cursor=zzz", "userId=a%00b", "from=yesterday"):
        assert (await edge("GET", f"/operator/withdrawals?{bad}")).status == 400, bad


async def test_a_file_needs_a_reason_and_holds_no_formula(edge: RestClient, pool: asyncpg.Pool) -> None:
    await three_withdrawals(pool)
    await make_operator(edge, pool, ADA, AUDITOR)
    assert (await edge("GET", "/operator/withdrawals/export")).status == 400
    assert (await edge("GET", "/operator/withdrawals/export?reason=audit&state=nothing")).status == 400
    reply = await edge("GET", "/operator/withdrawals/export?reason=yearly%20audit&userId=u1")
    assert reply.headers["Content-Type"].startswith("text/csv")
    assert reply.headers["Content-Disposition"] == 'attachment; filename="withdrawals.csv"'
    head, row = reply.body.splitlines()
    assert head.split(",")[:5] == ["id", "user_id", "asset", "network", "amount"]
    assert row.split(",")[:5] == ["w1", "u1", "BTC", "network", "3"] and ",'=1+1," in row
    entries = await pool.fetch("SELECT action, reason, after FROM operator_actions")
    assert [(entry["action"], entry["reason"]) for entry in entries] == [("withdrawals.exported", "yearly audit")]
    assert '"user":"u1"' in entries[0]["after"]


async def test_a_file_is_read_in_pages_whose_rows_each_come_once(
    pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All of one moment: the id alone tells the rows apart.
    await pool.execute(
        """
        INSERT INTO custody_deposits (tx_hash, user_id, asset, network, address, amount, height, required_confirmations,
            created_at) SELECT 't' || number, 'u1', 'BTC', 'bitcoin', 'a', 1, 1, 1, '2026-01-01'
        FROM generate_series(1, 2500) AS number
        """
    )
    monkeypatch.setattr(service, "ROWS_AT_A_TIME", 100)
    columns = columns_of(OperatedDepositResponse)
    pieces = [piece async for piece in csv_pieces(columns, Lists(pool).pages(DEPOSITS, ListFilter()))]
    assert len(pieces) == 26 and max(map(len, pieces)) < 100 * 200
    lines = b"".join(pieces).decode().splitlines()
    assert len({line.split(",")[0] for line in lines[1:]}) == 2500
    nobody = Lists(pool).pages(WITHDRAWALS, ListFilter(user_id="nobody"))
    assert b"".join([piece async for piece in csv_pieces(columns, nobody)]).count(b"\r\n") == 1
    monkeypatch.setattr(parquet_rows, "ROWS_IN_A_GROUP", 1000)
    pieces = [piece async for piece in parquet_pieces(columns, Lists(pool).pages(DEPOSITS, ListFilter()))]
    table = pyarrow.parquet.ParquetFile(io.BytesIO(b"".join(pieces)))
    assert [table.metadata.row_group(number).num_rows for number in range(3)] == [1000, 1000, 500]
    assert len(pieces) == 4 and len(set(table.read()["tx_hash"].to_pylist())) == 2500


async def test_a_parquet_file_has_exact_amounts_and_moments(
    edge: RestClient, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    await three_withdrawals(pool)
    largest = "9999999999999999999.000000000000000001"
    await pool.execute(f"UPDATE custody_withdrawals SET amount = {largest}, net_amount = {largest} - fee")
    await make_operator(edge, pool, ADA, AUDITOR)
    query = "/operator/withdrawals/export?reason=yearly%20audit&format=parquet&from=2026-01-02T00:00:00Z"
    status, headers, content = await downloaded(edge, query)
    assert (status, headers["Content-Type"]) == (200, "application/vnd.apache.parquet")
    assert headers["Content-Disposition"] == 'attachment; filename="withdrawals.parquet"'
    table = pyarrow.parquet.read_table(io.BytesIO(content))
    names = ("id", "amount", "value_usd", "approvals_needed", "address", "created_at", "assignee")
    assert [str(table.schema.field(name).type) for name in names] == [
        "string", "decimal128(38, 18)", "decimal128(38, 18)", "int64", "string", "timestamp[us, tz=UTC]", "string",
    ]  # fmt: skip
    newest = table.to_pylist()[0]
    assert [newest[name] for name in ("id", "amount", "value_usd", "address", "assignee")] == [
        "w3", Decimal(largest), Decimal("123.45"), "=1+1", None,
    ]  # fmt: skip
    assert newest["created_at"] == datetime(2026, 1, 3, tzinfo=UTC) and table.num_rows == 2
    assert '"format":"parquet"' in await pool.fetchval("SELECT after FROM operator_actions")
    status, _, content = await downloaded(edge, "/operator/trail/export?format=parquet&reason=audit")
    entries = pyarrow.parquet.read_table(io.BytesIO(content))
    assert [str(entries.schema.field(name).type) for name in ("entry", "hash")] == ["int64", "string"]
    assert entries["action"].to_pylist() == ["trail.exported", "withdrawals.exported"]
    assert (await edge("GET", query.replace("parquet", "xlsx"))).status == 400
    monkeypatch.setattr(table_files, "has_parquet", lambda: False)
    refused = await edge("GET", query)
    assert refused.status == 400 and "install openspot[parquet]" in str(refused.message)
    assert await pool.fetchval("SELECT count(*) FROM operator_actions") == 2


async def downloaded(edge: RestClient, path: str) -> tuple[int, Mapping[str, str], bytes]:
    """Status, headers and bytes of a file."""
    url, signed = edge.settings.rest_url, {"Authorization": f"Bearer {edge.token}"}
    async with ClientSession() as session, session.get(f"{url}{PREFIX}{path}", headers=signed) as response:
        return response.status, response.headers, await response.read()


async def test_deposits_and_payments_whose_credit_waits_are_found(edge: RestClient, pool: asyncpg.Pool) -> None:
    now, user = utc_now().isoformat(), {"user_id": "u1"}
    for tx_hash, confirmed in (("waits", None), ("late", now), ("credited", now)):
        await insert(pool, "custody_deposits", user, tx_hash=tx_hash, confirmed_at=confirmed, created_at=now)
    await insert(pool, "ledger_entries", user, transaction_id="credited")
    await insert(pool, "payments", user, payment_id="p1", credited=False)
    await insert(pool, "payments", user, payment_id="p2")
    await make_operator(edge, pool, ADA, TREASURY)
    found = {
        state: [row["txHash"] for row in (await edge("GET", f"/operator/deposits?state={state}")).body]
        for state in ("pending", "uncredited")
    }
    assert found == {"pending": ["waits"], "uncredited": ["late"]}
    credited = {row["txHash"]: row["credited"] for row in (await edge("GET", "/operator/deposits")).body}
    assert credited == {"waits": False, "late": False, "credited": True}
    waiting = (await edge("GET", "/operator/payments?state=uncredited")).body
    assert [row["id"] for row in waiting] == ["p1"]


async def test_a_verification_is_read_and_decided_with_a_trail(edge: RestClient, pool: asyncpg.Pool) -> None:
    user = RestClient(edge.settings)
    eve = await register(user, EVE)
    assert (await user("POST", "/kyc/basic-info", INFORMATION)).status in (200, 201)
    assert (await user("POST", "/kyc/start", {"level": "verified"})).status in (200, 201)
    await make_operator(edge, pool, ADA, COMPLIANCE)
    queue = (await edge("GET", "/operator/verifications")).body
    assert [(row["userId"], row["level"], row["hasInformation"]) for row in queue] == [(eve, "basic", True)]
    assert (await edge("GET", f"/operator/verifications?userId={eve}")).body == queue
    assert (await edge("GET", "/operator/verifications?userId=nobody")).body == []
    refused = await edge("GET", "/operator/verifications?userId=no%20body")
    assert (refused.status, "userId" in str(refused.message)) == (400, True)
    opened = (await edge("GET", f"/operator/verifications/{eve}")).body
    assert opened["information"] == INFORMATION
    decision = {"decision": "approve", "reason": "passport and bill match"}
    assert (await edge("POST", f"/operator/verifications/{eve}/decision", decision)).body["level"] == "verified"
    assert (await user("GET", "/kyc/status")).body["level"] == "verified"
    assert (await edge("GET", "/operator/verifications")).body == []
    assert [row["userId"] for row in (await edge("GET", "/operator/verifications?status=approved")).body] == [eve]
    rejected = {"decision": "reject", "reason": "the passport is forged"}
    assert (await edge("POST", f"/operator/verifications/{eve}/decision", rejected)).body["level"] == "none"
    entries = await pool.fetch("SELECT action, before, after FROM operator_actions ORDER BY entry_number")
    assert [tuple(entry) for entry in entries] == [
        ("verification.read", "{}", "{}"),
        (
            "verification.approve", '{"level":"basic","status":"pending"}', '{"level":"verified","status":"approved"}',
        ),
        ("verification.reject", '{"level":"verified","status":"approved"}', '{"level":"none","status":"rejected"}'),
    ]  # fmt: skip
    assert (await edge("GET", "/operator/verifications/nobody")).code == "VERIFICATION_NOT_FOUND"
    await user.close()


async def test_a_level_is_not_approved_without_what_the_user_has_to_state(edge: RestClient, pool: asyncpg.Pool) -> None:
    await insert(pool, "kyc_profiles", {"user_id": "u1"}, status="pending")
    await make_operator(edge, pool, ADA, COMPLIANCE)
    decision = {"decision": "approve", "reason": "looks fine"}
    refused = await edge("POST", "/operator/verifications/u1/decision", decision)
    assert (refused.status, refused.code) == (409, "KYC_BASIC_INFO_REQUIRED")
    assert await pool.fetchval("SELECT count(*) FROM operator_actions") == 0
