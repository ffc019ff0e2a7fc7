"""Receives files of FIFO transactions, each wholly before its import begins, within bounds.

A file that arrives slowly takes no place of an import: somebody could hold all of them with a byte now and then.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import IO

from openspot.http.errors import HttpError, service_unavailable

IN_MEMORY_BYTES = 1_048_576
"""Files and reports up to this size do not go to disk."""
BODY_PAUSE_S_MAX = 30.0
BODY_S_MAX = 1_800.0
FILES_MAX = 100
"""So many files are received, or wait for their import, at a time."""
FULL_FILES_MAX = 4
"""So many of the largest files are held at a time, or more of smaller ones."""


class Receipts:
    """The files that this process receives or imports: one a user, and all together within bounds."""

    def __init__(self, bytes_max: int) -> None:
        """A file has at most `bytes_max` bytes."""
        self._bytes_max = bytes_max
        self._held = 0
        self._users: set[str] = set()

    @asynccontextmanager
    async def received(self, user_id: str, pieces: AsyncIterator[bytes]) -> AsyncIterator[IO[bytes]]:
        """The whole body of a request as a file, which is deleted when the block ends.

        Raises HttpError: 409 if the block of another file of this user has not ended, 503 if too many files or bytes
        are held, and what `receive` raises.
        """
        if user_id in self._users:
            raise HttpError(409, "an import of this user is running: wait for its answer", "IMPORT_IN_PROGRESS")
        if len(self._users) >= FILES_MAX:
            raise _too_many()
        size = 0

        def count(piece: bytes) -> None:
            nonlocal size
            if self._held + len(piece) > FULL_FILES_MAX * self._bytes_max:
                raise _too_many()
            self._held += len(piece)
            size += len(piece)

        self._users.add(user_id)
        try:
            with temporary_file() as file:
                await receive(pieces, file, self._bytes_max, count)
                yield file
        finally:
            self._held -= size
            self._users.discard(user_id)


def temporary_file() -> IO[bytes]:
    """A file that is deleted when it is closed. A small file stays in memory."""
    return tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES, prefix="openspot-import-")


async def receive(
    pieces: AsyncIterator[bytes], file: IO[bytes], bytes_max: int, count: Callable[[bytes], None]
) -> None:
    """Write a request's body to `file`. `count` is called before each piece is written, and may raise.

    Raises HttpError: 413 if the body has more than `bytes_max` bytes, 408 if no byte arrives for BODY_PAUSE_S_MAX or
    the body is not complete within BODY_S_MAX, 400 if it is empty.
    """
    size = 0
    loop = asyncio.get_running_loop()
    end = loop.time() + BODY_S_MAX
    while True:
        try:
            async with asyncio.timeout_at(min(end, loop.time() + BODY_PAUSE_S_MAX)):
                piece = await anext(pieces, None)
        except TimeoutError as error:
            headers = {"Connection": "close"}
            raise HttpError(408, "the body did not arrive in time", "BODY_TIMEOUT", headers=headers) from error
        if piece is None:
            break
        size += len(piece)
        if size > bytes_max:
            headers = {"Connection": "close"}
            raise HttpError(413, f"the file must be at most {bytes_max} bytes long", headers=headers)
        count(piece)
        await asyncio.to_thread(file.write, piece)
    if not size:
        raise HttpError(400, "the body is empty: it must be a file of transactions", "EMPTY_FILE")
    file.seek(0)


def _too_many() -> HttpError:
    return service_unavailable("too many files are being received", "TOO_MANY_IMPORTS")
