"""The figures of each day (UTC), written once a day is over, so that a report of a year reads no trade.

One pass reads what is newer than the last closed day, with the present balances, in one snapshot. What the accounts
held at the end of a day are the present balances less all that moved since. So the figures do not depend on those of
earlier days, and a repeated or rebuilt day is the same.

A ledger entry counts for the day on which it was posted, and a day is closed when no transaction of it can be under way
any more. A trade counts for the day of its execution; its row may come later, so the last days are counted anew.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from openspot.domain.accounts import MARGIN_PREFIX, USER_OF_ACCOUNT_SQL
from openspot.domain.ids import HOUSE_PREFIX
from openspot.domain.money import EXACT
from openspot.kit.database import Connection, Pool

GRACE = timedelta(minutes=10)
"""A day is closed when it has been over for this long."""
COUNTED_AGAIN_DAYS = 3
"""The volumes of so many days before the ones that are closed are counted again."""
CLOSING_LOCK = 0x0905_5245
"""The key of the advisory lock under which one process closes days."""
CLOSING_S_MAX = 3600.0
"""The first time, and after an upgrade, all entries and trades are read once."""

_DAY_LONG = timedelta(days=1)
_NOTHING = (Decimal(0), Decimal(0), Decimal(0))
_CLASS = f"""
    CASE WHEN starts_with(user_id, '{HOUSE_PREFIX}') THEN user_id
        WHEN starts_with(user_id, '{MARGIN_PREFIX}') THEN 'margin' ELSE 'users' END
"""
_DAY = "(({column} AT TIME ZONE 'UTC')::date)"
_FLOWS = f"""
    SELECT {_DAY.format(column="created_at")} AS day, {_CLASS} AS account_class, asset,
        coalesce(sum(amount) FILTER (WHERE entry_type = 'fee'), 0) AS fees,
        coalesce(sum(amount) FILTER (WHERE entry_type = 'rebate'), 0) AS rebates,
        coalesce(sum(amount) FILTER (WHERE entry_type NOT IN ('fee', 'rebate')), 0) AS other
    FROM ledger_entries WHERE created_at >= $1 GROUP BY 1, 2, 3
"""  # noqa: S608  (constant text)
_TOTALS = f"""
    SELECT {_CLASS} AS account_class, asset, sum(available + locked) AS balance FROM ledger_accounts GROUP BY 1, 2
"""  # noqa: S608  (constant text)
_VOLUMES = f"""
    SELECT {_DAY.format(column="executed_at")} AS day, symbol, count(*) AS trades, sum(quantity) AS base,
        sum(price * quantity) AS quote
    FROM trades WHERE executed_at >= $1 GROUP BY 1, 2
"""  # noqa: S608  (constant text)
_REGISTERED = f"""
    SELECT {_DAY.format(column="created_at")} AS day, count(*) AS registered
    FROM users WHERE created_at >= $1 GROUP BY 1
"""  # noqa: S608  (constant text)
# Whoever traded, or did something with the account that its history of activity shows, such as logging in. While a
# margin account is liquidated, the liquidator alone trades on it.
_ACTIVE = f"""
    WITH traded AS (
        SELECT executed_at, buyer_id AS user_id FROM trades WHERE executed_at >= $1
        UNION ALL
        SELECT executed_at, seller_id FROM trades WHERE executed_at >= $1
    )
    SELECT day, count(DISTINCT {USER_OF_ACCOUNT_SQL}) AS active FROM (
        SELECT {_DAY.format(column="executed_at")} AS day, user_id FROM traded
        WHERE NOT starts_with(user_id, '{HOUSE_PREFIX}') AND NOT EXISTS (
            SELECT FROM margin_liquidations WHERE account_id = user_id AND executed_at >= started_at
                AND (finished_at IS NULL OR executed_at <= finished_at)
        )
        UNION ALL
        SELECT {_DAY.format(column="created_at")}, user_id FROM user_activity WHERE created_at >= $1
    ) AS seen GROUP BY 1
