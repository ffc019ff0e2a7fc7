"""What each list has: its rows, their order and their filters. SQL that is made of constants and given values.

Every list is read along an index by time and id: `…_newest`, `…_by_status`, or `…_of_user` if the user is given. The
filters that are given become conditions, so that PostgreSQL plans for exactly these.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from openspot.coin_networks.pauses import Direction, is_paused_sql
from openspot.kit.clock import iso_of
from openspot.kit.database import Pool, text_of

LOOKED_UP_DAYS = 30
"""Whether the ledger has a deposit is looked up for this long. Older entries may be in the archive."""
NOBODY = "nobody"
"""The assignee of what nobody is asked to decide on."""


class ListPosition(NamedTuple):
    """A position in a list, newest first: the page begins after this row."""

    created_at: datetime
    row_id: str


@dataclass(frozen=True, slots=True)
class ListFilter:
    """The filter of a list; None filters nothing. `since` is inclusive, `until` exclusive.

    `assignee` is an operator's name, or NOBODY for what nobody has.
    """

    user_id: str | None = None
    asset: str | None = None
    state: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    assignee: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A list: its name, where its rows are, what it selects, and the condition of each state that can be asked for.

    `columns` maps the fields of a row, in their order, to SQL. `row_id` breaks the ties of `created_at`.
    """

    name: str
    rows: str
    row_id: str
    columns: Mapping[str, str]
    states: Mapping[str, str]
    asset: str = "asset"
    """The column of the asset."""
    has_assignees: bool = False
    """Whether its rows have a column `assignee`."""

    def query(self, wanted: ListFilter, after: ListPosition | None, limit: int) -> tuple[str, list[Any]]:
        """The statement that reads a page, and its values. Raises KeyError for a state that the list does not have."""
        values: list[Any] = []

        def given(value: Any) -> str:
            values.append(value)
            return f"${len(values)}"

        conditions = ["true"] if wanted.state is None else [self.states[wanted.state]]
        if wanted.user_id is not None:
            conditions.append(f"user_id = {given(wanted.user_id)}")
        if wanted.asset is not None:
            conditions.append(f"{self.asset} = {given(wanted.asset)}")
        if wanted.since is not None:
            conditions.append(f"created_at >= {given(wanted.since)}")
        if wanted.until is not None:
            conditions.append(f"created_at < {given(wanted.until)}")
        if wanted.assignee == NOBODY:
            conditions.append("assignee IS NULL")
        elif wanted.assignee is not None:
            conditions.append(f"assignee = {given(wanted.assignee)}")
        if after is not None:
            conditions.append(f"(created_at, {self.row_id}) < ({given(after.created_at)}, {given(after.row_id)})")
        columns = ", ".join(f"{sql} AS {field}" for field, sql in self.columns.items())
        text = (
            f"SELECT {columns}, created_at AS placed_at, {self.row_id} AS placed_id {self.rows}"
            f" WHERE {' AND '.join(conditions)} ORDER BY created_at DESC, {self.row_id} DESC LIMIT {given(limit)}"
        )
        return text, values

    async def page(
        self, pool: Pool, wanted: ListFilter, after: ListPosition | None, limit: int
    ) -> tuple[list[dict[str, Any]], ListPosition | None]:
        """Up to `limit` rows as JSON values by field, and the position of the next page, None if there is none."""
        text, values = self.query(wanted, after, limit + 1)
        rows = await pool.fetch(text, *values)
        page = rows[:limit]
        following = ListPosition(page[-1]["placed_at"], page[-1]["placed_id"]) if len(rows) > limit else None
        return [{field: _json(row[field]) for field in self.columns} for row in page], following


def _json(value: Any) -> Any:
    if isinstance(value, Decimal):
        return text_of(value)
    return iso_of(value) if isinstance(value, datetime) else value


_STATUSES = (
    "pending_approval", "approved", "signing", "broadcasting", "confirming", "completed", "cancelled", "rejected",
    "failed",
)  # fmt: skip
WITHDRAWALS = Listing(
    "withdrawals",
    "FROM custody_withdrawals LEFT JOIN withdrawal_assignments USING (withdrawal_id)",
    "withdrawal_id",
    {
        "id": "withdrawal_id",
        "user_id": "user_id",
        "asset": "asset",
        "network": "network",
        "amount": "amount",
        "fee": "fee",
        "net_amount": "net_amount",
        "value_usd": "round(value_cents / 100.0, 2)::text",
        "address": "address",
        "tag": "tag",
        "wallet": "wallet",
        "status": "status",
        "funds": "funds",
        "reason": "reason",
        "tx_hash": "tx_hash",
        "approvals_needed": "approvals_needed",
        "approvals": (
            "coalesce((SELECT string_agg(approver, ', ' ORDER BY given.created_at, approver)"
            " FROM custody_approvals AS given"
            " WHERE given.withdrawal_id = custody_withdrawals.withdrawal_id), '')"
        ),
        "assignee": "assignee",
        "created_at": "created_at",
        "updated_at": "updated_at",
    },
    {status: f"status = '{status}'" for status in _STATUSES}
    | {"open": "funds NOT IN ('refused', 'released', 'taken')"},
    has_assignees=True,
)
_CREDITED = (
    "CASE WHEN confirmed_at IS NULL THEN false"
    f" WHEN confirmed_at < now() - interval '{LOOKED_UP_DAYS} days' THEN NULL"
    " ELSE EXISTS (SELECT FROM ledger_entries WHERE transaction_id = tx_hash) END"
)
_IS_PAUSED = is_paused_sql(Direction.DEPOSITS, "custody_deposits")
DEPOSITS = Listing(
    "deposits",
    "FROM custody_deposits",
    "tx_hash",
    {
        "tx_hash": "tx_hash",
        "user_id": "user_id",
        "asset": "asset",
        "network": "network",
        "address": "address",
        "amount": "amount",
        "required_confirmations": "required_confirmations",
        "status": f"CASE WHEN confirmed_at IS NOT NULL THEN 'confirmed' WHEN {_IS_PAUSED} THEN 'waiting'"
        " ELSE 'pending' END",
        "credited": _CREDITED,
        "created_at": "created_at",
        "confirmed_at": "confirmed_at",
    },
    {
        "pending": "confirmed_at IS NULL",
        "waiting": f"confirmed_at IS NULL AND {_IS_PAUSED}",
        "confirmed": "confirmed_at IS NOT NULL",
        "uncredited": (
            f"confirmed_at IS NOT NULL AND created_at >= now() - interval '{LOOKED_UP_DAYS} days'"
            " AND NOT EXISTS (SELECT FROM ledger_entries WHERE transaction_id = tx_hash)"
        ),
    },
)
PAYMENTS = Listing(
    "payments",
    "FROM payments",
    "payment_id",
    {
        "id": "payment_id",
        "user_id": "user_id",
        "route_id": "route_id",
        "asset": "currency",
        "amount": "amount",
        "fee": "fee",
        "status": "CASE WHEN status = 'open' AND expires_at <= now() THEN 'expired' ELSE status END",
        "payment_status": "payment_status",
        "credited": "credited",
        "created_at": "created_at",
        "expires_at": "expires_at",
        "completed_at": "completed_at",
    },
    {
        "open": "status = 'open' AND expires_at > now()",
        "expired": "status = 'open' AND expires_at <= now()",
        "complete": "status = 'complete'",
        "cancelled": "status = 'cancelled'",
        "failed": "payment_status = 'failed'",
        "uncredited": "payment_status = 'paid' AND NOT credited",
    },
    asset="currency",
)
