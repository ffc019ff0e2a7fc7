"""Snapshots of positions: each is of one moment, by one process, and none is kept for ever."""

from datetime import UTC, datetime, timedelta

import asyncpg

from openspot.positions.holdings.store import HoldingStore
from openspot.positions.timers import Snapshots

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR_S = 3600.0


class Bench:
    """Two services on one database, with one clock."""

    def __init__(self, pool: asyncpg.Pool, kept_days: int = 30) -> None:
        self.pool = pool
        self.now = NOON
        self.first, self.second = (
            Snapshots(HoldingStore(pool, 60), lambda: int(self.now.timestamp()) * 10**9, HOUR_S, kept_days)
            for _ in range(2)
        )

    async def open(self, symbol: str, quantity: int = 1) -> None:
        """Give alice a position."""
        await self.pool.execute(
            """
            INSERT INTO positions (participant_id, symbol, quantity, cost, realised, fees, cash_flow, trade_count)
            VALUES ('alice', $1, $2, 1, 0, 0, -1, 1)
            """,
            symbol,
            quantity,
        )

    async def taken(self) -> list[tuple[datetime, str]]:
        """The moments and symbols of all snapshots."""
        rows = await self.pool.fetch("SELECT taken_at, symbol FROM position_snapshots ORDER BY taken_at, symbol")
        return [(row["taken_at"], row["symbol"]) for row in rows]


async def test_a_second_process_adds_nothing_to_a_snapshot_that_was_taken(pool: asyncpg.Pool) -> None:
    bench = Bench(pool)
    await bench.open("BTC-USD")
    await bench.first.take()
    await bench.open("ETH-USD")
    bench.now += timedelta(seconds=1)
    await bench.second.take()
    assert await bench.taken() == [(NOON, "BTC-USD")]


async def test_an_empty_snapshot_was_taken_too(pool: asyncpg.Pool) -> None:
    bench = Bench(pool)
    await bench.first.take()
    await bench.open("ETH-USD")
    bench.now += timedelta(seconds=1)
    await bench.second.take()
    assert await bench.taken() == []
    bench.now = NOON + timedelta(hours=1)
    await bench.second.take()
    assert await bench.taken() == [(bench.now, "ETH-USD")]


async def test_a_process_that_wakes_early_or_late_takes_no_snapshot_of_another_time(pool: asyncpg.Pool) -> None:
    bench = Bench(pool)
    await bench.open("BTC-USD")
    # A moment before one o'clock, and after a pause of twenty minutes.
    for now in (NOON + timedelta(seconds=3599), NOON + timedelta(minutes=20), NOON + timedelta(seconds=61)):
        bench.now = now
        await bench.first.take()
    assert await bench.taken() == []
    bench.now = NOON + timedelta(seconds=60)
    await bench.first.take()
    assert await bench.taken() == [(NOON, "BTC-USD")]


async def test_a_clock_that_was_set_back_takes_snapshots_again(pool: asyncpg.Pool) -> None:
    bench = Bench(pool)
    await bench.open("BTC-USD")
    for now in (NOON + timedelta(days=365), NOON):
        bench.now = now
        await bench.first.take()
    assert [moment for moment, _ in await bench.taken()] == [NOON, NOON + timedelta(days=365)]


async def test_old_snapshots_are_deleted_also_by_a_process_that_takes_none(pool: asyncpg.Pool) -> None:
    bench = Bench(pool, kept_days=30)
    await bench.open("BTC-USD")
    await bench.first.take()
    bench.now = NOON + timedelta(days=30)
    await bench.second.forget()
    assert len(await bench.taken()) == 1
    bench.now += timedelta(seconds=1)
    await bench.second.forget()
    assert await bench.taken() == []
