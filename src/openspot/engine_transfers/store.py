"""A service's table of transfers: what is due, and what was decided."""

from datetime import datetime
from typing import Any

from openspot.domain.transfer import TransferKind
from openspot.engine_transfers.model import Transfer, TransferStatus, decode_movements, encode_movements
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed

_COLUMNS = "reference, kind, subject_id, movements, attempts"


class TransferStore:
    """Transfers of all processes of a service. One process at a time attempts one: each attempt leases it for a while.

    `table` is the service's own, with the columns and the index of `edge_transfers`.
    """

    def __init__(self, pool: Pool, *, table: str) -> None:
        self._pool = pool
        self._table = table

    @property
    def pool(self) -> Pool:
        """The connections."""
        return self._pool

    async def add(self, connection: Connection, transfer: Transfer, now: datetime, *, leased_until: datetime) -> None:
        """Write a transfer whose first attempt the caller makes when the transaction is committed.

        If the caller does not live to do so, any process does when the lease has run out.
        """
        await connection.execute(
            f"INSERT INTO {self._table} (reference, kind, subject_id, movements, status, attempts, next_attempt_at,"  # noqa: S608
            " created_at) VALUES ($1, $2, $3, $4::jsonb, 'pending', 1, $5, $6)",
            transfer.reference,
            transfer.kind.value,
            transfer.subject_id,
            encode_movements(transfer.movements),
            leased_until,
            now,
        )

    async def lease_due(
        self, due_by: datetime, leased_until: datetime, attempts_max: int
    ) -> tuple[Transfer, int] | None:
        """Take the transfer whose next attempt has been due for longest, with the number of that attempt.

        None if no attempt was due at `due_by`, or other processes have taken all that were.
        """
        row = await self._pool.fetchrow(
            f"""
            UPDATE {self._table} SET attempts = attempts + 1, next_attempt_at = $2
            WHERE reference = (
                SELECT reference FROM {self._table}
                WHERE status = 'pending' AND next_attempt_at <= $1 AND attempts < $3
                ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED
            ) RETURNING {_COLUMNS}
            """,  # noqa: S608
            due_by,
            leased_until,
            attempts_max,
        )
        return None if row is None else (_transfer_of(row), row["attempts"])

    async def postpone(self, reference: str, number: int, until: datetime, code: str | None) -> None:
        """Let the attempt after `number` wait until then; `code` says why, if the engine did."""
        await self._pool.execute(
            f"UPDATE {self._table} SET next_attempt_at = $3, result_code = coalesce($4, result_code)"  # noqa: S608
            " WHERE reference = $1 AND status = 'pending' AND attempts = $2",
            reference,
            number,
            until,
            code,
        )

    async def decide(
        self,
        connection: Connection,
        reference: str,
        number: int,
        status: TransferStatus,
        code: str,
        now: datetime,
    ) -> bool:
        """Write the outcome of attempt `number`; False if it does not count.

        It does not if an outcome was written before. Nor does a refusal if a later attempt has begun: that one may
        succeed.
        """
        outcome = await connection.execute(
            f"UPDATE {self._table} SET status = $3, result_code = $4, decided_at = $5"  # noqa: S608
            " WHERE reference = $1 AND status = 'pending' AND (attempts = $2 OR $3 = 'done')",
            reference,
            number,
            status.value,
            code,
            now,
        )
        return rows_changed(outcome) == 1

    async def count_waiting(self) -> tuple[int, int]:
        """How many transfers are pending, and how many of them the engine has refused: what the platform owes."""
        row = await self._pool.fetchrow(
            f"SELECT count(*) AS pending, count(result_code) AS owed FROM {self._table} WHERE status = 'pending'"  # noqa: S608
        )
        assert row is not None, "an aggregate has a row"
        return row["pending"], row["owed"]

    async def revive(self, now: datetime, attempts_max: int) -> int:
        """Begin again with transfers that have used up their attempts; returns how many there were."""
        outcome = await self._pool.execute(
            f"UPDATE {self._table} SET attempts = 1, next_attempt_at = $1"  # noqa: S608
            " WHERE status = 'pending' AND attempts >= $2",
            now,
            attempts_max,
        )
        return rows_changed(outcome)


def _transfer_of(row: Any) -> Transfer:
    return Transfer(row["reference"], TransferKind(row["kind"]), row["subject_id"], decode_movements(row["movements"]))
