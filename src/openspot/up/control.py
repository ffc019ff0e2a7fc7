"""The control socket of a running platform, as `openspot up` serves it (`kit/supervision.py` has what is said over it).

Whoever can enter the data directory can ask: commands of its owner, and the platform's own processes. Services that
share a process are stopped and started together.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from openspot.kit.supervision import (
    FILE_NAME,
    REPLY_BYTES_MAX,
    REQUEST_BYTES_MAX,
    ControlError,
    Reply,
    Request,
    short_path,
)

Control = Callable[[Request], Awaitable[Reply]]
"""Does what is asked. Raises ControlError."""
REQUEST_TIMEOUT_S = 10.0
"""Whoever connects and says nothing is let go after this."""


class ControlServer:
    """The socket in `folder`."""

    def __init__(self, folder: Path, control: Control) -> None:
        self._folder = folder
        self._control = control
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Begin to listen. Raises OSError."""
        (self._folder / FILE_NAME).unlink(missing_ok=True)
        with short_path(self._folder) as path:
            self._server = await asyncio.start_unix_server(self._serve, path, limit=REQUEST_BYTES_MAX)

    async def stop(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            (self._folder / FILE_NAME).unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                line = await reader.readline()
            reply = msgspec.json.encode(await self._outcome(line))
            if len(reply) >= REPLY_BYTES_MAX:
                reply = msgspec.json.encode(Reply(error="the reply would be too large: ask for less"))
            writer.write(reply + b"\n")
            await writer.drain()
        except (ConnectionError, ValueError, TimeoutError):
            # The command has ended, or sent a line beyond the bound, or none.
            return
        finally:
            writer.close()

    async def _outcome(self, line: bytes) -> Reply:
        try:
            request = msgspec.json.decode(line, type=Request)
        except msgspec.MsgspecError as error:
            return Reply(error=f"the request is not valid: {error}")
        try:
            return await self._control(request)
        except ControlError as error:
            return Reply(error=str(error), fault=error.fault)
