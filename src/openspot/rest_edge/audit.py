"""The audit trail: one record for each request that may change something (Document A 1.3).

Records are written in batches behind the answer, from a bounded queue. A request takes its place in the queue
before it is worked on, and waits a moment for one if there is none: nothing is changed that could not be
recorded. What the database does not take is tried again until it does. A clean stop writes what waits.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import asyncpg
from prometheus_client import Counter, Gauge

from openspot.kit.database import Pool
from openspot.kit.log import get_logger

log = get_logger("audit")

WRITTEN = Counter("openspot_audit_records_total", "Audit records written")
FAILURES = Counter("openspot_audit_write_failures_total", "Batches of audit records that the database did not take")
REFUSED = Counter("openspot_audit_refused_total", "Requests refused because the audit queue stayed full")
WAITING = Gauge("openspot_audit_waiting", "Audit records that wait to be written")

GATHER_S = 0.01
BATCH_MAX = 1000
ROOM_WAIT_S = 1.0
RETRY_PAUSE_S_MAX = 5.0
FLUSH_S_MAX = 10.0
PATH_LENGTH_MAX = 256

_INSERT = """
    INSERT INTO audit_records (request_id, user_id, method, path, status, address, duration_ms, created_at)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::text[],
                         $7::double precision[], $8::timestamptz[])
"""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """What was asked, by whom, from where, and how it ended. Never a body, a query or a header."""

    request_id: str
    user_id: str | None
    method: str
    path: str
    status: int
    address: str
    duration_ms: float
    created_at: datetime


class AuditTrail:
    """The queue and its writer."""

    def __init__(self, pool: Pool, records_max: int) -> None:
        self._pool = pool
        self._free = asyncio.Semaphore(records_max)
        self._waiting: list[AuditRecord] = []
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to write."""
        self._task = asyncio.create_task(self._write_all())

    async def reserve(self) -> bool:
        """Take a place for one record; False if there was none for a while. Each place is used by `record`."""
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
        """Queue `record` in the place that was taken for it."""
        self._waiting.append(record)
        if len(self._waiting) == 1:
            self._news.set()

    async def stop(self) -> None:
        """Write what waits, then end; gives up after FLUSH_S_MAX, and says how many were lost."""
        if self._task is None:
            return
        deadline = asyncio.get_running_loop().time() + FLUSH_S_MAX
        while self._waiting and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(GATHER_S)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._waiting:
            log.error("audit records lost: the database did not take them", records=len(self._waiting))

    async def _write_all(self) -> None:
        while True:
            await self._news.wait()
            # One write for what comes in within a few milliseconds.
            await asyncio.sleep(GATHER_S)
            self._news.clear()
            while self._waiting:
                batch = self._waiting[:BATCH_MAX]
                WAITING.set(len(self._waiting))
                await self._write(batch)
                del self._waiting[: len(batch)]
                for _ in batch:
                    self._free.release()
            WAITING.set(0)

    async def _write(self, batch: Sequence[AuditRecord]) -> None:
        columns = (
            [record.request_id for record in batch],
            [record.user_id for record in batch],
            [record.method for record in batch],
            [record.path for record in batch],
            [record.status for record in batch],
            [record.address for record in batch],
            [record.duration_ms for record in batch],
            [record.created_at for record in batch],
        )
        pause_s = 0.1
        while True:
            try:
                await self._pool.execute(_INSERT, *columns)
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
                FAILURES.inc()
                log.warning("audit records not written yet", records=len(batch), error=repr(error))
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, RETRY_PAUSE_S_MAX)
            else:
                WRITTEN.inc(len(batch))
                return
