"""The routes by which the REST edge looks over participants for its operators: who they are, what they have, their
risk, and who is frozen.

Administrators have AdminService for it, so these are for services alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.domain.order import StpMode
from openspot.domain.result_code import ResultCode
from openspot.engine.admin import fields
from openspot.engine.admin.acting import acting_by
from openspot.engine.admin.errors import FieldError
from openspot.engine.admin.freezing import freeze_fault, state_of
from openspot.engine.admin.participant_changes import ParticipantChanges
from openspot.engine.admin.reports import Reports
from openspot.engine.engine import Engine
from openspot.engine.state.participants import ParticipantProfile
from openspot.engine.transport.http_app import PREFIX
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
from openspot.http.errors import HttpError
from openspot.http.policy import Access, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.http.validation import Currency, ParticipantId
from openspot.kit.log import get_logger

log = get_logger("admin")

ParticipantPath = Annotated[
    ParticipantId, Path(alias="participantId", description="The participant, for example a user's id")
]
ParticipantFilter = Annotated[
    ParticipantId | None, Query(alias="participantId", description="Only the balances of this participant")
]
CurrencyFilter = Annotated[Currency | None, Query(description="Only balances in this currency, the largest first")]
Limit = Annotated[int, Query(ge=1, le=LISTED_MAX, description="How many at most")]
Offset = Annotated[int, Query(ge=0, le=fields.OFFSET_MAX, description="How many to leave out")]

_READ = Policy(Access.SERVICE)
_CHANGE = Policy(Access.SERVICE, audit=True)
_UNKNOWN = {404: "no such participant"}
_NOT_NOW = {
    409: "it cannot be frozen: PARTICIPANT_NOT_FREEZABLE; it is inactive: PARTICIPANT_INACTIVE; it is not frozen: "
    "PARTICIPANT_NOT_FROZEN"
}


def participant_router(engine: Engine, changes: ParticipantChanges, reports: Reports) -> Router:
    """The routes of participants."""
    router = Router(f"{PREFIX}/admin", tag="administration")

    @router.get(
        "/risk-metrics", _READ, response=RiskMetrics, refusals={},
        summary="The balances of which open orders lock the largest share, the largest first",
    )  # fmt: skip
    async def list_risk_metrics(participant_id: ParticipantFilter = None, limit: Limit = LISTED_MAX) -> Response:
        rows, total = await reports.most_used(participant_id or "", limit)
        profiles = engine.machine.participants.profiles
        metrics = []
        for row in rows:
            profile = profiles[engine.machine.directory.account(row.participant_id)]
            metrics.append(
                RiskMetric(
                    participant_id=row.participant_id,
                    currency=row.currency,
                    total=row.total,
                    locked=row.locked,
                    utilisation_percent=row.utilisation_percent,
                    open_orders=row.open_orders,
                    state=state_of(profile),
                    freezable=not freeze_fault(row.participant_id, profile),
                )
            )
        return json_response(RiskMetrics(metrics=metrics, total=total))

    @router.get(
        "/balances", _READ, response=BalancesOfParticipants, refusals={},
        summary="Balances of one participant or of all, in one currency or in all",
    )  # fmt: skip
    async def list_some_balances(
        participant_id: ParticipantFilter = None, currency: CurrencyFilter = None, limit: Limit = LISTED_MAX
    ) -> Response:
        number = None
        if currency is not None:
            known = engine.machine.directory.currencies.get(currency)
            if known is None:
                return json_response(BalancesOfParticipants(balances=[], total=0))
            number = known.currency_id
        rows, total = await reports.some_balances(participant_id or "", number, limit)
        balances = [
            BalanceOfParticipant(
                participant_id=row.participant_id,
                currency=row.currency,
                total=row.total,
                available=row.available,
                locked=row.locked,
                reserved=row.reserved,
            )
            for row in rows
        ]
        return json_response(BalancesOfParticipants(balances=balances, total=total))

    @router.get(
        "/participants", _READ, response=ParticipantPage, refusals={},
        summary="Participants in the order in which their accounts were made",
    )  # fmt: skip
    async def list_participants(limit: Limit = fields.LIMIT_DEFAULT, offset: Offset = 0) -> Response:
        profiles = engine.machine.participants.profiles
        views = [
            _view(engine.machine.directory.participant(account), profile)
            for account, profile in islice(profiles.items(), offset, offset + limit)
        ]
        return json_response(ParticipantPage(participants=views, total=len(profiles)))

    @router.get(
        "/participants/{participantId}", _READ, response=ParticipantView, refusals=_UNKNOWN, summary="One participant"
    )
    async def get_participant(participant_id: ParticipantPath) -> Response:
        with _not_found():
            return json_response(_view(participant_id, changes.known(participant_id).profile))

    @router.put(
        "/participants/{participantId}/freeze", _CHANGE, response=ParticipantState, refusals=_UNKNOWN | _NOT_NOW,
        summary="Freeze a participant: its new orders are refused",
    )  # fmt: skip
    async def freeze_participant(request: Request, participant_id: ParticipantPath, body: FreezeBody) -> Response:
        return await set_frozen(request, participant_id, body.reason, frozen=True)

    @router.delete(
        "/participants/{participantId}/freeze", _CHANGE, response=ParticipantState, refusals=_UNKNOWN | _NOT_NOW,
        summary="End the freeze of a participant",
    )  # fmt: skip
    async def unfreeze_participant(request: Request, participant_id: ParticipantPath, body: FreezeBody) -> Response:
        return await set_frozen(request, participant_id, body.reason, frozen=False)

    async def set_frozen(request: Request, participant_id: str, reason: str, *, frozen: bool) -> Response:
        acting = acting_by(request, engine.origins)
        with _not_found():
            profile = await changes.set_frozen(participant_id, acting, reason, frozen=frozen)
        log.info("froze a participant" if frozen else "ended a freeze", participant=participant_id, by=acting.operator)
        return json_response(ParticipantState(participant_id=participant_id, state=state_of(profile)))

    return router


def _view(participant_id: str, profile: ParticipantProfile) -> ParticipantView:
    return ParticipantView(
        participant_id=participant_id,
        name=profile.name,
        type=profile.type,
        stp_mode=StpMode(profile.stp_mode).name,
        created_at=profile.created_ms,
        state=state_of(profile),
        freezable=not freeze_fault(participant_id, profile),
    )


@contextmanager
def _not_found() -> Iterator[None]:
    """Turn a FieldError into 404, because the path names somebody who does not exist."""
    try:
        yield
    except FieldError as error:
        raise HttpError(404, str(error), ResultCode.AUTH_INVALID_USER.name) from error
