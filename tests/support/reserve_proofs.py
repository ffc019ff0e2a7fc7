"""Proofs of reserves in a database, made of given balances as `openspot reserves prove` makes them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

import asyncpg

from openspot.reserves.owed import Owed
from openspot.reserves.prove import ProofMaker
from openspot.reserves.store import ReserveStore, StoredProof

TAKEN_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


async def add_proof(
    database_url: str, balances: Mapping[tuple[str, str], str], *, taken_at: datetime = TAKEN_AT
) -> StoredProof:
    """Write a proof of what these users (user, asset) are owed; custody holds nothing."""
    connection = await asyncpg.connect(database_url)
    try:
        async with connection.transaction(isolation="repeatable_read"):
            await connection.execute(
                "CREATE TEMPORARY TABLE reserve_owed (owner text, asset text, amount numeric) ON COMMIT DROP"
            )
            await connection.copy_records_to_table(
                "reserve_owed", records=[(user, asset, Decimal(text)) for (user, asset), text in balances.items()]
            )
            totals: dict[str, Decimal] = {}
            for (_, asset), text in sorted(balances.items(), key=lambda item: item[0][1]):
                totals[asset] = totals.get(asset, Decimal(0)) + Decimal(text)
            maker = ProofMaker(connection, ReserveStore(connection), "epoch", 7, taken_at)
            return await maker.make(Owed(totals, None, 0), {})
    finally:
        await connection.close()
