"""Settings that several HTTP services share: addresses of the edges and of custody, origins of pages, operators."""

from pydantic import Field, field_validator

from openspot.http.api_keys.networks import read_network
from openspot.kit.settings import Port, Settings, address_for_clients, own_host, own_url


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


class OperatorSettings(Settings):
    """Where operators may come from."""

    operator_networks: str = Field(
        default="",
        description="Addresses and networks (CIDR), with commas, that operators may call from; empty: any. It applies "
        "to the operators' routes of REST edge, custody and web server; the first two see the web server's own address "
        "unless it is one of `OPENSPOT_TRUSTED_PROXIES`",
    )

    @field_validator("operator_networks")
    @classmethod
    def _are_networks(cls, value: str) -> str:
        for text in _listed(value):
            read_network(text)
        return value

    @property
    def operator_network_list(self) -> list[str]:
        """The networks that operators may call from; empty: any."""
        return _listed(self.operator_networks)


def _listed(value: str) -> list[str]:
    return [text.strip() for text in value.split(",") if text.strip()]
