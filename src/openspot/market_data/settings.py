"""Settings of the market data service."""

from pydantic import Field

from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.settings import Port, address_for_clients, own_host


class MarketDataSettings(EngineConnectionSettings):
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
