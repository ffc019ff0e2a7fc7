"""Makes the services of products: conversions, staking and payments, and their work in the background."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from openspot.domain.market import MarketConfiguration
from openspot.domain.transfer import TransferKind
from openspot.engine_client.queries import EngineQueries
from openspot.engine_transfers.model import Transfer, TransferEngine, TransferRules
from openspot.engine_transfers.runner import TransferRunner
from openspot.engine_transfers.store import TransferStore
from openspot.kit.bus import Bus
from openspot.kit.clock import Clock, utc_datetime
from openspot.kit.database import Pool
from openspot.kit.service_frame import ServiceFrame
from openspot.rest_edge.common.configuration import read_configuration
from openspot.rest_edge.common.repeated_work import CLEAN_UP_INTERVAL_S, repeat
from openspot.rest_edge.products.conversions.exposure import ExposureLimits
from openspot.rest_edge.products.conversions.service import ConversionRules, ConversionService, FairPriceSource
from openspot.rest_edge.products.conversions.standing import SAMPLE_EVERY_S
from openspot.rest_edge.products.conversions.store import ConversionStore
from openspot.rest_edge.products.known_offers import require_known_offers
from openspot.rest_edge.products.metrics import TRANSFERS
from openspot.rest_edge.products.offered import OfferedProducts
from openspot.rest_edge.products.payments.payment_routes import PaymentRoute, routes_of
from openspot.rest_edge.products.payments.return_urls import origins_of
from openspot.rest_edge.products.payments.service import PaymentRules, PaymentService
from openspot.rest_edge.products.payments.store import PaymentStore
from openspot.rest_edge.products.staking.products import products_of
from openspot.rest_edge.products.staking.rules import PayoutRules, StakeRules
from openspot.rest_edge.products.staking.service import StakingService
from openspot.rest_edge.products.staking.store import StakingStore
from openspot.rest_edge.settings import RestEdgeSettings

PAY_OUT_INTERVAL_S = 1.0
"""How often payouts that are due are looked for."""
ACCRUE_INTERVAL_S = 60.0


@dataclass(frozen=True, slots=True)
class ProductServices:
    """The services behind the routes of conversions, staking and payments.

    `active_stake` returns the amount that a user has staked of an asset, `cancel_unpaid` cancels the unpaid payments of
    users, and `offered` is what they offer by `markets`.
    """

    runner: TransferRunner
    conversions: ConversionService
    staking: StakingService
    payments: PaymentService
    active_stake: Callable[[str, str], Awaitable[int]]
    cancel_unpaid: Callable[[Sequence[str]], Awaitable[None]]
    offered: OfferedProducts
    markets: MarketConfiguration

    def payment_routes(self) -> list[PaymentRoute]:
        """The ways to pay that are offered, by id. Raises HttpError (503) while nobody knows what markets offer."""
        require_known_offers(self.markets)
        return [route for _, route in sorted(self.offered.routes.items())]

    def start(self, frame: ServiceFrame) -> None:
        """In every edge until it ends: resume transfers, pay out, accrue, sample books and delete what has expired."""
        frame.start("resume transfers", self.runner.run(), is_essential=False)
        repeat(frame, "pay out unstakes", self.staking.pay_due, PAY_OUT_INTERVAL_S)
        repeat(frame, "accrue staking rewards", self.staking.accrue_due, ACCRUE_INTERVAL_S)
        repeat(frame, "sample books", self.conversions.sample_books, SAMPLE_EVERY_S)
        repeat(frame, "forget expired quotes", self.conversions.delete_expired, CLEAN_UP_INTERVAL_S)
        repeat(frame, "forget unpaid payments", self.payments.delete_unpaid, CLEAN_UP_INTERVAL_S)


def make_product_services(
    settings: RestEdgeSettings,
    *,
    pool: Pool,
    bus: Bus,
    engine: EngineQueries,
    transfers: TransferEngine,
    fair_prices: FairPriceSource,
    configuration: MarketConfiguration,
    clock: Clock,
    further: Mapping[TransferKind, TransferRules[Transfer]],
) -> ProductServices:
    """Make the services. `further` has the rules of another wing's transfers, which the same runner sends.

    After each change of `configuration`, `offered` of what this returns is refreshed.

    Raises ConfigurationError for a configuration file that is not valid.
    """
    assets = configuration.assets
    conversion_store, staking_store, payment_store = ConversionStore(pool), StakingStore(pool), PaymentStore(pool)
    runner = TransferRunner(
        TransferStore(pool, table="edge_transfers"),
        transfers,
        {
            TransferKind.CONVERSION: ConversionRules(conversion_store, engine),
            TransferKind.STAKING: StakeRules(staking_store),
            TransferKind.UNSTAKING: PayoutRules(staking_store, reward=False),
            TransferKind.REWARD: PayoutRules(staking_store, reward=True),
            TransferKind.PAYMENT: PaymentRules(payment_store, bus),
            **further,
        },
        TRANSFERS,
        lambda: utc_datetime(clock),
    )
    offered = OfferedProducts(
        configuration,
        routes_of(read_configuration(settings.payments_file, "payments.toml"), assets),
        products_of(read_configuration(settings.staking_file, "staking.toml"), assets),
    )
    return ProductServices(
        runner=runner,
        conversions=ConversionService(
            conversion_store,
            engine,
            runner,
            fair_prices,
            offered.pairs,
            configuration,
            clock,
            spread_bps=settings.conversion_spread_bps,
            quote_life=timedelta(seconds=settings.conversion_quote_s),
            limits=ExposureLimits(settings.conversion_user_limit * 100, settings.conversion_asset_limit * 100),
            standing_s=settings.conversion_standing_s,
        ),
        staking=StakingService(staking_store, runner, offered.products, configuration, clock),
        payments=PaymentService(
            payment_store,
            runner,
            offered.routes,
            configuration,
            clock,
            secret=settings.payment_callback_secret,
            return_origins=origins_of(settings.payment_return_origins),
            page_url=f"{settings.rest_url}/api/v1/payments/development",
            open_max=settings.payments_open_max,
            kept=timedelta(days=settings.payments_unpaid_kept_days),
        ),
        active_stake=staking_store.active,
        cancel_unpaid=payment_store.cancel_unpaid,
        offered=offered,
        markets=configuration,
    )
