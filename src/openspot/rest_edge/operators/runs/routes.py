"""The operators' routes of runs: `/operator/runs`. The web server calls them with the session of who asked it."""

from starlette.requests import Request
from starlette.responses import Response

from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.runs.schemas import RunResponse
from openspot.rest_edge.operators.runs.service import Runs
from openspot.rest_edge.operators.schemas import ReasonBody

_COMPARE = Policy(Access.OPERATOR, permission=Permission.RECONCILE_RUN, audit=True)
_PROVE = Policy(Access.OPERATOR, permission=Permission.RESERVES_PROVE, audit=True)
_BAD = {400: "the body is not valid"}


def run_routes(prefix: str, runs: Runs) -> Router:
    """The routes of runs, below `prefix`."""
    router = Router(f"{prefix}/operator/runs", tag="operators")

    @router.post(
        "/comparison", _COMPARE, status=201, response=RunResponse, refusals=_BAD,
        summary="Write into the trail that the console's web server compares the books, before it begins",
    )  # fmt: skip
    async def note_comparison(request: Request, body: ReasonBody) -> Response:
        entry = await runs.note("reconcile.run", "openspot reconcile", acting(request, body.reason))
        return json_response({"entry": entry}, 201)

    @router.post(
        "/proof", _PROVE, status=201, response=RunResponse, refusals=_BAD,
        summary="Write into the trail that the console's web server proves the reserves, before it begins",
    )  # fmt: skip
    async def note_proof(request: Request, body: ReasonBody) -> Response:
        entry = await runs.note("reserves.prove", "openspot reserves prove", acting(request, body.reason))
        return json_response({"entry": entry}, 201)

    return router
