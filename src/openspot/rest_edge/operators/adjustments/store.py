"""The table `adjustments`."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from openspot.kit.database import Connection, Pool
from openspot.rest_edge.operators.adjustments.rules import Category
from openspot.rest_edge.operators.spans import Span

_COLUMNS = """
    adjustment_id, user_id, asset, amount, category, reason, value_cents, requested_by, approved_by, status,
    result_code, created_at, decided_at
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """A row. `amount` is what the user gets; below 0 what the user gives. Alone, `approved_by` is None."""

    adjustment_id: str
    user_id: str
    asset: str
    amount: Decimal
    category: Category
    reason: str
    value_cents: int | None
    requested_by: str
    approved_by: str | None
    created_at: datetime
    status: str = "pending"
    result_code: str | None = None
    decided_at: datetime | None = None


class AdjustmentFilter(NamedTuple):
    """The filter of a list; None filters nothing."""

    user_id: str | None = None
    status: str | None = None
    category: str | None = None
    span: Span = Span()


async def add(connection: Connection, row: Adjustment) -> None:
    """Write an adjustment whose transfer is begun in the same transaction."""
    await connection.execute(
        """
        INSERT INTO adjustments (adjustment_id, user_id, asset, amount, category, reason, value_cents, requested_by,
            approved_by, status, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', $10)
        """,
        row.adjustment_id, row.user_id, row.asset, row.amount, row.category.value, row.reason, row.value_cents,
        row.requested_by, row.approved_by, row.created_at,
    )  # fmt: skip


async def decide(connection: Connection, adjustment_id: str, status: str, code: str | None, now: datetime) -> None:
    """Write what became of an adjustment."""
    await connection.execute(
        "UPDATE adjustments SET status = $2, result_code = $3, decided_at = $4 WHERE adjustment_id = $1",
        adjustment_id,
        status,
        code,
        now,
    )


async def get(pool: Pool, adjustment_id: str) -> Adjustment | None:
    """The adjustment with this id."""
    row = await pool.fetchrow(f"SELECT {_COLUMNS} FROM adjustments WHERE adjustment_id = $1", adjustment_id)  # noqa: S608
    return None if row is None else _adjustment(row)


async def sum_alone(connection: Connection, accounts: Collection[str], since: datetime) -> int:
    """US cents that a person, with all of these accounts, has adjusted without another since then.

    What was refused moved nothing.
    """
    return int(
        await connection.fetchval(
            "SELECT coalesce(sum(value_cents), 0)::bigint FROM adjustments WHERE approved_by IS NULL AND"
            " created_at > $2 AND status <> 'refused' AND lower(split_part(requested_by, ':', 2)) = ANY($1::text[])",
            [*accounts],
            since,
        )
    )


async def page(
    pool: Pool, wanted: AdjustmentFilter, limit: int, after: tuple[datetime, str] | None
) -> list[Adjustment]:
    """Adjustments, newest first, behind the position `after`."""
    conditions = ["true"]
    values: list[Any] = []
    for column in ("user_id", "status", "category"):
        value = getattr(wanted, column)
        if value is not None:
            values.append(value)
            conditions.append(f"{column} = ${len(values)}")
    conditions += wanted.span.conditions("created_at", values)
    if after is not None:
        values += list(after)
        conditions.append(f"(created_at, adjustment_id) < (${len(values) - 1}, ${len(values)})")
    values.append(limit)
    rows = await pool.fetch(
        f"SELECT {_COLUMNS} FROM adjustments WHERE {' AND '.join(conditions)}"  # noqa: S608
        f" ORDER BY created_at DESC, adjustment_id DESC LIMIT ${len(values)}",
        *values,
    )
    return [_adjustment(row) for row in rows]


def _adjustment(row: Any) -> Adjustment:
    return Adjustment(**dict(row) | {"category": Category(row["category"])})
