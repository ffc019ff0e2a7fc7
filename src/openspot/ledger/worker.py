"""The ledger's workflow worker: settlement in durable workflows, and the requests (facts A6.1-14, B4.3-21).

A batch of trades is one workflow of one step: settle, then publish `trades.settled`. A record of each half would cost
more than it protects, because both may be done again. The state is in the schema `dbos` of the same database. A killed
worker resumes its unfinished workflow at its next start. Meanwhile the bus gives the same trades to another process.
Unique keys in the database make sure that each trade is settled once. Finished workflows are deleted except for the
newest: the ledger's entries are the record.
"""

import asyncio
import logging
import socket
import zlib
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import msgspec
from dbos import DBOS, DBOSConfig, Queue, _scheduler, _workflow_commands
from sqlalchemy.exc import OperationalError

from openspot.contracts.messages import ExecutedTrade
from openspot.kit.database import DatabaseUnavailableError
from openspot.kit.log import get_logger
from openspot.ledger.consumer import Settle
from openspot.ledger.process import run_process
from openspot.ledger.settings import LedgerSettings
from openspot.ledger.settlement import Settlement

WORKFLOW = "settle-trades"
FINISHED_KEPT = 50
"""Finished workflows that are kept for inspection. When there are twice as many, the older half is deleted."""
LEFT_BEHIND_AFTER = timedelta(hours=1)
"""Workflows of workers that never came back are deleted after this time. Other processes have settled their trades."""
DELETED_AT_A_TIME = 500
INTERVAL_S = 0.2
"""Least time between two batches that are not full: a workflow costs several times what a settlement costs."""
LOOK_S = 4.0
"""The library looks this often for workflows in its queue: at a start those that were left unfinished, else none.

It must be less than the five seconds that a lock of the library lives without use.
"""
CONNECTIONS_MAX = 4
THREADS_MAX = 8

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[ExecutedTrade]).decode
log = get_logger("workflows")


class Workflows:
    """Settles batches as durable workflows. The library allows one instance in a process."""

    def __init__(self, settings: LedgerSettings, settlement: Settlement) -> None:
        self._finished: list[str] = []
        # Without a handler, the library installs one that does not write in the format of our log.
        logging.getLogger("dbos").addHandler(logging.NullHandler())
        library = self._library = DBOS(config=_configuration(settings))
        # By default it looks every second, for a settlement's worth of processor time. There are no settings for it.
        _workflow_commands._BACKGROUND_JOBS_INTERVAL_SEC = LOOK_S
        library._registry.get_internal_queue()._polling_interval_sec = LOOK_S
        # For the first minute it looks every second for timetables, of which there are none.
        _scheduler._STARTUP_FAST_POLL_DURATION_SEC = 0.0

        @DBOS.step(name="settle-and-announce")
        async def settle_and_announce(data: bytes) -> None:
            trades = unpack(data)
            await settlement.announce(trades, await settlement.settle(trades))

        @DBOS.workflow(name=WORKFLOW)
        async def settle_trades(data: bytes) -> None:
            await settle_and_announce(data)

        self._workflow = settle_trades

    async def start(self) -> None:
        """Make or update the library's tables, and resume what this worker left unfinished.

        Raises DatabaseUnavailableError.
        """
        # Called on the loop's thread, so that the library runs resumed workflows on this loop.
        try:
            DBOS.launch()
            # It would ask the database every second which queues there are. We make none.
            self._library._sys_db.list_queues = _no_queues  # type: ignore[method-assign]
            await self._delete_left_behind()
        except OperationalError as error:
            raise DatabaseUnavailableError(str(error.orig)) from error

    async def settle(self, trades: list[ExecutedTrade]) -> None:
        """Settle and announce a batch. Raises what a step raised; the bus must then deliver the batch again."""
        handle = await DBOS.start_workflow_async(self._workflow, pack(trades))
        try:
            await handle.get_result()
        finally:
            await self._note_finished(handle.get_workflow_id())

    async def stop(self) -> None:
        """Stop the library's threads. Unfinished workflows are resumed at the next start."""
        loop = asyncio.get_running_loop()
        await asyncio.to_thread(DBOS.destroy, destroy_registry=True)
        # The library had installed its own executor in the loop, and has just shut it down.
        loop.set_default_executor(ThreadPoolExecutor())

    async def _note_finished(self, workflow_id: str) -> None:
        self._finished.append(workflow_id)
        if len(self._finished) >= 2 * FINISHED_KEPT:
            oldest = self._finished[:FINISHED_KEPT]
            del self._finished[:FINISHED_KEPT]
            await DBOS.delete_workflows_async(oldest)

    async def _delete_left_behind(self) -> None:
        until = (datetime.now(UTC) - LEFT_BEHIND_AFTER).isoformat()
        while found := await DBOS.list_workflows_async(
            end_time=until, name=WORKFLOW, limit=DELETED_AT_A_TIME, load_input=False, load_output=False
        ):
            await DBOS.delete_workflows_async([workflow.workflow_id for workflow in found])
            log.info("old workflows deleted", workflows=len(found))


def _no_queues(**_: object) -> list[Queue]:
    return []


def pack(trades: list[ExecutedTrade]) -> bytes:
    """A batch as a workflow stores it."""
    return zlib.compress(_encode(trades), 1)


def unpack(data: bytes) -> list[ExecutedTrade]:
    """The batch that `pack` packed."""
    return _decode(zlib.decompress(data))


def _configuration(settings: LedgerSettings) -> DBOSConfig:
    return DBOSConfig(
        name="openspot-ledger",
        system_database_url=settings.database_url.replace("postgresql://", "postgresql+psycopg://", 1),
        # Resume workflows of earlier releases, too. If that fails, the bus delivers their trades again.
        application_version="1",
        executor_id=f"{socket.gethostname()}-{settings.ledger_worker_port}",
        sys_db_pool_size=CONNECTIONS_MAX,
        max_executor_threads=THREADS_MAX,
        # Nothing is sent between workflows.
        use_listen_notify=False,
        scheduler_polling_interval_sec=3600.0,
        log_level="WARNING",
    )


async def run(settings: LedgerSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set."""

    @asynccontextmanager
    async def durable(settlement: Settlement) -> AsyncIterator[Settle]:
        workflows = Workflows(settings, settlement)
        try:
            await workflows.start()
            yield workflows.settle
        finally:
            await workflows.stop()

    port, host = settings.ledger_worker_port, settings.ledger_worker_host
    await run_process(settings, stop, "ledger-worker", port, host, durable, interval_s=INTERVAL_S)
