"""The composition root of the REST edge: `run` makes everything, serves until told to stop, and ends it all."""

import asyncio
from contextlib import AsyncExitStack, suppress

from openspot.domain.market import load_markets
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.queries import EngineQueries
from openspot.http.api_keys.replays import make_replays
from openspot.http.audit import DatabaseAudit
from openspot.http.authentication import RevokedSessions, UserTokens
from openspot.http.idempotency import DatabaseIdempotency
from openspot.http.server import http_server
from openspot.http.throttle import make_throttle
from openspot.kit.bus import Bus
from openspot.kit.clock import system_clock
from openspot.kit.database import TRANSIENT_ERRORS, Pool, check, create_pool
from openspot.kit.health import Health
from openspot.kit.log import get_logger
from openspot.kit.secrets_file import with_secrets
from openspot.kit.tasks import end_tasks
from openspot.market_data_client.requests import MarketDataClient
from openspot.rest_edge.accounts.service import AccountService
from openspot.rest_edge.app import THROTTLE_TIERS, Services, make_app
from openspot.rest_edge.funds import make_fund_services
from openspot.rest_edge.identity import make_user_services
from openspot.rest_edge.keys import make_key_services
from openspot.rest_edge.markets.service import MarketService
from openspot.rest_edge.modules import make_modules
from openspot.rest_edge.notifications.consumer import Notifications
from openspot.rest_edge.orders.service import OrderService
from openspot.rest_edge.orders.store import OrderStore
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.rest_edge.transfers.engine import EngineTransfers
from openspot.rest_edge.users.demo_accounts import keep_demo_accounts

log = get_logger("rest-edge")

CONNECTIONS_MAX = 16
CLEAN_UP_S = 3600.0


async def run(settings: RestEdgeSettings, stop: asyncio.Event) -> None:
    """Serve the REST edge on `settings.rest_port` until `stop` is set.

    Raises BusError, DatabaseUnavailableError, PortTakenError, or limits' ConfigurationError for a
    throttle storage of an unknown kind.
    """
    settings = with_secrets(settings)
    async with AsyncExitStack() as stack:
        services = await make_services(settings, stack)
        server = http_server(make_app(settings, services), settings, settings.rest_port, settings.rest_host)
        await server.start()
        # Ends first, so that requests under way still have what they need.
        stack.push_async_callback(server.stop)
        log.info("listening", port=settings.rest_port)
        await stop.wait()


async def make_services(settings: RestEdgeSettings, stack: AsyncExitStack) -> Services:
    """Make everything behind the routes; `stack` ends it, the newest first."""
    # First what a wrong setting makes fail: nothing has to be ended yet.
    storage = settings.throttle_storage
    throttles = {kind: make_throttle(storage, tiers) for kind, tiers in THROTTLE_TIERS.items()}

    replays = make_replays(storage)

    pool = await create_pool(settings, CONNECTIONS_MAX)
    stack.push_async_callback(_close_pool, pool)
    bus = await Bus.connect(settings, "rest-edge")
    stack.push_async_callback(bus.close)
    engine = EngineQueries(settings)
    stack.push_async_callback(engine.close)

    audit = DatabaseAudit(pool, settings.audit_queue_max)
    stack.push_async_callback(audit.stop)

    revoked = RevokedSessions()
    idempotency = DatabaseIdempotency(pool)
    clean_up = asyncio.create_task(_forget_responses(idempotency))
    stack.push_async_callback(end_tasks, clean_up)

    health = Health()
    health.add("database", lambda: check(pool), vital=True)
    health.add("bus", bus.check, vital=True)
    health.add("engine", engine.check)

    configuration = load_markets()
    accounts = AccountService(bus, engine, configuration.assets)

    async def revoke_keys(user_id: str) -> None:
        await keys.routes.revoke_all(user_id)

    users = await make_user_services(settings, pool, bus, revoked, accounts, revoke_keys, stack)
    notifications = Notifications(pool, bus, users.notifications, configuration.assets)
    notifying = asyncio.create_task(notifications.run(asyncio.Event()))
    stack.push_async_callback(end_tasks, notifying)
    if settings.demo:
        await keep_demo_accounts(pool, settings.demo_password)
    keys = make_key_services(settings, pool, bus, replays, users, stack)
    commands = EngineCommands(settings)
    stack.push_async_callback(commands.close)
    modules = make_modules(
        settings,
        pool=pool,
        bus=bus,
        engine=engine,
        transfers=EngineTransfers(commands),
        configuration=configuration,
        clock=system_clock,
        tiers=THROTTLE_TIERS,
    )
    funds = make_fund_services(settings, pool, bus, accounts, users.second_factor, configuration)
    await funds.kyc.seal_clear_information()
    work = asyncio.create_task(modules.run())
    stack.push_async_callback(end_tasks, work)
    return Services(
        users=users,
        keys=keys,
        funds=funds,
        modules=modules,
        orders=OrderService(bus, OrderStore(pool), system_clock, settings.request_timeout_s),
        markets=MarketService(engine, MarketDataClient(bus), configuration.limits),
        health=health,
        tokens=UserTokens(settings.jwt_secret, revoked),
        throttles=throttles if settings.throttle_enabled else {},
        audit=audit,
        idempotency=idempotency,
    )


async def _forget_responses(idempotency: DatabaseIdempotency) -> None:
    """Delete the stored responses that have expired, once an hour."""
    while True:
        try:
            await idempotency.delete_expired()
        except TRANSIENT_ERRORS as error:
            log.warning("expired responses not deleted", error=repr(error))
        await asyncio.sleep(CLEAN_UP_S)


async def _close_pool(pool: Pool) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(pool.close(), 5)
