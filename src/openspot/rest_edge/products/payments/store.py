"""The tables `payments` and `payment_events`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openspot.kit.database import Connection, Pool
from openspot.kit.sql import newest_rows, numeric, rows_changed
from openspot.rest_edge.common.amounts import row_values

_PAYMENT = (
    "payment_id, user_id, route_id, currency, amount, fee, return_url, status, payment_status, credited, created_at,"
    " expires_at, completed_at"
)
_AMOUNTS = frozenset({"amount", "fee"})
_FIELDS = {"currency": "asset"}
"""The field that has another name than its column."""
DELETED_AT_A_TIME = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """A payment. Amounts are in units of 18 places."""

    payment_id: str
    user_id: str
    route_id: str
    asset: str
    amount: int
    fee: int
    return_url: str | None
    status: str
    payment_status: str
    credited: bool
    created_at: datetime
    expires_at: datetime
    completed_at: datetime | None


class PaymentStore:
    """Reads and writes the payments of all users, and their callbacks."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def add(self, payment: Payment, open_max: int) -> datetime | None:
        """Store a new payment, unless its user has `open_max` that still wait for money.

        Returns None, or the time at which the first of those ends.
        """
        async with self.pool.acquire() as connection, connection.transaction():
            lock = f"openspot-payments:{payment.user_id}"
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", lock)
            waiting = await connection.fetchrow(
                """
                SELECT count(*) AS number, min(expires_at) AS first_end FROM payments
                WHERE user_id = $1 AND status = 'open' AND expires_at > $2
                """,
                payment.user_id,
                payment.created_at,
            )
            assert waiting is not None, "a count always gives a row"
            if waiting["number"] >= open_max:
                first_end: datetime = waiting["first_end"]
                return first_end
            await self._insert(connection, payment)
        return None

    async def _insert(self, connection: Connection, payment: Payment) -> None:
        await connection.execute(
            f"INSERT INTO payments ({_PAYMENT})"  # noqa: S608
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            payment.payment_id,
            payment.user_id,
            payment.route_id,
            payment.asset,
            numeric(payment.amount),
            numeric(payment.fee),
            payment.return_url,
            payment.status,
            payment.payment_status,
            payment.credited,
            payment.created_at,
            payment.expires_at,
            payment.completed_at,
        )

    async def get(self, payment_id: str) -> Payment | None:
        """A payment of any user, None if there is none."""
        row = await self.pool.fetchrow(f"SELECT {_PAYMENT} FROM payments WHERE payment_id = $1", payment_id)  # noqa: S608
        return None if row is None else _payment_of(row)

    async def lock(self, connection: Connection, payment_id: str) -> Payment | None:
        """A payment of any user, locked until the transaction ends; None if there is none."""
        query = f"SELECT {_PAYMENT} FROM payments WHERE payment_id = $1 FOR UPDATE"  # noqa: S608
        row = await connection.fetchrow(query, payment_id)
        return None if row is None else _payment_of(row)

    async def list_of(self, user_id: str, limit: int, after: tuple[datetime, str] | None) -> list[Payment]:
        """Up to `limit` payments of the user, newest first, after a position."""
        query = f"SELECT {_PAYMENT} FROM payments WHERE user_id = $1"  # noqa: S608
        rows = await newest_rows(self.pool, query, "payment_id", user_id, limit, after)
        return [_payment_of(row) for row in rows]

    async def note_event(
        self, connection: Connection, event_id: str, payment_id: str, payment_status: str, now: datetime
    ) -> bool:
        """Store a callback. False if it came before."""
        outcome = await connection.execute(
            "INSERT INTO payment_events (event_id, payment_id, payment_status, received_at) VALUES ($1, $2, $3, $4)"
            " ON CONFLICT (event_id) DO NOTHING",
            event_id,
            payment_id,
            payment_status,
            now,
        )
        return rows_changed(outcome) == 1

    async def complete(self, connection: Connection, payment_id: str, payment_status: str, now: datetime) -> None:
        """Write the outcome of the payment."""
        await connection.execute(
            "UPDATE payments SET status = 'complete', payment_status = $2, completed_at = $3 WHERE payment_id = $1",
            payment_id,
            payment_status,
            now,
        )

    async def cancel_unpaid(self, user_ids: Sequence[str]) -> None:
        """Cancel the users' payments for which no money has arrived. They take none from now on."""
        await self.pool.execute(
            "UPDATE payments SET status = 'cancelled' WHERE user_id = ANY($1::text[]) AND payment_status <> 'paid'",
            list(user_ids),
        )

    async def delete_unpaid(self, before: datetime) -> int:
        """Delete the payments that ended before that time and for which no money arrived, with their callbacks.

        What was paid stays, and so do the ids of its callbacks. Returns how many went, at most DELETED_AT_A_TIME.
        """
        async with self.pool.acquire() as connection, connection.transaction():
            rows = await connection.fetch(
                """
                SELECT payment_id FROM payments WHERE payment_status <> 'paid' AND expires_at < $1
                ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
                """,
                before,
                DELETED_AT_A_TIME,
            )
            ids = [row["payment_id"] for row in rows]
            await connection.execute("DELETE FROM payment_events WHERE payment_id = ANY($1::text[])", ids)
            await connection.execute("DELETE FROM payments WHERE payment_id = ANY($1::text[])", ids)
        return len(ids)

    async def mark_credited(self, connection: Connection, payment_id: str) -> None:
        """Write that the user is credited."""
        await connection.execute("UPDATE payments SET credited = true WHERE payment_id = $1", payment_id)


def _payment_of(row: Any) -> Payment:
    return Payment(**row_values(row, _AMOUNTS, _FIELDS))
