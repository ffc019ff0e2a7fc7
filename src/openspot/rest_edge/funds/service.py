"""Makes the services of funds: balances, portfolio, withdrawals, saved addresses, verification of persons, fees."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from openspot.coin_networks.pauses import FollowedPauses
from openspot.domain.market import MarketConfiguration
from openspot.domain.networks import Network
from openspot.engine_client.queries import EngineQueries
from openspot.kit.bus import Bus
from openspot.kit.clock import system_clock
from openspot.kit.database import Pool
from openspot.kit.sealing import Sealer
from openspot.kit.service_frame import ServiceFrame
from openspot.rest_edge.common.plan_limits import PlanLimits
from openspot.rest_edge.common.repeated_work import CLEAN_UP_INTERVAL_S, repeat
from openspot.rest_edge.common.user_limits import limits_of
from openspot.rest_edge.funds.accounts.portfolio_service import FairAssetPrices, PortfolioService
from openspot.rest_edge.funds.accounts.portfolio_store import PortfolioStore
from openspot.rest_edge.funds.accounts.return_store import ReturnStore
from openspot.rest_edge.funds.accounts.service import AccountService
from openspot.rest_edge.funds.addresses.service import WithdrawalAddressService
from openspot.rest_edge.funds.addresses.store import WithdrawalAddressStore
from openspot.rest_edge.funds.custody.client import CustodyClient
from openspot.rest_edge.funds.documents.service import DocumentService
from openspot.rest_edge.funds.documents.store import DocumentBounds, DocumentStore
from openspot.rest_edge.funds.fees.network_fees import FeeQuotes, WithdrawalFees
from openspot.rest_edge.funds.fees.service import FeeServices, PaymentFee, make_fee_services
from openspot.rest_edge.funds.kyc.provider import provider_of
from openspot.rest_edge.funds.kyc.service import KycService
from openspot.rest_edge.funds.kyc.store import KycStore
from openspot.rest_edge.funds.reserves.service import ReserveService
from openspot.rest_edge.funds.reserves.store import ReserveStore
from openspot.rest_edge.funds.withdrawals.service import WithdrawalService
from openspot.rest_edge.funds.withdrawals.store import WithdrawalStore
from openspot.rest_edge.identity.activity.log import ActivityLog
from openspot.rest_edge.identity.second_factor.code_check import SecondFactor
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.settings import RestEdgeSettings

MEASURED_EVERY_S = 60.0
"""So often an edge looks how much place documents take."""


@dataclass(frozen=True, slots=True)
class FundServices:
    """The services behind the routes of accounts, withdrawals, saved addresses, KYC, fees and reserves."""

    accounts: AccountService
    portfolio: PortfolioService
    withdrawals: WithdrawalService
    withdrawal_addresses: WithdrawalAddressService
    kyc: KycService
    verifications: KycStore
    documents: DocumentService
    stored_documents: DocumentStore
    fees: FeeServices
    reserves: ReserveService
    custody: CustodyClient


async def make_fund_services(
    settings: RestEdgeSettings,
    pool: Pool,
    bus: Bus,
    frame: ServiceFrame,
    *,
    engine: EngineQueries,
    accounts: AccountService,
    second_factor: SecondFactor,
    activity: ActivityLog,
    fair_prices: FairAssetPrices,
    configuration: MarketConfiguration,
    networks: Mapping[str, Network],
    pauses: FollowedPauses,
    payment_fees: Callable[[], Sequence[PaymentFee]],
    notifications: NotificationStore,
) -> FundServices:
    """Make the services; `frame` ends them. When this returns, all personal information is sealed."""
    custody, saved = CustodyClient(bus), WithdrawalAddressStore(pool)
    provider = provider_of(settings.kyc_provider)
    limits = settings.withdrawal_limits
    sealer = Sealer(*settings.sealing_secrets)
    profiles = KycStore(pool, sealer, notifications)
    kyc = KycService(profiles, provider, settings.kyc_webhook_secret, limits, system_clock)
    await kyc.seal_clear_information()
    bounds = DocumentBounds(
        settings.kyc_documents_user_max, settings.kyc_documents_user_bytes_max, settings.kyc_documents_bytes_max
    )
    stored = DocumentStore(pool, sealer, bounds)
    documents = DocumentService(
        stored,
        profiles,
        provider,
        bytes_max=settings.kyc_document_bytes_max,
        documents_max=settings.kyc_documents_user_max,
        kept=timedelta(days=settings.kyc_documents_kept_days),
        bytes_together_max=settings.kyc_documents_bytes_max,
        abandoned_after=timedelta(days=settings.kyc_abandoned_days),
        notifications=notifications,
        clock=system_clock,
    )
    repeat(frame, "delete documents of verifications in time", documents.delete_expired, CLEAN_UP_INTERVAL_S)
    repeat(frame, "close abandoned verifications", documents.close_abandoned, CLEAN_UP_INTERVAL_S)
    repeat(frame, "measure the place for documents", documents.measure, MEASURED_EVERY_S)
    banks = {asset: name for name, network in networks.items() if network.is_fiat for asset in network.assets}
    quotes = FeeQuotes(pool)
    fees = make_fee_services(
        settings,
        engine=engine,
        quotes=quotes,
        networks=networks,
        pauses=pauses,
        assets=configuration.assets,
        payment_fees=payment_fees,
        clock=system_clock,
    )
    repeat(frame, "delete expired quotes of fees", fees.network.delete_expired, CLEAN_UP_INTERVAL_S)
    return FundServices(
        accounts=accounts,
        portfolio=PortfolioService(PortfolioStore(pool), ReturnStore(pool), fair_prices, system_clock),
        withdrawals=WithdrawalService(
            custody=custody,
            store=WithdrawalStore(pool, banks),
            addresses=saved,
            verification=kyc,
            own_limits=lambda user_id: limits_of(pool, user_id),
            second_factor=second_factor,
            fees=WithdrawalFees(quotes, system_clock),
            networks=networks,
            pauses=pauses,
            assets=configuration.assets,
            limits=limits,
            clock=system_clock,
        ),
        withdrawal_addresses=WithdrawalAddressService(
            saved,
            custody,
            second_factor,
            activity,
            networks,
            PlanLimits(bus, pool),
            timedelta(seconds=settings.withdrawal_address_wait_s),
            system_clock,
        ),
        kyc=kyc,
        verifications=profiles,
        documents=documents,
        stored_documents=stored,
        fees=fees,
        reserves=ReserveService(ReserveStore(pool)),
        custody=custody,
    )
