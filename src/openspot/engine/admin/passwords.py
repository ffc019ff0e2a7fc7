"""Passwords of participants: argon2id, in a thread of its own, a bounded number waiting."""

import asyncio
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import argon2

from openspot.engine.admin.errors import too_much

# OWASP's second recommendation for argon2id: 19 MiB, two passes, one lane.
_HASHER = argon2.PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_WAITING_MAX = 32

Result = TypeVar("Result")


class Passwords:
    """Hashes and checks passwords one at a time, so that logins leave the other cores to the engine."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "passwords")
        self._waiting = 0
        # Checked against where there is none: an unknown participant takes as long as a wrong password.
        self._nobodys = self._thread.submit(_HASHER.hash, secrets.token_hex())

    async def hash(self, password: str) -> str:
        """The hash of a password, its parameters and salt within. Raises AdminError if too many wait."""
        return await self._run(_HASHER.hash, password)

    async def matches(self, password: str, password_hash: str) -> bool:
        """Whether it is the password that was hashed; with an empty hash never, after the same time.

        Raises AdminError if too many wait.
        """
        right = await self._run(self._verify, password_hash, password)
        return right and password_hash != ""

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _verify(self, password_hash: str, password: str) -> bool:
        try:
            # The thread has made this hash before it does anything else.
            return _HASHER.verify(password_hash or self._nobodys.result(), password)
        except argon2.exceptions.VerificationError:
            return False

    async def _run(self, function: Callable[..., Result], *arguments: str) -> Result:
        if self._waiting >= _WAITING_MAX:
            raise too_much("too many logins at a time")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)
        finally:
            self._waiting -= 1
