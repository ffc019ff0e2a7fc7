"""The table `operator_views`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed

VIEWS_MAX = 100
"""An operator has at most this many views, of all pages together."""
_COLUMNS = "view_id, page, name, query, saved_at"
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('operator views ' || $1, 0))"


class TooManyViewsError(Exception):
    """The operator has as many views as an operator may have."""


@dataclass(frozen=True, slots=True)
class View:
    """A view of one operator."""

    view_id: str
    page: Any
    name: str
    query: str
    saved_at: datetime


async def views_of(pool: Pool, operator: str) -> list[View]:
    """The operator's views, by page and name."""
    query = f"SELECT {_COLUMNS} FROM operator_views WHERE operator = $1 ORDER BY page, name"  # noqa: S608
    return [View(**dict(row)) for row in await pool.fetch(query, operator)]


async def save(connection: Connection, operator: str, view: View) -> View:
    """Save a view; one of the same page and name gets the new query. Raises TooManyViewsError beyond VIEWS_MAX."""
    await connection.execute(_LOCK, operator)
    row = await connection.fetchrow(
        f"""
        UPDATE operator_views SET query = $4, saved_at = $5 WHERE operator = $1 AND page = $2 AND name = $3
        RETURNING {_COLUMNS}
        """,  # noqa: S608
        operator,
        view.page,
        view.name,
        view.query,
        view.saved_at,
    )
    if row is not None:
        return View(**dict(row))
    if await connection.fetchval("SELECT count(*) FROM operator_views WHERE operator = $1", operator) >= VIEWS_MAX:
        raise TooManyViewsError
    await connection.execute(
        "INSERT INTO operator_views (view_id, operator, page, name, query, saved_at) VALUES ($1, $2, $3, $4, $5, $6)",
        view.view_id,
        operator,
        view.page,
        view.name,
        view.query,
        view.saved_at,
    )
    return view


async def remove(pool: Pool, operator: str, view_id: str) -> bool:
    """Remove a view of the operator; False if the operator has no such view."""
    outcome = await pool.execute("DELETE FROM operator_views WHERE operator = $1 AND view_id = $2", operator, view_id)
    return rows_changed(outcome) == 1
