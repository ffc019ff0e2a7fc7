"""The tables `house_transfers` and `house_levels`, and what the treasury reads of the ledger."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from openspot.domain.ids import HOUSE_ACCOUNT_PURPOSES
from openspot.kit.database import Connection, Pool
from openspot.rest_edge.operators.spans import Span

_COLUMNS = """
    transfer_id, source, destination, asset, amount, reason, value_cents, requested_by, approved_by, status,
    result_code, created_at, decided_at
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseTransfer:
    """A row of `house_transfers`. Made by one person alone, `approved_by` is None."""

    transfer_id: str
    source: str
    destination: str
    asset: str
    amount: Decimal
    reason: str
    value_cents: int | None
    requested_by: str
    approved_by: str | None
    created_at: datetime
    status: str = "pending"
    result_code: str | None = None
    decided_at: datetime | None = None


class HouseLevel(NamedTuple):
    """The level that an account should have of an asset."""

    account: str
    asset: str
    level: Decimal


class LedgerBalance(NamedTuple):
    """What the ledger has of an asset in an account of the house."""

    account: str
    asset: str
    total: Decimal


class HouseEntry(NamedTuple):
    """An entry of a house account that no trade made."""

    entry_id: int
    transaction_id: str
    asset: str
    amount: Decimal
    balance: Decimal
    entry_type: str
    reference_id: str
    created_at: datetime


async def add(connection: Connection, row: HouseTransfer) -> None:
    """Write a transfer that is begun in the same transaction."""
    await connection.execute(
        """
        INSERT INTO house_transfers (transfer_id, source, destination, asset, amount, reason, value_cents,
            requested_by, approved_by, status, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', $10)
        """,
        row.transfer_id, row.source, row.destination, row.asset, row.amount, row.reason, row.value_cents,
        row.requested_by, row.approved_by, row.created_at,
    )  # fmt: skip


async def decide(connection: Connection, transfer_id: str, status: str, code: str | None, now: datetime) -> None:
    """Write what became of a transfer."""
    await connection.execute(
        "UPDATE house_transfers SET status = $2, result_code = $3, decided_at = $4 WHERE transfer_id = $1",
        transfer_id,
        status,
        code,
        now,
    )


async def get(pool: Pool, transfer_id: str) -> HouseTransfer | None:
    """The transfer with this id."""
    row = await pool.fetchrow(f"SELECT {_COLUMNS} FROM house_transfers WHERE transfer_id = $1", transfer_id)  # noqa: S608
    return None if row is None else HouseTransfer(**dict(row))


async def page(
    pool: Pool, account: str | None, span: Span, limit: int, after: tuple[datetime, str] | None
) -> list[HouseTransfer]:
    """Transfers of `span`, newest first, behind the position `after`; of one account only if it is given."""
    conditions = ["true"]
    values: list[Any] = []
    if account is not None:
        values.append(account)
        conditions.append("$1 IN (source, destination)")
    conditions += span.conditions("created_at", values)
    if after is not None:
        values += list(after)
        conditions.append(f"(created_at, transfer_id) < (${len(values) - 1}, ${len(values)})")
    values.append(limit)
    rows = await pool.fetch(
        f"SELECT {_COLUMNS} FROM house_transfers WHERE {' AND '.join(conditions)}"  # noqa: S608
        f" ORDER BY created_at DESC, transfer_id DESC LIMIT ${len(values)}",
        *values,
    )
    return [HouseTransfer(**dict(row)) for row in rows]


async def sum_alone(connection: Connection, accounts: Collection[str], since: datetime) -> int:
    """US cents that a person, with all of these accounts, has moved without another since then.

    What was refused moved nothing.
    """
    return int(
        await connection.fetchval(
            "SELECT coalesce(sum(value_cents), 0)::bigint FROM house_transfers WHERE approved_by IS NULL AND"
            " created_at > $2 AND status <> 'refused' AND lower(split_part(requested_by, ':', 2)) = ANY($1::text[])",
            [*accounts],
            since,
        )
    )


async def levels(pool: Pool) -> list[HouseLevel]:
    """Every level."""
    rows = await pool.fetch("SELECT account, asset, level FROM house_levels ORDER BY account, asset")
    return [HouseLevel(*row) for row in rows]


async def lock_level(connection: Connection, account: str, asset: str) -> Decimal | None:
    """The present level, locked until the transaction ends; None without one."""
    # An advisory lock, because there may be no row yet.
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"openspot-house-level:{account} {asset}"
    )
    found: Decimal | None = await connection.fetchval(
        "SELECT level FROM house_levels WHERE account = $1 AND asset = $2", account, asset
    )
    return found


async def set_level(
    connection: Connection, account: str, asset: str, level: Decimal | None, operator: str, now: datetime
) -> None:
    """Write the level; None removes it."""
    if level is None:
        await connection.execute("DELETE FROM house_levels WHERE account = $1 AND asset = $2", account, asset)
        return
    await connection.execute(
        "INSERT INTO house_levels (account, asset, level, set_by, set_at) VALUES ($1, $2, $3, $4, $5)"
        " ON CONFLICT (account, asset) DO UPDATE SET level = $3, set_by = $4, set_at = $5",
        account, asset, level, operator, now,
    )  # fmt: skip


async def ledger_balances(pool: Pool) -> list[LedgerBalance]:
    """What the ledger has in every account of the house."""
    rows = await pool.fetch(
        "SELECT user_id, asset, available + locked AS total FROM ledger_accounts WHERE user_id = ANY($1)"
        " ORDER BY user_id, asset",
        list(HOUSE_ACCOUNT_PURPOSES),
    )
    return [LedgerBalance(*row) for row in rows]


async def entries(pool: Pool, account: str, limit: int, before: int) -> list[HouseEntry]:
    """Entries of an account that no trade made, with ids below `before`, newest first.

    Entries of one transaction have the same time. Only their ids say in which order the balance changed.
    """
    # Constants, so that PostgreSQL uses the partial index.
    rows = await pool.fetch(
        "SELECT entry_id, transaction_id, asset, amount, balance, entry_type, reference_id, created_at"
        " FROM ledger_entries WHERE user_id = $1 AND starts_with(user_id, 'house:') AND reference_type <> 'trade'"
        " AND entry_id < $3 ORDER BY entry_id DESC LIMIT $2",
        account,
        limit,
        before,
    )
    return [HouseEntry(*row) for row in rows]
