"""The table `edge_transfers`: what is due, and what was decided."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from openspot.domain.transfer import TransferKind
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed
from openspot.rest_edge.products.transfers.model import Transfer, TransferResult, movements_from_json, movements_to_json

_COLUMNS = "reference, kind, subject_id, movements, attempts"


class TransferStore:
    """Transfers of all edges. Only one edge at a time attempts a transfer: each attempt leases it for a while."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @property
    def pool(self) -> Pool:
        """The connections."""
        return self._pool

    async def add(self, connection: Connection, transfer: Transfer, now: datetime, lease: timedelta) -> None:
        """Write a transfer whose first attempt the caller makes when the transaction is committed.

        If the caller does not live to do so, any edge does when the lease has run out.
        """
        await connection.execute(
            "INSERT INTO edge_transfers (reference, kind, subject_id, movements, status, attempts, next_attempt_at,"
            " created_at) VALUES ($1, $2, $3, $4::jsonb, 'pending', 1, $5, $6)",
            transfer.reference,
            transfer.kind.value,
            transfer.subject_id,
            msgspec.json.encode(movements_to_json(transfer.movements)).decode(),
            now + lease,
            now,
        )

    async def lease_due(
        self, now: datetime, lease: timedelta, attempts_max: int, limit: int
    ) -> list[tuple[Transfer, int]]:
        """Take up to `limit` transfers whose next attempt is due, oldest first, with the number of that attempt."""
        rows = await self._pool.fetch(
            f"""
            UPDATE edge_transfers SET attempts = attempts + 1, next_attempt_at = $2
            WHERE reference IN (
                SELECT reference FROM edge_transfers
                WHERE status = 'pending' AND next_attempt_at <= $1 AND attempts < $3
                ORDER BY next_attempt_at LIMIT $4 FOR UPDATE SKIP LOCKED
            ) RETURNING {_COLUMNS}
            """,  # noqa: S608
            now,
            now + lease,
            attempts_max,
            limit,
        )
        return [(_transfer_of(row), row["attempts"]) for row in rows]

    async def postpone(self, reference: str, number: int, until: datetime, code: str | None) -> None:
        """Let the attempt after `number` wait until then; `code` says why, if the engine did."""
        await self._pool.execute(
            "UPDATE edge_transfers SET next_attempt_at = $3, result_code = coalesce($4, result_code)"
            " WHERE reference = $1 AND status = 'pending' AND attempts = $2",
            reference,
            number,
            until,
            code,
        )

    async def decide(
        self, connection: Connection, reference: str, number: int, result: TransferResult, now: datetime
    ) -> bool:
        """Write the outcome of attempt `number`; False if it does not count.

        It does not if an outcome was written before. Nor does a refusal if a later attempt has begun: that one may
        succeed.
        """
        outcome = await connection.execute(
            "UPDATE edge_transfers SET status = $3, result_code = $4, decided_at = $5"
            " WHERE reference = $1 AND status = 'pending' AND (attempts = $2 OR $3 = 'done')",
            reference,
            number,
            "done" if result.succeeded else "refused",
            result.code,
            now,
        )
        return rows_changed(outcome) == 1

    async def count_waiting(self) -> tuple[int, int]:
        """How many transfers are pending, and how many of them the engine has refused: what the platform owes."""
        row = await self._pool.fetchrow(
            "SELECT count(*) AS pending, count(result_code) AS owed FROM edge_transfers WHERE status = 'pending'"
        )
        assert row is not None, "an aggregate has a row"
        return row["pending"], row["owed"]

    async def revive(self, now: datetime, attempts_max: int) -> int:
        """Begin again with transfers that have used up their attempts; returns how many there were."""
        outcome = await self._pool.execute(
            "UPDATE edge_transfers SET attempts = 1, next_attempt_at = $1 WHERE status = 'pending' AND attempts >= $2",
            now,
            attempts_max,
        )
        return rows_changed(outcome)


def _transfer_of(row: Any) -> Transfer:
    rows = msgspec.json.decode(row["movements"], type=list[list[str]])
    return Transfer(row["reference"], TransferKind(row["kind"]), row["subject_id"], movements_from_json(rows))
