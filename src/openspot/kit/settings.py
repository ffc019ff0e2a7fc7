"""The settings that every process has. Each is an environment variable (docs/operations/settings.md).

`DATABASE_URL`, `NATS_URL` and `JWT_SECRET` have no prefix; all others begin with `OPENSPOT_`. The settings of a single
service are in the `settings.py` of its package, in a class derived from `Settings`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from openspot.domain.volatility import VolatilityRules
from openspot.kit.addresses import sound_address, sound_addresses, with_whole_scheme
from openspot.kit.clock import NANOSECONDS_PER_S

PREFIX = "OPENSPOT_"
DatabaseAddress = Annotated[str, BeforeValidator(with_whole_scheme), AfterValidator(sound_address("postgresql"))]
"""An address of PostgreSQL, or empty."""
Port = Annotated[int, Field(ge=1, le=65535)]
EmptyIsNone = BeforeValidator(lambda value: None if value == "" else value)
"""Marks a setting that may be None: an environment variable expresses that by being empty."""


@dataclass(frozen=True, slots=True)
class Generated:
    """Marks a secret that is generated into the data directory if it is not set.

    A generated secret has `random_bytes` bytes; with 0 it is only kept there, once a command has written it. A secret
    that is set needs at least `length_min` characters, because strangers may try to guess it.
    """

    random_bytes: int = 48
    length_min: int = 0


TOKEN_SECRET_LENGTH_MIN = 32
"""HS256 is as strong as its secret, up to 32 bytes (RFC 7518, 3.2)."""


class Settings(BaseSettings):
    """The settings of every process, with defaults and bounds."""

    # An error that quoted what was given would show passwords.
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="ignore", populate_by_name=True, hide_input_in_errors=True
    )

    # Where things are
    database_url: DatabaseAddress = Field(
        default="",
        validation_alias=AliasChoices("database_url", "DATABASE_URL"),
        description="PostgreSQL address; empty: `openspot up` starts an embedded server",
    )
    nats_url: Annotated[str, AfterValidator(sound_addresses("nats", "tls", "ws", "wss"))] = Field(
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
    data_dir: Path = Field(default=Path(".openspot"), description="Journal, embedded servers, secrets, log")
    disk_reserve_mib: int = Field(
        default=64,
        ge=1,
        le=1_048_576,
        description="Free MiB on the disk of the data directory below which the engine takes no commands",
    )
    host: str = Field(
        default="127.0.0.1", description="Address that every process listens on, unless it is given one of its own"
    )
    trusted_network: bool = Field(
        default=False,
        description="No stranger reaches or overhears the network that the engine listens on: credentials may cross it "
        "unencrypted",
    )
    nats_port: Port = Field(default=4222, description="Embedded NATS; a free port if it is taken")
    one_process: Literal["auto", "true", "false"] = Field(
        default="auto",
        description="`openspot up` runs REST edge and order router in one process, so that an order does not take the "
        "way over the bus between them; `auto`: on a machine with at most four cores",
    )
    embedded_postgres_synced: bool = Field(
        default=True,
        description="Embedded PostgreSQL syncs to disk before it commits. If false, as suits tests, a power cut may "
        "damage its data; the end of a process loses nothing",
    )

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

    # Traces
    tracing_endpoint: str = Field(
        default="",
        pattern=r"^(|file|https?://\S+)$",
        description="Where the spans of traced orders go: an address that takes OTLP over HTTP, such as "
        "`http://127.0.0.1:4318/v1/traces`; `file`: into the folder `traces` of the data directory; empty: nowhere",
    )
    tracing_share: float = Field(default=0.01, ge=0, le=1, description="Share of the orders that are traced")

    # Pace
    pace_widening_max: float = Field(
        default=4.0,
        ge=1,
        le=10,
        description="On a busy machine, batches that no answer waits for begin up to this many times as far apart",
    )

    # Bus
    request_timeout_s: float = Field(
        default=5.0,
        gt=0,
        description="A request to another process or to the database that has no reply after this time fails; one that "
        "only reads from another process after two fifths of it, and one whose receiver asks others itself after twice "
        "it; checks of health have two fifths of it, but two seconds at least",
    )
    breaker_failures: int = Field(default=5, ge=1, description="Failed publishes that open a subject's breaker")
    breaker_window_s: float = Field(default=30.0, gt=0, description="… within this time; it stays open as long")

    nats_api_prefix: str = Field(
        default="",
        description="Where the bus takes requests about streams from a process that may not make streams, consumers "
        "and buckets itself; `openspot up` sets it for the embedded server, and an operator who has run `openspot bus "
        "prepare` sets `$JS.API`; empty: the process makes what is missing",
    )
    bus_replicas: int = Field(default=1, ge=1, le=5, description="Replicas of streams and buckets in a NATS cluster")

    @property
    def read_timeout_s(self) -> float:
        """A request that only reads from another process fails after this many seconds: a person waits for it."""
        return self.request_timeout_s * 0.4

    @property
    def nested_timeout_s(self) -> float:
        """A request fails after this many seconds if its receiver sends requests of its own before it replies."""
        return self.request_timeout_s * 2

    @property
    def check_timeout_s(self) -> float:
        """One check of a service's health fails after this many seconds."""
        return max(2.0, self.read_timeout_s)

    @property
    def readiness_timeout_s(self) -> float:
        """A service counts as silent that has not said after this many seconds whether its checks pass."""
        return self.check_timeout_s * 1.5

    @property
    def nats_servers(self) -> list[str]:
        """The addresses of the bus: those that are set, or the embedded server's."""
        given = [address.strip() for address in self.nats_url.split(",")]
        return [address for address in given if address] or [f"nats://127.0.0.1:{self.nats_port}"]


