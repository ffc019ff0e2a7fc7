"""Settings of the matching engine."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from openspot.domain.offer_checks import APR_MAX
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.http.brand import BrandSettings
from openspot.kit.settings import (
    TOKEN_SECRET_LENGTH_MIN,
    Generated,
    OrderRulesSettings,
    Port,
    address_for_clients,
    own_url,
)


class EngineSettings(EngineConnectionSettings, BrandSettings, OrderRulesSettings):
    """All settings of the matching engine."""

    engine_grpc_port: Port = Field(default=9090, description="Matching engine: gRPC")
    given_engine_grpc: str = own_url(
        "engine_grpc",
        "`host:port` of the engine's gRPC for programs of others, which `openspot up` and `status` show; no service "
        "uses it",
    )
    engine_core: Literal["auto", "rust", "reference"] = Field(
        default="auto", description="Matching core; auto takes the Rust twin if its wheel is installed"
    )
    engine_batch_max: int = Field(default=4096, ge=1, le=100_000, description="Commands in one journal commit")
    engine_queue_max: int = Field(default=65_536, ge=1, description="Commands waiting; beyond it ENGINE_BUSY")
    engine_event_retention: int = Field(
        default=10_000_000, ge=1000, description="Newest events that /ws/events can replay"
    )
    engine_snapshot_interval: int = Field(default=1_000_000, ge=1000, description="Commands between two snapshots")
    engine_stream_buffer: int = Field(
        default=65_536,
        ge=16,
        description="Newest events in memory; a consumer further behind is cut off",
    )
    engine_orders_remembered: int = Field(
        default=250_000, ge=0, description="Ended orders whose ids GetOrder and the duplicate check still know"
    )
    engine_rate_limit: int = Field(
        default=50_000, ge=0, description="Orders and moves of one participant a second; beyond it RATE_LIMITED. 0: any"
    )
    engine_size_factor: int = Field(
        default=10,
        ge=0,
        description="Largest order and notional, in multiples of its market's quantity_max and notional_max. 0: any",
    )
    engine_open_orders_max: int = Field(
        default=200_000,
        ge=0,
        description="Open orders of one participant on one symbol; beyond it MAX_NUM_ORDERS. 0: any",
    )
    engine_open_orders_expected: int = Field(
        default=4_194_304,
        ge=0,
        le=2**28,
        description="Open orders for which the Rust core sets aside address space; more cost a little more time each",
    )
    engine_staking_apr_max: Decimal = Field(
        default=Decimal("0.25"),
        ge=0,
        le=APR_MAX,
        description="Greatest yearly rate that operators may set for stakes of a market's base asset: 0.25 is 25 %. "
        "Products of OPENSPOT_STAKING_FILE may have more",
    )
    admin_id: str = Field(default="admin", description="First SUPER_ADMIN of the engine")
    admin_password: Annotated[str, Generated(random_bytes=24, length_min=12)] = Field(
        default="", description="Its password; empty: generated and printed once"
    )
    admin_token_secret: Annotated[str, Generated(length_min=TOKEN_SECRET_LENGTH_MIN)] = Field(
        default="", description="HS256 secret of the engine's administration tokens; empty: generated"
    )
    admin_token_s: int = Field(default=28_800, ge=1, description="Life of an administration token")
    charge_by_volume_tier: bool = Field(
        default=False, description="Charge participants by their 30-day volume, where a tier above Base is theirs"
    )
    volume_tier_interval_s: float = Field(default=3600.0, gt=0, description="… and look at the volumes this often")
    console_origins: str = Field(
        default="http://127.0.0.1:3000,http://localhost:3000",
        description="Origins, with commas, whose pages may call the engine's HTTP; `openspot up` names those of its "
        "own pages",
    )

    @property
    def engine_grpc_address(self) -> str:
        """Where programs of others reach gRPC, as `host:port`."""
        return self.given_engine_grpc or address_for_clients(self.engine_host or self.host, self.engine_grpc_port)

    @property
    def grpc_listening_address(self) -> str:
        """Where gRPC listens, as `host:port`."""
        host = self.engine_host or self.host
        return f"[{host}]:{self.engine_grpc_port}" if ":" in host else f"{host}:{self.engine_grpc_port}"
