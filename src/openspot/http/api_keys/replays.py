"""Used signatures. Each works only once while its timestamp is valid.

`MemoryReplays` remembers them in this process. `SharedReplays` remembers them in the store of the throttle, which
several processes share. Unlike the throttle it fails closed: while the store does not respond, every signed request is
refused.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from limits.errors import StorageError
from limits.storage import storage_from_string

from openspot.http.api_keys.signature import REPLAY_S
from openspot.http.errors import service_unavailable

REMEMBERED_MAX = 500_000


class Replays(Protocol):
    """Remembers signatures."""

    async def is_first(self, key_id: str, signature: bytes) -> bool:
        """Whether this is the signature's first use; it is remembered from now on. Raises HttpError (503)."""


class MemoryReplays:
    """Remembers in this process. `now` returns the seconds of a monotonic clock."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._known: set[bytes] = set()
        self._ages: deque[tuple[float, bytes]] = deque()

    def __len__(self) -> int:
        return len(self._known)

    async def is_first(self, key_id: str, signature: bytes) -> bool:
        """Whether this is the signature's first use. Raises HttpError (503) if too many are remembered."""
        now, ages = self._now(), self._ages
        while ages and ages[0][0] <= now:
            self._known.discard(ages.popleft()[1])
        name = key_id.encode() + signature
        if name in self._known:
            return False
        if len(ages) >= REMEMBERED_MAX:
            raise _unavailable()
        self._known.add(name)
        # At the very end of the window a timestamp is still valid, so the signature is remembered a second longer.
        ages.append((now + REPLAY_S + 1, name))
        return True


class SharedReplays:
    """Remembers in a store that several processes share."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    async def is_first(self, key_id: str, signature: bytes) -> bool:
        """Whether this is the signature's first use. Raises HttpError (503) while the store does not respond."""
        try:
            # The store counts atomically, so only the first use gets 1.
            uses: int = await self._storage.incr(f"api-signature/{key_id}/{signature.hex()}", REPLAY_S + 1)
        except StorageError as error:
            raise _unavailable() from error
        return uses == 1


def _unavailable() -> Exception:
    return service_unavailable("signatures cannot be checked now", "SIGNATURES_UNAVAILABLE")


def make_replays(address: str) -> Replays:
    """Return the memory of used signatures at `address`, the address of the throttle's store.

    Raises limits.errors.ConfigurationError for an unknown kind of address, or if its client is not installed.
    """
    if address.startswith("memory://"):
        return MemoryReplays()
    choice = {"implementation": "redispy"} if address.startswith("redis") else {}
    return SharedReplays(storage_from_string(f"async+{address}", wrap_exceptions=True, **choice))
