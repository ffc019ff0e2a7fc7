"""The pages of a user's history at a hundred thousand rows a table and at many more.

    python -m benchmarks.history [--small 100000] [--large 10000000] [--rounds 200]

Each table has that many rows, half of them the user's; what a page looks for is the oldest of them. Both sizes are
databases of one PostgreSQL and are read in turns. Printed are medians of PostgreSQL's processor time for a page, which
a busy machine lengthens less than its time on the clock, and that time too.
"""

import argparse
import asyncio
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import asyncpg

from benchmarks.postgres_time import BackendTime
from openspot.migrations import upgrade
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.histories import fill, pages


class Reading(NamedTuple):
    """What one page took: seconds, and seconds of PostgreSQL's processor time."""

    wall: float
    processor: float


class Side:
    """One size: its database, through one connection."""

    def __init__(self, pool: asyncpg.Pool, rows: int, clock: BackendTime) -> None:
        self.pages = pages(pool, rows)
        self.readings: dict[str, list[Reading]] = {name: [] for name in self.pages}
        self._clock = clock

    async def read(self, name: str, rounds: int) -> None:
        """Read a page `rounds` times."""
        before, began = self._clock.seconds(), time.perf_counter()
        for _ in range(rounds):
            await self.pages[name]()
        wall, used = time.perf_counter() - began, self._clock.seconds() - before
        self.readings[name].append(Reading(wall / rounds, used / rounds))


async def prepared(postgres: EmbeddedPostgres, name: str, rows: int) -> tuple[asyncpg.Pool, Side]:
    """A filled database."""
    postgres.ensure_database(name)
    upgrade(postgres.url(name))
    pool = await asyncpg.create_pool(postgres.url(name), min_size=1, max_size=1)
    began = time.perf_counter()
    await fill(pool, rows)
    size = await pool.fetchval("SELECT pg_database_size(current_database())")
    print(
        f"{rows:>10,} rows a table: {size / 2**30:.1f} GiB, written in {time.perf_counter() - began:,.0f} s", flush=True
    )
    return pool, Side(pool, rows, await BackendTime.of(pool))


async def run(postgres: EmbeddedPostgres, options: argparse.Namespace) -> None:
    """Fill both databases, read the pages in turns, and print them."""
    small_pool, small = await prepared(postgres, "small", options.small)
    large_pool, large = await prepared(postgres, "large", options.large)
    for name in small.pages:
        for _ in range(8):
            for side in (small, large):
                await side.read(name, max(1, options.rounds // 8))
    print(f"\n{'PostgreSQL, µs a page':32}{options.small:>12,}{options.large:>14,}{'ratio':>8}{'on the clock':>20}")
    for name in small.pages:
        # The first turn meets cold caches, on both sides.
        readings = [side.readings[name][1:] for side in (small, large)]
        used = [1e6 * statistics.median(one.processor for one in turns) for turns in readings]
        walls = [1e6 * statistics.median(one.wall for one in turns) for turns in readings]
        print(
            f"{name:32}{used[0]:>12,.0f}{used[1]:>14,.0f}{used[1] / used[0]:>8.2f}{walls[0]:>12,.0f} → {walls[1]:,.0f}"
        )
    await small_pool.close()
    await large_pool.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=100_000)
    parser.add_argument("--large", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    postgres = EmbeddedPostgres(folder / "postgres", durable=False)
    postgres.start()
    try:
        asyncio.run(run(postgres, options))
    finally:
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
