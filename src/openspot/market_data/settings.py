"""Settings of the market data service."""

from decimal import Decimal

from pydantic import Field

from openspot.domain.fair_price.rules import FairPriceRules
from openspot.domain.money import to_amount
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.settings import OrderRulesSettings, Port, ReferencePriceSettings, address_for_clients, own_host


class FairPriceSettings(ReferencePriceSettings):
    """The constants of the fair price (docs/protocol/fair-price.md)."""

    fair_price_parts: int = Field(
        default=12, ge=3, le=144, description="Fair price: the window of trades has this many parts"
    )
    fair_price_part_s: int = Field(default=300, ge=10, le=3600, description="… of this many seconds each")
    fair_price_owner_part: int = Field(
        default=3, ge=2, le=20, description="One owner counts for at most one part in this many of a part's volume"
    )
    fair_price_volume_dollars: Decimal = Field(
        default=Decimal(10_000),
        gt=0,
        le=10**12,
        decimal_places=2,
        description="Trades are a full source from this volume in the window on, in US dollars",
    )
    fair_price_thin_volume_dollars: Decimal = Field(
        default=Decimal(500), gt=0, le=10**12, decimal_places=2, description="… and a weak source from this one on"
    )
    fair_price_owners_min: int = Field(
        default=4, ge=2, le=1000, description="… a full one needs this many owners who trade with each other"
    )
    fair_price_parts_min: int = Field(
        default=3, ge=1, le=144, description="… and trades in this many parts of the window"
    )
    fair_price_standing_s: int = Field(
        default=10, ge=2, le=600, description="Depth of a book counts when it has stood for this long"
    )
    fair_price_depth_dollars: Decimal = Field(
        default=Decimal(1_000),
        gt=0,
        le=10**12,
        decimal_places=2,
        description="A book has a mid if this much stands on each side, in US dollars",
    )
    fair_price_spread_bps: int = Field(
        default=500, ge=1, le=5000, description="… and if its sides, or a venue's, are at most this far apart"
    )
    fair_price_hold_s: int = Field(
        default=30, ge=5, le=600, description="The mid of a book counts for this long after it was last there"
    )
    fair_price_venue_age_s: int = Field(
        default=10, ge=1, le=600, description="A quote of the venue adapter counts for this long"
    )
    fair_price_difference_bps: int = Field(
        default=500, ge=1, le=5000, description="Sources of a price that differ by more are in dispute"
    )
    fair_price_speed_bps: int = Field(
        default=300, ge=1, le=5000, description="The fair price moves at most this far in a minute"
    )
    fair_price_thin_difference_bps: int = Field(
        default=1000,
        ge=1,
        le=9000,
        description="A thin price farther from the day's median is in dispute, unless a venue says it",
    )
    fair_price_unconfirmed_difference_bps: int = Field(
        default=3000, ge=1, le=9000, description="… and so is a good one that is farther"
    )
    fair_price_absorbed_band_bps: int = Field(
        default=500, ge=1, le=5000, description="A market absorbs what stands within this distance of the fair price"
    )
    fair_price_absorbed_share_bps: int = Field(
        default=5000, ge=0, le=10_000, description="… up to this share of the counted volume of the window"
    )

    @property
    def fair_price_rules(self) -> FairPriceRules:
        """The constants as the rules take them."""
        return FairPriceRules(
            parts=self.fair_price_parts,
            part_ms=self.fair_price_part_s * 1000,
            owner_part=self.fair_price_owner_part,
            volume_dollars=to_amount(self.fair_price_volume_dollars),
            thin_volume_dollars=to_amount(self.fair_price_thin_volume_dollars),
            owners_min=self.fair_price_owners_min,
            parts_min=self.fair_price_parts_min,
            standing_ms=self.fair_price_standing_s * 1000,
            depth_dollars=to_amount(self.fair_price_depth_dollars),
            spread_bps_max=self.fair_price_spread_bps,
            hold_ms=self.fair_price_hold_s * 1000,
            venue_age_ms=self.fair_price_venue_age_s * 1000,
            difference_bps_max=self.fair_price_difference_bps,
            speed_bps_max=self.fair_price_speed_bps,
            thin_difference_bps_max=self.fair_price_thin_difference_bps,
            unconfirmed_difference_bps_max=self.fair_price_unconfirmed_difference_bps,
            absorbed_band_bps=self.fair_price_absorbed_band_bps,
            absorbed_share_bps=self.fair_price_absorbed_share_bps,
        )


class MarketDataSettings(EngineConnectionSettings, OrderRulesSettings, FairPriceSettings):
    """The settings of the market data service."""

    market_data_host: str = own_host("market data service")
    market_data_port: Port = Field(default=3011, description="Market data: health and metrics")
    market_data_book_ms: int = Field(
        default=100, ge=0, le=60_000, description="Least time between two updates of a book; 0: every change"
    )
    market_data_ticker_ms: int = Field(
        default=500,
        ge=10,
        le=60_000,
        description="Least time between two tickers of a market, and between two messages of a candle",
    )
    market_data_depth: int = Field(
        default=1000, ge=10, le=5000, description="Levels on each side of a published book, best ones"
    )
    market_data_lease_s: float = Field(
        default=4.0, ge=1.0, description="Another market data process takes over after this time"
    )
    market_data_stale_s: float = Field(
        default=5.0, gt=0, description="Not ready when it has been behind the engine's events for this long"
    )
    market_data_queue_max: int = Field(
        default=20_000, ge=1, description="Trades waiting to be recorded; beyond it events wait"
    )

    @property
    def market_data_url(self) -> str:
        """Address of health and metrics."""
        return f"http://{address_for_clients(self.market_data_host or self.host, self.market_data_port)}"
