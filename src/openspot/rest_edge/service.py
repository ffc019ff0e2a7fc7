"""The composition root of the REST edge: `run` makes everything, serves until told to stop, and ends it all."""

import asyncio
import os
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime

from openspot.domain.market import load_markets
from openspot.kit.bus import Bus
from openspot.kit.clock import system_clock
from openspot.kit.database import TRANSIENT_ERRORS, Pool, check, create_pool
from openspot.kit.health import Health, HttpServer
from openspot.kit.log import get_logger
from openspot.kit.passwords import Passwords
from openspot.kit.secrets_file import with_secrets
from openspot.kit.settings import Settings
from openspot.rest_edge.accounts.service import AccountService
from openspot.rest_edge.app import Services, make_app
from openspot.rest_edge.audit import AuditTrail
from openspot.rest_edge.auth.service import ACCOUNT_TIERS, ADDRESS_TIERS, PAIR_TIERS, AuthService, LoginGuard
from openspot.rest_edge.auth.sessions import EndedSessions
from openspot.rest_edge.auth.store import AuthStore
from openspot.rest_edge.authentication import Authentication, RevokedSessions
from openspot.rest_edge.engine_http import EngineHttp
from openspot.rest_edge.errors import service_unavailable
from openspot.rest_edge.markets.service import MarketService
from openspot.rest_edge.markets.store import TradeStore
from openspot.rest_edge.orders.service import OrderService
from openspot.rest_edge.orders.store import OrderStore
from openspot.rest_edge.throttle import make_throttle

log = get_logger("rest-edge")

CONNECTIONS_MAX = 16
KEEP_ALIVE_S = 75
CLEAN_UP_S = 3600.0
LOGIN_THREADS = max(1, (os.cpu_count() or 1) // 2)
"""Half the cores at most: the other half answers orders."""
LOGINS_WAITING_MAX = 64


async def run(settings: Settings, stop: asyncio.Event) -> None:
    """Serve the REST edge on `settings.rest_port` until `stop` is set.

    Raises BusError, DatabaseUnavailableError, PortTakenError, or limits' ConfigurationError for a
    throttle storage of an unknown kind.
    """
    settings = with_secrets(settings)
    async with AsyncExitStack() as stack:
        services = await make_services(settings, stack)
        server = HttpServer(
            make_app(settings, services),
            settings.host,
            settings.rest_port,
            http="httptools",
            ws="none",
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=settings.trusted_proxies or None,
        )
        await server.start()
        # First of all to end: what the requests under way need ends after them.
        stack.push_async_callback(server.stop)
        log.info("listening", port=settings.rest_port)
        await stop.wait()


async def make_services(settings: Settings, stack: AsyncExitStack) -> Services:
    """Everything behind the routes; `stack` ends it, the newest first."""
    # What a setting can make impossible comes before anything that has to be ended.
    storage = settings.throttle_storage
    guard = LoginGuard(*(make_throttle(storage, tiers) for tiers in (PAIR_TIERS, ACCOUNT_TIERS, ADDRESS_TIERS)))

    pool = await create_pool(settings, CONNECTIONS_MAX)
    stack.push_async_callback(_close_pool, pool)
    bus = await Bus.connect(settings, "rest-edge")
    stack.push_async_callback(bus.close)
    engine = EngineHttp(settings)
    stack.push_async_callback(engine.close)

    audit = AuditTrail(pool, settings.audit_queue_max)
    audit.start()
    stack.push_async_callback(audit.stop)

    revoked = RevokedSessions()
    ended = EndedSessions(bus, revoked, settings.ended_session_life_s)
    users = AuthStore(pool)
    await ended.start(await users.revoked_since(datetime.now(UTC) - ended.life))
    stack.push_async_callback(ended.stop)
    passwords = Passwords(
        LOGIN_THREADS, LOGINS_WAITING_MAX, lambda: service_unavailable("too many logins at a time", "OVERLOADED")
    )
    stack.callback(passwords.close)
    clean_up = asyncio.create_task(_delete_expired(users))
    stack.push_async_callback(_cancel, clean_up)

    health = Health()
    health.add("database", lambda: check(pool), vital=True)
    health.add("bus", bus.check, vital=True)
    health.add("engine", engine.check)

    configuration = load_markets()
    return Services(
        auth=AuthService(settings, users, passwords, guard, ended),
        orders=OrderService(bus, OrderStore(pool), system_clock, settings.request_timeout_s),
        accounts=AccountService(bus, engine, configuration.assets),
        markets=MarketService(engine, TradeStore(pool), configuration.limits),
        health=health,
        authentication=Authentication(settings.jwt_secret, revoked),
        throttle=make_throttle(storage) if settings.throttle_enabled else None,
        audit=audit,
    )


async def _delete_expired(users: AuthStore) -> None:
    """Delete refresh tokens that have expired, now and then."""
    while True:
        try:
            await users.delete_expired(datetime.now(UTC))
        except TRANSIENT_ERRORS as error:
            log.warning("expired refresh tokens not deleted", error=repr(error))
        await asyncio.sleep(CLEAN_UP_S)


async def _close_pool(pool: Pool) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(pool.close(), 5)


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
