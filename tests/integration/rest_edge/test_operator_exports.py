"""Operators' lists by time and as files: users, verifications, requests, adjustments, transfers, a user's own lists."""

import csv
import io
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import asyncpg
import pyarrow.parquet
import pytest
from aiohttp import ClientSession

from openspot.http.operators import OperatorRole
from openspot.rest_edge.operators import exports
from tests.support.edge_operators import make_operator
from tests.support.filled_tables import insert
from tests.support.rest_client import PREFIX, RestClient

ADA = "ada@example.org"
AUDITOR, SUPPORT = OperatorRole.AUDITOR, OperatorRole.SUPPORT
ROWS = 5
FORMULA = "=HYPERLINK(1)"


class Listed(NamedTuple):
    """A list: its path, its name in file and trail, the field and the column that tell its rows apart, its order."""

    path: str
    name: str
    field: str
    column: str
    newest_first: bool = True


LISTS = (
    Listed("users", "users", "userId", "user_id"),
    Listed("verifications", "verifications", "userId", "user_id", newest_first=False),
    Listed("requests", "requests", "id", "id"),
    Listed("adjustments", "adjustments", "id", "id"),
    Listed("treasury/transfers", "house_transfers", "id", "id"),
    Listed("treasury/accounts/house:insurance/entries", "house_entries", "id", "id"),
    Listed("users/eve/orders", "orders", "orderId", "order_id"),
    Listed("users/eve/trades", "trades", "tradeId", "trade_id"),
    Listed("users/eve/transactions", "transactions", "transactionId", "transaction_id"),
    Listed("users/x1/activity", "activity", "address", "address"),
    Listed("users/x1/notifications", "notifications", "id", "id"),
    Listed("users/x1/notes", "notes", "author", "author"),
)


async def fill(pool: asyncpg.Pool) -> None:
    """Five rows in each list, of the first five days of January 2026, and some of others that the filters leave out."""
    for number in range(1, ROWS + 1):
        name, at, user = f"x{number}", f"2026-01-0{number}T12:00:00Z", {"user_id": f"x{number}"}
        await insert(
            pool, "users", user, email=f"{name}@example.org", role="user", created_at=at, display_name=FORMULA,
        )  # fmt: skip
        await insert(pool, "kyc_profiles", user, status="pending", updated_at=at, provider_reference=FORMULA)
        await insert(
            pool, "operator_requests", user, request_id=name, requested_at=at, detail={"asset": "USD"}, reason=FORMULA,
        )  # fmt: skip
        await insert(
            pool, "adjustments", user, adjustment_id=name, created_at=at, amount="-0.000000000000000001",
            value_cents=1999, reason=FORMULA,
        )  # fmt: skip
        await insert(
            pool, "house_transfers", user, transfer_id=name, created_at=at, amount="12.5", reason=FORMULA,
        )  # fmt: skip
        for owner, first in (("eve", 0), ("bob", 100)):
            await insert(
                pool, "orders", {"user_id": owner}, order_id=f"order-{owner}-{first + number}", created_at=at,
                engine_order_id=first + number, client_order_id=FORMULA, filled_quantity="3", filled_notional="10",
            )  # fmt: skip
            await insert(
                pool, "trades", {"buyer_id": owner}, trade_id=f"trade-{owner}-{number}", sequence=first + number,
                seller_id="house:x", taker_side="buy", executed_at=at, symbol=FORMULA,
            )  # fmt: skip
            await insert(
                pool, "ledger_entries", {"user_id": owner}, transaction_id=f"entry-{owner}-{number}", created_at=at,
                asset="BTC", amount="-0.000000000000000001", balance="2.5", reference_id=FORMULA,
            )  # fmt: skip
        for owner in ("house:insurance", "house:rewards"):
            await insert(
                pool, "ledger_entries", {"user_id": owner}, transaction_id=f"entry-{owner}-{number}", created_at=at,
                asset="BTC", amount="-0.000000000000000001", balance="2.5", reference_id=FORMULA,
            )  # fmt: skip
    for owner in ("eve", "bob", "house:insurance", "house:rewards"):
        await insert(pool, "ledger_accounts", {"user_id": owner}, asset="BTC")
    for number in range(1, ROWS + 1):
        at = f"2026-01-0{number}T12:00:00Z"
        for owner in ("x1", "x2"):
            user = {"user_id": owner}
            await insert(
                pool, "user_activity", user, kind="logged_in", address=f"192.0.2.{number}", user_agent=FORMULA,
                created_at=at,
            )  # fmt: skip
            await insert(
                pool, "notifications", user, notification_id=f"notice-{owner}-{number}", text=FORMULA, created_at=at,
            )  # fmt: skip
            await insert(pool, "user_notes", user, author=f"user:{number}", text=FORMULA, created_at=at)
    await pool.execute(
        "INSERT INTO user_locks VALUES ('x1', 'login', 'r', 'by', now()), ('x1', 'withdrawals', 'r', 'by', now())"
    )


