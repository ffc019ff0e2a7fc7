"""A portfolio's past: prices looked up point by point, beside all trades sorted; and what an index for balances costs.

    python -m benchmarks.portfolio [--trades 1000000] [--entries 1000000] [--rounds 5]

Points are the days of a year. The trades spread over ten markets and that year; every second entry is of one user, in
ten assets. Each side runs in turns on one connection; printed are medians of the time on the clock and of PostgreSQL's
processor time. The index is the one that ADR 0065 refuses: its cost is that of writing entries with it and without it.
"""

import argparse
import asyncio
import shutil
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.postgres_time import BackendTime
from openspot.migrations import upgrade
from openspot.rest_edge.funds.accounts.portfolio_store import PortfolioStore
from openspot.up.embedded_postgres import EmbeddedPostgres

BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
POINTS = [BEGIN + timedelta(days=day + 1) for day in range(366)]
ASSETS = [f"A{number}" for number in range(10)]
USER = "trader"
WRITTEN = 50_000
"""Entries of one timed statement."""
YEAR_S = 366 * 86_400

_TRADES = """
    INSERT INTO trades
    SELECT 'epoch-' || n, n, 'A' || n % 10 || '-USD', 50000 + n % 1000, 1, 'sell', 'order-' || n, 'order-' || n,
        'buyer' || n % 1000, 'seller' || n % 1000, 1, 1, 'USD', $2::timestamptz + n * $3::interval
    FROM generate_series(1, $1::bigint) AS n
"""
_ENTRIES = """
    INSERT INTO ledger_entries (
        transaction_id, user_id, asset, amount, balance, entry_type, reference_type, reference_id, created_at
    )
    SELECT 'entry-' || n, CASE n % 2 WHEN 0 THEN 'trader' ELSE 'user' || n % 1000 END, 'A' || n / 2 % 10, 1, n,
        'trade', 'trade', 'reference-' || n, $3::timestamptz + n * $4::interval
    FROM generate_series($1::bigint, $2::bigint) AS n
"""
# The query that the lookup replaced: one of each market and day remains of all trades, sorted.
_SORTED_PRICES = """
    SELECT DISTINCT ON (symbol, gap) symbol, width_bucket(executed_at, $2::timestamptz[]) AS gap, price AS value
    FROM trades WHERE symbol = ANY ($1::text[]) AND executed_at < $3
    ORDER BY symbol, gap, sequence DESC
"""
_INDEX = "CREATE INDEX entries_by_time ON ledger_entries (user_id, asset, created_at DESC, entry_id DESC)"


class Stopwatch:
    """Seconds on the clock and of PostgreSQL's processor time, by the name of what was done."""

    def __init__(self, backend: BackendTime) -> None:
        self._backend = backend
        self._readings: dict[str, list[tuple[float, float]]] = {}

    async def measure(self, name: str, work: Callable[[], Awaitable[Any]]) -> None:
        """Do the work once."""
        used, began = self._backend.seconds(), time.perf_counter()
        await work()
        reading = (time.perf_counter() - began, self._backend.seconds() - used)
        self._readings.setdefault(name, []).append(reading)

    def print(self) -> None:
        """Print the medians."""
        for name, readings in self._readings.items():
            clock, used = (statistics.median(column) for column in zip(*readings, strict=True))
            print(f"{name:44} {clock:8.3f} s   processor {used:8.3f} s   {len(readings)} times", flush=True)


async def measure(pool: asyncpg.Pool, options: argparse.Namespace) -> None:
    """Fill the tables, and read and write them in turns."""
    await pool.execute(_TRADES, options.trades, BEGIN, timedelta(seconds=YEAR_S / options.trades), timeout=3600)
    step = timedelta(seconds=YEAR_S / options.entries)
    await pool.execute(_ENTRIES, 1, options.entries, BEGIN, step, timeout=3600)
    await pool.execute("ANALYZE trades, ledger_entries", timeout=600)
    store, watch = PortfolioStore(pool), Stopwatch(await BackendTime.of(pool))
    symbols = [f"{asset}-USD" for asset in ASSETS]
    for _ in range(options.rounds):
        await watch.measure(
            "prices, all trades sorted", lambda: pool.fetch(_SORTED_PRICES, symbols, POINTS, POINTS[-1])
        )
        await watch.measure("prices, a lookup for each point", lambda: store.prices(ASSETS, "USD", POINTS))
        await watch.measure("balances, one pass over the entries", lambda: store.balances(USER, POINTS))
    written = options.entries
    for name in ("without the index", "with it") * options.rounds:
        await pool.execute(_INDEX if name == "with it" else "DROP INDEX IF EXISTS entries_by_time", timeout=600)
        first, written = written + 1, written + WRITTEN
        write = partial(pool.execute, _ENTRIES, first, written, BEGIN, step, timeout=600)
        await watch.measure(f"{WRITTEN:,} entries, {name}", write)
    print(
        f"{options.trades:,} trades, {options.entries:,} entries, {len(POINTS)} points, {len(ASSETS)} assets; medians"
    )
    watch.print()


async def run(postgres: EmbeddedPostgres, options: argparse.Namespace) -> None:
    """Measure on a database with the platform's tables."""
    upgrade(postgres.url())
    async with asyncpg.create_pool(postgres.url(), min_size=1, max_size=1) as pool:
        await measure(pool, options)


def main() -> None:
    """Read the arguments, and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trades", type=int, default=1_000_000)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-portfolio-"))
    postgres = EmbeddedPostgres(folder / "postgres")
    try:
        postgres.start()
        asyncio.run(run(postgres, options))
    finally:
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
