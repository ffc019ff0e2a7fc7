"""Paths of transfers (facts B4.5-05 to B4.5-11)."""

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.domain.ids import ORDER_ID_TEXT
from openspot.http.context import caller, context_of, operation_of
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.paging import page_of, respond_with_page, serial_of
from openspot.http.policy import Access, Policy
from openspot.http.responses import respond
from openspot.http.routing import Router
from openspot.positions.access import visible
from openspot.positions.holdings.routes import CHANGE, NOT_FOUND, READ, ParticipantQuery
from openspot.positions.lifecycle import PositionTransferKind, TransferTrigger
from openspot.positions.transfers.schemas import (
    AdjustmentBody,
    TransferBody,
    TransferKindText,
    TransferResponse,
    TransferStatusText,
)
from openspot.positions.transfers.service import TransferService, transfer_response

TransferPath = Annotated[str, Path(description="Id of the transfer", alias="id", pattern=f"^{ORDER_ID_TEXT.pattern}$")]

_DECIDE = Policy(Access.ADMIN, audit=True)
_ADJUST = Policy(Access.ADMIN, audit=True, idempotency=True)
_CANCEL = Policy(Access.USER, audit=True)
_CREATED = {
    404: "there is no such participant, or it is not yours to see",
    409: "the reference belongs to another transfer, the balance does not cover a withdrawal, or too many wait",
    429: "too many requests, or too many transfers within 24 hours: TOO_MANY_TRANSFERS",
}
_ENDED = {
    404: "there is no such transfer, or it is not yours to see",
    409: "the transfer has ended otherwise, or would leave a balance below zero",
}


def transfer_routes(prefix: str, transfers: TransferService) -> Router:
    """The routes of `/transfers`, below `prefix`."""
    router = Router(f"{prefix}/transfers", tag="transfers")
    # The document also describes the response to a repeated request.
    created = {200: {"model": TransferResponse, "description": "it was created before"}}

    async def create(request: Request, kind: PositionTransferKind, body: TransferBody | AdjustmentBody) -> Response:
        operation = operation_of(context_of(request))
        transfer, is_new = await transfers.create(caller(request), kind, body, operation.operation_id)
        return respond(transfer, 201 if is_new else 200)

    @router.get(
        "", READ, response=list[TransferResponse], headers=NEXT_CURSOR_HEADER, refusals=NOT_FOUND,
        summary="Transfers, newest first",
    )  # fmt: skip
    async def list_transfers(
        request: Request,
        participant_id: ParticipantQuery = None,
        kind: Annotated[TransferKindText | None, Query(description="Only transfers of this kind")] = None,
        status: Annotated[TransferStatusText | None, Query(description="Only transfers in this state")] = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        wanted = visible(caller(request), participant_id)
        rows = await transfers.store.page(wanted, kind, status, serial_of(cursor), limit + 1)
        return respond_with_page(page_of(rows, limit, lambda row: [row["serial"]], transfer_response))

    @router.get("/{id}", READ, response=TransferResponse, refusals={404: _ENDED[404]}, summary="One transfer")
    async def get_transfer(request: Request, transfer_id: TransferPath) -> Response:
        return respond(await transfers.find(caller(request), transfer_id))

    @router.post(
        "/deposit", CHANGE, status=201, response=TransferResponse, refusals=_CREATED, responses=created,
        summary="Create a deposit",
    )  # fmt: skip
    async def create_deposit(request: Request, body: TransferBody) -> Response:
        return await create(request, PositionTransferKind.DEPOSIT, body)

    @router.post(
        "/withdrawal", CHANGE, status=201, response=TransferResponse, refusals=_CREATED, responses=created,
        summary="Create a withdrawal, and lock its amount",
    )  # fmt: skip
    async def create_withdrawal(request: Request, body: TransferBody) -> Response:
        return await create(request, PositionTransferKind.WITHDRAWAL, body)

    @router.post(
        "/adjustment", _ADJUST, status=201, response=TransferResponse, refusals=_CREATED, responses=created,
        summary="Create an adjustment",
    )  # fmt: skip
    async def create_adjustment(request: Request, body: AdjustmentBody) -> Response:
        return await create(request, PositionTransferKind.ADJUSTMENT, body)

    @router.post(
        "/{id}/complete", _DECIDE, response=TransferResponse, refusals=_ENDED,
        summary="Complete a transfer, and move the balance",
    )  # fmt: skip
    async def complete_transfer(request: Request, transfer_id: TransferPath) -> Response:
        return respond(await transfers.end(caller(request), transfer_id, TransferTrigger.COMPLETE))

    @router.post("/{id}/cancel", _CANCEL, response=TransferResponse, refusals=_ENDED, summary="Cancel a transfer")
    async def cancel_transfer(request: Request, transfer_id: TransferPath) -> Response:
        return respond(await transfers.end(caller(request), transfer_id, TransferTrigger.CANCEL))

    return router
