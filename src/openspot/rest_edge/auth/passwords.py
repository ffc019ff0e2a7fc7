"""Passwords: argon2id, off the event loop, a bounded number at a time."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import argon2

from openspot.rest_edge.errors import service_unavailable

# OWASP's second recommendation for argon2id: 19 MiB, two passes, one lane.
_HASHER = argon2.PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
Result = TypeVar("Result")

# Half the cores at most: the other half answers orders.
_THREADS = max(1, (os.cpu_count() or 1) // 2)
_WAITING_MAX = 64


class Passwords:
    """Hashes and checks passwords in a few threads of its own, so that no login slows an order down."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="passwords")
        self._waiting = 0
        # Checked against where there is no user: an unknown address takes as long as a wrong password.
        self._nobody = _HASHER.hash("a password that nobody has")

    async def hash(self, password: str) -> str:
        """The hash of `password`, its parameters and salt within. Raises EdgeError (503) if too many wait."""
        return await self._run(_HASHER.hash, password)

    async def matches(self, password: str, password_hash: str | None) -> bool:
        """Whether `password` is the one that was hashed; without a hash never, after the same time.

        Raises EdgeError (503) if too many wait.
        """
        right = await self._run(_verify, password_hash or self._nobody, password)
        return right and password_hash is not None

    def is_outdated(self, password_hash: str) -> bool:
        """Whether the hash was made with other parameters than today's."""
        return _HASHER.check_needs_rehash(password_hash)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, function: Callable[..., Result], *arguments: str) -> Result:
        if self._waiting >= _WAITING_MAX:
            raise service_unavailable("too many logins at a time", "OVERLOADED")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
        finally:
            self._waiting -= 1


def _verify(password_hash: str, password: str) -> bool:
    try:
        return _HASHER.verify(password_hash, password)
    except argon2.exceptions.VerificationError:
        return False
