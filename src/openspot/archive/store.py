"""The database's side of the archive, through one connection that holds the lock of repairs.

A file is registered before its rows are removed, and its rows are removed in the transaction that says so. Before the
first row of a kind leaves, its floor is raised: from then on the ledger posts no trade up to it, and the comparisons
look only at what is newer.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import NamedTuple

import asyncpg

from openspot.archive.files import ArchiveError, Manifest
from openspot.archive.kinds import ENTRIES, TRADES, Kind, Row
from openspot.kit.database import REPAIR_LOCK, TRANSIENT_ERRORS, Connection

CONNECT_TIMEOUT_S = 10.0
LOCK_WAIT_MS = 10_000
"""A statement waits at most this long for a lock; so long writers wait in turn."""
_SCAN_TIMEOUT_S = 7200.0
_BATCH_TIMEOUT_S = 300.0

_KEPT_TRADES = "SELECT max(sequence) FROM trades WHERE executed_at < $1 GROUP BY symbol"
# Each walks along the index of its account, over what is newer.
_KEEP_ENTRIES = """
    INSERT INTO archive_kept_entries (entry_id)
    SELECT newest.entry_id FROM ledger_accounts AS account
    CROSS JOIN LATERAL (
        SELECT entry_id FROM ledger_entries
        WHERE user_id = account.user_id AND asset = account.asset AND created_at < $1
        ORDER BY entry_id DESC LIMIT 1
    ) AS newest
"""
_RAISE_FLOOR = """
    INSERT INTO archive_floors AS floor (kind, epoch, sequence, before) VALUES ($1, $2, $3, $4)
    ON CONFLICT (kind) DO UPDATE
    SET sequence = greatest(floor.sequence, excluded.sequence), before = greatest(floor.before, excluded.before)
"""
_PAGES = "SELECT pg_relation_size($1::regclass) / current_setting('block_size')::bigint"
_INDEXES = """
    SELECT indexrelid::regclass::text AS name, indisvalid AS is_valid FROM pg_index WHERE indrelid = $1::regclass
    ORDER BY indisvalid, 1
