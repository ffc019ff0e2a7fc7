"""The embedded bus as `openspot up` configures and prepares it, without the platform."""

import asyncio
import threading
from pathlib import Path

from openspot.kit.settings import Settings
from openspot.up.bus_keeper import BusKeeper
from openspot.up.bus_users import API_PREFIX, KEEPER, bus_accounts, new_passwords, url_of
from openspot.up.embedded_nats import EmbeddedNats
from openspot.up.nats_configuration import NatsConfiguration
from openspot.up.services import PlatformSettings
from tests.support.ports import free_port


class EmbeddedBus:
    """A server with the accounts and users of the platform."""

    def __init__(self, folder: Path) -> None:
        self.passwords = new_passwords({})
        configuration = NatsConfiguration(accounts=bus_accounts(self.passwords))
        self.server = EmbeddedNats(folder, free_port(), configuration=configuration)

    def start(self) -> None:
        """Start it and make streams, consumers and buckets, as `openspot up` does."""
        self.server.start()
        self._in_own_loop(self.prepare())

    async def prepare(self) -> None:
        """Make streams, consumers and buckets once."""
        keeper = self.keeper()
        try:
            await keeper.open()
        finally:
            await keeper.close()

    def keeper(self, folder: Path | None = None) -> BusKeeper:
        """The keeper of this bus. It remembers what it has made in `folder`, if one is given."""
        return BusKeeper(PlatformSettings(nats_url=self.url(KEEPER), nats_synced=True, follow_fills=True), folder)

    def stop(self) -> None:
        """Stop it."""
        self.server.stop()

    def url(self, user: str) -> str:
        """The address with the credentials of a user."""
        return url_of(self.server.url, user, self.passwords[user])

    def settings(self, user: str) -> Settings:
        """What `openspot up` gives a process of this user."""
        return Settings(nats_url=self.url(user), nats_synced=True, nats_api_prefix=API_PREFIX)

    def _in_own_loop(self, work: object) -> None:
        # A fixture of a module may run while the loop of a test does.
        thread = threading.Thread(target=lambda: asyncio.run(work))  # type: ignore[arg-type]
        thread.start()
        thread.join()
