"""The simulated chains: their blocks, which come by the clock, and the transactions in them.

All chains share one height, which grows by one every `block_s` seconds. A transaction is included in the next block.
"""

from datetime import datetime
from decimal import Decimal
from typing import Protocol

from openspot.custody.withdrawal_store import Withdrawal
from openspot.kit.database import Pool


class ChainRefusedError(Exception):
    """The chain refused a transaction: it certainly was not sent, and never will be."""


class Chain(Protocol):
    """What custody needs of a chain."""

    def height(self, now: datetime) -> int:
        """The number of the newest block."""

    async def send(self, withdrawal: Withdrawal, now: datetime) -> int:
        """Send the withdrawal's transaction, and return the number of the block that includes it.

        Sending it again sends nothing and returns the same number. Raises ChainRefusedError; after any other error
        the transaction may have been sent.
        """


def height_at(now: datetime, block_s: float) -> int:
    """The number of the newest block at `now`."""
    return int(now.timestamp() / block_s)


def confirmations(height: int, included_in: int) -> int:
    """How many blocks confirm a transaction in block `included_in`: that block and all after it."""
    return max(0, height - included_in + 1)


class SimulatedChain:
    """The chains as a table of the database. A transaction's hash is its key, so it is taken once."""

    def __init__(self, pool: Pool, block_s: float) -> None:
        self._pool = pool
        self._block_s = block_s

    def height(self, now: datetime) -> int:
        """The number of the newest block."""
        return height_at(now, self._block_s)

    async def send(self, withdrawal: Withdrawal, now: datetime) -> int:
        """Include the transaction in the next block, or return the block that includes it already."""
        amount: Decimal = withdrawal.net_amount
        included = await self._pool.fetchval(
            """
            INSERT INTO custody_chain_transactions VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (tx_hash) DO UPDATE SET tx_hash = excluded.tx_hash
            RETURNING height
            """,
            withdrawal.tx_hash, withdrawal.network, withdrawal.asset, withdrawal.address, withdrawal.tag, amount,
            self.height(now) + 1, now,
        )  # fmt: skip
        return int(included)
