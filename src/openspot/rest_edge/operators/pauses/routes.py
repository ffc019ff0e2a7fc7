"""The routes of `/operator/pauses`: deposits and withdrawals that are paused."""

from starlette.requests import Request
from starlette.responses import Response

from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.pauses.schemas import PauseBody, PauseResponse, ResumptionBody
from openspot.rest_edge.operators.pauses.service import TransferPauses

_READ = Policy(Access.OPERATOR, permission=Permission.MARKETS_READ)
_CHANGE = Policy(Access.OPERATOR, permission=Permission.CURRENCIES_UPDATE, audit=True)


def pause_routes(prefix: str, pauses: TransferPauses) -> Router:
    """The routes, below `prefix`."""
    router = Router(f"{prefix}/operator/pauses", tag="operators")

    @router.get("", _READ, response=list[PauseResponse], summary="Deposits and withdrawals that are paused")
    async def list_transfer_pauses() -> Response:
        return json_response([each.model_dump(by_alias=True) for each in await pauses.all()])

    @router.put(
        "", _CHANGE, response=PauseResponse, refusals={400: "a field breaks a rule, and the message names it"},
        summary="Pause deposits or withdrawals of a coin, of a network, or of a coin on a network",
    )  # fmt: skip
    async def begin_transfer_pause(request: Request, body: PauseBody) -> Response:
        begun = await pauses.begin(body, acting(request, body.reason))
        return json_response(begun.model_dump(by_alias=True))

    @router.post(
        "/resumptions", _CHANGE, response=list[PauseResponse],
        refusals={400: "a field breaks a rule", 404: "there is no pause of exactly these names: PAUSE_NOT_FOUND"},
        summary="End a pause; the response has those that remain",
    )  # fmt: skip
    async def end_transfer_pause(request: Request, body: ResumptionBody) -> Response:
        await pauses.end(body, acting(request, body.reason))
        return json_response([each.model_dump(by_alias=True) for each in await pauses.all()])

    return router