class UserTokenSettings(Settings):
    """The settings of all services that accept user tokens."""

    jwt_secret: Annotated[str, Generated(length_min=TOKEN_SECRET_LENGTH_MIN)] = Field(
        default="",
        validation_alias=AliasChoices("jwt_secret", "JWT_SECRET"),
        description="HS256 secret of user tokens; empty: generated into the data directory",
    )
    access_token_s: int = Field(default=900, ge=1, description="Life of an access token")

    @property
    def ended_session_life_s(self) -> int:
        """The bus remembers an ended session for this long: an access token's life, plus a margin for clocks."""
        return self.access_token_s + 60


DEVELOPMENT_PRICES = "BRL=0.2,BTC=100000,ETH=4000,SOL=200,USDC=1,USDT=1"
"""Round prices of every asset, for a new platform. Set your own before money is real."""


class ReferencePriceSettings(Settings):
    """The prices that count where nobody has made one: for the fair price and for the value of withdrawals."""

    custody_reference_prices: str = Field(
        default=DEVELOPMENT_PRICES,
        description="US dollar prices, with commas, of assets that have not traded yet; the default is for development",
    )


AnySettings = TypeVar("AnySettings", bound=Settings)


class OrderRulesSettings(Settings):
    """Which rules orders follow: the settings of the order router and of the edges that take orders."""

    rules: Literal["specification", "complete"] = Field(
        default="specification",
        description="The rules of orders: specification keeps to the letter; complete adds what traders expect, for "
        "example times in force that hold and post-only; `openspot up --demo` takes complete",
    )

    honour_time_in_force: bool = Field(
        default=False,
        description="Send IOC and FOK orders as such; `OPENSPOT_RULES=complete` does so whatever this says",
    )

    volatility_move_bps: int = Field(
        default=0,
        ge=0,
        le=10_000,
        description="Interrupt a market by an auction when its fair price moves by more than this many basis points "
        "within the window, under `OPENSPOT_RULES=complete`. 0: never",
    )
    volatility_window_s: int = Field(default=300, ge=1, le=86_400, description="… the window")
    volatility_auction_s: int = Field(
        default=120, ge=1, le=86_400, description="… how long the auction lasts; it goes on once for as long"
    )
    volatility_pause_s: int = Field(
        default=1800,
        ge=0,
        le=604_800,
        description="… the least time from one interruption of a market to the next; it is at least twice the auction",
    )

    @property
    def has_complete_rules(self) -> bool:
        """Whether orders follow the complete rules."""
        return self.rules == "complete"

    @property
    def volatility_rules(self) -> VolatilityRules | None:
        """When a market is interrupted by an auction; None if none is."""
        if not self.has_complete_rules or not self.volatility_move_bps:
            return None
        auction_s = self.volatility_auction_s
        return VolatilityRules(
            self.volatility_move_bps,
            self.volatility_window_s * NANOSECONDS_PER_S,
            auction_s * NANOSECONDS_PER_S,
            max(self.volatility_pause_s, 2 * auction_s) * NANOSECONDS_PER_S,
        )

    @property
    def honours_time_in_force(self) -> bool:
        """Whether an order reaches the engine with its own time in force."""
        return self.honour_time_in_force or self.has_complete_rules


