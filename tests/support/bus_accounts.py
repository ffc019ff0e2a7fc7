"""A bus for each test without a server for each: one NATS server, an account of it for a test.

Accounts share nothing: neither subjects nor streams. No two tests get the same one.
"""

from pathlib import Path

from openspot.up.embedded_nats import HOST, EmbeddedNats
from openspot.up.nats_configuration import NatsConfiguration
from tests.support.ports import free_port

ACCOUNTS = 100
"""How many tests share a server, before a new one replaces it: streams of tests that ended cost it memory."""
PASSWORD = "test"


class BusAccounts:
    """Accounts of a running server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: EmbeddedNats | None = None
        self._servers = 0
        self._used = 0

    def next_url(self) -> str:
        """The address of an account that no test has used."""
        if self._server is None or self._used == ACCOUNTS:
            self.stop()
            self._server = self._started()
        self._used += 1
        return f"nats://{_user(self._used)}:{PASSWORD}@{HOST}:{self._server.port}"

    def stop(self) -> None:
        """Stop the server, if one runs."""
        if self._server is not None:
            self._server.stop()
            self._server = None

    def _started(self) -> EmbeddedNats:
        self._used = 0
        self._servers += 1
        accounts = {
            f"T{number}": {"jetstream": "enabled", "users": [{"user": _user(number), "password": PASSWORD}]}
            for number in range(1, ACCOUNTS + 1)
        }
        configuration = NatsConfiguration(is_synced=False, further={"accounts": accounts})
        server = EmbeddedNats(
            self._folder / f"bus-{self._servers}", free_port(lasting=True), configuration=configuration
        )
        server.start()
        return server


def _user(number: int) -> str:
    return f"test{number}"
