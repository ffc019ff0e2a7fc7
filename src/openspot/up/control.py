"""The control socket of a running platform: `openspot stop`, `start` and `restart` ask `openspot up` for one service.

The socket lies in the data directory, which only its owner can enter. A request is one line of JSON,
`{"action": "restart", "service": "ledger"}`; the reply is one line, `{"error": "", "services": ["ledger"]}` or the
reason why it was not done. Services that share a process are stopped and started together.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

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


Control = Callable[[Action, str], Awaitable[Sequence[str]]]
"""Carries out an action for the service of that name, and returns whom it concerned. Raises ControlError."""


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
            reply = await self._outcome(await reader.readline())
            writer.write(json.dumps(reply).encode() + b"\n")
            await writer.drain()
        except (ConnectionError, ValueError):
            # The command has ended, or sent a line beyond the bound.
            return
        finally:
            writer.close()

    async def _outcome(self, line: bytes) -> dict[str, Any]:
        """The reply: what went wrong, empty if nothing did, and the services that it concerned."""
        try:
            request = json.loads(line)
            action, service = Action(request["action"]), str(request["service"])
        except (ValueError, KeyError, TypeError):
            return {"error": "the request is not valid"}
        try:
            return {"error": "", "services": list(await self._control(action, service))}
        except ControlError as error:
            return {"error": str(error)}


async def ask(folder: Path, action: Action, service: str) -> list[str]:
    """Ask the platform whose data is in `folder`. Returns the names of the services that it did it to.

    Raises ControlError.
    """
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
        answer = json.loads(reply)
        error: str = answer["error"]
    except TimeoutError as failure:
        raise ControlError(
            f"the platform has not done it within {TIMEOUT_S:.0f} s; `openspot status` shows it"
        ) from failure
    except (OSError, ValueError, KeyError) as failure:
        raise ControlError("the platform does not respond") from failure
    if error:
        raise ControlError(error)
    concerned: list[str] = answer["services"]
    return concerned


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
