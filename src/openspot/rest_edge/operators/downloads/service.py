"""Keeps links to exports, so that nobody but the holder of a link can use one.

A link has a ticket of 256 random bits, and the database its hash. What the ticket is for, with the access token of
whoever asked, is sealed with a key that is made of the ticket. So neither the database nor a backup of it opens
anything, and the link is no more than the token: the export asks for session, roles and permission again.
"""

import hashlib
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from openspot.http.errors import HttpError
from openspot.kit.database import Pool

LIFE = timedelta(seconds=60)
TICKET_BYTES = 32
_NONCE = bytes(12)
"""A key seals one content alone, so its nonce need not differ from another's."""


class Download(msgspec.Struct, frozen=True):
    """What a link is for: path and query of the export, who asks for it, and the name of the file."""

    path: str
    query: str
    authorization: bytes
    name: str


class DownloadLinks:
    """Makes links and takes them, each once."""

    def __init__(self, pool: Pool, now: Callable[[], datetime]) -> None:
        self._pool = pool
        self._now = now

    async def make(self, download: Download) -> tuple[str, datetime]:
        """A ticket for the download, and when it expires."""
        ticket = secrets.token_urlsafe(TICKET_BYTES)
        expires_at = self._now() + LIFE
        sealed = AESGCM(_derived(ticket, b"key")).encrypt(_NONCE, msgspec.msgpack.encode(download), None)
        await self._pool.execute(
            "INSERT INTO download_links (link_hash, sealed, expires_at) VALUES ($1, $2, $3)",
            _derived(ticket, b"name"),
            sealed,
            expires_at,
        )
        return ticket, expires_at

    async def take(self, ticket: str) -> Download:
        """What a ticket is for. From then on it is for nothing. 404 for one that is unknown, used or expired."""
        row = await self._pool.fetchrow(
            "DELETE FROM download_links WHERE link_hash = $1 RETURNING sealed, expires_at", _derived(ticket, b"name")
        )
        if row is None or row["expires_at"] <= self._now():
            raise no_link()
        content = AESGCM(_derived(ticket, b"key")).decrypt(_NONCE, row["sealed"], None)
        return msgspec.msgpack.decode(content, type=Download)

    async def delete_expired(self) -> None:
        """Delete what nobody has used in time."""
        await self._pool.execute("DELETE FROM download_links WHERE expires_at <= $1", self._now())


def no_link() -> HttpError:
    """The refusal of a link."""
    return HttpError(404, "the link is unknown, was used or has expired: save the file again", "DOWNLOAD_LINK_UNKNOWN")


def _derived(ticket: str, use: bytes) -> bytes:
    return hashlib.sha256(b"openspot download " + use + b" " + ticket.encode()).digest()
