"""The composition root of the REST edge: `run` makes everything, serves until told to stop, and ends it all."""

import asyncio
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime, timedelta

from openspot.domain.market import load_markets
from openspot.engine_client.commands import EngineCommands
from openspot.domain.networks import load_networks
from openspot.engine_client.queries import EngineQueries
from openspot.http.api_keys.authenticator import ApiKeys
from openspot.http.api_keys.changes import KeyChanges
from openspot.http.api_keys.checker import ApiKeyChecker
from openspot.http.api_keys.replays import make_replays
from openspot.http.api_keys.store import ApiKeyStore
from openspot.http.api_keys.uses import UseRecorder
from openspot.http.api_keys.vault import Vault
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
from openspot.rest_edge.accounts.custody_client import CustodyClient
from openspot.rest_edge.accounts.portfolio_service import PortfolioService
from openspot.rest_edge.accounts.portfolio_store import PortfolioStore
from openspot.rest_edge.accounts.second_factor import NoSecondFactor
from openspot.rest_edge.accounts.service import AccountService
from openspot.rest_edge.api_keys.second_factor import NoSecondFactor
from openspot.rest_edge.api_keys.service import ApiKeyService
from openspot.rest_edge.accounts.withdrawal_store import WithdrawalStore
from openspot.rest_edge.accounts.withdrawals import ConfiguredFees, WithdrawalService
from openspot.rest_edge.app import THROTTLE_TIERS, Services, make_app
from openspot.rest_edge.auth.attempt_store import AttemptStore
from openspot.rest_edge.auth.service import AuthService, PasswordQueues
from openspot.rest_edge.auth.sessions import EndedSessions
from openspot.rest_edge.auth.store import AuthStore
from openspot.rest_edge.kyc.provider import DevelopmentProvider
from openspot.rest_edge.kyc.service import KycService
from openspot.rest_edge.kyc.store import KycStore
from openspot.rest_edge.markets.service import MarketService
from openspot.rest_edge.markets.store import TradeStore
from openspot.rest_edge.modules import make_modules
from openspot.rest_edge.orders.service import OrderService
from openspot.rest_edge.orders.store import OrderStore
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.rest_edge.transfers.engine import EngineTransfers
from openspot.rest_edge.withdrawal_addresses.service import WithdrawalAddressService
from openspot.rest_edge.withdrawal_addresses.store import WithdrawalAddressStore

log = get_logger("rest-edge")

CONNECTIONS_MAX = 16
CLEAN_UP_S = 3600.0
ATTEMPTS_KEPT = timedelta(days=1)
NETWORKS_KEPT = timedelta(days=180)


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
    ended = EndedSessions(bus, revoked, settings.ended_session_life_s)
    users = AuthStore(pool)
    await ended.start(await users.revoked_since(datetime.now(UTC) - ended.life))
    stack.push_async_callback(ended.stop)
    passwords = PasswordQueues.start()
    stack.callback(passwords.close)
    attempts = AttemptStore(pool)
    idempotency = DatabaseIdempotency(pool)
    clean_up = asyncio.create_task(_clean_up(users, attempts, idempotency))
    stack.push_async_callback(end_tasks, clean_up)

    key_store, vault = ApiKeyStore(pool), Vault(settings.api_key_secret)
    checker = ApiKeyChecker(key_store, vault, replays)
    changes = KeyChanges(bus, lambda ended: checker.drop(ended.key_id))
    changes.start()
    stack.push_async_callback(changes.stop)
    uses = UseRecorder(checker, key_store)
    uses.start()
    stack.push_async_callback(uses.stop)

    health = Health()
    health.add("database", lambda: check(pool), vital=True)
    health.add("bus", bus.check, vital=True)
    health.add("engine", engine.check)

    configuration = load_markets()
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
    work = asyncio.create_task(modules.run())
    stack.push_async_callback(end_tasks, work)
    networks = load_networks()
    custody = CustodyClient(bus)
    second_factor = NoSecondFactor()
    saved_addresses = WithdrawalAddressStore(pool)
    provider = DevelopmentProvider() if settings.kyc_provider == "development" else None
    limits = settings.withdrawal_limits
    kyc = KycService(KycStore(pool), provider, settings.kyc_webhook_secret, limits, system_clock)
    return Services(
        auth=AuthService(settings, users, attempts, passwords, ended),
        orders=OrderService(bus, OrderStore(pool), system_clock, settings.request_timeout_s),
        accounts=AccountService(bus, engine, configuration.assets),
        markets=MarketService(engine, TradeStore(pool), configuration.limits),
        health=health,
        tokens=UserTokens(settings.jwt_secret, revoked),
        throttles=throttles if settings.throttle_enabled else {},
        audit=audit,
        api_keys=ApiKeyService(key_store, vault, changes, NoSecondFactor(), system_clock),
        signed_requests=ApiKeys(checker),
        idempotency=idempotency,
        conversions=modules.conversions,
        staking=modules.staking,
        payments=modules.payments,
        fees=modules.fees,
        system=modules.system,
        notifications=modules.notifications,
        portfolio=PortfolioService(PortfolioStore(pool), system_clock),
        withdrawals=WithdrawalService(
            custody,
            WithdrawalStore(pool),
            saved_addresses,
            kyc,
            second_factor,
            ConfiguredFees(),
            networks,
            configuration.assets,
            limits,
            system_clock,
        ),
        withdrawal_addresses=WithdrawalAddressService(
            saved_addresses,
            custody,
            second_factor,
            networks,
            timedelta(seconds=settings.withdrawal_address_wait_s),
            system_clock,
        ),
        kyc=kyc,
    )


async def _clean_up(users: AuthStore, attempts: AttemptStore, idempotency: DatabaseIdempotency) -> None:
    """Delete what has expired, once an hour."""
    while True:
        now = datetime.now(UTC)
        try:
            await users.delete_expired(now)
            await users.forget_networks(now - NETWORKS_KEPT)
            await attempts.delete_older(now - ATTEMPTS_KEPT)
            await idempotency.delete_expired()
        except TRANSIENT_ERRORS as error:
            log.warning("expired rows not deleted", error=repr(error))
        await asyncio.sleep(CLEAN_UP_S)


async def _close_pool(pool: Pool) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(pool.close(), 5)