"""  # noqa: S608  (constant text)
_BEFORE = "SELECT count(*) FROM users WHERE created_at < $1"
_VERIFIED = "SELECT count(*) FROM kyc_profiles WHERE level > 0"
_FIRST_ENTRY = f"SELECT min({_DAY.format(column='created_at')}) FROM ledger_entries"  # noqa: S608  (constant text)
# What is older than this may be in the archive. The first day that is surely whole is the one after it.
_ARCHIVED = """
    SELECT max((before AT TIME ZONE 'UTC')::date) FROM archive_floors WHERE kind IN ('entries', 'trades')
"""
_LAST_CLOSED = "SELECT max(day) FROM report_users"
_LOANS = """
    SELECT asset, sum(principal) AS outstanding FROM margin_loans WHERE status = 'active' GROUP BY asset ORDER BY asset
"""
_WRITE_LOANS = """
    INSERT INTO report_loans (day, assets, outstanding) VALUES ($1, $2, $3) ON CONFLICT (day) DO NOTHING
"""


class MovementRow(NamedTuple):
    """What the accounts of a class moved on a day, and held at its end, of one asset."""

    day: date
    account_class: str
    asset: str
    fees: Decimal
    rebates: Decimal
    other: Decimal
    balance: Decimal


class VolumeRow(NamedTuple):
    """What was traded on a market on a day."""

    day: date
    symbol: str
    trades: int
    base: Decimal
    quote: Decimal


class UserRow(NamedTuple):
    """How many users registered, were active, and were there at the end of the day; how many were verified."""

    day: date
    registered: int
    active: int
    total: int
    verified: int | None


class Days(NamedTuple):
    """The figures of some days, the oldest first."""

    movements: list[MovementRow]
    volumes: list[VolumeRow]
    users: list[UserRow]


def midnight(day: date) -> datetime:
    """The beginning of a day."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


async def last_closed(connection: Connection) -> date | None:
    """The last day that is closed, None before the first."""
    found: date | None = await connection.fetchval(_LAST_CLOSED)
    return found


async def first_day(connection: Connection, timeout_s: float) -> date | None:
    """The day of the first entry, None before it. Reads all entries, so this is for when no day is closed yet."""
    found: date | None = await connection.fetchval(_FIRST_ENTRY, timeout=timeout_s)
    return found


async def loans_now(connection: Connection | Pool) -> dict[str, Decimal]:
    """What users owe the house of each asset now, without interest that was not added to the debt yet."""
    return {row["asset"]: row["outstanding"] for row in await connection.fetch(_LOANS)}


async def figures(
    connection: Connection, since: date, today: date, timeout_s: float, volumes_since: date | None = None
) -> Days:
    """The figures of the days from `since` to `today`, of the snapshot of the connection's transaction.

    The volumes are from `volumes_since` on, if it is given. Each statement may take `timeout_s`.
    """
    begins = midnight(since)
    days = [since + _DAY_LONG * number for number in range((today - since).days + 1)]
    flows: dict[date, dict[tuple[str, str], tuple[Decimal, Decimal, Decimal]]] = {day: {} for day in days}
    for row in await connection.fetch(_FLOWS, begins, timeout=timeout_s):
        # The clock may have passed midnight since the caller read it: that belongs to the last day for now.
        day, key = min(row["day"], today), (row["account_class"], row["asset"])
        fees, rebates, other = flows[day].get(key, _NOTHING)
        flows[day][key] = (
            EXACT.add(fees, row["fees"]), EXACT.add(rebates, row["rebates"]), EXACT.add(other, row["other"]),
        )  # fmt: skip
    balances = {
        (row["account_class"], row["asset"]): row["balance"]
        for row in await connection.fetch(_TOTALS, timeout=timeout_s)
    }
    movements: list[MovementRow] = []
    for day in reversed(days):
        moved = flows[day]
        for key in sorted({key for key, balance in balances.items() if balance} | moved.keys()):
            fees, rebates, other = moved.get(key, _NOTHING)
            balance = balances.get(key, Decimal(0))
            movements.append(MovementRow(day, key[0], key[1], fees, rebates, other, balance))
            balances[key] = EXACT.subtract(balance, EXACT.add(EXACT.add(fees, rebates), other))
    traded = await connection.fetch(_VOLUMES, midnight(volumes_since or since), timeout=timeout_s)
    volumes = sorted(VolumeRow(*row.values()) for row in traded)
    return Days(movements[::-1], volumes, await _users(connection, days, begins, timeout_s))


