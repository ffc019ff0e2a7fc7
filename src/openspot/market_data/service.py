"""The composition root of market data.

Any number of processes may run. One of them at a time leads: it follows the engine's events, publishes, records and
serves requests. The others wait for its lease.
"""

import asyncio
import time
from contextlib import AsyncExitStack

from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.queries import EngineQueries
from openspot.http.server import serve_health
from openspot.kit import database
from openspot.kit.bus import Bus
from openspot.kit.clock import Clock, system_clock
from openspot.kit.health import Health
from openspot.kit.lease import Lease
from openspot.kit.log import get_logger
from openspot.kit.secrets_file import with_secrets
from openspot.kit.tasks import end_tasks
from openspot.market_data.descriptor import LEASE_BUCKET
from openspot.market_data.metrics import LEADS
from openspot.market_data.requests import RequestHandlers
from openspot.market_data.settings import MarketDataSettings
from openspot.market_data.store import Store
from openspot.market_data.term import Sources, StaleError, Term

log = get_logger("market-data")

NAME = "market-data"
KEY = "leader"
CONNECTIONS_MAX = 8
TRANSACTION_PAUSE_S_MAX = 5
"""A leader that is stopped while it records loses its transaction, or the next one could record nothing."""
STAND_BACK_S = 1.0
CLOSE_S_MAX = 5.0


async def run(settings: MarketDataSettings, stop: asyncio.Event, *, clock: Clock = system_clock) -> None:
    """Work until `stop` is set.

    Raises BusError, DatabaseUnavailableError or PortTakenError if it cannot start.
    """
    settings = with_secrets(settings)
    async with AsyncExitStack() as stack:
        bus = await Bus.connect(settings, NAME)
        stack.push_async_callback(bus.close)
        pool = await database.create_pool(settings, CONNECTIONS_MAX, transaction_pause_s_max=TRANSACTION_PAUSE_S_MAX)
        stack.push_async_callback(_close, pool)
        commands = EngineCommands(settings)
        stack.push_async_callback(commands.close)
        queries = EngineQueries(settings)
        stack.push_async_callback(queries.close)
        leader = Leader(Sources(settings, bus, Store(pool), queries, commands, clock))

        health = Health()
        health.add("bus", bus.check, vital=True)
        health.add("database", lambda: database.check(pool))
        health.add("engine", queries.check)
        health.add("market data", leader.check)
        server = await serve_health(
            health, settings, settings.market_data_port, "OpenSpot market data", settings.market_data_host
        )
        stack.push_async_callback(server.stop)

        leading, stopped = asyncio.create_task(leader.run()), asyncio.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait({leading, stopped}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await end_tasks(leading, stopped)


class Leader:
    """Waits for the lease, and works while it holds it."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._term: Term | None = None
        self._fault: str | None = "nobody is known to lead yet"

    async def check(self) -> None:
        """Raise, with the reason, unless this process publishes current data or stands by for one that leads."""
        if self._term is not None:
            self._term.check()
        elif self._fault is not None:
            raise StaleError(self._fault)

    async def run(self) -> None:
        """Lead whenever this process holds the lease, until cancelled."""
        life_s = self._sources.settings.market_data_lease_s
        bucket = self._sources.bus.key_value(LEASE_BUCKET, bytes, life_s)
        lease = Lease(bucket, KEY, life_s, time.monotonic)
        while True:
            await self._acquire(lease, life_s)
            log.info("leading")
            LEADS.set(1)
            try:
                await self._lead(lease)
            except Exception as error:
                self._fault = str(error) or repr(error)
                log.error("term ended", error=repr(error))
            finally:
                self._term = None
                LEADS.set(0)
                await lease.release()
            # Let another process take the lease: it may succeed where this one failed.
            await asyncio.sleep(STAND_BACK_S)

    async def _acquire(self, lease: Lease, life_s: float) -> None:
        acquiring = asyncio.create_task(lease.acquire())
        try:
            done, _ = await asyncio.wait({acquiring}, timeout=life_s)
            if not done and self._sources.bus.is_connected:
                # Another process leads now, so this one's fault no longer matters.
                self._fault = None
            await acquiring
        finally:
            await end_tasks(acquiring)

    async def _lead(self, lease: Lease) -> None:
        sources = self._sources
        term = self._term = Term(sources, lease, await sources.store.lead())
        # A connection of its own: when it closes, requests go to the next leader.
        serving = await Bus.connect(sources.settings, NAME)
        try:
            await RequestHandlers(term, sources.store, sources.clock).serve(serving)
            await term.run()
        finally:
            await serving.close()


async def _close(pool: database.Pool) -> None:
    try:
        async with asyncio.timeout(CLOSE_S_MAX):
            await pool.close()
    except TimeoutError:
        pool.terminate()
