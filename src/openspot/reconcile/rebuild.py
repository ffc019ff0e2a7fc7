"""`openspot ledger rebuild`: makes order rows, trade rows and the ledger what the engine's events say.

The engine is the only authority. The events are read once and loaded, as the rows and entries that they make, into
temporary tables; the database finds what differs. Only that is changed. With `is_plan` it is only named.

The platform may run meanwhile. The mirrors first get time to catch up, so that what is still on its way is not taken
for lost. Rows are compared up to the router's cursor, which does not move: the router publishes and writes what comes
after it. Without a cursor, rows are written up to the engine's newest event.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.database import REPAIR_LOCK, TRANSIENT_ERRORS, Connection
from openspot.reconcile import rebuild_ledger_queries, rebuild_rows
from openspot.reconcile.outcome import NotRebuiltError, Rebuilt
from openspot.reconcile.progress import wait_for_mirrors
from openspot.reconcile.queries import FLOORS
from openspot.reconcile.rebuild_ledger import LedgerRepair
from openspot.reconcile.rebuild_rows import RowsRepair, checked_position
from openspot.reconcile.store import EngineReader, EngineUnavailableError
from openspot.reconcile.tables import CONNECT_TIMEOUT_S
from openspot.router.rows_position import RowsPosition, rows_position

LOCK_WAIT_MS = 10_000
"""A statement waits at most this long for a lock; so long writers wait in turn."""
ATTEMPTS_MAX = 5
_LOST_RACES = (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError, asyncpg.SerializationError)


async def rebuild(settings: EngineConnectionSettings, *, is_plan: bool, wait_s: float = 0) -> Rebuilt:
    """Repair the mirrors, or only name the changes. The mirrors get `wait_s` seconds to catch up before.

    Raises NotRebuiltError.
    """
    try:
        async with EngineReader(settings) as engine:
            for attempt in range(1, ATTEMPTS_MAX + 1):
                try:
                    async with repair_session(settings) as connection:
                        return await _rebuild(settings, engine, connection, is_plan=is_plan, wait_s=wait_s)
                except _LOST_RACES as error:
                    # Others held the locks for too long. Everything is found anew.
                    if attempt == ATTEMPTS_MAX:
                        raise NotRebuiltError(f"the tables are too busy: {error}") from error
                    await asyncio.sleep(attempt)
    except EngineUnavailableError as error:
        raise NotRebuiltError(f"the engine does not answer: {error}") from error
    except (asyncpg.PostgresError, *TRANSIENT_ERRORS) as error:
        raise NotRebuiltError(f"the database does not answer: {error!r}") from error
    raise AssertionError("every attempt returns or raises")


@asynccontextmanager
async def repair_session(settings: EngineConnectionSettings) -> AsyncIterator[Connection]:
    """A connection that is the only one to repair. Raises NotRebuiltError, and what asyncpg raises."""
    if not settings.database_url:
        raise NotRebuiltError("the database does not answer: DATABASE_URL is not set")
    connection = await asyncpg.connect(
        settings.database_url,
        timeout=CONNECT_TIMEOUT_S,
        server_settings={
            "application_name": "openspot-rebuild", "timezone": "UTC", "lock_timeout": f"{LOCK_WAIT_MS}",
        },
    )  # fmt: skip
    try:
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", REPAIR_LOCK):
            raise NotRebuiltError("another repair or a run of the archive is under way")
        yield connection
    finally:
        await connection.close(timeout=CONNECT_TIMEOUT_S)


async def require_no_archive(connection: Connection, *kinds: str) -> None:
    """Raise NotRebuiltError if rows of these kinds are in the archive: a repair would take them for lost."""
    found = await connection.fetch(FLOORS)
    if archived := [f"{row['kind']} up to event {row['sequence']:,}" for row in found if row["kind"] in kinds]:
        raise NotRebuiltError(
            f"rows are in the archive ({', '.join(archived)}), and a repair needs all of them. `openspot archive "
            "restore` brings them back; after the repair `openspot archive` takes them out again"
        )


async def _rebuild(
    settings: EngineConnectionSettings,
    engine: EngineReader,
    connection: Connection,
    *,
    is_plan: bool,
    wait_s: float,
) -> Rebuilt:
    await require_no_archive(connection, "orders", "trades", "entries")
    hello = await engine.position()
    if hello.first_seq > 1:
        raise NotRebuiltError(
            f"the engine has only its events from {hello.first_seq} on. It can make all of them again from its "
            "journal: stop it, raise OPENSPOT_ENGINE_EVENT_RETENTION, delete engine/events.sqlite in the data "
            "directory, start it"
        )
    if wait_s:
        await wait_for_mirrors(settings, hello.last_seq, wait_s)
    await connection.execute(rebuild_rows.TEMPORARY_TABLES)
    await connection.execute(rebuild_ledger_queries.TEMPORARY_TABLES)
    position = await rows_position(connection)
    hello = await engine.position()
    written = checked_position(position, hello.epoch, hello.last_seq)
    rebuilt = Rebuilt(hello.last_seq)
    rows = RowsRepair(connection, hello.epoch, rebuilt)
    ledger = LedgerRepair(connection, hello.epoch, rebuilt)
    async for events in engine.events(1, hello.last_seq):
        await rows.take(event for event in events if written.includes(event))
        await ledger.take(events)
    if await rows.find():
        await _repair_rows(engine, connection, rows, hello.epoch, written, is_plan=is_plan)
    await ledger.find()
    async for events in engine.events(hello.last_seq + 1):
        await ledger.take_late(events)
    if await ledger.decide():
        await (ledger.plan() if is_plan else ledger.repair())
    return rebuilt


async def _repair_rows(
    engine: EngineReader,
    connection: Connection,
    rows: RowsRepair,
    epoch: str,
    written: RowsPosition,
    *,
    is_plan: bool,
) -> None:
    """Take the events that the router has taken meanwhile, and repair what still differs, at one moment."""
    async with connection.transaction(isolation="repeatable_read" if is_plan else "read_committed"):
        if not is_plan:
            await rows.keep_router_out()
        position = await rows_position(connection)
        if position is not None:
            now = checked_position(position, epoch, (await engine.position()).last_seq)
            async for events in engine.events(written.least + 1, now.newest):
                await rows.take(event for event in events if now.includes(event) and not written.includes(event))
        await rows.repair(is_plan=is_plan)
