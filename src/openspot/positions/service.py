"""The composition root of the position service: `run` makes everything, serves until told to stop, and ends it all."""

import asyncio
from contextlib import AsyncExitStack

from openspot.contracts.streams import TRADES
from openspot.domain.market import load_markets
from openspot.http.audit import DatabaseAudit
from openspot.http.authentication import RevokedSessions, UserTokens
from openspot.http.ended_sessions import EndedSessionsFollower
from openspot.http.idempotency import DatabaseIdempotency
from openspot.http.server import http_server
from openspot.kit import database
from openspot.kit.bus import Bus
from openspot.kit.clock import Clock, system_clock
from openspot.kit.health import Health
from openspot.kit.log import get_logger
from openspot.kit.secrets_file import with_secrets
from openspot.kit.tasks import end_tasks
from openspot.market_data_client.requests import MarketDataClient
from openspot.positions.app import Services, make_app
from openspot.positions.broker.service import BrokerService
from openspot.positions.cost_basis.service import CostBasisService
from openspot.positions.cost_basis.store import CostBasisStore
from openspot.positions.fill_follower import trade_consumer
from openspot.positions.fill_valuation import FillValuation
from openspot.positions.holdings.service import HoldingService
from openspot.positions.holdings.store import HoldingStore
from openspot.positions.prices import Prices
from openspot.positions.settings import PositionSettings
from openspot.positions.timers import Marking, Snapshots, repeat
from openspot.positions.transfers.service import TransferService
from openspot.positions.transfers.store import TransferStore

log = get_logger("positions")

NAME = "positions"
CONNECTIONS_MAX = 16
AUDIT_QUEUE_MAX = 20_000
VALUATION_S = 1.0
STOP_S_MAX = 5.0


async def run(settings: PositionSettings, stop: asyncio.Event, *, clock: Clock = system_clock) -> None:
    """Serve on `settings.positions_port` until `stop` is set.

    Raises BusError, DatabaseUnavailableError or PortTakenError if it cannot start.
    """
    settings = with_secrets(settings)
    async with AsyncExitStack() as stack:
        pool = await database.create_pool(settings, CONNECTIONS_MAX)
        stack.push_async_callback(_close, pool)
        bus = await Bus.connect(settings, NAME)
        stack.push_async_callback(bus.close)
        revoked = RevokedSessions()
        ended = EndedSessionsFollower(bus, revoked, settings.ended_session_life_s)
        await ended.start()
        stack.push_async_callback(ended.stop)
        audit = DatabaseAudit(pool, AUDIT_QUEUE_MAX)
        stack.push_async_callback(audit.stop)

        health = Health()
        health.add("database", lambda: database.check(pool), vital=True)
        health.add("bus", bus.check, vital=True)
        markets = load_markets()
        prices = Prices(MarketDataClient(bus))
        store = HoldingStore(pool, settings.position_mark_age_s_max)
        cost_basis = CostBasisService(
            pool, CostBasisStore(pool), settings.accounting_currency, settings.position_imports_max
        )
        stack.push_async_callback(cost_basis.stop)
        services = Services(
            holdings=HoldingService(
                pool, store, prices, clock, settings.accounting_currency, follows_fills=settings.follow_fills
            ),
            transfers=TransferService(pool, TransferStore(pool), frozenset(markets.assets)),
            cost_basis=cost_basis,
            broker=BrokerService(pool, store, markets.limits, clock, follows_fills=settings.follow_fills),
            health=health,
            tokens=UserTokens(settings.jwt_secret, revoked),
            audit=audit,
            idempotency=DatabaseIdempotency(pool),
        )
        marking = Marking(store, prices)
        snapshots = Snapshots(store, clock, settings.position_snapshot_s, settings.position_snapshots_kept_days)
        work = [
            asyncio.create_task(repeat("mark positions", marking.run_once, settings.position_mark_s)),
            asyncio.create_task(snapshots.run()),
        ]
        if settings.follow_fills:
            await bus.ensure_streams([TRADES])
            consumer = trade_consumer(bus, pool)
            health.add("trades", consumer.check)
            valuation = FillValuation(pool, prices, settings.accounting_currency)
            work.append(asyncio.create_task(repeat("value fills", valuation.run_once, VALUATION_S)))
            following = asyncio.create_task(consumer.run(stop))
            stack.push_async_callback(_finish, following)
        stack.push_async_callback(end_tasks, *work)

        server = http_server(make_app(settings, services), settings, settings.positions_port, settings.positions_host)
        await server.start()
        # Ends first, so that requests under way still have what they need.
        stack.push_async_callback(server.stop)
        log.info("listening", port=settings.positions_port)
        await stop.wait()


async def _finish(following: asyncio.Task[None]) -> None:
    """Give the batch under way a moment, then end."""
    await asyncio.wait({following}, timeout=STOP_S_MAX)
    await end_tasks(following)


async def _close(pool: database.Pool) -> None:
    try:
        async with asyncio.timeout(STOP_S_MAX):
            await pool.close()
    except TimeoutError:
        pool.terminate()