class SettingsError(ValueError):
    """Invalid settings. The message has one line for each: its variable and the reason."""


def load(settings: type[AnySettings], **given: Any) -> AnySettings:
    """The settings from the environment. The ones in `given` take precedence. Raises SettingsError."""
    try:
        return settings(**given)
    except ValidationError as error:
        faults = [(_variable_of(settings, str(item["loc"][0])), item["msg"]) for item in error.errors()]
        raise SettingsError("\n".join(f"{variable}: {reason}" for variable, reason in faults)) from error


def as_part(settings: Settings, part: type[AnySettings]) -> AnySettings:
    """Return `settings`, typed as `part`. Raises TypeError if they do not include the settings of `part`."""
    if not isinstance(settings, part):
        raise TypeError(f"{type(settings).__name__} does not include {part.__name__}")
    return settings


def variable(name: str, settings: type[Settings]) -> str:
    """The environment variable of the field `name`."""
    alias = settings.model_fields[name].validation_alias
    if isinstance(alias, AliasChoices):
        return str(alias.choices[-1])
    return f"{PREFIX}{name.upper()}"


def _variable_of(settings: type[Settings], location: str) -> str:
    """The variable of a validation error. `location` is a field's name or one of its aliases."""
    for name in settings.model_fields:
        found = variable(name, settings)
        if location.lower() in (name, found.lower()):
            return found
    return location


def environment_of(settings: Settings) -> dict[str, str]:
    """The variables that give another process exactly these settings."""
    kind = type(settings)
    values = settings.model_dump(mode="json")
    return {variable(name, kind): "" if value is None else str(value) for name, value in values.items()}


def generated_secrets(settings: type[Settings]) -> dict[str, Generated]:
    """The fields whose secrets are generated if they are not set, by name."""
    return {
        name: mark
        for name, field in settings.model_fields.items()
        for mark in field.metadata
        if isinstance(mark, Generated)
    }


def own_host(process: str) -> Any:
    """The setting of the address that one process listens on."""
    return Field(default="", description=f"Address that the {process} listens on; empty: `OPENSPOT_HOST`")


def own_url(name: str, description: str) -> Any:
    """The setting OPENSPOT_`NAME`: the URL at which others reach a process. The default is its listening address."""
    return Field(
        default="",
        validation_alias=AliasChoices(f"given_{name}", f"{PREFIX}{name.upper()}"),
        description=f"{description}; empty: that of its listening address",
    )


def host_for_clients(host: str) -> str:
    """The host at which a client on this machine reaches a process that listens on `host`."""
    return {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def address_for_clients(host: str, port: int) -> str:
    """The `host:port` at which a client on this machine reaches a process that listens on `host`."""
    host = host_for_clients(host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