"""
_SIZE = "SELECT pg_relation_size($1::regclass)"
_ABANDONED = re.compile("_ccnew[0-9]*$")


class Compacted(NamedTuple):
    """An index that was made anew, and its bytes before and after."""

    name: str
    before: int
    after: int


class Selection(NamedTuple):
    """Which rows of a kind leave: those up to the event `sequence` (None: of no event) and older than `before`."""

    kind: Kind
    before: datetime
    sequence: int | None
    kept: tuple[int, ...]


class ArchiveStore:
    """Reads and writes the database. Every method raises what asyncpg raises."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def select(self, kind: Kind, before: datetime) -> Selection | None:
        """What leaves, None if nothing is old enough."""
        if not kind.floor:
            return Selection(kind, before, None, ())
        sequence = await self._connection.fetchval(kind.floor, before, timeout=_SCAN_TIMEOUT_S)
        if sequence is None:
            return None
        kept: tuple[int, ...] = ()
        if kind is TRADES:
            rows = await self._connection.fetch(_KEPT_TRADES, before, timeout=_SCAN_TIMEOUT_S)
            kept = tuple(row[0] for row in rows)
        if kind is ENTRIES:
            await self._connection.execute("DROP TABLE IF EXISTS archive_kept_entries")
            await self._connection.execute("CREATE TEMPORARY TABLE archive_kept_entries (entry_id bigint PRIMARY KEY)")
            await self._connection.execute(_KEEP_ENTRIES, before, timeout=_SCAN_TIMEOUT_S)
        return Selection(kind, before, sequence, kept)

    async def raise_floor(self, selection: Selection) -> None:
        """Say that rows up to the selection's event may have left. Raises ArchiveError if the router never wrote rows.

        A batch of the ledger that has begun ends before; one that begins later reads the new floor.
        """
        if selection.sequence is None:
            return
        epoch = await self._connection.fetchval("SELECT max(epoch) FROM engine_cursors WHERE is_current")
        if epoch is None:
            raise ArchiveError(
                "the database has no position of the router, and so does not say of which journal rows are"
            )
        async with self._connection.transaction():
            if selection.kind is ENTRIES:
                await self._connection.execute("LOCK TABLE ledger_accounts IN SHARE ROW EXCLUSIVE MODE")
            await self._connection.execute(
                _RAISE_FLOOR, selection.kind.name, epoch, selection.sequence, selection.before
            )

    async def pages(self, kind: Kind) -> int:
        """How many pages the table of a kind has."""
        return int(await self._connection.fetchval(_PAGES, kind.table))

    async def find(self, selection: Selection, first_page: int, end_page: int) -> list[Row]:
        """The rows on these pages that leave."""
        arguments = ((first_page, 0), (end_page, 0), selection.sequence, selection.before)
        kept = (list(selection.kept),) if selection.kind is TRADES else ()
        rows = await self._connection.fetch(selection.kind.find, *arguments, *kept, timeout=_BATCH_TIMEOUT_S)
        return [tuple(row) for row in rows]

    async def register(self, manifest: Manifest) -> None:
        """Note a file that is on disk. Its rows are still in their table."""
        await self._connection.execute(
            "INSERT INTO archive_batches (kind, file, sha256, row_count, state) VALUES ($1, $2, $3, $4, 'written')",
            manifest.kind, manifest.file, manifest.sha256, manifest.rows,
        )  # fmt: skip

    async def registered(self, state: str = "") -> dict[str, str]:
        """The SHA-256 of every file that is known, or of those in one state, by path, oldest first."""
        rows = await self._connection.fetch(
            "SELECT file, sha256 FROM archive_batches WHERE $1 IN ('', state) ORDER BY batch_id", state
        )
        return {row["file"]: row["sha256"] for row in rows}

    async def forget(self, file: str) -> None:
        """Forget a file whose rows are still in their table."""
        await self._connection.execute("DELETE FROM archive_batches WHERE file = $1 AND state = 'written'", file)

    async def remove(self, kind: Kind, file: str, rows: Sequence[Row]) -> bool:
        """Remove the rows of a file, all of them or none. False: one of them is no longer what the file says."""
        keys = [kind.key_of(row) for row in rows]
        async with self._connection.transaction():
            present = {tuple(row) for row in await self._connection.fetch(kind.present, keys, timeout=_BATCH_TIMEOUT_S)}
            if present != {tuple(row) for row in rows}:
                return False
            await self._connection.execute(kind.remove, keys, timeout=_BATCH_TIMEOUT_S)
            await self._connection.execute(
                "UPDATE archive_batches SET state = 'removed', removed_at = now() WHERE file = $1", file
            )
        return True

    async def restore(self, kind: Kind, file: str, rows: Sequence[Row]) -> None:
        """Bring the rows of a file back, and forget the file."""
        columns = [list(column) for column in zip(*rows, strict=True)]
        async with self._connection.transaction():
            await self._connection.execute(kind.restore, *columns, timeout=_BATCH_TIMEOUT_S)
            await self._connection.execute("DELETE FROM archive_batches WHERE file = $1", file)

    async def drop_floor(self, kind: Kind) -> None:
        """Say that all rows of a kind are in their table again."""
        await self._connection.execute("DELETE FROM archive_floors WHERE kind = $1", kind.name)

    async def make_room(self, kind: Kind) -> None:
        """Give the place of removed rows to new ones. The file of the table keeps its size."""
        await self._connection.execute(f"VACUUM (TRUNCATE false) {kind.table}", timeout=_SCAN_TIMEOUT_S)

    async def compact(self, kind: Kind) -> list[Compacted]:
        """Make the indexes of a table anew, one after the other, while others write.

        Pages of an index split in halves where its keys are not added at its end, so they are little more than half
        full. An interrupted attempt leaves an index that no query uses and every write pays for: it goes first.
        """
        # The server waits for the transactions of others, which is no reason to give up.
        await self._connection.execute("SET lock_timeout = 0")
        compacted = []
        for row in await self._connection.fetch(_INDEXES, kind.table):
            name = row["name"]
            if not row["is_valid"] and _ABANDONED.search(name):
                await self._connection.execute(f"DROP INDEX CONCURRENTLY {name}", timeout=_SCAN_TIMEOUT_S)
                continue
            before = await self._connection.fetchval(_SIZE, name)
            await self._connection.execute(f"REINDEX INDEX CONCURRENTLY {name}", timeout=_SCAN_TIMEOUT_S)
            compacted.append(Compacted(name, before, await self._connection.fetchval(_SIZE, name)))
        await self._connection.execute(f"SET lock_timeout = {LOCK_WAIT_MS}")
        return compacted


@asynccontextmanager
async def open_store(database_url: str) -> AsyncIterator[ArchiveStore]:
    """The only store that changes rows now. Raises ArchiveError, also in place of what asyncpg raises."""
    if not database_url:
        raise ArchiveError("the database does not answer: DATABASE_URL is not set")
    try:
        connection = await asyncpg.connect(
            database_url,
            timeout=CONNECT_TIMEOUT_S,
            server_settings={
                "application_name": "openspot-archive", "timezone": "UTC", "lock_timeout": f"{LOCK_WAIT_MS}",
                "datestyle": "ISO",
            },
        )  # fmt: skip
        try:
            if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", REPAIR_LOCK):
                raise ArchiveError("a repair or another run of the archive is under way")
            yield ArchiveStore(connection)
        finally:
            await connection.close(timeout=CONNECT_TIMEOUT_S)
    except (asyncpg.PostgresError, *TRANSIENT_ERRORS) as error:
        raise ArchiveError(f"the database: {error!r}. Run the same command again: it goes on where it ended") from error
