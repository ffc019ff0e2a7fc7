"""Starts child processes, restarts those that die, and stops them in order."""

import asyncio
import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path

from openspot.kit.log import get_logger
from openspot.kit.process_ends import LINE_LENGTH_MAX, LINES_MAX, ProcessEnd, cause_of, note_end
from openspot.kit.service import SUPERVISED
from openspot.kit.settings import Settings, host_for_clients
from openspot.kit.settings import environment_of as variables_of
from openspot.up.last_fault import last_fault
from openspot.up.launch import Launched, Launcher
from openspot.up.log_lines import last_lines
from openspot.up.one_process import process_name
from openspot.up.redaction import Redactor
from openspot.up.services import (
    DESCRIPTOR_OF,
    ORIGIN_SETTINGS,
    SERVICES,
    TOLD,
    own_bus_variable,
    page_origins,
)

log = get_logger("supervisor")

RESTART_PAUSE_S_MIN = 0.25
RESTART_PAUSE_S_MAX = 10.0
STEADY_S = 30.0
"""The pause before a restart grows with each restart. After a child has run this long, it is short again."""
STOP_TIMEOUT_S = 15.0
RESTARTS_BEFORE_READY_MAX = 2
"""If a child ends more often than this before it is ready, the start fails."""


class ChildFailedError(Exception):
    """A child ended several times before it was ready."""


def environment_of(settings: Mapping[str, Settings]) -> dict[str, str]:
    """The environment that gives a child exactly these settings, by service.

    Services that share a process have the same ones, but for the user of the bus.
    """
    variables: dict[str, str] = {}
    for service, given in settings.items():
        variables |= variables_of(given)
        if len(settings) > 1:
            variables[own_bus_variable(service)] = given.nats_url
    return os.environ | variables | {SUPERVISED: "1", "PYTHONUNBUFFERED": "1"}


def child_settings(name: str, settings: Settings, bus_urls: Mapping[str, str]) -> Settings:
    """The settings of one process: those of its own class, with its own user of the embedded bus (if there is one)."""
    given = settings.model_dump()
    if name in bus_urls:
        given["nats_url"] = bus_urls[name]
    kind = DESCRIPTOR_OF[name].settings
    for field, find in TOLD.items():
        if field in kind.model_fields and not given[field]:
            given[field] = find(settings)
    for field in ORIGIN_SETTINGS:
        if field in kind.model_fields and field not in settings.model_fields_set:
            given[field] = page_origins(settings)
    if "simulated_deposits" in kind.model_fields and given["simulated_deposits"] is None:
        given["simulated_deposits"] = bool(bus_urls)
    return kind.model_validate(given)


async def is_ready(host: str, port: int, timeout_s: float, path: str = "/ready") -> bool:
    """Whether `GET` of the path returns 200 within `timeout_s`, from a process that listens on that address."""
    host = host_for_clients(host)
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
                status_line = await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False
    return b" 200 " in status_line


