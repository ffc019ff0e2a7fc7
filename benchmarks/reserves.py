"""Make a proof of reserves of generated balances: how long it takes, how much memory, how large its rows are.

    python -m benchmarks.reserves [USERS]

Every user has one to three of ten assets. The balances are in a PostgreSQL of this run alone.
"""

import asyncio
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import psutil

from openspot.migrations import upgrade
from openspot.reserves.owed import _MAKE_CORRECTIONS, _MAKE_OWED, _TOTALS, Owed
from openspot.reserves.prove import ProofMaker
from openspot.reserves.store import ReserveStore
from openspot.rest_edge.funds.reserves.store import ReserveStore as OwnReserves
from openspot.up.embedded_postgres import EmbeddedPostgres

USERS = 100_000
PATHS = 200
FILL = """
    INSERT INTO ledger_accounts (user_id, asset, available)
    SELECT 'user' || n, 'ASSET' || (n * 7 + number * 3) % 10, (n % 9973 + 1) / 7.0
    FROM generate_series(1, $1) AS n, generate_series(0, 2) AS number WHERE number <= n % 3
"""


async def measure(database_url: str, users: int) -> None:
    """Make one proof and print what it took."""
    connection = await asyncpg.connect(database_url)
    await connection.execute(FILL, users)
    await connection.execute("VACUUM ANALYZE ledger_accounts")
    backend = psutil.Process(await connection.fetchval("SELECT pg_backend_pid()"))
    served = sum(backend.cpu_times()[:2])
    began, worked = time.monotonic(), time.process_time()
    async with connection.transaction(isolation="repeatable_read"):
        await connection.execute(_MAKE_CORRECTIONS)
        await connection.execute(_MAKE_OWED)
        totals = {row["asset"]: row["amount"] for row in await connection.fetch(_TOTALS)}
        gathered = time.monotonic()
        maker = ProofMaker(connection, ReserveStore(connection), "epoch", 1, datetime.now(UTC))
        proof = await maker.make(Owed(totals, None, 0), {})
    ended, worked = time.monotonic(), time.process_time() - worked
    served = sum(backend.cpu_times()[:2]) - served
    size = await connection.fetchval(
        "SELECT pg_total_relation_size('reserve_leaves') + pg_total_relation_size('reserve_nodes')"
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"users               {users:>12,}")
    print(f"leaves              {1 << proof.statement.depth:>12,}")
    print(f"balances gathered   {gathered - began:>12.1f} s")
    print(f"whole proof         {ended - began:>12.1f} s")
    print(f"… of this process   {worked:>12.1f} s of processor time")
    print(f"… of PostgreSQL     {served:>12.1f} s of processor time")
    print(f"memory at its peak  {peak:>12.0f} MiB")
    print(f"rows of the proof   {size / 2**20:>12.0f} MiB")
    await connection.close()
    async with asyncpg.create_pool(database_url, min_size=1, max_size=1) as pool:
        own, began, worked = OwnReserves(pool), time.monotonic(), time.process_time()
        for number in range(1, PATHS + 1):
            found = await own.own(proof.statement.proof_id, f"user{number * users // PATHS}")
            assert found is not None
            assert len(found.leaves) == 2
        print(f"a user's two paths  {(time.monotonic() - began) / PATHS * 1000:>12.2f} ms")
        print(f"… of this process   {(time.process_time() - worked) / PATHS * 1000:>12.2f} ms of processor time")


def main(users: int) -> None:
    """Start a PostgreSQL, and measure on it."""
    with tempfile.TemporaryDirectory() as folder:
        postgres = EmbeddedPostgres(Path(folder) / "postgres")
        postgres.start()
        try:
            upgrade(postgres.url())
            asyncio.run(measure(postgres.url(), users))
        finally:
            postgres.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else USERS)
