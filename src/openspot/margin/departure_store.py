"""What the tables say of accounts that may need a market, and the lock between new risk and the question for it."""

from typing import NamedTuple

from openspot.kit.database import Connection, Pool

LOCK_WAIT = "2s"
"""A question is refused if new risk of others is still being written after this time."""
_NAME = "margin takes new risk"


class OpenRisk(NamedTuple):
    """The accounts with debts or positions, each with assets or markets: a row for each, in no order.

    `moving` are the assets of transfers that the engine has not decided, also of accounts that have nothing open.
    """

    owed: list[tuple[str, str]]
    positions: list[tuple[str, str]]
    moving: list[tuple[str, str]]


async def begin_new_risk(connection: Connection) -> None:
    """From here until the transaction ends, a question waits for what it writes. Call it before the markets are read.

    The caller has locked its account before.
    """
    await connection.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))", _NAME)


async def wait_for_new_risk(pool: Pool) -> None:
    """Wait until everything is written that began before. Raises asyncpg.LockNotAvailableError after LOCK_WAIT."""
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_WAIT}'")
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", _NAME)


async def open_risk(pool: Pool) -> OpenRisk:
    """The debts, the positions and the transfers of all accounts that have not ended."""
    owed = await pool.fetch("SELECT DISTINCT account_id, asset FROM margin_loans WHERE status IN ('pending', 'active')")
    positions = await pool.fetch(
        "SELECT account_id, symbol FROM margin_positions WHERE status IN ('opening', 'open', 'closing', 'liquidating')"
    )
    moving = await pool.fetch("SELECT DISTINCT account_id, asset FROM margin_transfers WHERE status = 'pending'")
    return OpenRisk(
        [(row["account_id"], row["asset"]) for row in owed],
        [(row["account_id"], row["symbol"]) for row in positions],
        [(row["account_id"], row["asset"]) for row in moving],
    )