def ids(rows: list[dict[str, Any]], name: str) -> list[str]:
    """What tells the rows apart, without the operator who asks."""
    return [str(row[name])[-1] for row in rows if row.get("email") != ADA]


async def downloaded(edge: RestClient, path: str) -> tuple[int, Mapping[str, str], bytes]:
    """Status, headers and bytes of a file."""
    url, signed = edge.settings.rest_url, {"Authorization": f"Bearer {edge.token}"}
    async with ClientSession() as session, session.get(f"{url}{PREFIX}{path}", headers=signed) as response:
        return response.status, response.headers, await response.read()


@pytest.mark.usefixtures("ledger")
@pytest.mark.parametrize("listed", LISTS, ids=lambda listed: listed.name)
async def test_a_list_is_narrowed_by_time_and_saved_with_every_row_once(
    edge: RestClient, pool: asyncpg.Pool, listed: Listed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "ROWS_AT_A_TIME", 2)
    await fill(pool)
    edge.token = None
    await make_operator(edge, pool, ADA, AUDITOR)
    path = f"/operator/{listed.path}"

    def ordered(*numbers: int) -> list[str]:
        return [str(number) for number in sorted(numbers, reverse=listed.newest_first)]

    # The first moment counts, the last does not.
    span = "from=2026-01-02T12:00:00Z&to=2026-01-04T12:00:00Z"
    assert ids((await edge("GET", f"{path}?{span}")).body, listed.field) == ordered(2, 3)
    page = await edge("GET", f"{path}?{span}&limit=1")
    following = f"{span}&limit=1&cursor={page.headers['X-Next-Cursor']}"
    assert ids((await edge("GET", f"{path}?{following}")).body, listed.field) == ordered(2, 3)[1:]
    for bad in ("from=yesterday", "to=2026-01-01T00:00:00"):
        assert (await edge("GET", f"{path}?{bad}")).status == 400, bad

    # Every row once, though a page has two; none is computed by a spreadsheet.
    reason = "reason=yearly%20audit"
    reply = await edge("GET", f"{path}/export?{reason}")
    assert reply.headers["Content-Disposition"] == f'attachment; filename="{listed.name}.csv"'
    rows = list(csv.DictReader(io.StringIO(reply.body)))
    assert ids(rows, listed.column) == ordered(*range(1, ROWS + 1))
    assert f"'{FORMULA}" in reply.body and f",{FORMULA}" not in reply.body
    status, headers, content = await downloaded(edge, f"{path}/export?{reason}&format=parquet&{span}")
    assert (status, headers["Content-Disposition"]) == (200, f'attachment; filename="{listed.name}.parquet"')
    assert ids(pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist(), listed.column) == ordered(2, 3)

    # Before the first row, the trail says who, why and what.
    entries = await pool.fetch("SELECT action, subject_id, reason, after FROM operator_actions ORDER BY entry_number")
    assert [tuple(entry)[:3] for entry in entries] == [(f"{listed.name}.exported", listed.name, "yearly audit")] * 2
    assert '"format":"csv"' in entries[0]["after"] and '"from":null' in entries[0]["after"]
    assert '"from":"2026-01-02T12:00:00+00:00"' in entries[1]["after"] and '"format":"parquet"' in entries[1]["after"]
    for bad in ("", "reason=x%20y%20z&format=xlsx", "reason=x%20y%20z&from=yesterday"):
        assert (await edge("GET", f"{path}/export?{bad}")).status == 400, bad
    assert await pool.fetchval("SELECT count(*) FROM operator_actions") == 2


