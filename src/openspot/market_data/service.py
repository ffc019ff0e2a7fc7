"""The composition root of market data.

Any number of processes may run. One of them at a time leads: it follows the engine's events, publishes, records and
serves requests. The others wait for its lease.
"""

import asyncio

from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.queries import EngineQueries
from openspot.http.server import serve_health
from openspot.kit.bus import Bus
from openspot.kit.clock import Clock, system_clock
from openspot.kit.leader import Leader
from openspot.kit.lease import Lease
from openspot.kit.secrets_file import with_secrets
from openspot.kit.service_frame import ServiceFrame
from openspot.market_data.descriptor import LEASE_BUCKET
from openspot.market_data.fair_price_store import FairPriceStore
from openspot.market_data.leader_session import LeaderSession, Sources
from openspot.market_data.metrics import LEADS
from openspot.market_data.requests import RequestHandlers
from openspot.market_data.settings import MarketDataSettings
from openspot.market_data.store import MarketDataStore

NAME = "market-data"
KEY = "leader"
CONNECTIONS_MAX = 8
TRANSACTION_PAUSE_S_MAX = 5
"""The database ends the transaction of a leader that was stopped while it recorded, or the next leader would wait."""


async def run(settings: MarketDataSettings, stop: asyncio.Event, *, clock: Clock = system_clock) -> None:
    """Work until `stop` is set.

    Raises BusError, DatabaseUnavailableError or PortTakenError if it cannot start.
    """
    settings = with_secrets(settings)
    async with ServiceFrame(NAME, settings, stop) as frame:
        bus = await frame.connect_bus()
        pool = await frame.connect_database(
            CONNECTIONS_MAX, vital=False, transaction_pause_s_max=TRANSACTION_PAUSE_S_MAX
        )
        commands = EngineCommands(settings)
        frame.at_end(commands.close)
        queries = EngineQueries(settings)
        frame.at_end(queries.close)
        stores = MarketDataStore(pool), FairPriceStore(pool)
        leader = MarketDataLeader(Sources(settings, bus, *stores, queries, commands, clock))
        frame.health.add("engine", queries.check)
        frame.health.add("market data", leader.check)
        await serve_health(frame, settings.market_data_port, "OpenSpot market data", settings.market_data_host)
        frame.start("leader", leader.run())
        await frame.until_stopped()


class MarketDataLeader:
    """Publishes, records and serves requests while this process holds the lease."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._lease = Lease.on(sources.bus, LEASE_BUCKET, KEY, sources.settings.market_data_lease_s)
        self._session: LeaderSession | None = None
        self._leader = Leader(
            sources.bus,
            self._lease,
            self._lead,
            work="market data",
            gauge=LEADS,
            fault="nobody is known to lead yet",
        )

    async def check(self) -> None:
        """Raise, with the reason, unless this process publishes current data or another process leads."""
        if self._session is not None:
            self._session.check()
        else:
            self._leader.check()

    async def run(self) -> None:
        """Lead whenever this process holds the lease, until cancelled."""
        await self._leader.run()

    async def _lead(self) -> None:
        sources = self._sources
        session = self._session = LeaderSession(sources, self._lease, await sources.store.lead())
        try:
            # A connection of its own: when it closes, requests go to the next leader.
            serving = await Bus.connect(sources.settings, NAME)
            try:
                await session.fair_prices.follow_venue(serving)
                await RequestHandlers(session, sources.store, sources.clock).serve(serving)
                await session.run()
            finally:
                await serving.close()
        finally:
            self._session = None