async def _users(connection: Connection, days: Sequence[date], begins: datetime, timeout_s: float) -> list[UserRow]:
    registered = await _counts(connection, _REGISTERED, begins, timeout_s)
    active = await _counts(connection, _ACTIVE, begins, timeout_s)
    total = await connection.fetchval(_BEFORE, begins, timeout=timeout_s)
    verified = await connection.fetchval(_VERIFIED, timeout=timeout_s)
    rows = []
    for day in days:
        total += registered.get(day, 0)
        # Nobody wrote down on which day a user was verified, so only the newest days have the number.
        is_new = days[-1] - day <= _DAY_LONG
        rows.append(UserRow(day, registered.get(day, 0), active.get(day, 0), total, verified if is_new else None))
    return rows


async def _counts(connection: Connection, query: str, begins: datetime, timeout_s: float) -> dict[date, int]:
    rows = await connection.fetch(query, begins, timeout=timeout_s)
    return {day: int(count) for day, count in (row.values() for row in rows)}


async def is_due(pool: Pool, now: datetime) -> bool:
    """Whether a day is over that is not closed, or nothing was closed yet."""
    last: date | None = await pool.fetchval(_LAST_CLOSED)
    return last is None or last < _newest_over(now)


async def close_days(
    pool: Pool, now: datetime, *, held: Mapping[str, Decimal] | None = None, since: date | None = None
) -> list[date]:
    """Write the figures of every day that is over and not closed; with `since`, those from that day on anew.

    `held` is what custody holds now; it is written for the newest day. Returns the days. While another process closes
    days, there are none. A day whose entries or trades may be in the archive is left as it is.
    """
    until = _newest_over(now)
    async with pool.acquire() as connection, connection.transaction(isolation="repeatable_read"):
        if not await connection.fetchval("SELECT pg_try_advisory_xact_lock($1)", CLOSING_LOCK):
            return []
        last = await last_closed(connection)
        begin = since or (None if last is None else last + timedelta(days=1))
        if begin is None or since is not None:
            first = await first_day(connection, CLOSING_S_MAX)
            if first is None:
                return []
            begin = max(first, begin or first)
        counted = begin - timedelta(days=COUNTED_AGAIN_DAYS)
        archived = await connection.fetchval(_ARCHIVED)
        if archived is not None:
            begin, counted = max(begin, archived + _DAY_LONG), max(counted, archived + _DAY_LONG)
        if begin > until:
            return []
        found = await figures(connection, begin, now.astimezone(UTC).date(), CLOSING_S_MAX, counted)
        await _write(connection, found, begin, counted, until)
        if since is None:
            loans = await loans_now(connection)
            await connection.execute(_WRITE_LOANS, until, list(loans), list(loans.values()))
        if held is not None:
            await connection.execute("DELETE FROM report_reserves WHERE day = $1", until)
            await connection.copy_records_to_table(
                "report_reserves", records=[(until, asset, amount) for asset, amount in held.items()]
            )
        return [row.day for row in found.users if row.day <= until]


def _newest_over(now: datetime) -> date:
    """The newest day that is over for long enough."""
    return (now - GRACE).astimezone(UTC).date() - _DAY_LONG


async def _write(connection: Connection, found: Days, begin: date, counted: date, until: date) -> None:
    movements = [row for row in found.movements if row.day <= until]
    volumes = [row for row in found.volumes if row.day <= until]
    await connection.execute("DELETE FROM report_movements WHERE day >= $1 AND day <= $2", begin, until)
    await connection.copy_records_to_table("report_movements", records=movements)
    await connection.execute("DELETE FROM report_volumes WHERE day >= $1 AND day <= $2", counted, until)
    await connection.copy_records_to_table("report_volumes", records=volumes)
    # Who has deleted the account since is not counted any more, so a day keeps the numbers that it was closed with.
    await connection.executemany(
        "INSERT INTO report_users (day, registered, active, total, verified) VALUES ($1, $2, $3, $4, $5)"
        " ON CONFLICT (day) DO NOTHING",
        [row for row in found.users if row.day <= until],
    )
