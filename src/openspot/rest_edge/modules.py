"""Conversions, staking, payments, fees and settings, put together, and the work that they do by themselves."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from openspot.domain.market import MarketConfiguration
from openspot.domain.networks import load_networks
from openspot.domain.transfer import TransferKind
from openspot.engine_client.queries import EngineQueries
from openspot.http.policy import ThrottleClass
from openspot.http.throttle import Tier
from openspot.kit.bus import Bus
from openspot.kit.clock import Clock
from openspot.kit.database import TRANSIENT_ERRORS, Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.configuration import read_configuration
from openspot.rest_edge.conversions.pricing import pairs_of
from openspot.rest_edge.conversions.service import ConversionRules, ConversionService
from openspot.rest_edge.conversions.store import ConversionStore
from openspot.rest_edge.fees.network_fees import FeeQuotes, NetworkFeeService
from openspot.rest_edge.fees.routes import Fees
from openspot.rest_edge.fees.trading import TradingFeeService
from openspot.rest_edge.margin.service import MarginClient
from openspot.rest_edge.payments.payment_routes import routes_of
from openspot.rest_edge.payments.return_urls import origins_of
from openspot.rest_edge.payments.service import PaymentRules, PaymentService
from openspot.rest_edge.payments.store import PaymentStore
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.rest_edge.site_settings.notifications import NotificationService
from openspot.rest_edge.site_settings.system import SystemSettings
from openspot.rest_edge.staking.products import products_of
from openspot.rest_edge.staking.rules import PayoutRules, StakeRules
from openspot.rest_edge.staking.service import StakingService
from openspot.rest_edge.staking.store import StakingStore
from openspot.rest_edge.times import moment
from openspot.rest_edge.transfers.model import Transfers
from openspot.rest_edge.transfers.runner import TransferRunner
from openspot.rest_edge.transfers.store import TransferStore

log = get_logger("modules")

RESUME_S = 1.0
"""How often transfers and payouts that are due are looked for."""
ACCRUE_S = 60.0
CLEAN_UP_S = 3600.0


@dataclass(frozen=True, slots=True)
class Modules:
    """The modules of one edge."""

    runner: TransferRunner
    conversions: ConversionService
    staking: StakingService
    payments: PaymentService
    fees: Fees
    system: SystemSettings
    notifications: NotificationService
    margin: MarginClient

    async def run(self) -> None:
        """Resume what is due, accrue rewards, forget what has expired, until cancelled. Every edge does all of it."""
        await asyncio.gather(
            _repeat("begin again with transfers", self.runner.revive, None),
            _repeat("resume transfers", self.runner.resume, RESUME_S),
            _repeat("pay out unstakes", self.staking.pay_due, RESUME_S),
            _repeat("accrue staking rewards", self.staking.accrue_due, ACCRUE_S),
            _repeat("forget expired quotes", self._clean_up, CLEAN_UP_S),
        )

    async def _clean_up(self) -> None:
        await self.conversions.delete_expired()
        await self.fees.network.delete_expired()


def make_modules(
    settings: RestEdgeSettings,
    *,
    pool: Pool,
    bus: Bus,
    engine: EngineQueries,
    transfers: Transfers,
    configuration: MarketConfiguration,
    clock: Clock,
    tiers: dict[ThrottleClass, tuple[Tier, ...]],
) -> Modules:
    """Put the modules together. Raises ConfigurationError for a configuration file that is not valid."""
    assets = configuration.assets
    conversion_store, staking_store, payment_store = ConversionStore(pool), StakingStore(pool), PaymentStore(pool)
    runner = TransferRunner(
        TransferStore(pool),
        transfers,
        {
            TransferKind.CONVERSION: ConversionRules(conversion_store, engine),
            TransferKind.STAKING: StakeRules(staking_store),
            TransferKind.UNSTAKING: PayoutRules(staking_store, reward=False),
            TransferKind.REWARD: PayoutRules(staking_store, reward=True),
            TransferKind.PAYMENT: PaymentRules(payment_store, bus),
        },
        lambda: moment(clock),
    )
    payment_routes = routes_of(read_configuration(settings.payments_file, "payments.toml"), assets)
    products = products_of(read_configuration(settings.staking_file, "staking.toml"), assets)
    return Modules(
        runner=runner,
        conversions=ConversionService(
            conversion_store,
            engine,
            runner,
            pairs_of(configuration.limits, assets),
            assets,
            clock,
            spread_bps=settings.conversion_spread_bps,
            quote_life=timedelta(seconds=settings.conversion_quote_s),
        ),
        staking=StakingService(staking_store, runner, products, assets, clock),
        payments=PaymentService(
            payment_store,
            runner,
            payment_routes,
            assets,
            clock,
            secret=settings.payment_callback_secret,
            return_origins=origins_of(settings.payment_return_origins),
            page_url=f"{settings.rest_url}/api/v1/payments/development",
        ),
        fees=Fees(
            TradingFeeService(engine, settings.fee_token, settings.fee_token_minimum),
            NetworkFeeService(FeeQuotes(pool), load_networks(), assets, clock),
            [route for _, route in sorted(payment_routes.items())],
        ),
        system=SystemSettings(settings, tiers[ThrottleClass.STANDARD], clock),
        notifications=NotificationService(pool),
        margin=MarginClient(bus),
    )


async def _repeat(what: str, work: Callable[[], Awaitable[object]], interval_s: float | None) -> None:
    """Do `work` again and again, or once without an interval, and go on after a failure of the database."""
    while True:
        try:
            await work()
            if interval_s is None:
                return
        except TRANSIENT_ERRORS as error:
            log.warning("the database does not respond", work=what, error=repr(error))
        except Exception:
            # A fault in one row must not end the work on all others for ever.
            log.exception("work failed", work=what)
        await asyncio.sleep(interval_s or RESUME_S)