class Child:
    """A child process with one service, or with several that share it. It is restarted whenever it ends, until `stop`.

    `settings` holds the settings of each service by its name, in the order of SHARING. `redactor` hides secrets in what
    is kept of the log.
    """

    def __init__(
        self,
        settings: Mapping[str, Settings],
        log_path: Path,
        launcher: Launcher,
        redactor: Redactor | None = None,
    ) -> None:
        self.services = tuple(SERVICES[name] for name in settings)
        self.names = tuple(settings)
        self.name = process_name(self.names)
        self.title = " and ".join(service.title for service in self.services)
        self.restarts = 0
        """How often it ended by itself since it was started."""
        self.starts = 0
        """How often its process was started, asked for or not."""
        self._settings = settings
        self._redactor = redactor or Redactor()
        self._log_path = log_path
        self._launcher = launcher
        self._process: Launched | None = None
        self._stopping = False
        self._watch: asyncio.Task[None] | None = None

    @property
    def after(self) -> set[str]:
        """The services that are ready before this child starts."""
        return {name for service in self.services for name in service.after} - {*self.names}

    @property
    def uses(self) -> set[str]:
        """The services that stop after this child."""
        return {name for service in self.services for name in service.uses} - {*self.names}

    @property
    def pid(self) -> int | None:
        """Process id of the running child."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    @property
    def is_stopped(self) -> bool:
        """Whether somebody has stopped it, and nobody started it since."""
        return self._stopping

    async def start(self, *, is_persistent: bool = False) -> None:
        """Start it, and restart it from now on. After `stop` this starts it anew.

        Raises OSError if it cannot be started, on a full disk for example; if `is_persistent`, that is tried again.
        """
        self._stopping = False
        self.restarts = 0
        try:
            await self._spawn()
        except OSError as error:
            if not is_persistent:
                self._stopping = True
                raise
            log.error("child not started, trying again", child=self.name, error=str(error))
        self._watch = asyncio.create_task(self._keep_alive())

    async def _spawn(self) -> None:
        environment = environment_of(self._settings)
        self._process = await self._launcher.launch(self.names, environment, self._log_path)
        self.starts += 1

    async def _keep_alive(self) -> None:
        pause_s = RESTART_PAUSE_S_MIN
        loop = asyncio.get_running_loop()
        if self.pid is None:
            await self._spawn_at_last()
        while True:
            assert self._process is not None
            began = loop.time()
            code = await self._process.wait()
            if self._stopping:
                return
            self.restarts += 1
            pause_s = RESTART_PAUSE_S_MIN if loop.time() - began > STEADY_S else min(pause_s * 2, RESTART_PAUSE_S_MAX)
            log.error("child ended, starting it again", child=self.name, exit_code=code, pause_s=pause_s)
            await asyncio.to_thread(self._note_end, code)
            await asyncio.sleep(pause_s)
            await self._spawn_at_last()

    async def _spawn_at_last(self) -> None:
        while not self._stopping:
            try:
                await self._spawn()
                return
            except OSError as error:
                # For example, there is no space for the log.
                log.error("child not started, trying again", child=self.name, error=str(error))
                await asyncio.sleep(RESTART_PAUSE_S_MAX)

    def _note_end(self, code: int) -> None:
        """Keep the end for the health page and the alerts. A full disk keeps none."""
        with contextlib.suppress(OSError):
            self.note(cause_of(code, self._redactor(last_fault(self._log_path, {self.name, *self.names}))))

    def note(self, cause: str, *, is_asked: bool = False) -> None:
        """Keep an end of now, with the last lines of the log. Raises OSError."""
        end = ProcessEnd(
            process=self.name,
            title=self.title,
            at_ms=time.time_ns() // 1_000_000,
            cause=cause,
            is_asked=is_asked,
            lines=last_lines(self._log_path, self._redactor, {self.name, *self.names}, LINES_MAX, LINE_LENGTH_MAX),
        )
        note_end(self._settings[self.names[0]].data_dir, end)

    async def await_started(self) -> None:
        """Wait until each `started_path` returns 200. Raises ChildFailedError if the child keeps ending instead."""
        for service in self.services:
            settings = self._settings[service.name]
            host, port = service.listening_host(settings), service.ready_port(settings)
            while not await is_ready(host, port, settings.readiness_timeout_s, service.started_path):
                if self.restarts > RESTARTS_BEFORE_READY_MAX:
                    raise ChildFailedError(f"{self.title} ends again and again")
                await asyncio.sleep(0.05)

    async def stop(self) -> None:
        """End it with SIGTERM, and with SIGKILL after STOP_TIMEOUT_S for each of its services."""
        self._stopping = True
        process = self._process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            try:
                await asyncio.wait_for(process.wait(), STOP_TIMEOUT_S * len(self.services))
            except TimeoutError:
                log.error("child did not stop in time and is killed", child=self.name)
                process.kill()
                await process.wait()
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
