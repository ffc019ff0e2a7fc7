"""Settings of the subscription service."""

from urllib.parse import quote, urlsplit

from pydantic import Field

from openspot.engine_client.settings import EngineConnectionSettings
from openspot.http.edge_settings import PageOriginSettings
from openspot.kit.settings import DatabaseAddress, Port, UserTokenSettings, address_for_clients, own_host

_SUFFIX = "_subscriptions"


class SubscriptionSettings(EngineConnectionSettings, UserTokenSettings, PageOriginSettings):
    """The settings of the subscription service."""

    subscriptions_host: str = own_host("subscription service")
    subscriptions_port: Port = Field(default=3060, description="Subscription service")
    subscriptions_database_url: DatabaseAddress = Field(
        default="",
        description="PostgreSQL address of the subscription service's own database; empty: the database `<name>"
        f"{_SUFFIX}` on the server of `DATABASE_URL`, which `openspot up` creates",
    )
    subscriptions_plans_file: str = Field(default="", description="Plans (TOML); empty: those of the package")
    subscriptions_throttle_enabled: bool = Field(default=True, description="Throttle the subscription service")
    subscriptions_poll_interval_s: float = Field(
        default=60.0, gt=0, le=3600, description="Seconds between two searches for due renewals and expiries"
    )

    @property
    def subscriptions_url(self) -> str:
        """Address of the service, without the prefix."""
        return f"http://{address_for_clients(self.subscriptions_host or self.host, self.subscriptions_port)}"

    @property
    def subscriptions_database(self) -> str:
        """Address of the service's database; empty if no database is known."""
        if self.subscriptions_database_url or not self.database_url:
            return self.subscriptions_database_url
        address = urlsplit(self.database_url)
        # PostgreSQL names a database after the user if the address names none.
        name = address.path.removeprefix("/") or quote(address.username or "openspot", safe="")
        return address._replace(path=f"/{name}{_SUFFIX}").geturl()
