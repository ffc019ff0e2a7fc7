"""The composition root of the custody simulator (fact A1.1-67)."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial

import aiohttp

from openspot.coin_networks.live import followed_networks
from openspot.contracts.messages import WithdrawalOutcome
from openspot.contracts.streams import StreamConsumer
from openspot.custody.address_book import DepositAddressBook
from openspot.custody.app import make_app
from openspot.custody.chain import SimulatedChain
from openspot.custody.deposits import Deposits
from openspot.custody.descriptor import REFUSED, RESERVED
from openspot.custody.handlers import RequestHandlers
from openspot.custody.hold import hold_reason
from openspot.custody.large_withdrawals import LOOK_INTERVAL_S, show_large_withdrawals
from openspot.custody.operator_routes import operator_routes
from openspot.custody.prices import parse_prices
from openspot.custody.progress import WithdrawalProgress
from openspot.custody.settings import CustodySettings
from openspot.custody.wallet_policy import Wallet
from openspot.custody.withdrawal_store import forget_origins
from openspot.custody.withdrawals import Withdrawals
from openspot.domain.fair_price.reference import DOLLAR
from openspot.engine_client.administrators import EngineSessions
from openspot.engine_client.live_markets import followed_markets
from openspot.engine_client.operators import OperatorSessions
from openspot.http.api_keys.networks import AllowedNetworks
from openspot.http.audit import DatabaseAudit
from openspot.http.authentication import UserTokens
from openspot.http.idempotency import DatabaseIdempotency
from openspot.http.operator_store import standing_of
from openspot.http.server import http_server
from openspot.kit.bus import Bus, BusError, Consumption, DurableConsumer
from openspot.kit.clock import Clock, system_clock, utc_datetime
from openspot.kit.database import TRANSIENT_ERRORS, Pool
from openspot.kit.log import get_logger
from openspot.kit.secrets_file import with_secrets
from openspot.kit.service_frame import ServiceFrame
from openspot.kit.tasks import is_set_within
from openspot.market_data_client.fair_prices import FairPrices

log = get_logger("custody")

CONNECTIONS_MAX = 8
PRICES_PAUSE_S = 1.0
"""Withdrawals that wait for a sure price are looked at this often: fair prices come as often."""
DEPOSITS_PAUSE_S_MAX = 1.0
"""Deposits are counted once a block, and at least this often: nothing confirms one between two blocks."""
AUDIT_QUEUE_MAX = 1000
ORIGINS_PAUSE_S = 60.0
ORIGINS_KEPT = timedelta(days=30)
"""An address that an operator decided from is kept this long at most, if no REST edge takes it into the trail."""


async def run(settings: CustodySettings, stop: asyncio.Event, *, clock: Clock = system_clock) -> None:
    """Serve until `stop` is set.

    Raises DatabaseUnavailableError, BusError or PortTakenError if it cannot start, ValueError for a wrong setting.
    """
    settings = with_secrets(settings)
    seed = settings.custody_seed.encode()
    automatic = automatic_wallets(settings.custody_automatic_signers)
    reference_prices = parse_prices(settings.custody_reference_prices)
    async with ServiceFrame("custody", settings, stop) as frame:
        pool = await frame.connect_database(CONNECTIONS_MAX)
        bus = await frame.connect_bus()
        await bus.ensure_streams()
        assets = (await followed_markets(settings, frame)).assets
        networks = await followed_networks(frame, pool, assets, follows=settings.follows_listings)

        chain = SimulatedChain(pool, settings.custody_block_s)
        required = settings.custody_confirmations
        progress = WithdrawalProgress(
            pool, bus, chain, seed, automatic, clock, lambda: bool(hold_reason(settings.data_dir))
        )
        deposits = Deposits(pool, chain, networks, assets, clock, confirmations_required=required)
        addresses = DepositAddressBook(pool, seed, networks, clock, confirmations=required)
        fair_prices = FairPrices(bus, time.monotonic)
        withdrawals = Withdrawals(
            pool,
            networks,
            lambda: fair_prices.of_assets(DOLLAR),
            reference_prices,
            clock,
            confirmations=required,
            hot_share_percent=settings.custody_hot_user_share,
            roles_wait=settings.operator_roles_wait,
        )
        reserved = _consumer(bus, RESERVED, progress.reserved)
        refused = _consumer(bus, REFUSED, progress.refused)

        audit = DatabaseAudit(pool, AUDIT_QUEUE_MAX)
        frame.at_end(audit.stop)
        client = await frame.enter(aiohttp.ClientSession())
        sessions = OperatorSessions(
            UserTokens(settings.jwt_secret),
            partial(standing_of, pool),
            EngineSessions(client, settings.engine_url, settings.request_timeout_s),
            AllowedNetworks(settings.operator_network_list),
        )
        application = make_app(
            operator_routes(pool, withdrawals, progress, seed, sessions),
            frame.health,
            sessions,
            audit,
            DatabaseIdempotency(pool),
        )
        await frame.serve(http_server(application, settings, settings.custody_port, settings.custody_host))

        await fair_prices.follow()
        funds_wait_s = settings.request_timeout_s * 0.6
        await RequestHandlers(pool, addresses, withdrawals, progress, networks, assets, funds_wait_s).serve(bus)
        frame.start("prices", _approve_at_sure_prices(withdrawals, progress, stop), finishes=True)
        frame.start("withdrawals", progress.run(stop), finishes=True)
        frame.start("origins of decisions", _forget_origins(pool, clock), is_essential=False)
        frame.start("large withdrawals", _show_large(pool, clock, settings.alert_withdrawal_usd), is_essential=False)
        frame.at_end(progress.wake)
        frame.start("deposits", _announce(deposits, bus, stop, settings.custody_block_s), finishes=True)
        frame.start("reservations", reserved.run(stop), finishes=True)
        frame.start("refusals", refused.run(stop), finishes=True)
        await frame.until_stopped()


async def _forget_origins(pool: Pool, clock: Clock) -> None:
    while True:
        try:
            await forget_origins(pool, utc_datetime(clock) - ORIGINS_KEPT)
        except TRANSIENT_ERRORS as error:
            log.warning("addresses that the trail has are kept for now", error=repr(error))
        await asyncio.sleep(ORIGINS_PAUSE_S)


async def _show_large(pool: Pool, clock: Clock, bound_usd: int) -> None:
    while True:
        try:
            await show_large_withdrawals(pool, clock, bound_usd)
        except TRANSIENT_ERRORS as error:
            log.warning("the large withdrawals cannot be counted now", error=repr(error))
        await asyncio.sleep(LOOK_INTERVAL_S)


def automatic_wallets(text: str) -> frozenset[Wallet]:
    """The wallets in `text`, separated by commas. Raises ValueError for an unknown one."""
    names = [name.strip().upper() for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in Wallet.__members__]:
        raise ValueError(f"OPENSPOT_CUSTODY_AUTOMATIC_SIGNERS: {unknown[0]} is not one of {', '.join(Wallet)}")
    return frozenset(Wallet(name) for name in names)


def _consumer(
    bus: Bus, consumer: StreamConsumer, take: Callable[[WithdrawalOutcome], Awaitable[None]]
) -> DurableConsumer[WithdrawalOutcome]:
    async def take_all(events: list[WithdrawalOutcome]) -> Sequence[int]:
        for event in events:
            await take(event)
        return []

    return DurableConsumer(bus, Consumption.of(consumer, WithdrawalOutcome), take_all)


async def _announce(deposits: Deposits, bus: Bus, stop: asyncio.Event, block_s: float) -> None:
    while not stop.is_set():
        try:
            await deposits.announce_confirmed(bus)
        except (BusError, *TRANSIENT_ERRORS) as error:
            log.warning("confirmed deposits wait", error=repr(error))
        await is_set_within(stop, min(block_s, DEPOSITS_PAUSE_S_MAX))


async def _approve_at_sure_prices(withdrawals: Withdrawals, progress: WithdrawalProgress, stop: asyncio.Event) -> None:
    while not stop.is_set():
        try:
            if await withdrawals.approve_at_sure_prices():
                progress.wake()
        except TRANSIENT_ERRORS as error:
            log.warning("withdrawals wait for prices", error=repr(error))
        await is_set_within(stop, PRICES_PAUSE_S)
