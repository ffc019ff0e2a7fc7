"""Reports at the edge: equal to the ledger and the trades, by day, closed or not; files; permissions; plans."""

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import asyncpg
import pytest

from openspot.contracts.messages import CustodyReserve
from openspot.http.errors import HttpError
from openspot.http.operators import OperatorRole
from openspot.rest_edge.operators.reports import store as report_store
from openspot.rest_edge.operators.reports.days import _ACTIVE, _FLOWS, _VOLUMES, close_days, is_due, midnight
from openspot.rest_edge.operators.reports.periods import Period, Span
from openspot.rest_edge.operators.reports.service import Reports
from tests.support.edge_operators import make_operator
from tests.support.filled_tables import insert
from tests.support.rest_client import RestClient

ACCOUNTS = ("alice", "bob", "margin:alice", "house:fees", "house:external", "house:staking")
TYPES = ("trade", "fee", "rebate", "deposit", "staking")
TODAY = date(2026, 3, 10)
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
SPAN = Span(date(2026, 2, 18), TODAY, Period.DAY)
MONTHS = Span(date(2026, 2, 1), TODAY, Period.MONTH)


async def fill(pool: asyncpg.Pool, count: int, *, until: date = TODAY, seed: int = 1) -> None:
    """Entries and trades of the three weeks up to a day, and accounts that are the sums of their entries."""
    chosen = random.Random(seed)
    first = until - timedelta(days=20)
    for number in range(count):
        at = midnight(first) + timedelta(seconds=chosen.randrange(20 * 86_400 + 43_200))
        account, asset = chosen.choice(ACCOUNTS), chosen.choice(("USD", "BTC"))
        amount = Decimal(chosen.randrange(-(10**20), 10**20)).scaleb(-18)
        await pool.execute(
            "INSERT INTO ledger_entries (transaction_id, user_id, asset, amount, balance, entry_type, reference_type,"
            " reference_id, created_at) VALUES ($1, $2, $3, $4, 0, $5, 'trade', 'r', $6)",
            f"{seed}-{number}", account, asset, amount, chosen.choice(TYPES), at,
        )  # fmt: skip
    await pool.execute("DELETE FROM ledger_accounts")
    await pool.execute(
        "INSERT INTO ledger_accounts (user_id, asset, available)"
        " SELECT user_id, asset, sum(amount) FROM ledger_entries GROUP BY user_id, asset"
    )
    for number in range(count // 4):
        at = midnight(first) + timedelta(seconds=chosen.randrange(20 * 86_400 + 43_200))
        await pool.execute(
            "INSERT INTO trades (trade_id, sequence, symbol, price, quantity, taker_side, taker_order_id,"
            " maker_order_id, buyer_id, seller_id, taker_fee, maker_fee, fee_currency, executed_at)"
            " VALUES ($1, 1, $2, $3, $4, 'buy', 'a', 'b', $5, 'bob', 0, 0, 'USD', $6)",
            f"{seed}-{number}", chosen.choice(("BTC-USD", "ETH-USD")), Decimal(chosen.randrange(1, 10**6)) / 100,
            Decimal(chosen.randrange(1, 10**9)).scaleb(-8), chosen.choice(("alice", "carol")), at,
        )  # fmt: skip


async def moved_by_fee_account(pool: asyncpg.Pool) -> dict[tuple[str, str], Decimal]:
    rows = await pool.fetch(
        "SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, asset, sum(amount) AS amount"
        " FROM ledger_entries WHERE user_id = 'house:fees' GROUP BY 1, 2"
    )
    return {(row["day"], row["asset"]): row["amount"] for row in rows if row["amount"]}


def without_custody(pool: asyncpg.Pool, now: datetime = NOW) -> Reports:
    async def silent() -> Sequence[CustodyReserve]:
        raise HttpError(503, "custody does not respond now", "UNAVAILABLE")

    return Reports(pool, silent, lambda: now)


@pytest.mark.parametrize("is_closed", [False, True])
async def test_fee_income_of_each_day_is_what_the_fee_account_moved(
    pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch, is_closed: bool
) -> None:
    await fill(pool, 400)
    monkeypatch.setattr(report_store, "OPEN_DAYS_MAX", 40)
    reports = without_custody(pool)
    if is_closed:
        await reports.close()
        assert not await is_due(pool, NOW)
    rows = await reports.fees(SPAN)
    reported = {(row["period"], row["asset"]): Decimal(row["total"]) for row in rows if row["account"] == "house:fees"}
    assert {key: amount for key, amount in reported.items() if amount} == await moved_by_fee_account(pool)
    months = await reports.fees(MONTHS)
    for asset in ("USD", "BTC"):
        in_months = sum(Decimal(row["total"]) for row in months if row["asset"] == asset)
        assert in_months == sum(amount for (_, other), amount in reported.items() if other == asset)


async def test_days_that_a_late_closing_has_not_reached_are_no_zero(pool: asyncpg.Pool) -> None:
    await fill(pool, 200)
    # Nothing is closed: all days since the first entry but the newest, which are computed.
    first = await pool.fetchval("SELECT min((created_at AT TIME ZONE 'UTC')::date) FROM ledger_entries")
    notes = await noted(without_custody(pool), "fees", SPAN)
    assert notes == [(first + timedelta(days=n)).isoformat() for n in range((date(2026, 3, 8) - first).days)]
    await close_days(pool, midnight(date(2026, 3, 3)) + timedelta(hours=1))
    reports = without_custody(pool)
    for name in ("fees", "volumes", "users", "balances", "reserves"):
        assert await noted(reports, name, SPAN) == [f"2026-03-0{day}" for day in range(3, 8)], name
        rows = await reports.rows(name, SPAN)
        assert [row["period"] for row in rows] == sorted(row["period"] for row in rows), name
    months = MONTHS._replace(until=date(2026, 3, 8))
    assert await noted(reports, "fees", months) == ["2026-03"]
    assert await noted(reports, "balances", months) == []
    assert await noted(reports, "balances", months._replace(until=date(2026, 3, 7))) == ["2026-03"]
    await reports.close()
    assert await noted(without_custody(pool), "fees", SPAN) == []


async def noted(reports: Reports, name: str, span: Span) -> list[str]:
    """The periods of a report that are not closed yet; they have nothing else."""
    rows = [row for row in await reports.rows(name, span) if "note" in row]
    assert all(row == {"period": row["period"], "note": "not closed yet"} for row in rows)
    return [row["period"] for row in rows]


async def test_balances_of_a_day_are_all_entries_up_to_it(pool: asyncpg.Pool) -> None:
    await fill(pool, 300)
    await without_custody(pool).close()
    rows = await without_custody(pool).balances(SPAN)
    for day in (date(2026, 2, 21), date(2026, 3, 1), date(2026, 3, 9), TODAY):
        expected = await pool.fetch(
            "SELECT asset, sum(amount) AS amount FROM ledger_entries"
            " WHERE user_id IN ('alice', 'bob') AND created_at < $1 GROUP BY asset",
            midnight(day + timedelta(days=1)),
        )
        found = {
            row["asset"]: Decimal(row["balance"])
            for row in rows
            if (row["period"], row["account"]) == (day.isoformat(), "users")
        }
        assert found == {row["asset"]: row["amount"] for row in expected if row["amount"]}, day
    february = [row for row in await without_custody(pool).balances(MONTHS) if row["period"] == "2026-02"]
    assert february == [row | {"period": "2026-02"} for row in rows if row["period"] == "2026-02-28"]


async def test_a_day_that_is_closed_again_or_rebuilt_is_the_same(pool: asyncpg.Pool) -> None:
    await fill(pool, 200)

    async def tables() -> list[Any]:
        return [
            await pool.fetch(f"SELECT * FROM {table} ORDER BY 1, 2, 3")
            for table in ("report_movements", "report_volumes", "report_users")
        ]

    # In steps, as the days pass, and then everything at once.
    for day in (date(2026, 3, 3), date(2026, 3, 9)):
        assert await close_days(pool, midnight(day + timedelta(days=1)) + timedelta(minutes=9)) != []
    before = await close_days(pool, NOW)
    assert before == [date(2026, 3, 9)]
    stepwise = await tables()
    assert await close_days(pool, NOW) == []
    assert len(await close_days(pool, NOW, since=date(1970, 1, 1))) == 20
    rebuilt = await tables()
    assert stepwise[:2] == rebuilt[:2]
    assert [row["day"] for row in rebuilt[2]] == [date(2026, 2, 18) + timedelta(days=n) for n in range(20)]


async def test_a_rebuild_puts_right_what_a_repair_of_the_ledger_changed(pool: asyncpg.Pool) -> None:
    await fill(pool, 60)
    await close_days(pool, NOW)
    before = await pool.fetch("SELECT * FROM report_movements ORDER BY 1, 2, 3")
    await pool.execute("UPDATE report_movements SET fees = fees + 1, balance = 0")
    await close_days(pool, NOW, since=date(2026, 1, 1))
    assert await pool.fetch("SELECT * FROM report_movements ORDER BY 1, 2, 3") == before


async def test_days_in_the_archive_stay_as_they_were(pool: asyncpg.Pool) -> None:
    await fill(pool, 100)
    await close_days(pool, NOW)
    before = await pool.fetch("SELECT * FROM report_movements ORDER BY 1, 2, 3")
    await pool.execute("INSERT INTO archive_floors VALUES ('entries', 'e', 9, '2026-03-01T05:00:00Z')")
    await pool.execute("DELETE FROM ledger_entries WHERE created_at < '2026-03-01T05:00:00Z'")
    days = await close_days(pool, NOW, since=date(1970, 1, 1))
    assert days[0] == date(2026, 3, 2)
    assert await pool.fetch("SELECT * FROM report_movements ORDER BY 1, 2, 3") == before


async def test_a_trade_whose_row_came_late_is_counted_the_next_day(pool: asyncpg.Pool) -> None:
    await fill(pool, 40)
    await close_days(pool, NOW - timedelta(days=1))
    await pool.execute(
        "UPDATE trades SET executed_at = '2026-03-07T23:00:00Z', symbol = 'SOL-USD' WHERE trade_id = '1-0'"
    )
    await close_days(pool, NOW)
    found = await pool.fetch("SELECT day, trades FROM report_volumes WHERE symbol = 'SOL-USD'")
    assert [tuple(row.values()) for row in found] == [(date(2026, 3, 7), 1)]
    total = await pool.fetchval("SELECT sum(trades) FROM report_volumes WHERE day >= '2026-03-05'")
    assert total == await pool.fetchval(
        "SELECT count(*) FROM trades WHERE executed_at >= '2026-03-05' AND executed_at < '2026-03-10'"
    )


async def test_reserves_are_kept_for_the_day_and_asked_for_today(pool: asyncpg.Pool) -> None:
    await fill(pool, 50)
    held = [CustodyReserve("BTC", "bitcoin", "1.5", "0.5"), CustodyReserve("SOL", "solana", "1", "0")]

    async def custody() -> Sequence[CustodyReserve]:
        return held

    reports = Reports(pool, custody, lambda: NOW)
    await reports.close()
    held[0] = CustodyReserve("BTC", "bitcoin", "9", "0")
    rows = {(row["period"], row["asset"]): row for row in await reports.reserves(SPAN)}
    assert rows["2026-03-09", "BTC"]["reserves"] == "2"
    assert rows["2026-03-10", "BTC"]["reserves"] == "9"
    assert rows["2026-03-10", "USD"]["reserves"] == "0"
    assert rows["2026-03-08", "BTC"]["reserves"] is None
    assert rows["2026-03-10", "SOL"]["liabilities"] == "0"
    silent = {row["period"]: row for row in await without_custody(pool).reserves(SPAN) if row["asset"] == "BTC"}
    assert silent["2026-03-10"]["reserves"] is None
    assert silent["2026-03-09"]["reserves"] == "2"


async def test_operators_read_reports_and_save_them_with_a_reason(edge: RestClient, pool: asyncpg.Pool) -> None:
    today = datetime.now(UTC).date()
    await fill(pool, 20, until=today)
    await make_operator(edge, pool, "ada@example.org", OperatorRole.TREASURY)
    span = f"from={today}&to={today}"
    for name in ("fees", "volumes", "users", "balances", "reserves"):
        reply = await edge("GET", f"/operator/reports/{name}?{span}")
        assert reply.status == 200, (name, reply.body)
    # Twenty days have entries, and none is closed.
    open_days = f"from={today - timedelta(days=3)}&to={today - timedelta(days=2)}"
    for name in ("fees", "volumes", "users", "balances", "reserves"):
        gap = (await edge("GET", f"/operator/reports/{name}?{open_days}")).body[0]
        assert gap == {"period": f"{today - timedelta(days=3)}", "note": "not closed yet"}, name
        saved = await edge("GET", f"/operator/reports/{name}/export?{open_days}&reason=audit")
        cells = saved.body.splitlines()[1].split(",")
        assert (cells[0], set(cells[1:-1]), cells[-1]) == (gap["period"], {""}, "not closed yet"), name
    users = (await edge("GET", f"/operator/reports/users?{span}&by=month")).body
    assert [(row["period"], row["registered"], row["verified"]) for row in users] == [(f"{today:%Y-%m}", 1, 0)]
    for bad in (f"from={today}", f"from={today}&to=2020-01-01", f"{span}&by=year", "from=2020-01-01&to=2026-01-01"):
        assert (await edge("GET", f"/operator/reports/users?{bad}")).status == 400, bad
    assert (await edge("GET", f"/operator/reports/users/export?{span}")).status == 400
    saved = await edge("GET", f"/operator/reports/users/export?{span}&reason=yearly%20audit")
    assert saved.headers["Content-Disposition"] == f'attachment; filename="users-{today}-{today}.csv"'
    assert saved.body.splitlines()[0] == "period,registered,active,total,verified,note"
    entry = await pool.fetchrow(
        "SELECT action, subject_id, reason, after FROM operator_actions ORDER BY 1 DESC LIMIT 1"
    )
    assert tuple(entry.values())[:3] == ("reports.exported", "users", "yearly audit")


async def test_what_users_owe_the_house_stands_beside_what_they_are_owed(pool: asyncpg.Pool) -> None:
    await fill(pool, 40, until=TODAY - timedelta(days=1))
    loan = {"account_id": "margin:alice:1", "asset": "BTC", "borrowed": 3, "status": "active", "ended_at": None}
    await insert(pool, "margin_accounts", {"user_id": "alice"}, account_id=loan["account_id"])
    await insert(pool, "margin_loans", {"user_id": "alice"}, loan_id="l1", principal=2, **loan)
    await insert(pool, "margin_loans", {"user_id": "alice"}, loan_id="l2", principal=9, **(loan | {"status": "repaid"}))
    assert await close_days(pool, NOW)
    await pool.execute("UPDATE margin_loans SET principal = 0.5 WHERE loan_id = 'l1'")

    async def nothing() -> Sequence[CustodyReserve]:
        return []

    rows = await Reports(pool, nothing, lambda: NOW).reserves(SPAN)
    lent = {row["period"]: row["loans"] for row in rows if row["asset"] == "BTC"}
    newest = (TODAY - timedelta(days=1)).isoformat()
    assert (lent.pop(TODAY.isoformat()), lent.pop(newest)) == ("0.5", "2")
    assert set(lent.values()) == {None}, "nobody knows any more what was lent on the days before"
    await close_days(pool, NOW, since=SPAN.since)
    assert await pool.fetchval("SELECT outstanding FROM report_loans") == [Decimal(2)], "a day keeps its loans"


async def traded(pool: asyncpg.Pool, buyer: str, seller: str, at: str) -> None:
    """A trade of March 9, 2026."""
    count = await pool.fetchval("SELECT count(*) FROM trades")
    fields = {"trade_id": f"t{count}", "seller_id": seller, "executed_at": f"2026-03-09T{at}Z", "taker_side": "buy"}
    await insert(pool, "trades", {"buyer_id": buyer}, **fields)


async def active_users(pool: asyncpg.Pool) -> int:
    users = {row["period"]: row["active"] for row in await without_custody(pool).users(SPAN)}
    assert sum(users.values()) == users["2026-03-09"]
    return int(users["2026-03-09"])


async def test_a_user_who_logs_in_and_trades_on_margin_is_active_once(pool: asyncpg.Pool) -> None:
    for name in ("alice", "bob"):
        user = {"user_id": name, "email": f"{name}@example.org", "role": "user"}
        await insert(pool, "users", user, **user)
    await insert(pool, "user_activity", {"user_id": "alice"}, created_at="2026-03-09T10:00:00Z")
    await traded(pool, "alice", "house:market-maker", "10:01:00")
    await traded(pool, "margin:alice", "house:market-maker", "10:02:00")
    await traded(pool, "house:market-maker", "margin:alice:2", "10:03:00")
    assert await active_users(pool) == 1
    await traded(pool, "margin:bob", "margin:alice", "10:04:00")
    assert await active_users(pool) == 2


async def test_a_user_whose_margin_account_is_liquidated_is_not_active_by_that(pool: asyncpg.Pool) -> None:
    for account in ("margin:alice", "margin:bob"):
        await insert(pool, "margin_accounts", {"user_id": "alice"}, account_id=account)
    for account, since, until in (
        ("margin:alice", "2026-03-09T10:00:00Z", "2026-03-09T10:10:00Z"), ("margin:bob", "2026-03-09T11:00:00Z", None),
    ):  # fmt: skip
        fields = {"liquidation_id": account, "account_id": account, "started_at": since, "finished_at": until}
        await insert(pool, "margin_liquidations", {}, **fields)
    await traded(pool, "house:market-maker", "margin:alice", "10:05:00")
    await traded(pool, "margin:bob", "house:market-maker", "23:00:00")
    assert await active_users(pool) == 0
    await traded(pool, "house:market-maker", "margin:alice", "10:10:01")
    assert await active_users(pool) == 1
    await traded(pool, "margin:bob", "house:market-maker", "10:59:59")
    assert await active_users(pool) == 2


async def test_the_figures_are_found_along_indexes(pool: asyncpg.Pool) -> None:
    """A day of a long past reads its own pages, and a report of a year reads the rows of its days alone."""
    await pool.execute(
        """
        INSERT INTO ledger_entries (transaction_id, user_id, asset, amount, balance, entry_type, reference_type,
            reference_id, created_at)
        SELECT 't' || n, 'u' || n % 50, 'USD', 1, 1, 'trade', 'trade', 'r',
            '2026-01-01'::timestamptz + n * interval '1 min'
        FROM generate_series(1, 60000) AS n
        """
    )
    await pool.execute(
        """
        INSERT INTO trades (trade_id, sequence, symbol, price, quantity, taker_side, taker_order_id, maker_order_id,
            buyer_id, seller_id, taker_fee, maker_fee, fee_currency, executed_at)
        SELECT 't' || n, n, 'BTC-USD', 1, 1, 'buy', 'a', 'b', 'u1', 'u2', 0, 0, 'USD',
            '2026-01-01'::timestamptz + n * interval '1 min'
        FROM generate_series(1, 60000) AS n
        """
    )
    await pool.execute(
        """
        INSERT INTO report_movements
        SELECT '2020-01-01'::date + day, 'class' || class, 'A' || asset, 0, 0, 0, 1
        FROM generate_series(0, 2000) AS day, generate_series(1, 4) AS class, generate_series(1, 5) AS asset
        """
    )
    for table, column in (("ledger_entries", "days"), ("trades", "days")):
        await pool.execute(f"SELECT brin_summarize_new_values('{table}_{column}')")
    for table in ("ledger_entries", "trades", "report_movements"):
        await pool.execute(f"VACUUM ANALYZE {table}")

    async def plan(query: str, *values: object) -> str:
        return "\n".join(row[0] for row in await pool.fetch(f"EXPLAIN {query}", *values))

    last_day = datetime(2026, 2, 11, tzinfo=UTC)
    assert "ledger_entries_days" in await plan(_FLOWS, last_day)
    for query in (_VOLUMES, _ACTIVE):
        assert "trades_days" in await plan(query, last_day)
    year = (date(2024, 1, 1), date(2024, 12, 31))
    for read in (
        await plan(report_store._MOVEMENTS, *year, ["class1", "class2", "class3"]),
        await plan(report_store._BALANCES, [date(2024, month, 1) for month in range(1, 13)]),
    ):
        assert "Seq Scan" not in read, read
        assert "report_movements_pkey" in read, read
