"""Converts amounts for the database, and reads its reports on statements."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from openspot.domain.money import AMOUNT_PLACES, EXACT
from openspot.kit.database import Pool


def numeric(amount: int) -> Decimal:
    """An amount of 18 places for a `numeric` column. Sums may be larger than any single amount."""
    return Decimal(amount).scaleb(-AMOUNT_PLACES, context=EXACT)


def rows_changed(tag: str) -> int:
    """How many rows a statement has changed, from the command tag with which PostgreSQL ends it.

    The tag ends with the number of rows: `INSERT 0 1`, `UPDATE 3`, `DELETE 0`. The 0 in the middle of an INSERT's tag
    is something else (PostgreSQL documentation, "Message Formats", CommandComplete).
    """
    return int(tag.rpartition(" ")[2])


async def newest_rows(
    pool: Pool, query: str, key: str, user_id: str, limit: int, after: tuple[datetime, str] | None
) -> Sequence[Any]:
    """Up to `limit` rows of a user, newest first, after a position: the time and the `key` of a row.

    `query` selects rows with `created_at`, and ends with its conditions, the user's id as $1 among them.
    """
    return await pool.fetch(
        f"{query} AND ($2::timestamptz IS NULL OR (created_at, {key}) < ($2::timestamptz, $3::text))"
        f" ORDER BY created_at DESC, {key} DESC LIMIT $4",
        user_id,
        *(after or (None, None)),
        limit,
    )
