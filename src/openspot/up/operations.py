"""What can be asked of a running platform: which processes it has, their log, and to stop, start or restart one.

Embedded NATS and PostgreSQL are shown, and restarted only when they end by themselves: every service waits for them, so
a restart on request would halt the platform and mend nothing that a restart of one service would not.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from openspot.kit.log import get_logger
from openspot.kit.supervision import (
    BY_LENGTH_MAX,
    Action,
    ControlError,
    Fault,
    ProcessState,
    Reply,
    Request,
    SupervisedProcess,
)
from openspot.kit.tasks import end_tasks
from openspot.up.embedded_nats import EmbeddedNats
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.last_fault import last_fault
from openspot.up.log_lines import LEVELS, LogCursorError, read_page
from openspot.up.redaction import Redactor
from openspot.up.supervisor import Child, ChildFailedError

log = get_logger("up")

Server = EmbeddedNats | EmbeddedPostgres
READY_TIMEOUT_S = 240.0
"""After this, another service may be stopped or started; the one that is not ready goes on."""
SUPERVISOR = "up"
"""The name of `openspot up` itself in the log."""
FIXED = "every service waits for it: it is restarted when it ends by itself"


class Operations:
    """Does what is asked of the processes of a platform. One service at a time is stopped or started."""

    def __init__(
        self,
        children: Mapping[str, Child],
        servers: Mapping[str, Server],
        log_path: Path,
        redactor: Redactor,
        changed: Callable[[], None],
    ) -> None:
        """`children` are by the names of their services. `changed` is called when the process ids have changed."""
        self._children = children
        self._servers = servers
        self._log_path = log_path
        self._redactor = redactor
        self._changed = changed
        self._turn = asyncio.Lock()
        self._restarting: dict[str, asyncio.Task[None]] = {}
        self._failures: dict[str, str] = {}
        self.server_restarts: Counter[str] = Counter()
        """How often each embedded server was started again."""

    async def carry_out(self, request: Request) -> Reply:
        """Do what is asked. Raises ControlError."""
        if request.action is Action.PROCESSES:
            return Reply(processes=self.processes())
        if request.action is Action.LOGS:
            return await asyncio.to_thread(self._logs, request)
        child = self._children.get(request.service) or self._child_named(request.service)
        if request.action is Action.BEGIN_RESTART:
            self._begin_restart(child, request)
        else:
            await self._stop_or_start(request.action, child, request.service)
        return Reply(services=list(child.names))

    def processes(self) -> list[SupervisedProcess]:
        """Every process: embedded servers first, then the services in the order in which they start."""
        servers = [
            SupervisedProcess(
                name=name.lower(),
                title=name,
                services=[name.lower()],
                state=ProcessState.RUNNING if pid and psutil.pid_exists(pid) else ProcessState.RESTARTING,
                pid=pid,
                started_at_ms=_started_at_ms(pid),
                restarts=self.server_restarts[name],
                fixed=FIXED,
            )
            for name, server in self._servers.items()
            for pid in [server.process.pid if server.process is not None else 0]
        ]
        return servers + [self._shown(child) for child in dict.fromkeys(self._children.values())]

    def _shown(self, child: Child) -> SupervisedProcess:
        pid = child.pid or 0
        state = ProcessState.RUNNING
        if child.name in self._restarting:
            state = ProcessState.RESTARTING
        elif not pid:
            state = ProcessState.STOPPED if child.is_stopped else ProcessState.RESTARTING
        return SupervisedProcess(
            name=child.name,
            title=child.title,
            services=list(child.names),
            state=state,
            pid=pid,
            started_at_ms=_started_at_ms(pid),
            restarts=max(0, child.starts - 1),
            is_asked=child.name in self._restarting,
            failure=self._failures.get(child.name, ""),
        )

    def _child_named(self, name: str) -> Child:
        """The child that has this name itself, as one with several services has. Raises ControlError."""
        for child in self._children.values():
            if child.name == name:
                return child
        if name in (server.lower() for server in self._servers):
            raise ControlError(f"{name} is not restarted on request: {FIXED}", Fault.FIXED)
        running = ", ".join(sorted(self._children))
        raise ControlError(f"no service {name} runs here; there are: {running}", Fault.UNKNOWN)

    def _logs(self, request: Request) -> Reply:
        if request.level and request.level not in LEVELS:
            raise ControlError(f"level: one of {', '.join(LEVELS)}")
        services = self._names_in_log(request.service)
        try:
            page = read_page(
                self._log_path,
                self._redactor,
                services=services,
                level=request.level,
                after=request.after,
                limit=request.limit or 100,
            )
        except LogCursorError as error:
            raise ControlError(f"after: {error}") from error
        except OSError as error:
            raise ControlError(f"the log cannot be read: {error.strerror}") from error
        return Reply(logs=page)

    def _names_in_log(self, process: str) -> set[str]:
        if not process:
            return set()
        if process == SUPERVISOR or process in (server.lower() for server in self._servers):
            return {process}
        child = self._children.get(process) or self._child_named(process)
        return {child.name, *child.names}

    async def _stop_or_start(self, action: Action, child: Child, service: str) -> None:
        """Stop, start or restart one service, with those that share its process. Raises ControlError."""
        async with self._turn:
            if action is Action.START and child.pid is not None:
                raise ControlError(f"{service} runs already")
            if action is Action.STOP and child.pid is None:
                raise ControlError(f"{service} does not run")
            log.info("asked for a service", action=action.value, child=service)
            if action is Action.RESTART:
                await self._note(child, "restarted on the command line")
            await self._move(action, child)

    async def _move(self, action: Action, child: Child) -> None:
        if action in (Action.STOP, Action.RESTART):
            await child.stop()
        if action in (Action.START, Action.RESTART):
            try:
                await child.start(is_persistent=action is Action.RESTART)
                async with asyncio.timeout(READY_TIMEOUT_S):
                    await child.await_started()
            except TimeoutError as error:
                raise ControlError(f"{child.title} is not ready after {READY_TIMEOUT_S:.0f} s") from error
            except ChildFailedError as error:
                raise ControlError(f"{error}; {await asyncio.to_thread(self._last_fault, child)}") from error
            except OSError as error:
                raise ControlError(f"{child.title} could not be started: {error}") from error
        # So that `openspot status` shows it at once. On a full disk the watch tries again.
        with contextlib.suppress(OSError):
            self._changed()

    def _begin_restart(self, child: Child, request: Request) -> None:
        """Begin to restart the process that the operator has seen, and no later one. Raises ControlError."""
        if child.name in self._restarting:
            raise ControlError(f"{child.title} is being restarted", Fault.BUSY)
        if child.is_stopped:
            raise ControlError(
                f"{child.title} was stopped on the machine; `openspot start {request.service}` starts it", Fault.STOPPED
            )
        if (child.pid or 0) != request.pid:
            raise ControlError(f"{child.title} was restarted since you looked", Fault.CHANGED)
        by = "".join(each for each in request.by[:BY_LENGTH_MAX] if each.isprintable()) or "somebody"
        log.info("asked for a service", action=request.action.value, child=child.name, by=by)
        self._failures.pop(child.name, None)
        self._restarting[child.name] = asyncio.create_task(self._restart(child, request.pid, by))

    async def _restart(self, child: Child, pid: int, by: str) -> None:
        try:
            async with self._turn:
                # It may have ended by itself, and been started again, while another one had its turn.
                if (child.pid or 0) == pid:
                    await self._note(child, f"restarted in the console by {by}")
                    await self._move(Action.RESTART, child)
        except ControlError as error:
            log.error("the restart that was asked for failed", child=child.name, error=str(error))
            self._failures[child.name] = str(error)
        finally:
            del self._restarting[child.name]

    async def _note(self, child: Child, cause: str) -> None:
        with contextlib.suppress(OSError):
            await asyncio.to_thread(child.note, cause, is_asked=True)

    def _last_fault(self, child: Child) -> str:
        fault = self._redactor(last_fault(self._log_path, {child.name, *child.names}))
        more = f"`openspot logs {child.names[0]}` shows more"
        return f"{fault}; {more}" if fault else more

    async def stop(self) -> None:
        """End restarts that are under way."""
        for task in list(self._restarting.values()):
            await end_tasks(task)


def _started_at_ms(pid: int) -> int:
    """When a process began, in milliseconds since 1970; 0 if there is none."""
    try:
        return round(psutil.Process(pid).create_time() * 1000) if pid else 0
    except psutil.Error:
        return 0
