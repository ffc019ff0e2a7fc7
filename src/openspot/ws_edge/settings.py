"""Settings of the WebSocket edge."""

from pydantic import Field

from openspot.http.api_keys.settings import ApiKeySettings
from openspot.kit.settings import Port, UserTokenSettings, address_for_clients, own_host, own_url


class WsEdgeSettings(UserTokenSettings, ApiKeySettings):
    """What the WebSocket edge can be told."""

    ws_host: str = own_host("WebSocket edge")
    ws_port: Port = Field(default=3002, description="WebSocket edge")
    given_ws_url: str = own_url("ws_url", "URL of the WebSocket edge for its clients")
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
    def ws_url(self) -> str:
        """Address of the WebSocket edge."""
        address = address_for_clients(self.ws_host or self.host, self.ws_port)
        return self.given_ws_url.rstrip("/") or f"ws://{address}"