async def test_support_reads_the_lists_and_saves_none(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    await make_operator(edge, pool, ADA, SUPPORT)
    for listed in LISTS:
        refused = await edge("GET", f"/operator/{listed.path}/export?reason=curious")
        assert (refused.status, refused.code) == (403, "PERMISSION_MISSING"), listed.path
    assert await pool.fetchval("SELECT count(*) FROM operator_actions") == 0


@pytest.mark.usefixtures("ledger")
async def test_files_have_exact_amounts_moments_and_what_a_row_has_several_of(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    await fill(pool)
    edge.token = None
    await make_operator(edge, pool, ADA, AUDITOR)

    async def oldest(path: str) -> dict[str, Any]:
        query = "reason=yearly%20audit&format=parquet&to=2026-01-02T00:00:00Z"
        status, _, content = await downloaded(edge, f"/operator/{path}/export?{query}")
        assert status == 200
        [row] = pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist()
        found: dict[str, Any] = row
        return found

    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert await oldest("users") == {
        "user_id": "x1", "email": "x1@example.org", "display_name": FORMULA, "created_at": noon,
        "locks": "login, withdrawals",
    }  # fmt: skip
    asked = await oldest("requests")
    assert (asked["detail"], asked["requested_at"], asked["decided_at"]) == ('{"asset":"USD"}', noon, None)
    adjusted = await oldest("adjustments")
    assert (adjusted["amount"], adjusted["value_usd"]) == (Decimal("-1e-18"), Decimal("19.99"))
    moved = await oldest("treasury/transfers")
    assert (moved["source"], moved["destination"], moved["amount"]) == ("source", "destination", Decimal("12.5"))
    order = await oldest("users/eve/orders")
    assert (order["created_at"], order["average_price"], order["post_only"]) == (noon, Decimal("3." + "3" * 18), None)
    assert "fills" not in order
    trade = await oldest("users/eve/trades")
    assert (trade["executed_at"], trade["side"], trade["sequence"]) == (noon, "buy", 1)
    entry = await oldest("users/eve/transactions")
    assert (entry["created_at"], entry["amount"], entry["balance"]) == (noon, Decimal("-1e-18"), Decimal("2.5"))
    moved = await oldest("treasury/accounts/house:insurance/entries")
    assert (moved["created_at"], moved["amount"], moved["balance"]) == (noon, Decimal("-1e-18"), Decimal("2.5"))
    happened = await oldest("users/x1/activity")
    assert (happened["created_at"], happened["kind"], happened["user_agent"]) == (noon, "logged_in", FORMULA)
    note = await oldest("users/x1/notes")
    assert (note["created_at"], note["author"], note["text"]) == (noon, "user:1", FORMULA)


async def test_a_verification_that_changes_while_its_file_is_read_is_not_met_again(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    await fill(pool)
    await pool.execute("UPDATE kyc_profiles SET updated_at = now() + interval '1 hour' WHERE user_id = 'x1'")
    edge.token = None
    await make_operator(edge, pool, ADA, AUDITOR)
    reply = await edge("GET", "/operator/verifications/export?reason=yearly%20audit&to=2999-01-01T00:00:00Z")
    assert ids(list(csv.DictReader(io.StringIO(reply.body))), "user_id") == ["2", "3", "4", "5"]
