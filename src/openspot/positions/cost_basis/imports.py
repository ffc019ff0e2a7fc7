"""Imports a file of FIFO transactions in batches, with the memory of one batch.

The whole file is on disk, and its size is checked, before the first row is stored. Each batch is a database transaction
of its own, and a row that was imported before changes nothing. So after a crash a client sends the same file again, and
the import goes on where it ended.
"""

import asyncio
import codecs
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, NamedTuple

from openspot.http.errors import HttpError
from openspot.kit.database import Pool
from openspot.positions.cost_basis import store
from openspot.positions.import_layouts import Field, Layout, LayoutError, layout_from_mapping
from openspot.positions.import_records import Reason, Refused, read_csv, read_json
from openspot.positions.import_rules import (
    AcceptedTransaction,
    ImportDefaults,
    Parsed,
    RepeatedTransaction,
    parse_rows,
    sort_out_known,
)

BATCH = 1_000
PIECE_BYTES = 65_536
FORMATS = {"text/csv": read_csv, "application/json": read_json, "application/x-ndjson": read_json}


class ImportSource(NamedTuple):
    """A received file and how to read it. `columns` maps fields to columns. Without it the layout is recognised."""

    file: IO[bytes]
    media_type: str
    columns: dict[str, str]
    defaults: ImportDefaults


@dataclass(slots=True)
class ImportReport:
    """The outcome of an import. `refused` is a file with one JSON object per line."""

    layout: str
    refused: IO[bytes]
    accepted: int = 0
    repeated: int = 0
    refused_count: int = 0
    uncovered: list[tuple[str, str]] = field(default_factory=list)


async def store_rows(
    pool: Pool, user_id: str, source: ImportSource, report_file: IO[bytes], transactions_max: int
) -> ImportReport:
    """Store the rows of a received file, until the user has `transactions_max` transactions.

    Raises HttpError (400) if its columns do not match the fields.
    """
    try:
        batches = await asyncio.to_thread(_Batches, source)
    except LayoutError as error:
        raise HttpError(400, str(error), "UNKNOWN_LAYOUT") from error
    report = ImportReport(batches.layout.name, report_file)
    while batch := await asyncio.to_thread(batches.next):
        ids = [item.transaction.external_id for item in batch if isinstance(item, Parsed)]
        async with pool.acquire() as connection, connection.transaction():
            await store.lock_owner(connection, user_id)
            known = await store.fingerprints(connection, user_id, ids)
            room = transactions_max - await store.transaction_count(connection, user_id)
            outcomes = _within(await asyncio.to_thread(_outcomes, batch, known), room, transactions_max)
            accepted = [item for item in outcomes if isinstance(item, AcceptedTransaction)]
            await store.add_transactions(connection, user_id, accepted)
        report.accepted += len(accepted)
        report.repeated += sum(isinstance(item, RepeatedTransaction) for item in outcomes)
        refused = [item for item in outcomes if isinstance(item, Refused)]
        report.refused_count += len(refused)
        if refused:
            await asyncio.to_thread(report.refused.write, b"".join(map(_refused_line, refused)))
    return report


def too_many_transactions(transactions_max: int) -> str:
    """Why no more transactions of a user are taken."""
    return f"{transactions_max} transactions of this user are recorded, and no more are taken"


def _within(
    outcomes: list[AcceptedTransaction | RepeatedTransaction | Refused], room: int, transactions_max: int
) -> list[AcceptedTransaction | RepeatedTransaction | Refused]:
    """`outcomes`, of which the accepted ones beyond the first `room` are refused."""
    within: list[AcceptedTransaction | RepeatedTransaction | Refused] = []
    for item in outcomes:
        if isinstance(item, AcceptedTransaction):
            room -= 1
            if room < 0:
                reason = Reason(Field.EXTERNAL_ID, too_many_transactions(transactions_max))
                within.append(Refused(item.line, item.transaction.external_id, (reason,)))
                continue
        within.append(item)
    return within


def _outcomes(
    batch: list[Parsed | Refused], known: dict[str, str]
) -> list[AcceptedTransaction | RepeatedTransaction | Refused]:
    return list(sort_out_known(batch, known))


class _Batches:
    """The parsed rows of a file, in batches. Its methods read the file, so callers run them in a thread."""

    def __init__(self, source: ImportSource) -> None:
        """Raises LayoutError."""
        given = layout_from_mapping(source.columns) if source.columns else None
        self.layout: Layout
        self.layout, rows = FORMATS[source.media_type](_texts(source.file), given)
        self._rows = parse_rows(rows, self.layout, source.defaults)

    def next(self) -> list[Parsed | Refused]:
        """The next batch. It is empty at the end."""
        return list(islice(self._rows, BATCH))


def _texts(file: IO[bytes]) -> Iterator[str]:
    """The file's text in pieces. Invalid UTF-8 becomes U+FFFD, which no field of a transaction accepts."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while piece := file.read(PIECE_BYTES):
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def _refused_line(refused: Refused) -> bytes:
    reasons = [{"field": reason.field, "reason": reason.text} for reason in refused.reasons]
    content = {"line": refused.line, "externalId": refused.external_id, "reasons": reasons}
    return json.dumps(content).encode() + b"\n"


async def rendered(report: ImportReport, user_id: str) -> AsyncIterator[bytes]:
    """The report as JSON, piece by piece."""
    head = {
        "userId": user_id,
        "layout": report.layout,
        "accepted": report.accepted,
        "repeated": report.repeated,
        "refusedCount": report.refused_count,
        "uncovered": [{"externalId": external_id, "reason": reason} for external_id, reason in report.uncovered],
    }
    yield json.dumps(head)[:-1].encode() + b', "refused": ['
    with report.refused as file:
        file.seek(0)
        separator = b""
        while lines := await asyncio.to_thread(file.readlines, PIECE_BYTES):
            yield separator + b",".join(line.rstrip() for line in lines)
            separator = b","
    yield b"]}"
