"""SQL of lists that begin with the newest row and go on behind a place: a time and an id."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from openspot.kit.database import Pool


def equal_to(wanted: Mapping[str, str | None], values: list[Any]) -> list[str]:
    """The conditions that columns have these values; None asks for nothing.

    The values are added to `values`, which are numbered from 1.
    """
    found = []
    for column, value in wanted.items():
        if value is not None:
            values.append(value)
            found.append(f"{column} = ${len(values)}")
    return found


async def newest_first(
    pool: Pool,
    select: str,
    conditions: list[str],
    values: list[Any],
    *,
    place: tuple[str, str],
    limit: int,
    after: tuple[datetime, str] | None,
) -> list[Any]:
    """The rows of `select` that fulfil all conditions, whose values are `values`, behind the position `after`.

    `place` are the columns of time and id.
    """
    time, row_id = place
    conditions, values = ["true", *conditions], [*values]
    if after is not None:
        values += list(after)
        conditions.append(f"({time}, {row_id}) < (${len(values) - 1}, ${len(values)})")
    values.append(limit)
    found: list[Any] = await pool.fetch(
        f"{select} WHERE {' AND '.join(conditions)} ORDER BY {time} DESC, {row_id} DESC LIMIT ${len(values)}", *values
    )
    return found
