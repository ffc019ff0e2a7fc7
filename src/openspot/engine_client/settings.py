"""Settings that the engine and its clients share: its addresses, and the credential of the services that call it."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field

from openspot.kit.service_credential import headers
from openspot.kit.settings import Generated, Port, Settings, address_for_clients, own_host, own_url


class EngineAddressSettings(Settings):
    """Where the engine's HTTP interface is."""

    engine_host: str = own_host("matching engine")
    engine_http_port: Port = Field(default=8090, description="Matching engine: HTTP and /ws/events")
    given_engine_url: str = own_url("engine_url", "URL of the engine's HTTP for its clients")
    markets: Literal["fixed", "live"] = Field(
        default="fixed",
        description="Where services know markets and assets from: fixed keeps to the platform's own twelve; live "
        "follows what operators list, without a restart; `openspot up --demo` takes live",
    )

    @property
    def follows_listings(self) -> bool:
        """Whether services follow what operators list."""
        return self.markets == "live"

    @property
    def engine_url(self) -> str:
        """Address of the engine's HTTP interface."""
        address = address_for_clients(self.engine_host or self.host, self.engine_http_port)
        return self.given_engine_url.rstrip("/") or f"http://{address}"


class EngineConnectionSettings(EngineAddressSettings):
    """Settings that the engine and the services that call it share."""

    engine_frames_port: Port = Field(default=9092, description="Matching engine: calls of the platform's own services")
    given_engine_frames: str = own_url("engine_frames", "`host:port` of the engine's frames for the services")
    engine_api_key: Annotated[str, Generated()] = Field(
        default="", description="Key by which the engine knows its services, whichever way they call; empty: generated"
    )
    engine_api_secret: Annotated[str, Generated(length_min=32)] = Field(
        default="", description="… and its secret; empty: generated"
    )

    @property
    def service_headers(self) -> dict[str, str]:
        """The credential of a service, as HTTP headers, gRPC metadata or the greeting of frames."""
        return headers(self.engine_api_key, self.engine_api_secret)

    @property
    def engine_frames_address(self) -> tuple[str, int]:
        """Host and port of the engine's frames. Raises ValueError if OPENSPOT_ENGINE_FRAMES is none."""
        given = self.given_engine_frames
        address = given or address_for_clients(self.engine_host or self.host, self.engine_frames_port)
        parts = urlsplit(f"//{address}")
        if not parts.hostname or parts.port is None or parts.path:
            raise ValueError(f"OPENSPOT_ENGINE_FRAMES must be `host:port`, not {given!r}")
        return parts.hostname, parts.port
