"""Settings of the order router."""

from pydantic import Field

from openspot.domain.partition import PARTITIONS_MAX
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.settings import OrderRulesSettings, Port, address_for_clients, own_host
from openspot.market_data_client.settings import PriceBandSettings


class RouterSettings(EngineConnectionSettings, PriceBandSettings, OrderRulesSettings):
    """The settings of the order router."""

    router_host: str = own_host("order router")
    router_port: Port = Field(default=3006, description="Order router: health and metrics")
    reference_price_age_s_max: float = Field(
        default=3600.0, gt=0, description="Seconds until a last trade price is no longer recent"
    )
    balance_check_timeout_s: float = Field(default=0.5, gt=0, description="Wait for ledger.balances.get, then go on")
    opening_cancel_only_s: float = Field(
        default=0.0,
        ge=0,
        le=3600,
        description="After a start or an outage, markets take only cancels for this many seconds; 0: they are open",
    )
    opening_post_only_s: float = Field(
        default=0.0,
        ge=0,
        le=86_400,
        description="… and then only limit orders that cannot trade, until makers are back, for at most this long",
    )
    symbol_load_attempts: int = Field(default=10, ge=1, description="Symbol load at router start: attempts")
    symbol_load_pause_s: float = Field(default=2.0, ge=0, description="Symbol load at router start: pause")
    symbol_refresh_s: float = Field(default=0.0, ge=0, description="Reload symbols this often; 0: only at start")
    known_orders_max: int = Field(default=200_000, ge=1, description="Orders that a router finds without the database")
    row_queue_max: int = Field(default=20_000, ge=1, description="Rows waiting to be written; beyond it events wait")
    translator_lease_s: float = Field(default=4.0, ge=1.0, description="Another router takes over after this time")
    translator_partitions: int = Field(
        default=1,
        ge=1,
        le=PARTITIONS_MAX,
        description="Parts of the engine's events, by symbol, that routers share; the same for all of them",
    )

    @property
    def honours_time_in_force(self) -> bool:
        """Whether an order reaches the engine with its own time in force."""
        return self.honour_time_in_force or self.has_complete_rules

    @property
    def router_url(self) -> str:
        """Address of health and metrics."""
        return f"http://{address_for_clients(self.router_host or self.host, self.router_port)}"
