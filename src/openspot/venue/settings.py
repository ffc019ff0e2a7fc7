"""Settings of the venue adapter."""

from pydantic import Field

from openspot.kit.settings import Port, Settings, address_for_clients, own_host


class VenueSettings(Settings):
    """The settings of the venue adapter."""

    venue: str = Field(
        default="",
        description="Venue whose prices are republished, by its name in ccxt, for example binance; empty: `openspot "
        "up` runs no venue adapter",
    )
    venue_host: str = own_host("venue adapter")
    venue_port: Port = Field(default=3010, description="Venue adapter: health and metrics")
    venue_config: str = Field(
        default="", description="JSON object for ccxt's exchange, for example with `urls` of another server or a proxy"
    )
    venue_symbols: str = Field(
        default="",
        description="Pairs, with commas, of markets that differ in name, for example BTC-USD=BTC/USDC",
    )
    venue_stale_s: float = Field(
        default=30.0, gt=0, description="After this time without a tick the adapter is unhealthy and connects again"
    )
    venue_reconnect_s_max: float = Field(default=30.0, gt=0, description="Longest pause before it connects again")
    venue_queue_max: int = Field(
        default=4096,
        ge=1,
        description="Ticks that wait for the bus. Beyond it a quote replaces the waiting one of its symbol, and trades "
        "are dropped",
    )

    @property
    def venue_url(self) -> str:
        """Address of health and metrics."""
        return f"http://{address_for_clients(self.venue_host or self.host, self.venue_port)}"
