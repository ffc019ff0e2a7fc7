"""Makes what accounts consist of: balances, portfolio, withdrawals, saved addresses, verification of persons."""

from dataclasses import dataclass
from datetime import timedelta

from openspot.domain.market import MarketConfiguration
from openspot.domain.networks import load_networks
from openspot.kit.bus import Bus
from openspot.kit.clock import system_clock
from openspot.kit.database import Pool
from openspot.kit.sealing import Sealer
from openspot.rest_edge.accounts.custody_client import CustodyClient
from openspot.rest_edge.accounts.portfolio_service import PortfolioService
from openspot.rest_edge.accounts.portfolio_store import PortfolioStore
from openspot.rest_edge.accounts.service import AccountService
from openspot.rest_edge.accounts.withdrawal_store import WithdrawalStore
from openspot.rest_edge.accounts.withdrawals import WithdrawalService
from openspot.rest_edge.fees.network_fees import FeeQuotes, WithdrawalFees
from openspot.rest_edge.kyc.provider import DevelopmentProvider
from openspot.rest_edge.kyc.service import KycService
from openspot.rest_edge.kyc.store import KycStore
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.rest_edge.users.second_factor import SecondFactor
from openspot.rest_edge.withdrawal_addresses.service import WithdrawalAddressService
from openspot.rest_edge.withdrawal_addresses.store import WithdrawalAddressStore


@dataclass(frozen=True, slots=True)
class FundServices:
    """What the routes of accounts, withdrawals, saved addresses and KYC are made of."""

    accounts: AccountService
    portfolio: PortfolioService
    withdrawals: WithdrawalService
    withdrawal_addresses: WithdrawalAddressService
    kyc: KycService


def make_fund_services(
    settings: RestEdgeSettings,
    pool: Pool,
    bus: Bus,
    accounts: AccountService,
    second_factor: SecondFactor,
    configuration: MarketConfiguration,
) -> FundServices:
    """Make the services."""
    networks, custody, saved = load_networks(), CustodyClient(bus), WithdrawalAddressStore(pool)
    provider = DevelopmentProvider() if settings.kyc_provider == "development" else None
    limits = settings.withdrawal_limits
    profiles = KycStore(pool, Sealer(settings.sealing_secret))
    kyc = KycService(profiles, provider, settings.kyc_webhook_secret, limits, system_clock)
    return FundServices(
        accounts=accounts,
        portfolio=PortfolioService(PortfolioStore(pool), system_clock),
        withdrawals=WithdrawalService(
            custody,
            WithdrawalStore(pool),
            saved,
            kyc,
            second_factor,
            WithdrawalFees(FeeQuotes(pool), system_clock),
            networks,
            configuration.assets,
            limits,
            system_clock,
        ),
        withdrawal_addresses=WithdrawalAddressService(
            saved,
            custody,
            second_factor,
            networks,
            timedelta(seconds=settings.withdrawal_address_wait_s),
            system_clock,
        ),
        kyc=kyc,
    )
