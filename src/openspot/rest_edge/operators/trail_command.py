"""The commands `openspot audit …`: they check the trail of operators, and write it to a file."""

import getpass
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from openspot.kit.database import Connection, pool_of_command
from openspot.kit.hash_chain import FIRST_HASH
from openspot.kit.parquet_rows import has_parquet
from openspot.rest_edge.operators.table_files import FileFormat, csv_pieces, parquet_pieces
from openspot.rest_edge.operators.trail import OperatorAction, entries, fault_of, record_action
from openspot.rest_edge.operators.trail_heads import HEADS_NAME, Head, HeadError, kept_heads, read_head
from openspot.rest_edge.operators.trail_pages import COLUMNS, Trail, TrailFilter
from openspot.rest_edge.settings import RestEdgeSettings

_HEADS_AT_ONCE = 500


class TrailError(Exception):
    """The trail is not as it was written, or cannot be read. The message names the first entry that is wrong."""


class Verified(NamedTuple):
    """A trail without fault: how many entries, how many heads it agrees with, and its own head.

    `erased` entries have no address any more.
    """

    entries: int
    heads: int
    erased: int
    head: Head


async def verify(settings: RestEdgeSettings, given: Sequence[str] = ()) -> Verified:
    """Check every entry against the one before it, then every kept head and the `given` ones against the entries.

    Entries are read as they are checked, so memory does not grow with them. Raises TrailError.
    """
    async with _connection(settings) as connection:
        number, previous, erased = 0, FIRST_HASH, 0
        async for entry in entries(connection):
            fault = fault_of(entry, number + 1, previous)
            if fault:
                raise TrailError(fault)
            number, previous, erased = entry.entry_number, entry.hash, erased + (entry.salt is None)
        try:
            heads = await _agree(connection, kept_heads(settings.data_dir / HEADS_NAME), HEADS_NAME)
            heads += await _agree(connection, (read_head(text) for text in given), "the heads that you gave")
        except (OSError, HeadError) as error:
            raise TrailError(str(error)) from error
    return Verified(number, heads, erased, Head(number, previous))


async def export(settings: RestEdgeSettings, path: Path, reason: str) -> None:
    """Write the whole trail to a new file: Parquet if its name ends so, otherwise CSV.

    The entry of the file, in the name of the account of this machine, is written before and stands first in it. A file
    that could not be written whole is removed again. Raises TrailError, as for a reason that the trail does not take,
    or OSError, as if the file exists already.
    """
    wanted = FileFormat.PARQUET if path.suffix.lower() == f".{FileFormat.PARQUET}" else FileFormat.CSV
    if wanted is FileFormat.PARQUET and not has_parquet():
        raise TrailError("Parquet needs pyarrow: install openspot[parquet], or name a file that ends in .csv")
    try:
        action = _exported(reason.strip(), wanted)
    except ValueError as error:
        raise TrailError(str(error)) from error
    pieces_of = parquet_pieces if wanted is FileFormat.PARQUET else csv_pieces
    with path.open("xb") as file:
        try:
            async with pool_of_command(settings, TrailError) as pool:
                async with pool.acquire() as connection, connection.transaction():
                    await record_action(connection, action)
                async for piece in pieces_of(COLUMNS, Trail(pool).pages(TrailFilter())):
                    file.write(piece)
        except BaseException:
            _remove(path)
            raise


def _exported(reason: str, wanted: FileFormat) -> OperatorAction:
    """The entry of a file of the whole trail. Raises ValueError for a reason that the trail does not take."""
    if not reason.isprintable():
        raise ValueError("reason: must have printable characters only")
    after = {**TrailFilter().texts(), "format": wanted.value}
    return OperatorAction(f"shell:{getpass.getuser()}", "trail.exported", "list", "trail", reason, {}, after)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


@asynccontextmanager
async def _connection(settings: RestEdgeSettings) -> AsyncIterator[Connection]:
    """A connection that sees the trail at one moment."""
    async with (
        pool_of_command(settings, TrailError) as pool,
        pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        yield connection


async def _agree(connection: Connection, heads: Iterable[Head], source: str) -> int:
    """How many heads there are; each is the hash of the entry with its number. Raises TrailError."""
    waiting, count = iter(heads), 0
    while batch := list(islice(waiting, _HEADS_AT_ONCE)):
        rows = await connection.fetch(
            "SELECT entry_number, hash FROM operator_actions WHERE entry_number = ANY($1::bigint[])",
            [head.number for head in batch],
        )
        known = {row["entry_number"]: row["hash"] for row in rows} | {0: FIRST_HASH}
        for head in batch:
            found = known.get(head.number)
            if found is None:
                raise TrailError(f"entry {head.number} is missing: the trail was cut off, {source} knew it")
            if found != head.hash:
                raise TrailError(f"entry {head.number} is another than the one that {source} knew")
        count += len(batch)
    return count
