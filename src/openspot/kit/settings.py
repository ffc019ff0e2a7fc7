"""Settings: each is an environment variable, and all are listed here (docs/operations/settings.md).

`DATABASE_URL`, `NATS_URL` and `JWT_SECRET` have no prefix; all others begin with `OPENSPOT_`.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

Port = Annotated[int, Field(ge=1, le=65535)]


class Settings(BaseSettings):
    """Everything that can be set from outside, with its default and its bounds."""

    model_config = SettingsConfigDict(env_prefix="OPENSPOT_", extra="ignore", populate_by_name=True)

    # Where things are
    database_url: str = Field(
        default="",
        validation_alias=AliasChoices("database_url", "DATABASE_URL"),
        description="PostgreSQL address; empty: `openspot up` starts an embedded server",
    )
    nats_url: str = Field(
        default="",
        validation_alias=AliasChoices("nats_url", "NATS_URL"),
        description="NATS addresses, with commas between those of a cluster. They may hold user and password, "
        "percent-encoded (`@` is `%40`), or a token; empty: `openspot up` starts an embedded server",
    )
    nats_nkey_seed: str = Field(default="", description="Seed of the nkey that proves to NATS who we are; empty: none")
    nats_credentials_file: str = Field(
        default="", description="NATS credentials file, with user JWT and nkey seed; empty: none"
    )
    nats_ca_file: str = Field(
        default="",
        description="Certificates that vouch for the NATS server (PEM); empty: those of the system. If it is given, or "
        "an address begins with `tls://`, the connection must be encrypted",
    )
    nats_certificate_file: str = Field(default="", description="Our certificate for NATS (PEM); empty: none")
    nats_key_file: str = Field(default="", description="… and its private key; empty: in the same file")
    nats_synced: bool = Field(
        default=False,
        description="The server of `NATS_URL` writes to disk before it acknowledges (`jetstream { sync_interval: "
        "always }`). It does not show that itself; while this is false, a warning reminds of it at start",
    )
    jwt_secret: str = Field(
        default="",
        validation_alias=AliasChoices("jwt_secret", "JWT_SECRET"),
        description="HS256 secret of user tokens; empty: generated into the data directory",
    )
    data_dir: Path = Field(default=Path(".openspot"), description="Journal, embedded servers, secrets, log")
    host: str = Field(default="127.0.0.1", description="Address that every service listens on")
    trusted_network: bool = Field(
        default=False,
        description="No stranger reaches the network of OPENSPOT_HOST: services without credentials may listen there",
    )
    rest_port: Port = Field(default=3001, description="REST edge")
    ws_port: Port = Field(default=3002, description="WebSocket edge")
    router_port: Port = Field(default=3006, description="Order router: health and metrics")
    ledger_port: Port = Field(default=3007, description="Ledger: health and metrics")
    ledger_worker_port: Port = Field(default=3017, description="Ledger's workflow worker: health and metrics")
    engine_http_port: Port = Field(default=8090, description="Matching engine: HTTP and /ws/events")
    engine_grpc_port: Port = Field(default=9090, description="Matching engine: gRPC")
    nats_port: Port = Field(default=4222, description="Embedded NATS; a free port if it is taken")

    # Every HTTP server
    http_connections_max: int = Field(
        default=8192, ge=1, description="Connections of one HTTP server, as far as the limit of open files allows"
    )
    http_connections_per_address: int = Field(
        default=1024, ge=1, description="… of which one address (IPv6: one /64) may hold"
    )
    trusted_proxies: str = Field(
        default="", description="Addresses, with commas, whose X-Forwarded-For tells the client's address"
    )

    # Log
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(default="INFO", description="Least level logged")
    log_format: Literal["json", "console"] = Field(default="json", description="Shape of log lines")

    # Engine
    engine_core: Literal["auto", "rust", "reference"] = Field(
        default="auto", description="Matching core; auto takes the Rust twin if its wheel is installed"
    )
    engine_api_key: str = Field(default="", description="Service key of the engine's HTTP; empty: generated")
    engine_api_secret: str = Field(default="", description="Service secret of the engine's HTTP; empty: generated")
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
    admin_id: str = Field(default="admin", description="First SUPER_ADMIN of the engine")
    admin_password: str = Field(default="", description="Its password; empty: generated and printed once")
    admin_token_secret: str = Field(
        default="", description="HS256 secret of the engine's administration tokens; empty: generated"
    )
    admin_token_s: int = Field(default=28_800, ge=1, description="Life of an administration token")
    charge_by_volume_tier: bool = Field(
        default=False, description="Charge participants by their 30-day volume, where a tier above Base is theirs"
    )
    volume_tier_interval_s: float = Field(default=3600.0, gt=0, description="… and look at the volumes this often")
    console_origins: str = Field(
        default="http://127.0.0.1:3000,http://localhost:3000",
        description="Origins, with commas, whose pages may call the engine's HTTP",
    )

    # Router
    honour_time_in_force: bool = Field(default=False, description="Send IOC and FOK limit orders as such")
    reference_price_age_s_max: float = Field(
        default=3600.0, gt=0, description="Seconds until a last trade price is no longer recent"
    )
    balance_check_timeout_s: float = Field(default=0.5, gt=0, description="Wait for ledger.balances.get, then go on")
    symbol_load_attempts: int = Field(default=10, ge=1, description="Symbol load at router start: attempts")
    symbol_load_pause_s: float = Field(default=2.0, ge=0, description="Symbol load at router start: pause")
    symbol_refresh_s: float = Field(default=0.0, ge=0, description="Reload symbols this often; 0: only at start")
    known_orders_max: int = Field(default=200_000, ge=1, description="Orders that a router finds without the database")
    row_queue_max: int = Field(default=20_000, ge=1, description="Rows waiting to be written; beyond it events wait")
    translator_lease_s: float = Field(default=4.0, ge=1.0, description="Another router takes over after this time")

    # Bus
    request_timeout_s: float = Field(default=5.0, gt=0, description="Bus request timeout")
    breaker_failures: int = Field(default=5, ge=1, description="Failed publishes that open a subject's breaker")
    breaker_window_s: float = Field(default=30.0, gt=0, description="… within this time; it stays open as long")

    bus_replicas: int = Field(default=1, ge=1, le=5, description="Replicas of streams and buckets in a NATS cluster")

    # REST edge
    throttle_enabled: bool = Field(default=True, description="Throttle the REST edge")
    throttle_storage: str = Field(
        default="memory://",
        description="Where counts live: memory://, redis:// (extra redis), valkey:// (extra valkey)",
    )
    access_token_s: int = Field(default=900, ge=1, description="Life of an access token")
    refresh_token_s: int = Field(default=2_592_000, ge=1, description="Life of a refresh token")
    body_bytes_max: int = Field(default=65_536, ge=1024, description="Largest request body")
    rest_requests_max: int = Field(default=4096, ge=1, description="Requests at a time; beyond it 503")
    audit_queue_max: int = Field(default=20_000, ge=1, description="Audit records waiting; beyond it requests wait")
    cors_origins: str = Field(default="", description="Origins, with commas, whose pages may call the REST edge")

    # WebSocket edge
    ws_idle_s: float = Field(default=120.0, gt=0, description="Close a silent connection after this time")
    ws_message_bytes_max: int = Field(default=16_384, ge=128, description="Largest client message")
    ws_queue_max: int = Field(default=1024, ge=1, description="Messages waiting for one client")
    ws_connections_max: int = Field(default=10_000, ge=1, description="Connections at a time; beyond it 503")
    ws_connections_per_address: int = Field(
        default=1000, ge=1, description="… of which one address (IPv6: one /64) may hold"
    )
    ws_anonymous_share: float = Field(
        default=0.5, ge=0, le=1, description="… of which clients without a token may hold, as a share"
    )
    ws_messages_max: int = Field(default=1000, ge=1, description="Messages of one client in ten seconds")

    @property
    def nats_servers(self) -> list[str]:
        """Addresses of the bus: those that were given, or that of the embedded server."""
        given = [address.strip() for address in self.nats_url.split(",")]
        return [address for address in given if address] or [f"nats://127.0.0.1:{self.nats_port}"]

    @property
    def ended_session_life_s(self) -> int:
        """How long the bus remembers that a session was ended: an access token's life, and a margin for clocks."""
        return self.access_token_s + 60

    @property
    def rest_url(self) -> str:
        """Address of the REST edge, without the prefix."""
        return f"http://{self.host}:{self.rest_port}"

    @property
    def ws_url(self) -> str:
        """Address of the WebSocket edge."""
        return f"ws://{self.host}:{self.ws_port}"

    @property
    def engine_url(self) -> str:
        """Address of the engine's HTTP interface."""
        return f"http://{self.host}:{self.engine_http_port}"

    @property
    def engine_grpc_address(self) -> str:
        """Address of the engine's gRPC interface."""
        return f"{self.host}:{self.engine_grpc_port}"
