"""Receives uploads in memory, within bounds: no document is ever written to the disk in clear."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from openspot.http.context import BodyLimits, RequestContext
from openspot.http.errors import HttpError, service_unavailable

BODY_S_MAX = 120.0
"""A document is received completely within this time: 8 MB at half a megabit a second."""
BODY_PAUSE_S_MAX = 10.0
FULL_DOCUMENTS_MAX = 8
"""So many of the largest documents are held in memory at a time, or more of smaller ones."""


class Uploads:
    """The uploads under way in this process: one a user, and all together within a bound of bytes."""

    def __init__(self, bytes_max: int) -> None:
        """A document has at most `bytes_max` bytes."""
        self._limits = BodyLimits(bytes_max, BODY_S_MAX)
        self._held_max = FULL_DOCUMENTS_MAX * bytes_max
        self._held = 0
        self._users: set[str] = set()

    @asynccontextmanager
    async def received(self, user_id: str, context: RequestContext) -> AsyncIterator[bytes]:
        """The whole content of a request. Its place is free again when the block ends.

        Raises HttpError: 409 if another upload of this user is under way, 503 if too many bytes are held, and what
        `RequestContext.read_file` raises.
        """
        if user_id in self._users:
            raise HttpError(409, "another document of yours is being uploaded", "KYC_UPLOAD_IN_PROGRESS")
        content = bytearray()

        def keep(piece: bytes) -> None:
            if self._held + len(piece) > self._held_max:
                raise service_unavailable("too many documents are being uploaded", "KYC_UPLOADS_BUSY")
            self._held += len(piece)
            content.extend(piece)

        self._users.add(user_id)
        try:
            await context.read_file(self._limits, BODY_PAUSE_S_MAX, keep)
            yield bytes(content)
        finally:
            self._held -= len(content)
            self._users.discard(user_id)
