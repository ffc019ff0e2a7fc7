"""Settings of the web server."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, Field

from openspot.engine_client.settings import EngineAddressSettings
from openspot.http.brand import BrandSettings
from openspot.http.edge_settings import (
    CustodyAddressSettings,
    OperatorSettings,
    RestAddressSettings,
    WatchedServicesSettings,
    WsAddressSettings,
)
from openspot.kit.intervals import IntervalSettings
from openspot.kit.settings import PREFIX, EmptyIsNone, Port, address_for_clients, own_host, own_url
from openspot.web_server.loopback import is_private
from openspot.web_server.page_config import PageConfig

BUILT_IN_CHECKOUT = Path(__file__).resolve().parents[3] / "web/dist"


def _service_url(name: str, description: str) -> Any:
    """The setting OPENSPOT_`NAME`: the URL of a service that may be missing."""
    return Field(
        default="",
        validation_alias=AliasChoices(f"given_{name}", f"{PREFIX}{name.upper()}"),
        description=f"{description}; empty: they do without it. `openspot up` names its own",
    )


class WebServerSettings(
    EngineAddressSettings,
    BrandSettings,
    RestAddressSettings,
    OperatorSettings,
    WsAddressSettings,
    CustodyAddressSettings,
    WatchedServicesSettings,
    IntervalSettings,
):
    """The settings of the web server. It has no secrets: the pages bring their users' own sessions."""

    web_host: str = own_host("web server")
    web_port: Port = Field(default=3000, description="Web server: the pages, health and metrics")
    given_web_url: str = own_url("web_url", "URL of the pages for browsers")
    web_folder: str = Field(default="", description="Folder of the built pages; empty: `web/dist` of the checkout")

    given_positions_url: str = _service_url("positions_url", "URL of the position service for the pages")
    given_subscriptions_url: str = _service_url("subscriptions_url", "URL of the subscription service for the pages")

    simulated_deposits: Annotated[bool | None, EmptyIsNone] = Field(
        default=None,
        description="A button on the pages plays deposits, on a platform all of whose addresses are this computer's "
        "own; empty: where `openspot up` starts the bus itself",
    )

    @property
    def simulates_deposits(self) -> bool:
        """Whether deposits may be played: the setting says so, and no other computer can reach the platform."""
        hosts = (self.host, self.web_host or self.host, self.rest_host or self.host, self.ws_host or self.host)
        addresses = (self.web_url, self.rest_url, self.ws_url, self.engine_url)
        return bool(self.simulated_deposits) and is_private((*hosts, *addresses))

    @property
    def web_url(self) -> str:
        """Address of the pages."""
        address = address_for_clients(self.web_host or self.host, self.web_port)
        return self.given_web_url.rstrip("/") or f"http://{address}"

    @property
    def pages_folder(self) -> Path:
        """The folder of the built pages, which may not exist."""
        return Path(self.web_folder) if self.web_folder else BUILT_IN_CHECKOUT

    @property
    def page_config(self) -> PageConfig:
        """The content of /config.json."""
        return PageConfig(
            self.engine_url, self.rest_url, self.ws_url, self.given_positions_url, self.given_subscriptions_url,
            self.simulates_deposits, self.brand, self.coin_pictures,
        )  # fmt: skip
