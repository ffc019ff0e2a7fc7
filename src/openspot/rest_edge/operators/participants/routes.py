"""The operators' routes of participants: `/operator/risk` and `/operator/participants`."""

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.engine_client.participant_schemas import FreezeBody, ParticipantState, RiskMetrics
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.http.validation import ParticipantId
from openspot.rest_edge.operators.participants.service import OperatedParticipants

ROWS_MAX = 1000

ParticipantPath = Annotated[
    ParticipantId, Path(alias="participantId", description="The participant, for example a user's id")
]
ParticipantFilter = Annotated[ParticipantId | None, Query(alias="participantId", description="Only this participant")]
Limit = Annotated[int, Query(ge=1, le=ROWS_MAX, description="How many at most")]

_RISK = Policy(Access.OPERATOR, permission=Permission.RISK_READ)
_FREEZE = Policy(Access.OPERATOR, permission=Permission.RISK_FREEZE_PARTICIPANT, audit=True)
_SILENT = {503: "the engine does not respond"}
_FREEZING = {
    400: "the body is not valid",
    403: "the permission is missing, or it is your own account: OWN_ACCOUNT",
    404: "there is no such participant",
} | _SILENT


def participant_routes(prefix: str, participants: OperatedParticipants) -> list[Router]:
    """The routes, below `prefix`."""
    return [_risk_routes(prefix, participants), _freeze_routes(prefix, participants)]


def _risk_routes(prefix: str, participants: OperatedParticipants) -> Router:
    router = Router(f"{prefix}/operator/risk", tag="operators")

    @router.get(
        "", _RISK, response=RiskMetrics, refusals=_SILENT,
        summary="The balances of which open orders lock the largest share, the largest first",
    )  # fmt: skip
    async def list_risk(participant_id: ParticipantFilter = None, limit: Limit = ROWS_MAX) -> Response:
        return json_response(await participants.risk(participant_id or "", limit))

    return router


def _freeze_routes(prefix: str, participants: OperatedParticipants) -> Router:
    router = Router(f"{prefix}/operator/participants", tag="operators")

    @router.put(
        "/{participantId}/freeze", _FREEZE, response=ParticipantState,
        refusals=_FREEZING
        | {409: "it may not be frozen: PARTICIPANT_NOT_FREEZABLE; it is inactive already: PARTICIPANT_INACTIVE"},
        summary="Freeze a participant: its new orders are refused, and its open ones stay",
    )  # fmt: skip
    async def freeze_participant(request: Request, participant_id: ParticipantPath, body: FreezeBody) -> Response:
        return json_response(await participants.freeze(request, participant_id, body))

    @router.delete(
        "/{participantId}/freeze", _FREEZE, response=ParticipantState,
        refusals=_FREEZING
        | {409: "it is not frozen: PARTICIPANT_NOT_FROZEN; it is none to freeze: PARTICIPANT_NOT_FREEZABLE"},
        summary="End the freeze of a participant",
    )  # fmt: skip
    async def unfreeze_participant(request: Request, participant_id: ParticipantPath, body: FreezeBody) -> Response:
        return json_response(await participants.unfreeze(request, participant_id, body))

    return router
