"""What the statements of the position service compare: the age of a price, and whose transfer a reference names."""

from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from openspot.positions.holdings.store import HoldingStore
from openspot.positions.lifecycle import PositionTransferKind
from openspot.positions.transfers.store import PositionTransferStore

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def aged(pool: asyncpg.Pool, seconds: float) -> None:
    """Let all prices have been noted so long ago."""
    await pool.execute("UPDATE position_marks SET marked_at = now() - make_interval(secs => $1)", seconds)


async def test_risk_uses_no_price_that_was_noted_too_long_ago(pool: asyncpg.Pool) -> None:
    store = HoldingStore(pool, 60)
    await store.mark({"BTC-USD": (5, NOON)})
    await aged(pool, 55)
    assert await store.marks() == {"BTC-USD": 5}
    await aged(pool, 61)
    assert await store.marks() == {}
    # The next round of the timer notes it anew.
    await store.mark({"BTC-USD": (5, NOON)})
    assert await store.marks() == {"BTC-USD": 5}


async def test_an_older_price_replaces_no_newer_one(pool: asyncpg.Pool) -> None:
    store = HoldingStore(pool, 60)
    await store.mark({"BTC-USD": (5, NOON)})
    await store.mark({"BTC-USD": (4, NOON - timedelta(seconds=1))})
    assert await store.marks() == {"BTC-USD": 5}
    await store.mark({"BTC-USD": (6, NOON)})
    assert await store.marks() == {"BTC-USD": 6}


@pytest.mark.parametrize(
    ("participant_id", "kind", "reference", "is_found"),
    [
        ("alice", PositionTransferKind.DEPOSIT, "r1", True),
        ("alice", PositionTransferKind.WITHDRAWAL, "r1", False),
        ("alice", PositionTransferKind.ADJUSTMENT, "r1", False),
        ("bob", PositionTransferKind.DEPOSIT, "r1", False),
        ("alice", PositionTransferKind.DEPOSIT, "r2", False),
        ("alice", PositionTransferKind.DEPOSIT, None, False),
    ],
)
async def test_a_reference_names_a_transfer_of_its_kind_and_participant_only(
    pool: asyncpg.Pool, participant_id: str, kind: PositionTransferKind, reference: str | None, is_found: bool
) -> None:
    await pool.execute(
        """
        INSERT INTO position_transfers (transfer_id, participant_id, kind, asset, amount, status, reference, created_by)
        VALUES ('t1', 'alice', 'deposit', 'USD', 5, 'pending', 'r1', 'alice')
        """
    )
    store = PositionTransferStore(pool)
    async with pool.acquire() as connection, connection.transaction():
        found = await store.same(connection, "t2", participant_id, kind, reference)
        assert (found is not None) is is_found
        # The transfer's own id finds it too, for its participant and kind.
        own = await store.same(connection, "t1", participant_id, kind, None)
        assert (own is not None) is ((participant_id, kind) == ("alice", PositionTransferKind.DEPOSIT))
