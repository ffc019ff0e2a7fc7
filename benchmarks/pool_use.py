"""What a use of a pool costs with a reset after each use, and with one only after a use that did not end well.

    .venv/bin/python -m benchmarks.pool_use [--uses 5000] [--rounds 5]

Both pools look up one row, in turn, in a PostgreSQL of its own. Printed are the processor time of this process and of
the server, and the time until the answer, in µs a use.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.postgres_time import BackendTime
from openspot.kit.database import PooledConnection
from openspot.up.embedded_postgres import EmbeddedPostgres

KINDS: dict[str, type[Any]] = {"reset after each use": asyncpg.Connection, "reset if needed": PooledConnection}


async def measure(url: str, uses: int, rounds: int) -> None:
    """Use both pools in turn and print what a use costs."""
    found: dict[str, list[list[float]]] = {title: [] for title in KINDS}
    for _ in range(rounds):
        for title, kind in KINDS.items():
            async with asyncpg.create_pool(url, min_size=1, max_size=1, connection_class=kind) as pool:
                backend = await BackendTime.of(pool)
                before = backend.seconds(), time.process_time(), time.perf_counter()
                for _ in range(uses):
                    await pool.fetchrow("SELECT oid, relname FROM pg_class WHERE oid = $1", 1259)
                after = backend.seconds(), time.process_time(), time.perf_counter()
            found[title].append([(end - begin) * 1e6 / uses for begin, end in zip(before, after, strict=True)])
    print(f"{uses} uses, median of {rounds} rounds, µs a use")
    for title, rows in found.items():
        server, own, whole = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"  {title:<22} service {own:6.1f}  PostgreSQL {server:6.1f}  until the answer {whole:6.1f}")


def main() -> None:
    """Start a PostgreSQL, measure, stop it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uses", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="openspot-bench-") as folder:
        postgres = EmbeddedPostgres(Path(folder) / "postgres")
        try:
            postgres.start()
            asyncio.run(measure(postgres.url(), options.uses, options.rounds))
        finally:
            postgres.stop()


if __name__ == "__main__":
    main()
