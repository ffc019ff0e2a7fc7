"""The operators' routes of processes: `/operator/processes`. What they do is read from the web server."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.processes.schemas import RestartBody, RestartResponse
from openspot.rest_edge.operators.processes.service import Processes

ProcessPath = Annotated[
    str,
    Path(description="The process, or a service in it, for example ledger", max_length=100, pattern=r"^[a-z0-9+-]+$"),
]

_RESTART = Policy(Access.OPERATOR, permission=Permission.PROCESSES_RESTART, audit=True)


def process_routes(prefix: str, processes: Processes) -> Router:
    """The routes of processes, below `prefix`."""
    router = Router(f"{prefix}/operator/processes", tag="operators")

    @router.post(
        "/{process}/restart", _RESTART, status=202, response=RestartResponse,
        refusals={
            400: "the body is not valid",
            404: "no such process runs here: PROCESS_NOT_FOUND",
            409: "it is not restarted on request: PROCESS_FIXED; it was stopped on the machine: PROCESS_STOPPED; a "
            "restart is under way: PROCESS_RESTARTING; it was restarted since: PROCESS_CHANGED",
            503: "no `openspot up` runs this edge, or it does not respond: SUPERVISOR_SILENT",
        },
        summary="Begin to restart a process that `openspot up` runs; the reply does not wait for it",
    )  # fmt: skip
    async def restart_process(request: Request, process: ProcessPath, body: RestartBody) -> Response:
        services = await processes.restart(process, body.pid, acting(request, body.reason))
        return json_response({"process": process, "services": services}, 202)

    return router
