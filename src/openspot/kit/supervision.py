"""How commands and services ask `openspot up`, the supervisor, over the control socket in the data directory.

The socket lies in the data directory, which only its owner can enter. A request is one line of JSON, for example
`{"action": "restart", "service": "ledger"}`; the reply is one line: a `Reply`. A process whose data directory has no
socket, or one that nobody serves, is not supervised: under systemd or in a container of its own, for example.
"""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

import msgspec

FILE_NAME = "control.sock"
REQUEST_BYTES_MAX = 4096
REPLY_BYTES_MAX = 4 << 20
READ_TIMEOUT_S = 10.0
"""The supervisor looks at its processes, or reads a part of the log."""
CONTROL_TIMEOUT_S = 120.0
"""A service that is restarted may replay a long journal before it is ready."""
BY_LENGTH_MAX = 160


class Fault(StrEnum):
    """Why the platform did not do what was asked, for programs."""

    OTHER = ""
    UNKNOWN = "UNKNOWN"
    """No such process runs here."""
    FIXED = "FIXED"
    """The process is none that is restarted on request."""
    STOPPED = "STOPPED"
    """Somebody has stopped it on the machine."""
    BUSY = "BUSY"
    """A restart that was asked for is under way."""
    CHANGED = "CHANGED"
    """It was restarted since whoever asks has looked."""


class ControlError(Exception):
    """The platform did not do what was asked; the message says why, and `fault` says it to programs."""

    def __init__(self, message: str, fault: Fault = Fault.OTHER) -> None:
        super().__init__(message)
        self.fault = fault


class SupervisorSilentError(ControlError):
    """No supervisor of this data directory answers."""


class Action(StrEnum):
    """What can be asked."""

    STOP = "stop"
    """End a service, and do not start it again before START."""
    START = "start"
    """Start it after STOP, and wait until it is ready."""
    RESTART = "restart"
    """End it and start it again, and wait until it is ready."""
    BEGIN_RESTART = "begin_restart"
    """Begin to restart the process with the given id, and do not wait."""
    PROCESSES = "processes"
    """Say which processes there are."""
    LOGS = "logs"
    """Show lines of the log."""


class ProcessState(StrEnum):
    """What a process does."""

    RUNNING = "RUNNING"
    RESTARTING = "RESTARTING"
    """It has ended, or is being ended, and is started again."""
    STOPPED = "STOPPED"
    """`openspot stop` has ended it."""


class SupervisedProcess(msgspec.Struct, frozen=True, rename="camel"):
    """A process that `openspot up` runs. `services` are those in it: several may share one.

    `pid` is 0 while it does not run. `started_at_ms` is in milliseconds since 1970, 0 if it is not known. `restarts`
    counts since `openspot up` began, asked for or not. `is_asked` says that a restart which somebody asked for is under
    way. `fixed` says why nobody can restart it on request; empty if somebody can. `failure` says why the newest restart
    that was asked for failed; empty if it did not.
    """

    name: str
    title: str
    services: list[str]
    state: ProcessState
    pid: int
    started_at_ms: int
    restarts: int
    is_asked: bool = False
    fixed: str = ""
    failure: str = ""


class LogLine(msgspec.Struct, frozen=True, rename="camel"):
    """A line of the log. `at` is ISO 8601, empty if the line has no time. `service` is empty if it names nobody."""

    at: str
    service: str
    level: str
    text: str


class LogPage(msgspec.Struct, frozen=True, rename="camel"):
    """Lines of the log, oldest first. `cursor` asks for what comes after them.

    `is_cut` says that older lines, which would have fitted the request, are left out.
    """

    lines: list[LogLine] = []
    cursor: str = ""
    is_cut: bool = False


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is asked. `by` names the operator who asks, `pid` the process that was looked at.

    `level`, `after` (a cursor) and `limit` say which lines of the log.
    """

    action: Action
    service: str = ""
    pid: int = 0
    by: str = ""
    level: str = ""
    after: str = ""
    limit: int = 0


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of it. `error` is empty if it was done. `services` are those that it concerned."""

    error: str = ""
    fault: Fault = Fault.OTHER
    services: list[str] = []
    processes: list[SupervisedProcess] = []
    logs: LogPage | None = None


async def ask(folder: Path, request: Request, timeout_s: float = READ_TIMEOUT_S) -> Reply:
    """Ask the platform whose data is in `folder`. Raises ControlError; SupervisorSilentError if nobody answers."""
    try:
        async with asyncio.timeout(timeout_s):
            with short_path(folder) as path:
                reader, writer = await asyncio.open_unix_connection(path, limit=REPLY_BYTES_MAX)
            try:
                writer.write(msgspec.json.encode(request) + b"\n")
                reply = msgspec.json.decode(await reader.readline(), type=Reply)
            finally:
                writer.close()
    except TimeoutError as failure:
        raise ControlError(
            f"the platform has not done it within {timeout_s:.0f} s; `openspot status` shows it"
        ) from failure
    except (OSError, ValueError) as failure:
        raise SupervisorSilentError("the platform does not respond") from failure
    if reply.error:
        raise ControlError(reply.error, reply.fault)
    return reply


@contextmanager
def short_path(folder: Path) -> Iterator[str]:
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
