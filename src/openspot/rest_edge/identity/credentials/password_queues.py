"""The hashing of passwords: queues with threads of their own, so that no kind of request blocks another."""

import os

from openspot.http.errors import service_unavailable
from openspot.kit.passwords import Passwords

LOGIN_THREADS = max(1, (os.cpu_count() or 1) // 2)
"""At most half the cores, because the other half handles orders."""
_QUEUES = ((LOGIN_THREADS, 64), (1, 16), (1, 8))
"""(threads, requests that may wait) of logins, logins from known networks, and registrations."""


class PasswordQueues:
    """Hashes passwords. Each kind of request has a queue of its own.

    So a flood of registrations does not block logins, and a flood of logins from unknown networks does not block the
    owners of accounts.
    """

    def __init__(self, logins: Passwords, known_logins: Passwords, registrations: Passwords) -> None:
        self.logins = logins
        self.known_logins = known_logins
        self.registrations = registrations

    @classmethod
    def start(cls) -> "PasswordQueues":
        """Make queues and start their threads; `close` ends them."""
        return cls(*(Passwords(threads, waiting_max, _overloaded) for threads, waiting_max in _QUEUES))

    def close(self) -> None:
        """End the threads."""
        for queue in (self.logins, self.known_logins, self.registrations):
            queue.close()


def _overloaded() -> Exception:
    return service_unavailable("too many logins at a time", "OVERLOADED")
