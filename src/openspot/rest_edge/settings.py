"""Settings of the REST edge."""

from typing import Annotated

from pydantic import Field

from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.settings import Generated, Port, UserTokenSettings, address_for_clients, own_host, own_url
from openspot.rest_edge.mail.settings import MailSettings


class RestEdgeSettings(EngineConnectionSettings, UserTokenSettings, MailSettings):
    """What the REST edge can be told."""

    rest_host: str = own_host("REST edge")
    rest_port: Port = Field(default=3001, description="REST edge")
    given_rest_url: str = own_url("rest_url", "URL of the REST edge for its clients, without the prefix")
    throttle_enabled: bool = Field(default=True, description="Throttle the REST edge")
    throttle_storage: str = Field(
        default="memory://",
        description="Where counts live: memory://, redis:// (extra redis), valkey:// (extra valkey)",
    )
    refresh_token_s: int = Field(default=2_592_000, ge=1, description="Life of a refresh token")
    body_bytes_max: int = Field(default=65_536, ge=1024, description="Largest request body")
    rest_requests_max: int = Field(default=4096, ge=1, description="Requests at a time; beyond it 503")
    audit_queue_max: int = Field(default=20_000, ge=1, description="Audit records waiting; beyond it requests wait")
    cors_origins: str = Field(default="", description="Origins, with commas, whose pages may call the REST edge")
    sealing_secret: Annotated[str, Generated(length_min=32)] = Field(
        default="",
        description="Encrypts TOTP secrets in the database; empty: generated into the data directory. Without it, "
        "users with MFA cannot log in with a TOTP code",
    )

    @property
    def rest_url(self) -> str:
        """Address of the REST edge, without the prefix."""
        address = address_for_clients(self.rest_host or self.host, self.rest_port)
        return self.given_rest_url.rstrip("/") or f"http://{address}"
