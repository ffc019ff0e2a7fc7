"""Two ways to start a child of `openspot up`: as a fork of the fork server, or as a program of its own."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks
from openspot.up import fork_server

log = get_logger("supervisor")

RENEWED_S = 5.0
"""A fork server that has ended is started again at most once in this time."""


class Launched(Protocol):
    """A child that was started."""

    @property
    def pid(self) -> int:
        """The process id of the child."""

    @property
    def returncode(self) -> int | None:
        """Its exit code, once it has ended and `wait` has returned."""

    async def wait(self) -> int:
        """Wait until it ends; returns its exit code, negative for a signal."""

    def terminate(self) -> None:
        """Send SIGTERM. Raises ProcessLookupError if it has ended."""

    def kill(self) -> None:
        """Send SIGKILL. Raises ProcessLookupError if it has ended."""


class Launcher(Protocol):
    """Starts children."""

    async def launch(self, services: Sequence[str], environment: Mapping[str, str], output: Path) -> Launched:
        """Start one process with the services and this environment. It appends its output to `output`.

        Its stdin closes when this process ends.
        """

    async def close(self) -> None:
        """End what the launcher itself runs."""


class ProgramLauncher:
    """Starts each child as a program of its own, anywhere."""

    @classmethod
    async def start(cls, output: Path) -> "ProgramLauncher":
        """Return a launcher. Nothing has to be started, so `output` is not used."""
        del output
        return cls()

    async def launch(self, services: Sequence[str], environment: Mapping[str, str], output: Path) -> Launched:
        """See Launcher."""
        with output.open("ab") as file:
            return await asyncio.create_subprocess_exec(
                sys.executable, "-m", "openspot.cli", "run", *services,
                stdin=asyncio.subprocess.PIPE, stdout=file, stderr=file, env=environment, start_new_session=True,
            )  # fmt: skip

    async def close(self) -> None:
        """Do nothing: nothing runs beside the children."""


class ForkServerError(Exception):
    """The fork server has ended, or does not take the request."""


class RequestTooLargeError(ForkServerError):
    """The environment of the child does not fit into a message. The fork server goes on."""


class ForkServer:
    """One process of the fork server, as its client sees it."""

    def __init__(self, connection: socket.socket, process: asyncio.subprocess.Process) -> None:
        self._connection = connection
        self.process = process
        self._lock = asyncio.Lock()

    @classmethod
    async def start(cls, output: Path) -> "ForkServer":
        """Start a server, which begins to import. It appends its output to `output`. Raises OSError."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        with theirs, output.open("ab") as file:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", fork_server.__name__, str(theirs.fileno()),
                stdin=asyncio.subprocess.DEVNULL, stdout=file, stderr=file, pass_fds=(theirs.fileno(),),
                env=os.environ | {"PYTHONUNBUFFERED": "1"}, start_new_session=True,
            )  # fmt: skip
        return cls(ours, process)

    async def fork(self, services: Sequence[str], environment: Mapping[str, str], output: Path) -> "ForkedChild":
        """Start a child. Raises ForkServerError, RequestTooLargeError, OSError."""
        stdin, lifeline = os.pipe()
        try:
            with output.open("ab") as file:
                request = {"run": list(services), "environment": dict(environment)}
                reply = await self._ask(request, [stdin, file.fileno()])
            return ForkedChild(reply["pid"], lifeline, self)
        except BaseException:
            os.close(lifeline)
            raise
        finally:
            os.close(stdin)

    async def exit_code(self, pid: int) -> int:
        """The exit code of a child that has ended."""
        try:
            code: int = (await self._ask({"reap": pid}))["code"]
        except ForkServerError:
            return UNKNOWN_CODE
        return code

    async def _ask(self, message: dict[str, Any], descriptors: list[int] | None = None) -> dict[str, Any]:
        data = json.dumps(message).encode()
        if len(data) > fork_server.MESSAGE_BYTES_MAX:
            raise RequestTooLargeError(f"an environment of {len(data)} bytes is too large for a message")
        async with self._lock:
            try:
                socket.send_fds(self._connection, [data], descriptors or [])
                reply = await asyncio.get_running_loop().sock_recv(self._connection, fork_server.MESSAGE_BYTES_MAX)
            except OSError as error:
                raise ForkServerError(f"the fork server does not answer: {error}") from error
        if not reply:
            raise ForkServerError("the fork server has ended")
        found: dict[str, Any] = json.loads(reply)
        return found

    async def close(self) -> None:
        """End it. Its children go on."""
        self._connection.close()
        await self.process.wait()


