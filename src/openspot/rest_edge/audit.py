"""The audit trail: one record for each request that may change something (Document A 1.3).

Records are written in batches behind the answer, from a bounded queue. A request takes its place in the queue
before it is worked on, and waits a moment for one if there is none: nothing is changed that could not be
recorded. What the database does not take is tried again until it does. A clean stop writes what waits.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg
from prometheus_client import Counter, Gauge

from openspot.kit.database import Pool
from openspot.kit.log import get_logger
from openspot.kit.pacing import Pace

log = get_logger("audit")

WRITTEN = Counter("openspot_audit_records_total", "Audit records written")
FAILURES = Counter("openspot_audit_write_failures_total", "Batches of audit records that the database did not take")
REFUSED = Counter("openspot_audit_refused_total", "Requests refused because the audit queue stayed full")
WAITING = Gauge("openspot_audit_waiting", "Audit records that wait to be written")

WRITE_INTERVAL_S = 0.05
"""Least time between two writes that are not full."""
FLUSH_LOOK_S = 0.01
BATCH_MAX = 1000
ROOM_WAIT_S = 1.0
RETRY_PAUSE_S_MAX = 5.0
FLUSH_S_MAX = 10.0
PATH_LENGTH_MAX = 256


class AuditRecord(NamedTuple):
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
            await asyncio.sleep(FLUSH_LOOK_S)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._waiting:
            log.error("audit records lost: the database did not take them", records=len(self._waiting))

    async def _write_all(self) -> None:
        pace = Pace(WRITE_INTERVAL_S)
        while True:
            await self._news.wait()
            await pace.begin()
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
        pause_s = 0.1
        while True:
            try:
                await self._pool.copy_records_to_table("audit_records", records=batch, columns=AuditRecord._fields)
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
                FAILURES.inc()
                log.warning("audit records not written yet", records=len(batch), error=repr(error))
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, RETRY_PAUSE_S_MAX)
            else:
                WRITTEN.inc(len(batch))
                return
