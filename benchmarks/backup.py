"""What a backup takes and stores, beside what it is made of, and what a restore takes.

    .venv/bin/python -m benchmarks.backup [--commands 500000] [--rows 200000]
    .venv/bin/python -m benchmarks.backup --ledger 1000000

A journal of so many commands of the shallow workload (see engine_recovery), and a database with so many rows in each of
the tables that grow. The second backup is of the same data, the third after a twentieth more of both; then one after
each kind of change to one row in a hundred: new ones, changed ones that are the newest, removed ones that are the
oldest, and changed ones that lie everywhere. The other side is the size of journal and database, a `pg_dump` alone, and
what pieces of equal size would have stored anew.

With `--ledger`, the database has so many entries of the ledger and nothing else, which is what grows without an end:
how long reading it takes, and what is stored of it, when there is nothing new, one in a hundred, or one more.
"""

import argparse
import asyncio
import hashlib
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

import asyncpg

from benchmarks.engine_commands import engine_commands
from benchmarks.engine_recovery import BATCH, EVENT_RETENTION, ORDERS_REMEMBERED, write_journal
from openspot.backup.create import PLATFORM, back_up
from openspot.backup.manifest import Place
from openspot.backup.postgres import dump
from openspot.backup.restore import EngineTerms, Point, Target, choose, restore
from openspot.backup.sealing import Seal
from openspot.backup.storage import FolderStorage
from openspot.backup.verify import verify
from openspot.engine.core.selection import make_core
from openspot.engine.journal.journal import Journal
from openspot.migrations import upgrade
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.histories import fill

Value = TypeVar("Value")
SEED = 64


def size_of(folder: Path) -> float:
    """The size of all files in MB."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def timed(text: str, work: Callable[[], Value], folder: Path) -> Value:
    """Do the work, and print the seconds and how much larger the folder is."""
    before, began = size_of(folder), time.perf_counter()
    result = work()
    print(f"{text:44} {time.perf_counter() - began:8.1f} s {size_of(folder) - before:10.1f} MB", flush=True)
    return result


def write_more(journal_path: Path, count: int) -> None:
    """Append commands to the journal."""
    with closing(Journal(journal_path)) as journal:
        flow = engine_commands(count, SEED + 1)
        while batch := list(islice(flow, BATCH)):
            first = journal.last_sequence + 1
            journal.append(first, first, b"".join(command for command, _ in batch), [note for _, note in batch])


async def add_rows(url: str) -> None:
    """Ten thousand audit records: a table at whose end rows are added."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(
            "INSERT INTO audit_records (request_id, user_id, method, path, status, address, duration_ms, created_at)"
            " SELECT 'r' || n, 'u', 'GET', '/orders', 200, '::1', 1, now() FROM generate_series(1, 10000) AS n"
        )
    finally:
        await connection.close()


PERCENT = {
    "one row in a hundred new": (
        "INSERT INTO trades SELECT 'more-' || n, 900000000 + n, 'BTC-USD', 50000, 1, 'sell', 'o' || n, 'o' || n,"
        " 'trader', 'user' || n, 1, 1, 'USD', now() FROM generate_series(1, {rows} / 100) AS n",
        "INSERT INTO audit_records (request_id, user_id, method, path, status, address, duration_ms, created_at)"
        " SELECT 'm' || n, 'u', 'GET', '/orders', 200, '::1', 1, now() FROM generate_series(1, {rows} / 100) AS n",
    ),
    "… changed, the newest": (
        "UPDATE orders SET status = 'cancelled', updated_at = now() WHERE engine_order_id > {rows} - {rows} / 100",
    ),
    "… removed, the oldest": ("DELETE FROM trades WHERE sequence <= {rows} / 100",),
    "… changed, everywhere": ("UPDATE orders SET updated_at = now() WHERE engine_order_id % 100 = 0",),
}
"""Changes to one row in a hundred."""


async def change(url: str, statements: tuple[str, ...], rows: int) -> None:
    """Run the statements."""
    connection = await asyncpg.connect(url)
    try:
        for statement in statements:
            await connection.execute(statement.format(rows=rows))
    finally:
        await connection.close()


def equal_pieces(folder: Path) -> dict[bytes, int]:
    """The compressed sizes of a dump's pieces of 4 MiB, by their content's SHA-256."""
    found = {}
    for path in folder.iterdir():
        with path.open("rb") as file:
            while content := file.read(4 << 20):
                found[hashlib.sha256(content).digest()] = len(zlib.compress(content, 6))
    return found


def dumped(postgres: EmbeddedPostgres, folder: Path) -> dict[bytes, int]:
    """The pieces of equal size of the database as it is now."""
    dump(postgres.url(), folder / "dump")
    try:
        return equal_pieces(folder / "dump")
    finally:
        shutil.rmtree(folder / "dump")


