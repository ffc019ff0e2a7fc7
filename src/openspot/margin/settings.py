"""Settings of the margin risk service."""

from decimal import Decimal

from pydantic import Field

from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.settings import Port, address_for_clients, own_host


class MarginSettings(EngineConnectionSettings):
    """The settings of the margin risk service."""

    margin_host: str = own_host("margin risk service")
    margin_port: Port = Field(default=3009, description="Margin risk service: health and metrics")
    margin_valuation_asset: str = Field(default="USD", description="Asset in which margin accounts are valued")
    margin_yearly_rate: Decimal = Field(
        default=Decimal("0.1"), ge=0, le=10, description="Yearly interest of new margin loans: 0.1 is 10 %"
    )
    margin_scan_s: float = Field(default=5.0, gt=0, le=3600, description="Seconds between two scans of margin accounts")
    margin_interest_s: float = Field(
        default=60.0, gt=0, le=86_400, description="Seconds between two postings of margin interest"
    )
    margin_mark_stale_s: float = Field(
        default=15.0, gt=0, description="A fair price that did not come again for this time is stale for margin"
    )
    margin_buyable_share: Decimal = Field(
        default=Decimal(1),
        ge=0,
        le=100,
        description="All margin debts of an asset together are at most this share of what can be bought near its price",
    )
    margin_liquidation_bps: int = Field(
        default=200,
        ge=0,
        le=2_000,
        description="Basis points from the fair price within which a liquidation trades, and never beyond",
    )
    margin_liquidation_pause_s: float = Field(
        default=10.0, gt=0, le=3600, description="Seconds between two slices of a liquidation"
    )
    margin_slippage_bps: int = Field(
        default=100,
        ge=0,
        le=500,
        description="Basis points from the fair price within which an order opens or closes a position",
    )
    margin_lease_s: float = Field(
        default=4.0, ge=1.0, description="Another margin process takes the scan over after this time"
    )

    @property
    def order_deadline_ms(self) -> int:
        """The router does not place an order of this service that reaches it later than this."""
        return round(self.request_timeout_s * 600)

    @property
    def order_late_ms(self) -> int:
        """An order that the router accepted before its deadline reaches the engine within this time, or never."""
        return round(self.request_timeout_s * 1400)

    @property
    def margin_url(self) -> str:
        """Address of health and metrics."""
        return f"http://{address_for_clients(self.margin_host or self.host, self.margin_port)}"
