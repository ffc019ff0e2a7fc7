"""Lets `openspot up` restart a process, over the control socket in the data directory.

The supervisor cannot take part in a transaction. So the entry in the trail is written before it is asked: no restart is
without one. The entry of a restart that failed stays, and the page of health says why it failed.
"""

from pathlib import Path

from openspot.http.errors import HttpError
from openspot.kit.database import Pool
from openspot.kit.log import get_logger
from openspot.kit.supervision import (
    Action,
    ControlError,
    Fault,
    ProcessState,
    Request,
    SupervisedProcess,
    SupervisorSilentError,
    ask,
)
from openspot.rest_edge.operators.acting import Acting, record

log = get_logger("operators")

_REFUSALS = {
    Fault.UNKNOWN: (404, "PROCESS_NOT_FOUND"),
    Fault.FIXED: (409, "PROCESS_FIXED"),
    Fault.STOPPED: (409, "PROCESS_STOPPED"),
    Fault.BUSY: (409, "PROCESS_RESTARTING"),
    Fault.CHANGED: (409, "PROCESS_CHANGED"),
}


class Processes:
    """The processes of the `openspot up` that runs this edge. Methods raise HttpError: 503 if there is none."""

    def __init__(self, pool: Pool, data_dir: Path) -> None:
        self._pool = pool
        self._data_dir = data_dir

    async def restart(self, name: str, pid: int, acting: Acting) -> list[str]:
        """Begin to restart the process `name`, if `pid` is still its id. Returns the services in it.

        404 for an unknown one; 409 if it may not be restarted, is being restarted, or was restarted since.
        """
        try:
            found = (await ask(self._data_dir, Request(Action.PROCESSES))).processes
            process = _process(found, name)
            _require(process, pid)
            async with self._pool.acquire() as connection, connection.transaction():
                await record(
                    connection, acting, "process.restarted", "process", process.name,
                    {"pid": str(pid), "state": process.state.value}, {"services": ",".join(process.services)},
                )  # fmt: skip
            request = Request(Action.BEGIN_RESTART, process.name, pid, by=acting.operator.name)
            return (await ask(self._data_dir, request)).services
        except SupervisorSilentError as error:
            raise HttpError(
                503, "no `openspot up` runs here: whoever started the process restarts it", "SUPERVISOR_SILENT"
            ) from error
        except ControlError as error:
            log.warning("the supervisor refused a restart", process=name, error=str(error))
            status, code = _REFUSALS.get(error.fault, (503, "SUPERVISOR_SILENT"))
            raise HttpError(status, str(error), code) from error


def _process(found: list[SupervisedProcess], name: str) -> SupervisedProcess:
    """The process of that name, or with a service of that name. Raises ControlError."""
    for process in found:
        if name == process.name or name in process.services:
            return process
    raise ControlError(f"no process {name} runs here", Fault.UNKNOWN)


def _require(process: SupervisedProcess, pid: int) -> None:
    """Refuse before the entry what the supervisor would refuse after it. Raises ControlError."""
    if process.fixed:
        raise ControlError(f"{process.title} is not restarted on request: {process.fixed}", Fault.FIXED)
    if process.state is ProcessState.STOPPED:
        raise ControlError(f"{process.title} was stopped on the machine", Fault.STOPPED)
    if process.pid != pid:
        raise ControlError(f"{process.title} was restarted since you looked", Fault.CHANGED)
    if process.is_asked:
        raise ControlError(f"{process.title} is being restarted", Fault.BUSY)
