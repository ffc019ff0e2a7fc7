"""Settings of the demo market."""

from decimal import Decimal

from pydantic import Field

from openspot.demo.quoting import QuotingRules
from openspot.domain.ids import (
    CONVERSIONS_ACCOUNT_ID,
    INSURANCE_ACCOUNT_ID,
    LENDING_ACCOUNT_ID,
    REWARDS_ACCOUNT_ID,
)
from openspot.kit.settings import Port, address_for_clients, own_host
from openspot.rest_edge.settings import RestSharedSettings


class DemoSettings(RestSharedSettings):
    """The settings of the demo market."""

    demo_host: str = own_host("demo market")
    demo_port: Port = Field(default=3014, description="Demo market: health and metrics")
    demo_quotes_per_s: float = Field(
        default=0.5, ge=0.1, le=10, description="How often the invented price of a market moves"
    )
    demo_levels: int = Field(default=4, ge=3, le=5, description="Price levels that the maker keeps on each side")
    demo_half_spread_bps: Decimal = Field(
        default=Decimal(8), ge=4, le=100, description="Distance of its best price from the mid, in basis points"
    )
    demo_gap_bps: Decimal = Field(
        default=Decimal(4), gt=0, le=50, description="Distance between its levels, in basis points"
    )
    demo_tolerance_bps: Decimal = Field(
        default=Decimal(2),
        ge=0,
        le=2,
        description="An order stays if it is at most this far from its wanted price, in basis points",
    )
    demo_refresh_s: float = Field(
        default=3.0, ge=0.5, le=60, description="The maker looks at each market's orders once in this time"
    )
    demo_order_age_s: float = Field(default=120.0, ge=5, description="The maker replaces an older order")
    demo_take_s: float = Field(default=3.0, ge=0.2, le=60, description="Usual time between two takes on a market")
    demo_level_dollars: Decimal = Field(
        default=Decimal(2000), ge=100, le=100_000, description="Size of the maker's best level, in US dollars"
    )
    demo_take_dollars: Decimal = Field(
        default=Decimal(100), ge=10, le=10_000, description="Usual size of a take, in US dollars"
    )
    demo_funds_dollars: Decimal = Field(
        default=Decimal(5_000_000),
        ge=100_000,
        le=1_000_000_000,
        description="Value in US dollars of what each bot gets of each asset, and keeps",
    )
    demo_conversions_dollars: Decimal = Field(
        default=Decimal(2_000_000),
        ge=0,
        le=1_000_000_000,
        description="Value in US dollars of what house:conversions gets of each asset; another value is a new deposit",
    )
    demo_lending_dollars: Decimal = Field(
        default=Decimal(5_000_000), ge=0, le=1_000_000_000, description="… house:lending, for margin loans"
    )
    demo_insurance_dollars: Decimal = Field(
        default=Decimal(500_000), ge=0, le=1_000_000_000, description="… house:insurance, for losses of liquidations"
    )
    demo_rewards_dollars: Decimal = Field(
        default=Decimal(500_000), ge=0, le=1_000_000_000, description="… house:rewards, for staking"
    )
    demo_inventory_band: Decimal = Field(
        default=Decimal("0.05"),
        gt=0,
        le=Decimal("0.5"),
        description="A bot stops to buy or to sell an asset that is further than this share from those funds",
    )

    @property
    def demo_url(self) -> str:
        """Address of health and metrics."""
        return f"http://{address_for_clients(self.demo_host or self.host, self.demo_port)}"

    @property
    def house_dollars(self) -> dict[str, Decimal]:
        """By account of the house, the value in US dollars of what it gets of each asset."""
        return {
            CONVERSIONS_ACCOUNT_ID: self.demo_conversions_dollars,
            LENDING_ACCOUNT_ID: self.demo_lending_dollars,
            INSURANCE_ACCOUNT_ID: self.demo_insurance_dollars,
            REWARDS_ACCOUNT_ID: self.demo_rewards_dollars,
        }

    @property
    def quoting(self) -> QuotingRules:
        """The maker's rules."""
        return QuotingRules(
            levels=self.demo_levels,
            half_spread_bps=self.demo_half_spread_bps,
            gap_bps=self.demo_gap_bps,
            shift_bps=Decimal(1),
            tolerance_bps=self.demo_tolerance_bps,
            size_tolerance=Decimal("0.4"),
            age_s_max=self.demo_order_age_s,
        )