async def fill_database(url: str, rows: int) -> float:
    """Fill the tables; returns the size of the database in MB."""
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool:
        await fill(pool, rows)
        return float(await pool.fetchval("SELECT pg_database_size(current_database())")) / 1e6


def run(folder: Path, postgres: EmbeddedPostgres, commands: int, rows: int) -> None:
    """Print the figures."""
    data_dir = folder / "data"
    journal = data_dir / "engine/journal.sqlite"
    journal.parent.mkdir(parents=True)
    write_journal(journal.parent, commands, SEED)
    upgrade(postgres.url())
    database_mb = asyncio.run(fill_database(postgres.url(), rows))
    print(f"journal of {commands:,} commands {journal.stat().st_size / 1e6:.1f} MB, database {database_mb:.1f} MB")
    backups, seal = folder / "backups", Seal(b"k" * 32)
    backups.mkdir()
    make = partial(
        back_up,
        data_dir=data_dir,
        journal=journal,
        databases={PLATFORM: postgres.url()},
        archive=data_dir / "archive",
        storage=FolderStorage(backups),
        seal=seal,
        keep=10,
    )
    timed("pg_dump alone, not compressed", lambda: dump(postgres.url(), folder / "dump"), folder)
    shutil.rmtree(folder / "dump")
    timed("first backup", make, backups)
    timed("second backup, nothing changed", make, backups)
    write_more(journal, commands // 20)
    asyncio.run(add_rows(postgres.url()))
    made = timed("third backup, a twentieth more", make, backups)
    for text, statements in PERCENT.items():
        before = dumped(postgres, folder)
        asyncio.run(change(postgres.url(), statements, rows))
        made = timed(text, make, backups)
        equal = sum(size for name, size in dumped(postgres, folder).items() if name not in before)
        print(f"{'  pieces of equal size would have stored':44} {equal / 1e6:21.1f} MB", flush=True)
    place = Place(FolderStorage(backups), seal)
    assert not timed("verify", lambda: verify(place, made.name), backups).problems
    postgres.ensure_database("restored")

    @contextmanager
    def databases(draft: Path, names: list[str]) -> Iterator[Mapping[str, str]]:
        del draft, names
        yield {PLATFORM: postgres.url("restored")}

    new = folder / "restored"
    target = Target(new, new / "engine/journal.sqlite", new / "archive", databases, lambda: None)
    terms = EngineTerms(partial(make_core, "auto"), ORDERS_REMEMBERED, EVENT_RETENTION)
    timed(
        "restore, with 100,000 numbers left out",
        lambda: restore(place, choose(place, Point()), Point(), target, terms),
        folder,
    )


LEDGER = """
    INSERT INTO ledger_entries (
        transaction_id, user_id, asset, amount, balance, entry_type, reference_type, reference_id, created_at
    )
    SELECT 'CDddTzPp-' || n / 4 || ':' || n % 4, 'user' || hashint8(n) % 5000,
        CASE n % 2 WHEN 0 THEN 'USD' ELSE 'BTC' END,
        (random() * 1000)::numeric(20, 8), (random() * 100000)::numeric(20, 8), 'trade', 'trade', 'CDddTzPp-' || n / 4,
        '2025-01-01T00:00:00Z'::timestamptz + n * interval '1 second'
    FROM generate_series({first}, {last}) AS n
"""


def run_ledger(folder: Path, postgres: EmbeddedPostgres, entries: int) -> None:
    """Print what a ledger of so many entries costs a backup."""
    journal = folder / "data/engine/journal.sqlite"
    journal.parent.mkdir(parents=True)
    write_journal(journal.parent, 1000, SEED)
    url = postgres.url()
    upgrade(url)
    asyncio.run(change(url, (LEDGER.format(first=1, last=entries),), entries))
    backups = folder / "backups"
    backups.mkdir()
    make = partial(
        back_up, data_dir=folder / "data", journal=journal, databases={PLATFORM: url}, archive=folder / "data/archive",
        storage=FolderStorage(backups), seal=Seal(b"k" * 32), keep=10,
    )  # fmt: skip
    timed("pg_dump alone, not compressed", lambda: dump(url, folder / "dump"), folder)
    shutil.rmtree(folder / "dump")
    timed(f"first backup, {entries:,} entries", make, backups)
    timed("nothing changed", make, backups)
    last = entries + entries // 100
    asyncio.run(change(url, (LEDGER.format(first=entries + 1, last=last),), entries))
    timed("one entry in a hundred more", make, backups)
    asyncio.run(change(url, (LEDGER.format(first=last + 1, last=last + 1),), entries))
    timed("one entry more", make, backups)


def main() -> None:
    """Read the arguments, and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=500_000)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--ledger", type=int, default=0)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-backup-"))
    postgres = EmbeddedPostgres(folder / "postgres")
    try:
        postgres.start()
        if options.ledger:
            run_ledger(folder, postgres, options.ledger)
        else:
            run(folder, postgres, options.commands, options.rows)
    finally:
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
