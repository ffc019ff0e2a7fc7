"""Hands a closed message to a push service (RFC 8030)."""

import ssl
from dataclasses import dataclass
from typing import Protocol

import aiohttp
from aiohttp.abc import AbstractResolver

from openspot.rest_edge.push.endpoints import PublicResolver

TIMEOUT_S = 10.0
RETRY_AFTER_MAX_S = 3600.0
CONNECTIONS_MAX = 16


@dataclass(frozen=True, slots=True)
class PushReply:
    """What a push service replied. `retry_after_s` is None if it did not say when to come again."""

    status: int
    retry_after_s: float | None = None


class PushUnavailableError(Exception):
    """The push service could not be reached now."""


class PushTransport(Protocol):
    """Hands messages over."""

    async def send(self, endpoint: str, headers: dict[str, str], body: bytes) -> PushReply:
        """Hand a message over. Raises PushUnavailableError."""


class HttpPushTransport:
    """Sends by HTTPS. Redirects are not followed, and of a response only its status and one header are read."""

    def __init__(self, *, allows_private: bool, verifies_with: ssl.SSLContext | None = None) -> None:
        self._allows_private = allows_private
        self._ssl = verifies_with
        self._session: aiohttp.ClientSession | None = None

    async def send(self, endpoint: str, headers: dict[str, str], body: bytes) -> PushReply:
        """Hand a message over. Raises PushUnavailableError."""
        if self._session is None:
            self._session = self._connected()
        verified: ssl.SSLContext | bool = True if self._ssl is None else self._ssl
        try:
            async with self._session.post(
                endpoint, data=body, headers=headers, allow_redirects=False, ssl=verified
            ) as response:
                reply = PushReply(response.status, retry_after_s(response.headers.get("Retry-After", "")))
                # The rest may be endless: whoever named the endpoint decides what comes.
                response.close()
                return reply
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            raise PushUnavailableError(type(error).__name__) from error

    async def close(self) -> None:
        """End the connections."""
        if self._session is not None:
            await self._session.close()

    def _connected(self) -> aiohttp.ClientSession:
        resolver: AbstractResolver = aiohttp.ThreadedResolver()
        connector = aiohttp.TCPConnector(
            limit=CONNECTIONS_MAX, resolver=resolver if self._allows_private else PublicResolver(resolver)
        )
        return aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
        )


def retry_after_s(header: str) -> float | None:
    """The seconds of a header `Retry-After`, bounded. None for a date or anything else."""
    if not header.isascii() or not header.isdigit():
        return None
    return min(float(header[:9]), RETRY_AFTER_MAX_S)
