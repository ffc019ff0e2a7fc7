"""Settings of the WebSocket edge."""

from pydantic import Field

from openspot.http.api_keys.settings import ApiKeySettings
from openspot.http.edge_settings import WsAddressSettings
from openspot.kit.settings import OrderRulesSettings, UserTokenSettings


class WsEdgeSettings(UserTokenSettings, ApiKeySettings, OrderRulesSettings, WsAddressSettings):
    """Settings of the WebSocket edge."""

    ws_idle_s: float = Field(default=120.0, gt=0, description="Close a silent connection after this time")
    ws_message_bytes_max: int = Field(default=16_384, ge=128, description="Largest client message")
    ws_queue_max: int = Field(default=1024, ge=1, description="Messages waiting for one client")
    ws_queue_bytes_max: int = Field(default=4_194_304, ge=1, description="Bytes of messages waiting for one client")
    ws_channels_max: int = Field(default=256, ge=1, description="Market channels of one connection")
    ws_ping_s: float = Field(default=20.0, gt=0, description="Ping each client after this time")
    ws_drain_s: float = Field(
        default=2.0, ge=0, description="Time between the notice that the WebSocket edge stops and the close"
    )
    ws_connections_max: int = Field(default=10_000, ge=1, description="Connections at a time; beyond it 503")
    ws_connections_per_address: int = Field(
        default=1000, ge=1, description="… of which one address (IPv6: one /64) may hold"
    )
    ws_anonymous_share: float = Field(
        default=0.5, ge=0, le=1, description="… of which clients without a token may hold, as a share"
    )
    ws_handshakes_per_address: int = Field(
        default=100, ge=1, description="New connections of one address at once, and as many each second; beyond it 429"
    )
    ws_messages_max: int = Field(
        default=1000, ge=1, description="Messages, parts of messages, pings and pongs of one client in ten seconds"
    )