class ForkedChild:
    """A fork of the fork server."""

    def __init__(self, pid: int, lifeline: int, server: ForkServer) -> None:
        """`lifeline` is the writing end of its stdin."""
        self.pid = pid
        self.returncode: int | None = None
        self._lifeline = lifeline
        self._server = server
        self._process = os.pidfd_open(pid)
        self._end = asyncio.create_task(self._await_end())

    async def _await_end(self) -> int:
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_reader(self._process, ended.set)
        try:
            await ended.wait()
            self.returncode = await self._server.exit_code(self.pid)
        finally:
            loop.remove_reader(self._process)
            os.close(self._process)
            os.close(self._lifeline)
        return self.returncode

    async def wait(self) -> int:
        """See Launched."""
        return await asyncio.shield(self._end)

    def terminate(self) -> None:
        """See Launched."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """See Launched."""
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self._end.done():
            raise ProcessLookupError(self.pid)
        signal.pidfd_send_signal(self._process, number)


UNKNOWN_CODE = -signal.SIGKILL
"""Stands for the exit code of a child whose fork server has been killed: only that server learns the true one."""


class ForkLauncher:
    """Starts each child as a fork of the fork server.

    When that server has ended, it is started again, at most every RENEWED_S. Until it is there, children start as
    programs of their own.
    """

    def __init__(self, server: ForkServer, output: Path) -> None:
        self._server: ForkServer | None = server
        self._output = output
        self._programs = ProgramLauncher()
        self._renewal: asyncio.Task[None] | None = None
        self._renewed_at = asyncio.get_running_loop().time()

    @classmethod
    async def start(cls, output: Path) -> "ForkLauncher":
        """Start the fork server, which begins to import. It appends its output to `output`. Raises OSError."""
        return cls(await ForkServer.start(output), output)

    @property
    def server_pid(self) -> int | None:
        """The process id of the fork server; None while there is none."""
        return None if self._server is None else self._server.process.pid

    async def launch(self, services: Sequence[str], environment: Mapping[str, str], output: Path) -> Launched:
        """See Launcher."""
        server = self._server
        if server is not None:
            # Finish the exchange even if this call is cancelled: otherwise the next one would read its reply.
            forking = asyncio.create_task(server.fork(services, environment, output))
            try:
                return await asyncio.shield(forking)
            except asyncio.CancelledError:
                forking.add_done_callback(_discard)
                raise
            except ForkServerError as error:
                log.error("the child starts as a program of its own", child="+".join(services), error=str(error))
                if not isinstance(error, RequestTooLargeError):
                    self._renew(server)
        return await self._programs.launch(services, environment, output)

    def _renew(self, failed: ForkServer) -> None:
        if self._server is failed:
            self._server = None
            self._renewal = asyncio.create_task(self._start_again(failed))

    async def _start_again(self, failed: ForkServer) -> None:
        loop = asyncio.get_running_loop()
        await failed.close()
        while self._server is None:
            await asyncio.sleep(max(0.0, self._renewed_at + RENEWED_S - loop.time()))
            self._renewed_at = loop.time()
            try:
                self._server = await ForkServer.start(self._output)
            except OSError as error:
                log.error("the fork server does not start", error=str(error))
        log.info("the fork server was started again", pid=self.server_pid)

    async def close(self) -> None:
        """End the fork server. Its children go on."""
        if self._renewal is not None:
            await end_tasks(self._renewal)
        if self._server is not None:
            await self._server.close()


def _discard(forking: asyncio.Task[ForkedChild]) -> None:
    if not forking.cancelled() and forking.exception() is None:
        with contextlib.suppress(ProcessLookupError):
            forking.result().kill()


async def best_launcher(output: Path) -> Launcher:
    """The launcher for this machine. The fork server needs Linux: elsewhere a fork without exec is unsafe."""
    if sys.platform == "linux" and hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            return await ForkLauncher.start(output)
    return await ProgramLauncher.start(output)
