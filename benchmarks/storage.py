"""How many bytes an order takes: in PostgreSQL by table, in the streams of NATS, in the engine's journal.

    .venv/bin/python -m benchmarks.storage [--seconds 20]

The load of `benchmarks.rest_orders` on a platform of its own. Sizes are taken when the platform is quiet, before the
load and after it, so that what each store takes when it is empty does not count. Tables are vacuumed first. At the end
`openspot archive compact` makes the indexes of the large tables anew, and what it says of each is printed.
"""

import argparse
import asyncio
import shutil
import tempfile
from pathlib import Path

import asyncpg

from benchmarks.http_load import load
from benchmarks.rest_orders import START_S_MAX, await_quiet, fund_users, streams
from benchmarks.soak import MEGABYTE, size_of
from openspot.archive.kinds import KINDS
from openspot.archive.run import compact
from openspot.up.child_platform import ChildPlatform

TABLES_SHOWN = 12
_SIZES = """
    SELECT relname, pg_relation_size(oid), pg_indexes_size(oid), pg_total_relation_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname NOT LIKE 'pg_%')
"""
_ROWS = ("orders", "trades", "ledger_entries")


async def tables_of(platform: ChildPlatform) -> tuple[dict[str, tuple[int, int, int]], dict[str, int]]:
    """Bytes of each table (rows, indexes, everything), and the number of rows of those that trading fills."""
    connection = await asyncpg.connect(platform.settings.database_url)
    try:
        await connection.execute("VACUUM")
        sizes = {row[0]: (row[1], row[2], row[3]) for row in await connection.fetch(_SIZES)}
        rows = {table: await connection.fetchval(f"SELECT count(*) FROM {table}") for table in _ROWS}
    finally:
        await connection.close()
    return sizes, rows


def files_of(platform: ChildPlatform) -> dict[str, int]:
    """Bytes of the files that are no database."""
    folders = {"journal, events and snapshots": platform.data_dir / "engine"}
    folders |= {f"stream {folder.name}": folder for folder in sorted((platform.data_dir / "nats").rglob("streams/*"))}
    return {name: round(size_of(folder) * MEGABYTE) for name, folder in folders.items()}


async def measure(platform: ChildPlatform, seconds: float) -> None:
    """Load the platform and print what that added."""
    settings, pids = platform.settings, platform.state.processes
    tokens = await fund_users(settings)
    await await_quiet(pids)
    tables_before, rows_before = await tables_of(platform)
    files_before = files_of(platform)
    await load(settings.host, settings.rest_port, streams(tokens, 1), seconds)
    await await_quiet(pids)
    tables, rows = await tables_of(platform)
    added = {table: rows[table] - rows_before[table] for table in _ROWS}
    orders = added["orders"]
    print(", ".join(f"{count} {table}" for table, count in added.items()))
    empty = (0, 0, 0)
    grown = {
        name: tuple(after - before for after, before in zip(sizes, tables_before.get(name, empty), strict=True))
        for name, sizes in tables.items()
    }
    print(f"\n{'bytes an order':34} {'rows':>8} {'indexes':>8} {'all':>8}")
    for name, (heap, indexes, everything) in sorted(grown.items(), key=lambda item: -item[1][2])[:TABLES_SHOWN]:
        own = f", {everything / added[name]:.0f} a row" if added.get(name) else ""
        print(f"{name:34} {heap / orders:8.0f} {indexes / orders:8.0f} {everything / orders:8.0f}{own}")
    database = sum(everything for _, _, everything in grown.values())
    print(f"{'PostgreSQL, all tables':34} {'':8} {'':8} {database / orders:8.0f}")
    files = {name: size - files_before.get(name, 0) for name, size in files_of(platform).items()}
    for name, size in sorted(files.items(), key=lambda item: -item[1]):
        if size:
            print(f"{name:34} {'':8} {'':8} {size / orders:8.0f}")
    nats = sum(size for name, size in files.items() if name.startswith("stream "))
    print(f"{'NATS, all streams':34} {'':8} {'':8} {nats / orders:8.0f}")
    print(f"\n{'bytes an order, indexes':34} {'before':>8} {'anew':>8}")
    compacted = await compact(settings.database_url, KINDS)
    for index in compacted:
        print(f"{index.name:34} {index.before / orders:8.0f} {index.after / orders:8.0f}")
    before, after = sum(index.before for index in compacted), sum(index.after for index in compacted)
    print(f"{'together':34} {before / orders:8.0f} {after / orders:8.0f}")


def main() -> None:
    """Start a platform, measure, clean up."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20.0, help="of load; full blocks are compressed")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    platform = ChildPlatform(folder, {"OPENSPOT_THROTTLE_ENABLED": "false"})
    try:
        platform.start(START_S_MAX)
        asyncio.run(measure(platform, options.seconds))
    finally:
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
