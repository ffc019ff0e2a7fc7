"""The operators' routes of participants: `/operator/participants`, `/operator/balances` and `/operator/risk`."""

from functools import partial
from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.engine_client.participant_schemas import (
    LISTED_MAX,
    BalanceOfParticipant,
    BalancesOfParticipants,
    FreezeBody,
    ParticipantPage,
    ParticipantState,
    ParticipantView,
    RiskMetric,
    RiskMetrics,
)
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.http.validation import Currency, ParticipantId
from openspot.rest_edge.operators.exports import Exports, WantedFileQuery
from openspot.rest_edge.operators.participants.service import OperatedParticipants
from openspot.rest_edge.operators.table_files import TABLE_FILE, columns_of

PAGE = 100
OFFSET_MAX = 2**31 - 1

ParticipantPath = Annotated[
    ParticipantId, Path(alias="participantId", description="The participant, for example a user's id")
]
ParticipantFilter = Annotated[ParticipantId | None, Query(alias="participantId", description="Only this participant")]
CurrencyFilter = Annotated[Currency | None, Query(description="Only balances in this currency, the largest first")]
FileCurrency = Annotated[Currency | None, Query(description="Only balances in this currency")]
Offset = Annotated[int, Query(ge=0, le=OFFSET_MAX, description="How many to leave out")]
Limit = Annotated[int, Query(ge=1, le=LISTED_MAX, description="How many at most")]

_READ = Policy(Access.OPERATOR, permission=Permission.PARTICIPANTS_READ)
_BALANCES = Policy(Access.OPERATOR, permission=Permission.BALANCES_READ_ALL)
_RISK = Policy(Access.OPERATOR, permission=Permission.RISK_READ)
_EXPORT = Policy(Access.OPERATOR, permission=Permission.USERS_EXPORT)
_EXPORT_BALANCES = Policy(Access.OPERATOR, permission=Permission.BALANCES_EXPORT)
_FREEZE = Policy(Access.OPERATOR, permission=Permission.RISK_FREEZE_PARTICIPANT, audit=True)
_SILENT = {503: "the engine does not respond"}
_NO_FILE = {400: "a parameter is not valid"} | _SILENT
_FREEZING = {
    400: "the body is not valid",
    403: "the permission is missing, or it is your own account: OWN_ACCOUNT",
    404: "there is no such participant",
} | _SILENT


def participant_routes(prefix: str, participants: OperatedParticipants, exports: Exports) -> list[Router]:
    """The routes, below `prefix`."""
    return [
        _balance_routes(prefix, participants, exports),
        _risk_routes(prefix, participants, exports),
        _participant_routes(prefix, participants, exports),
    ]


def _balance_routes(prefix: str, participants: OperatedParticipants, exports: Exports) -> Router:
    router = Router(f"{prefix}/operator/balances", tag="operators")
    columns = columns_of(BalanceOfParticipant)

    @router.get(
        "", _BALANCES, response=BalancesOfParticipants, refusals=_SILENT,
        summary="Balances at the engine, of one participant or of all, in one currency or in all",
    )  # fmt: skip
    async def list_balances_of_participants(
        participant_id: ParticipantFilter = None, currency: CurrencyFilter = None, limit: Limit = LISTED_MAX
    ) -> Response:
        return json_response(await participants.balances(participant_id or "", currency or "", limit))

    @router.get(
        "/export", _EXPORT_BALANCES, responses=TABLE_FILE, refusals=_NO_FILE,
        summary="All balances at the engine as a file, in the order in which their accounts were made",
    )  # fmt: skip
    async def export_balances_of_participants(
        file: WantedFileQuery, participant_id: ParticipantFilter = None, currency: FileCurrency = None
    ) -> Response:
        filters = {"participant": participant_id, "currency": currency}
        read = partial(participants.following_balances, participant_id or "", currency or "")
        return await exports.file("balances", columns, file, filters, read, needs=Permission.BALANCES_READ_ALL)

    return router


def _risk_routes(prefix: str, participants: OperatedParticipants, exports: Exports) -> Router:
    router = Router(f"{prefix}/operator/risk", tag="operators")
    columns = columns_of(RiskMetric)

    @router.get(
        "", _RISK, response=RiskMetrics, refusals=_SILENT,
        summary="The balances of which open orders lock the largest share, the largest first",
    )  # fmt: skip
    async def list_risk(participant_id: ParticipantFilter = None, limit: Limit = LISTED_MAX) -> Response:
        return json_response(await participants.risk(participant_id or "", limit))

    @router.get(
        "/export", _EXPORT_BALANCES, responses=TABLE_FILE, refusals=_NO_FILE,
        summary="How much of each balance open orders lock as a file, in the order in which the accounts were made",
    )  # fmt: skip
    async def export_risk(file: WantedFileQuery, participant_id: ParticipantFilter = None) -> Response:
        read = partial(participants.following_risk, participant_id or "")
        return await exports.file(
            "risk", columns, file, {"participant": participant_id}, read, needs=Permission.RISK_READ
        )

    return router


def _participant_routes(prefix: str, participants: OperatedParticipants, exports: Exports) -> Router:
    router = Router(f"{prefix}/operator/participants", tag="operators")
    columns = columns_of(ParticipantView)

    @router.get(
        "", _READ, response=ParticipantPage, refusals=_SILENT,
        summary="The engine's participants in the order in which their accounts were made",
    )  # fmt: skip
    async def list_operated_participants(limit: Limit = PAGE, offset: Offset = 0) -> Response:
        return json_response(await participants.page(limit, offset))

    @router.get(
        # Not "/export": a participant may have that name.
        "/all/export", _EXPORT, responses=TABLE_FILE, refusals=_NO_FILE,
        summary="The engine's participants as a file, in the order in which their accounts were made",
    )  # fmt: skip
    async def export_operated_participants(file: WantedFileQuery) -> Response:
        read = participants.following
        return await exports.file("participants", columns, file, {}, read, needs=Permission.PARTICIPANTS_READ)

    @router.get(
        "/{participantId}", _READ, response=ParticipantView, refusals={404: "there is no such participant"} | _SILENT,
        summary="One participant of the engine",
    )  # fmt: skip
    async def get_operated_participant(participant_id: ParticipantPath) -> Response:
        return json_response(await participants.one(participant_id))

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
