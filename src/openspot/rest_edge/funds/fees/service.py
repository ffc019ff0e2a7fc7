"""Makes the services of the fee routes: trading fees, network fees, and the fees of payments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from openspot.coin_networks.pauses import FollowedPauses
from openspot.domain.market import AssetScale
from openspot.domain.networks import Network
from openspot.engine_client.queries import EngineQueries
from openspot.kit.clock import Clock
from openspot.rest_edge.funds.fees.network_fees import FeeQuotes, NetworkFeeService
from openspot.rest_edge.funds.fees.trading import TradingFeeService
from openspot.rest_edge.settings import RestEdgeSettings


class PaymentFee(Protocol):
    """The fee of a payment route: `fee_fixed`, in units of 18 places, and `fee_bps` basis points of the amount."""

    @property
    def route_id(self) -> str:
        """The id of the payment route."""

    @property
    def asset(self) -> str:
        """The asset of the payment."""

    @property
    def fee_bps(self) -> int:
        """The part that grows with the amount, in basis points."""

    @property
    def fee_fixed(self) -> int:
        """The fixed part, in units of 18 places."""


@dataclass(frozen=True, slots=True)
class FeeServices:
    """The services behind the fee routes. `payment` returns the fees of the ways to pay that are offered."""

    trading: TradingFeeService
    network: NetworkFeeService
    payment: Callable[[], Sequence[PaymentFee]]


def make_fee_services(
    settings: RestEdgeSettings,
    *,
    engine: EngineQueries,
    quotes: FeeQuotes,
    networks: Mapping[str, Network],
    pauses: FollowedPauses,
    assets: Mapping[str, AssetScale],
    payment_fees: Callable[[], Sequence[PaymentFee]],
    clock: Clock,
) -> FeeServices:
    """Make the services."""
    return FeeServices(
        TradingFeeService(engine, settings.fee_token, settings.fee_token_minimum),
        NetworkFeeService(quotes, networks, pauses, assets, clock),
        payment_fees,
    )
