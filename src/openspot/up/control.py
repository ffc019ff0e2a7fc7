"""The control socket of a running platform: `openspot stop`, `start` and `restart` ask `openspot up` for one service.

The socket lies in the data directory, which only its owner can enter. A request is one line of JSON,
`{"action": "restart", "service": "ledger"}`; the reply is one line, `{"error": ""}` or the reason why it was not done.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

FILE_NAME = "control.sock"
LINE_BYTES_MAX = 1024
TIMEOUT_S = 120.0
"""A service that is restarted may replay a long journal before it is ready."""


class ControlError(Exception):
    """The platform did not do what was asked; the message says why."""


class Action(StrEnum):
    """What can be asked for a service."""

    STOP = "stop"
    """End it, and do not start it again before START."""
    START = "start"
    """Start it after STOP, and wait until it is ready."""
    RESTART = "restart"
    """End it and start it again, and wait until it is ready."""


Control = Callable[[Action, str], Awaitable[None]]
"""Carries out an action for the service of that name. Raises ControlError."""


class ControlServer:
    """The socket in `folder`, as `openspot up` serves it."""

    def __init__(self, folder: Path, control: Control) -> None:
        self._folder = folder
        self._control = control
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Begin to listen. Raises OSError."""
        (self._folder / FILE_NAME).unlink(missing_ok=True)
        with _short_path(self._folder) as path:
            self._server = await asyncio.start_unix_server(self._serve, path, limit=LINE_BYTES_MAX)

    async def stop(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            (self._folder / FILE_NAME).unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            reply = {"error": await self._outcome(await reader.readline())}
            writer.write(json.dumps(reply).encode() + b"\n")
            await writer.drain()
        except (ConnectionError, ValueError):
            # The command has ended, or sent a line beyond the bound.
            return
        finally:
            writer.close()

    async def _outcome(self, line: bytes) -> str:
        """What went wrong, empty if nothing did."""
        try:
            request = json.loads(line)
            action, service = Action(request["action"]), str(request["service"])
        except (ValueError, KeyError, TypeError):
            return "the request is not valid"
        try:
            await self._control(action, service)
        except ControlError as error:
            return str(error)
        return ""


async def ask(folder: Path, action: Action, service: str) -> None:
    """Ask the platform whose data is in `folder`. Raises ControlError."""
    request = json.dumps({"action": action.value, "service": service}).encode() + b"\n"
    try:
        async with asyncio.timeout(TIMEOUT_S):
            with _short_path(folder) as path:
                reader, writer = await asyncio.open_unix_connection(path, limit=LINE_BYTES_MAX)
            try:
                writer.write(request)
                reply = await reader.readline()
            finally:
                writer.close()
        error: str = json.loads(reply)["error"]
    except TimeoutError as failure:
        raise ControlError(
            f"the platform has not done it within {TIMEOUT_S:.0f} s; `openspot status` shows it"
        ) from failure
    except (OSError, ValueError, KeyError) as failure:
        raise ControlError("the platform does not respond") from failure
    if error:
        raise ControlError(error)


@contextmanager
def _short_path(folder: Path) -> Iterator[str]:
    """A path of the socket that is short enough for the system: an address has at most 107 bytes."""
    path = str(folder / FILE_NAME)
    if len(os.fsencode(path)) < 100 or sys.platform != "linux":
        yield path
        return
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{FILE_NAME}"
    finally:
        os.close(descriptor)
