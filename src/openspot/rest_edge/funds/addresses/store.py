"""The table `withdrawal_addresses`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from openspot.http.ended_sessions import SessionOverError, is_over
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed
from openspot.rest_edge.common.user_rows import lock_users

_COLUMNS = """
    address_id, label, asset, network, address, tag, is_own, beneficiary_name, beneficiary_country,
    beneficiary_vasp_id, available_at, created_at
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedAddress:
    """A saved address. Withdrawals can use it from `available_at` on."""

    address_id: str
    label: str
    asset: str
    network: str
    address: str
    tag: str | None
    is_own: bool
    beneficiary_name: str | None
    beneficiary_country: str | None
    beneficiary_vasp_id: str | None
    available_at: datetime
    created_at: datetime


Beside = Callable[[Connection, SavedAddress], Awaitable[None]]
"""Writes what belongs to a change of an address, in its transaction."""


class WithdrawalAddressStore:
    """Saved addresses of users."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def all_of(self, user_id: str) -> list[SavedAddress]:
        """The user's addresses, the oldest first."""
        query = f"""
            SELECT {_COLUMNS} FROM withdrawal_addresses WHERE user_id = $1 ORDER BY created_at, address_id
        """  # noqa: S608
        return [SavedAddress(**dict(row)) for row in await self._pool.fetch(query, user_id)]

    async def find(self, user_id: str, address_id: str) -> SavedAddress | None:
        """The user's address with this id, None if there is none."""
        query = f"SELECT {_COLUMNS} FROM withdrawal_addresses WHERE user_id = $1 AND address_id = $2"  # noqa: S608
        row = await self._pool.fetchrow(query, user_id, address_id)
        return None if row is None else SavedAddress(**dict(row))

    async def add(
        self, user_id: str, new: SavedAddress, addresses_max: int, beside: Beside, session_id: str = ""
    ) -> str | None:
        """Add an address, and return its id. If the user has saved it already, return the id that it has.

        Returns None, and adds nothing, if the user has `addresses_max` addresses. `beside` writes in the same
        transaction, and is called only if the address is added. Raises SessionOverError if the session that asks was
        ended meanwhile.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            # Alone: two that share the row could each add the last address that there is room for.
            await lock_users(connection, [user_id], to_change=True)
            if await is_over(connection, session_id):
                raise SessionOverError
            known: str | None = await connection.fetchval(
                """
                SELECT address_id FROM withdrawal_addresses
                WHERE user_id = $1 AND asset = $2 AND network = $3 AND address = $4 AND tag IS NOT DISTINCT FROM $5
                """,
                user_id, new.asset, new.network, new.address, new.tag,
            )  # fmt: skip
            if known is not None:
                return known
            count = await connection.fetchval("SELECT count(*) FROM withdrawal_addresses WHERE user_id = $1", user_id)
            if count >= addresses_max:
                return None
            await connection.execute(
                f"""
                INSERT INTO withdrawal_addresses (user_id, {_COLUMNS})
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
                """,  # noqa: S608
                user_id, new.address_id, new.label, new.asset, new.network, new.address, new.tag, new.is_own,
                new.beneficiary_name, new.beneficiary_country, new.beneficiary_vasp_id, new.available_at,
                new.created_at,
            )  # fmt: skip
            await beside(connection, new)
        return new.address_id

    async def delete(self, user_id: str, address_id: str, beside: Beside) -> bool:
        """Delete an address. False if the user has none with this id.

        `beside` writes in the same transaction, and is called only if the address is deleted.
        """
        query = f"""
            DELETE FROM withdrawal_addresses WHERE user_id = $1 AND address_id = $2 RETURNING {_COLUMNS}
        """  # noqa: S608
        async with self._pool.acquire() as connection, connection.transaction():
            await lock_users(connection, [user_id])
            row = await connection.fetchrow(query, user_id, address_id)
            if row is None:
                return False
            await beside(connection, SavedAddress(**dict(row)))
        return True


async def delete_addresses(connection: Connection, user_id: str) -> int:
    """Delete all addresses of a user, and return their number.

    The transaction has locked the user's row to change it, so nobody adds one meanwhile.
    """
    return rows_changed(await connection.execute("DELETE FROM withdrawal_addresses WHERE user_id = $1", user_id))
