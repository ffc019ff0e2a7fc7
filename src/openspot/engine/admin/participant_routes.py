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

from openspot.contracts.gen.exchange.v1 import admin_pb2 as pb
from openspot.domain.order import StpMode
from openspot.domain.result_code import ResultCode
from openspot.engine.admin import fields
from openspot.engine.admin.acting import acting_by
from openspot.engine.admin.balance_pages import BalancePlace
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
    BalancePage,
    BalancesOfParticipants,
    FreezeBody,
    ParticipantPage,
    ParticipantState,
    ParticipantView,
    RiskMetric,
    RiskMetrics,
    RiskPage,
)
from openspot.http.errors import HttpError
from openspot.http.lists import CURSOR_LENGTH_MAX
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
PageCurrency = Annotated[Currency | None, Query(description="Only balances in this currency")]
PageCursor = Annotated[
    str | None,
    Query(alias="cursor", max_length=CURSOR_LENGTH_MAX, description="Where to go on: `nextCursor` of the page before"),
]
Limit = Annotated[int, Query(ge=1, le=LISTED_MAX, description="How many at most")]
Offset = Annotated[int, Query(ge=0, le=fields.OFFSET_MAX, description="How many to leave out")]

_UNKNOWN_CURRENCY = -1
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
        return json_response(RiskMetrics(metrics=[metric_of(row) for row in rows], total=total))

    @router.get(
        "/risk-metrics/pages", _READ, response=RiskPage, refusals={},
        summary="How much of each balance open orders lock, in the order in which their accounts were made",
    )  # fmt: skip
    async def list_pages_of_risk_metrics(
        participant_id: ParticipantFilter = None, limit: Limit = LISTED_MAX, cursor: PageCursor = None
    ) -> Response:
        rows, following = await reports.risk_page(participant_id or "", BalancePlace.of(cursor), limit)
        next_cursor = following and following.cursor
        return json_response(RiskPage(metrics=[metric_of(row) for row in rows], next_cursor=next_cursor))

    def metric_of(row: pb.RiskMetric) -> RiskMetric:
        profile = engine.machine.participants.profiles[engine.machine.directory.account(row.participant_id)]
        return RiskMetric(
            participant_id=row.participant_id,
            currency=row.currency,
            total=row.total,
            locked=row.locked,
            utilisation_percent=row.utilisation_percent,
            open_orders=row.open_orders,
            state=state_of(profile),
            freezable=not freeze_fault(row.participant_id, profile),
        )

    @router.get(
        "/balances", _READ, response=BalancesOfParticipants, refusals={},
        summary="Balances of one participant or of all, in one currency or in all",
    )  # fmt: skip
    async def list_some_balances(
        participant_id: ParticipantFilter = None, currency: CurrencyFilter = None, limit: Limit = LISTED_MAX
    ) -> Response:
        number = number_of(currency)
        if number == _UNKNOWN_CURRENCY:
            return json_response(BalancesOfParticipants(balances=[], total=0))
        rows, total = await reports.some_balances(participant_id or "", number, limit)
        return json_response(BalancesOfParticipants(balances=[_balance_of(row) for row in rows], total=total))

    @router.get(
        "/balances/pages", _READ, response=BalancePage, refusals={},
        summary="Balances in the order in which their accounts were made, all of them page by page",
    )  # fmt: skip
    async def list_pages_of_balances(
        participant_id: ParticipantFilter = None,
        currency: PageCurrency = None,
        limit: Limit = LISTED_MAX,
        cursor: PageCursor = None,
    ) -> Response:
        start, number = BalancePlace.of(cursor), number_of(currency)
        if number == _UNKNOWN_CURRENCY:
            return json_response(BalancePage(balances=[]))
        rows, following = await reports.balance_page(participant_id or "", number, start, limit)
        next_cursor = following and following.cursor
        return json_response(BalancePage(balances=[_balance_of(row) for row in rows], next_cursor=next_cursor))

    def number_of(currency: str | None) -> int | None:
        if currency is None:
            return None
        known = engine.machine.directory.currencies.get(currency)
        return known.currency_id if known else _UNKNOWN_CURRENCY

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


def _balance_of(row: pb.AdminBalance) -> BalanceOfParticipant:
    return BalanceOfParticipant(
        participant_id=row.participant_id,
        currency=row.currency,
        total=row.total,
        available=row.available,
        locked=row.locked,
        reserved=row.reserved,
    )


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
