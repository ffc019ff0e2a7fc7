"""The table `position_transfers`."""

from collections.abc import Sequence
from typing import Any

from openspot.domain.accounts import AccountKey
from openspot.kit.database import Connection, Pool
from openspot.positions.amounts import amount_of
from openspot.positions.lifecycle import PositionTransferKind, PositionTransferStatus


class PositionTransferStore:
    """Reads and writes the transfers."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def lock_participant(self, connection: Connection, participant_id: str) -> None:
        """Let the participant's transfers begin one after the other, so that they are counted."""
        lock = f"openspot-position-transfers:{participant_id}"
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", lock)

    async def pending(self, connection: Connection, participant_id: str) -> int:
        """How many transfers of the participant have not ended."""
        count: int = await connection.fetchval(
            "SELECT count(*) FROM position_transfers WHERE participant_id = $1 AND status = 'pending'", participant_id
        )
        return count

    async def has_begun_within_a_day(self, connection: Connection, participant_id: str, number: int) -> bool:
        """Whether the participant has begun `number` transfers within 24 hours. Reads that many at most."""
        return bool(
            await connection.fetchval(
                """
                SELECT created_at > now() - interval '24 hours' FROM position_transfers
                WHERE participant_id = $1 ORDER BY serial DESC OFFSET $2 LIMIT 1
                """,
                participant_id,
                number - 1,
            )
        )

    async def insert(self, connection: Connection, **columns: Any) -> Any | None:
        """Insert a pending transfer and return its row; None if its id or its reference exists already."""
        names = list(columns)
        places = ", ".join(f"${number}" for number in range(1, len(names) + 1))
        query = f"""
            INSERT INTO position_transfers ({", ".join(names)}, status) VALUES ({places}, 'pending')
            ON CONFLICT DO NOTHING RETURNING *
        """  # noqa: S608
        return await connection.fetchrow(query, *columns.values())

    async def same(
        self,
        connection: Connection,
        transfer_id: str,
        participant_id: str,
        kind: PositionTransferKind,
        reference: str | None,
    ) -> Any | None:
        """The transfer with this id, or the one of this kind with this reference."""
        return await connection.fetchrow(
            """
            SELECT * FROM position_transfers WHERE participant_id = $2 AND kind = $3
                AND (transfer_id = $1 OR reference = $4)
            ORDER BY transfer_id = $1 DESC LIMIT 1
            """,
            transfer_id, participant_id, kind, reference,
        )  # fmt: skip

    async def find(self, transfer_id: str, connection: Connection | None = None) -> Any | None:
        """The transfer with this id. With the `connection` of a transaction, its row is locked until the end."""
        if connection is None:
            return await self._pool.fetchrow("SELECT * FROM position_transfers WHERE transfer_id = $1", transfer_id)
        return await connection.fetchrow(
            "SELECT * FROM position_transfers WHERE transfer_id = $1 FOR UPDATE", transfer_id
        )

    async def end(self, connection: Connection, transfer_id: str, status: PositionTransferStatus, ended_by: str) -> Any:
        """Note how a transfer ended, and return its row."""
        return await connection.fetchrow(
            """
            UPDATE position_transfers SET status = $2, ended_by = $3, ended_at = now()
            WHERE transfer_id = $1 RETURNING *
            """,
            transfer_id, status, ended_by,
        )  # fmt: skip

    async def page(
        self, participant_id: str | None, kind: str | None, status: str | None, before: int, limit: int
    ) -> Sequence[Any]:
        """Transfers with a serial below `before`, newest first."""
        return await self._pool.fetch(
            """
            SELECT * FROM position_transfers
            WHERE serial < $1 AND ($2::text IS NULL OR participant_id = $2) AND ($3::text IS NULL OR kind = $3)
                AND ($4::text IS NULL OR status = $4)
            ORDER BY serial DESC LIMIT $5
            """,
            before, participant_id, kind, status, limit,
        )  # fmt: skip

    async def available(self, connection: Connection, account: AccountKey) -> int:
        """The available balance of an account, which must have a row."""
        query = "SELECT available FROM position_balances WHERE (participant_id, asset) = ($1, $2)"
        return amount_of(await connection.fetchval(query, *account))

    async def knows_user(self, user_id: str) -> bool:
        """Whether the platform has this user."""
        return bool(await self._pool.fetchval("SELECT true FROM users WHERE user_id = $1", user_id))
