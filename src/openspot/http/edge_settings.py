"""Settings that several HTTP services share: addresses of the edges and of custody, origins of pages, operators."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field, field_validator

from openspot.http.api_keys.networks import read_network
from openspot.kit.service_credential import headers
from openspot.kit.settings import Generated, Port, Settings, address_for_clients, own_host, own_url

ALERTS_KEY = "rest-edge"
"""The name of the REST edge at the service of operators' alerts."""


class PageOriginSettings(Settings):
    """The origins of the pages that may call the services for users."""

    cors_origins: str = Field(
        default="http://127.0.0.1:3000,http://localhost:3000",
        description="Origins, with commas, whose pages may call the REST edge, the position service and the "
        "subscription service; `openspot up` names those of its own pages",
    )


class RestAddressSettings(Settings):
    """Where the REST edge is."""

    rest_host: str = own_host("REST edge")
    rest_port: Port = Field(default=3001, description="REST edge")
    given_rest_url: str = own_url("rest_url", "URL of the REST edge for its clients, without the prefix")

    @property
    def rest_url(self) -> str:
        """Address of the REST edge, without the prefix."""
        address = address_for_clients(self.rest_host or self.host, self.rest_port)
        return self.given_rest_url.rstrip("/") or f"http://{address}"


class WsAddressSettings(Settings):
    """Where the WebSocket edge is."""

    ws_host: str = own_host("WebSocket edge")
    ws_port: Port = Field(default=3002, description="WebSocket edge")
    given_ws_url: str = own_url("ws_url", "URL of the WebSocket edge for its clients")

    @property
    def ws_url(self) -> str:
        """Address of the WebSocket edge."""
        address = address_for_clients(self.ws_host or self.host, self.ws_port)
        return self.given_ws_url.rstrip("/") or f"ws://{address}"


class CustodyAddressSettings(Settings):
    """Where custody's health, metrics and operators' routes are."""

    custody_host: str = own_host("custody simulator")
    custody_port: Port = Field(default=3012, description="Custody simulator: operators' routes, health and metrics")
    given_custody_url: str = own_url("custody_url", "URL of the custody simulator for the web server")

    @property
    def custody_url(self) -> str:
        """Address of custody's HTTP interface."""
        address = address_for_clients(self.custody_host or self.host, self.custody_port)
        return self.given_custody_url.rstrip("/") or f"http://{address}"


class AlertServiceSettings(Settings):
    """Where the service of operators' alerts is, and the secret by which it knows the REST edge."""

    alerts_host: str = own_host("service of operators' alerts")
    alerts_port: Port = Field(default=3015, description="Operators' alerts: health, metrics and calls of the REST edge")
    given_alerts_url: str = own_url("alerts_url", "URL of the service of operators' alerts for the REST edge")
    alerts_secret: Annotated[str, Generated(length_min=32)] = Field(
        default="",
        description="Secret with which the REST edge calls the service of operators' alerts; empty: generated",
    )

    @property
    def alerts_url(self) -> str:
        """Address of the service of operators' alerts."""
        address = address_for_clients(self.alerts_host or self.host, self.alerts_port)
        return self.given_alerts_url.rstrip("/") or f"http://{address}"

    @property
    def alerts_headers(self) -> dict[str, str]:
        """The credential of the REST edge, as headers."""
        return headers(ALERTS_KEY, self.alerts_secret)


class WatchedServicesSettings(Settings):
    """The services that health page and alerts ask how they are."""

    watched_services: str = Field(
        default="",
        description="Services that the console's health page and the operators' alerts ask, as `title=address` with "
        "commas between them; empty: `openspot up` names its own",
    )

    @property
    def watched(self) -> dict[str, str]:
        """The address of each watched service by its title. Raises ValueError for text of another shape."""
        found = {}
        for item in filter(None, (part.strip() for part in self.watched_services.split(","))):
            title, _, address = item.partition("=")
            if not title or not address.startswith(("http://", "https://")):
                raise ValueError(f"OPENSPOT_WATCHED_SERVICES: {item!r} is not title=address")
            found[title] = address.rstrip("/")
        return found


class OperatorSettings(Settings):
    """Where operators may come from, and from when on two of them count as two persons."""

    operator_networks: str = Field(
        default="",
        description="Addresses and networks (CIDR), with commas, that operators may call from; empty: any. It applies "
        "to the operators' routes of REST edge, custody and web server; the first two see the web server's own address "
        "unless it is one of `OPENSPOT_TRUSTED_PROXIES`",
    )

    operator_roles_wait_s: int = Field(
        default=259_200,
        ge=0,
        le=31_536_000,
        description="Seconds after an operator gave a role in which giver and receivers are not two persons of one "
        "decision at REST edge and custody; 0: they are at once",
    )

    @field_validator("operator_networks")
    @classmethod
    def _are_networks(cls, value: str) -> str:
        for text in _listed(value):
            read_network(text)
        return value

    @property
    def operator_roles_wait(self) -> timedelta:
        """How long giver and receiver of a role are not two persons of one decision."""
        return timedelta(seconds=self.operator_roles_wait_s)

    @property
    def operator_network_list(self) -> list[str]:
        """The networks that operators may call from; empty: any."""
        return _listed(self.operator_networks)


def _listed(value: str) -> list[str]:
    return [text.strip() for text in value.split(",") if text.strip()]
