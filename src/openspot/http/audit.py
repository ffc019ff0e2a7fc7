"""The audit trail: one record for each request to an audited route (fact A1.3-02).

The pipeline reserves a place for the record before it works on the request. So no request changes anything without
a record. Where records go is the service's choice: `DatabaseAudit` writes them to the table `audit_records`,
`LogAudit` to the log.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

import asyncpg
from prometheus_client import Counter, Gauge

from openspot.kit.backoff import Backoff, retry
from openspot.kit.batching import Batcher
from openspot.kit.database import TRANSIENT_ERRORS, Connection, Pool
from openspot.kit.log import get_logger

log = get_logger("audit")

WRITTEN = Counter("openspot_audit_records_total", "Audit records written")
FAILURES = Counter("openspot_audit_write_failures_total", "Batches of audit records that the database refused")
REFUSED = Counter("openspot_audit_refused_total", "Requests refused because the audit queue stayed full")
WAITING = Gauge("openspot_audit_waiting", "Audit records waiting to be written")

WRITE_INTERVAL_S = 0.05
"""Shortest time between two writes of less than a full batch."""
BATCH_MAX = 1000
ROOM_WAIT_S = 1.0
RETRY_PAUSE_S_MIN = 0.1
RETRY_PAUSE_S_MAX = 5.0
FLUSH_S_MAX = 10.0
DATABASE_ERRORS = (asyncpg.PostgresError, *TRANSIENT_ERRORS)
PATH_LENGTH_MAX = 256


class AuditRecord(NamedTuple):
    """A request: what, by whom, from where, and how it ended. Never a body, a query or a header."""

    request_id: str
    user_id: str | None
    method: str
    path: str
    status: int
    address: str
    duration_ms: float
    created_at: datetime


class AuditSink(Protocol):
    """Where audit records go."""

    async def reserve(self) -> bool:
        """Reserve a place for one record; False if none became free in time. Each place is used by one `record`."""

    def record(self, record: AuditRecord) -> None:
        """Keep `record`, in the place that was reserved for it."""


class LogAudit:
    """Audit records as log lines, for a service without a database."""

    async def reserve(self) -> bool:
        """Always True: a log line needs no place."""
        return True

    def record(self, record: AuditRecord) -> None:
        """Log the record."""
        log.info("request", **(record._asdict() | {"created_at": record.created_at.isoformat()}))


async def add_record(connection: Connection, record: AuditRecord) -> None:
    """Write one record in the caller's transaction: of a change that no request makes."""
    await connection.copy_records_to_table("audit_records", records=[record], columns=AuditRecord._fields)


async def erase_addresses(connection: Connection | Pool, user_ids: Sequence[str]) -> None:
    """Erase the client addresses in all records of these users; the records stay."""
    await connection.execute(
        "UPDATE audit_records SET address = '' WHERE user_id = ANY($1::text[]) AND address <> ''", list(user_ids)
    )


class DatabaseAudit:
    """Writes records in batches from a bounded queue, after the responses.

    A batch that the database refuses is tried again until it is written. A clean stop writes the waiting records.
    """

    def __init__(self, pool: Pool, records_max: int) -> None:
        self._pool = pool
        self._free = asyncio.Semaphore(records_max)
        self._unwritten = 0
        self._batcher: Batcher[AuditRecord, None] = Batcher(
            self._write, batch_max=BATCH_MAX, waiting_max=records_max, interval_s=WRITE_INTERVAL_S
        )

    async def reserve(self) -> bool:
        """Reserve a place for one record; False if none became free within ROOM_WAIT_S."""
        if not self._free.locked():
            await self._free.acquire()
            return True
        try:
            await asyncio.wait_for(self._free.acquire(), ROOM_WAIT_S)
        except TimeoutError:
            REFUSED.inc()
            return False
        return True

    def record(self, record: AuditRecord) -> None:
        """Queue `record` in the place that was reserved for it."""
        self._batcher.add(record)
        self._count(1)

    async def stop(self) -> None:
        """Write the waiting records, then end. Gives up after FLUSH_S_MAX and logs how many records were lost."""
        try:
            async with asyncio.timeout(FLUSH_S_MAX):
                await self._batcher.drained()
        except TimeoutError:
            log.error("audit records lost: the database did not take them", records=self._unwritten)
        await self._batcher.cancel()

    async def _write(self, batch: list[AuditRecord]) -> None:
        def note(error: Exception) -> None:
            FAILURES.inc()
            log.warning("audit records not written yet", records=len(batch), error=repr(error))

        await retry(lambda: self._copy(batch), DATABASE_ERRORS, Backoff(RETRY_PAUSE_S_MIN, RETRY_PAUSE_S_MAX), note)
        WRITTEN.inc(len(batch))
        self._count(-len(batch))
        for _ in batch:
            self._free.release()

    def _count(self, records: int) -> None:
        self._unwritten += records
        WAITING.set(self._unwritten)

    async def _copy(self, batch: list[AuditRecord]) -> None:
        await self._pool.copy_records_to_table("audit_records", records=batch, columns=AuditRecord._fields)
