"""The composition root of the position service: `run` creates all parts, serves until the stop, and ends them."""

import asyncio

from openspot.contracts.streams import TRADES
from openspot.engine_client.live_markets import followed_markets
from openspot.engine_client.queries import EngineQueries
from openspot.http.audit import DatabaseAudit
from openspot.http.authentication import RevokedSessions, UserTokens
from openspot.http.ended_sessions import EndedSessionsFollower
from openspot.http.idempotency import DatabaseIdempotency
from openspot.http.policy import ThrottleClass
from openspot.http.server import http_server
from openspot.http.throttle import MemoryThrottle
from openspot.kit.clock import Clock, system_clock
from openspot.kit.log import get_logger
from openspot.kit.secrets_file import with_secrets
from openspot.kit.service_frame import ServiceFrame
from openspot.market_data_client.requests import MarketDataClient
from openspot.positions.app import Services, make_app
from openspot.positions.broker.service import BrokerService
from openspot.positions.cost_basis.service import CostBasisService
from openspot.positions.cost_basis.store import CostBasisStore
from openspot.positions.fill_follower import trade_consumer
from openspot.positions.fill_valuation import FillValuation
from openspot.positions.following import follows_fills
from openspot.positions.holdings.service import HoldingService
from openspot.positions.holdings.store import HoldingStore
from openspot.positions.movement_follower import MovementFollower
from openspot.positions.prices import Prices
from openspot.positions.settings import PositionSettings
from openspot.positions.spot.service import SpotService
from openspot.positions.spot.store import SpotStore
from openspot.positions.timers import Marking, Snapshots, repeat
from openspot.positions.transfers.service import TransferService
from openspot.positions.transfers.store import PositionTransferStore

log = get_logger("positions")

NAME = "positions"
CONNECTIONS_MAX = 16
AUDIT_QUEUE_MAX = 20_000
VALUATION_S = 1.0
MOVEMENTS_S = 2.0


async def run(settings: PositionSettings, stop: asyncio.Event, *, clock: Clock = system_clock) -> None:
    """Serve on `settings.positions_port` until `stop` is set.

    Raises BusError, DatabaseUnavailableError or PortTakenError if it cannot start.
    """
    settings = with_secrets(settings)
    async with ServiceFrame(NAME, settings, stop) as frame:
        pool = await frame.connect_database(CONNECTIONS_MAX)
        bus = await frame.connect_bus()
        revoked = RevokedSessions()
        ended = EndedSessionsFollower(bus, revoked, settings.ended_session_life_s)
        await ended.start()
        frame.at_end(ended.stop)
        audit = DatabaseAudit(pool, AUDIT_QUEUE_MAX)
        frame.at_end(audit.stop)

        markets = await followed_markets(settings, frame)
        market_data = MarketDataClient(bus)
        prices = Prices(market_data)
        engine = EngineQueries(settings)
        frame.at_end(engine.close)
        store = HoldingStore(pool, settings.position_mark_age_s_max)
        follows = await follows_fills(pool, settings)
        cost_basis = CostBasisService(
            pool,
            CostBasisStore(pool),
            settings.accounting_currency,
            imports_max=settings.position_imports_max,
            transactions_max=settings.position_transactions_max,
        )
        frame.at_end(cost_basis.stop)
        movements = MovementFollower(pool, prices, settings.accounting_currency, clock)
        services = Services(
            holdings=HoldingService(pool, store, prices, clock, settings.accounting_currency, follows_fills=follows),
            transfers=TransferService(
                pool,
                PositionTransferStore(pool),
                markets.assets,
                pending_max=settings.position_transfers_pending_max,
                day_max=settings.position_transfers_day_max,
            ),
            cost_basis=cost_basis,
            spot=SpotService(
                SpotStore(pool),
                cost_basis,
                engine,
                prices,
                clock,
                followed_until=(lambda: movements.followed_until) if follows else None,
            ),
            broker=BrokerService(pool, store, markets.limits, clock, follows_fills=follows),
            health=frame.health,
            tokens=UserTokens(settings.jwt_secret, revoked),
            throttles={ThrottleClass.STANDARD: MemoryThrottle()} if settings.positions_throttle_enabled else {},
            audit=audit,
            idempotency=DatabaseIdempotency(pool),
        )
        marking = Marking(store, prices)
        snapshots = Snapshots(store, clock, settings.position_snapshot_s, settings.position_snapshots_kept_days)
        if follows:
            await bus.ensure_streams([TRADES])
            consumer = trade_consumer(bus, pool)
            valuation = FillValuation(pool, prices, settings.accounting_currency)
            frame.start("follow fills", consumer.run(stop), finishes=True)
            frame.start("value fills", repeat("value fills", valuation.run_once, VALUATION_S), is_essential=False)
            follow_movements = repeat("follow movements", movements.run_once, MOVEMENTS_S)
            frame.start("follow movements", follow_movements, is_essential=False)
        frame.start(
            "mark positions", repeat("mark positions", marking.run_once, settings.position_mark_s), is_essential=False
        )
        frame.start("snapshots", snapshots.run(), is_essential=False)
        application = make_app(settings, services)
        await frame.serve(http_server(application, settings, settings.positions_port, settings.positions_host))
        log.info("listening", port=settings.positions_port)
        await frame.until_stopped()
