"""Passwords: their argon2id hashes, computed in a bounded number of threads."""

import asyncio
import secrets
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import argon2

_HASHER = argon2.PasswordHasher()

Outcome = TypeVar("Outcome")


class Passwords:
    """Hashes and checks passwords off the event loop, so that no login slows an order down.

    At most `waiting_max` calls wait or run at a time. One more raises the exception that `overloaded` returns.
    """

    def __init__(self, threads: int, waiting_max: int, overloaded: Callable[[], Exception]) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="passwords")
        self._waiting = 0
        self._waiting_max = waiting_max
        self._overloaded = overloaded
        # `matches` checks against this hash if there is none, so that an unknown name takes as long as a known one.
        self._nobodys = _hash_of_no_password()

    async def hash(self, password: str) -> str:
        """Return the hash of `password`. The text includes parameters and salt."""
        return await self._run(_HASHER.hash, password)

    async def matches(self, password: str, password_hash: str | None) -> bool:
        """Whether `password` has this hash. Without a hash it takes as long, and returns False."""
        right = await self._run(_verify, password_hash or self._nobodys, password)
        return right and bool(password_hash)

    def is_outdated(self, password_hash: str) -> bool:
        """Whether the hash was made with other parameters than today's."""
        return _HASHER.check_needs_rehash(password_hash)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, function: Callable[..., Outcome], *arguments: str) -> Outcome:
        if self._waiting >= self._waiting_max:
            raise self._overloaded()
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
        finally:
            self._waiting -= 1


def _hash_of_no_password() -> str:
    """A random hash with today's parameters. Computing one from a password would delay every start."""
    costs = f"m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    salt, digest = (
        b64encode(secrets.token_bytes(length)).decode().rstrip("=") for length in (_HASHER.salt_len, _HASHER.hash_len)
    )
    return f"$argon2id$v={argon2.low_level.ARGON2_VERSION}${costs}${salt}${digest}"


def _verify(password_hash: str, password: str) -> bool:
    try:
        return _HASHER.verify(password_hash, password)
    except argon2.exceptions.VerificationError:
        return False
