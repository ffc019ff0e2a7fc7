"""Makes moves of one kind, or asks for them, and shows them.

A move has the id of the operation that asked for it, and its reference at the engine is made of that id. So a repeated
request moves once. The row, its transfer and its entry in the trail are written in one transaction; the transfer is
sent until the engine has decided.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Generic, Protocol

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.reference import DOLLAR
from openspot.domain.market import AssetScale
from openspot.domain.money import decimal_to_text, parse_decimal
from openspot.engine_transfers.model import Transfer
from openspot.engine_transfers.runner import TransferRunner
from openspot.http.context import IdempotentOperation
from openspot.http.paging import Page, page_of, time_and_id_of, time_place
from openspot.kit.clock import iso_of
from openspot.kit.database import Connection, Pool, text_of
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.moves.kind import MoveKind, Response
from openspot.rest_edge.operators.moves.model import Move, WhatT
from openspot.rest_edge.operators.moves.rules import WINDOW, counted_price, dollars, needs_second_person, value_in_cents
from openspot.rest_edge.operators.moves.table import MoveFilter
from openspot.rest_edge.operators.pending.rules import OperatorRequest, RequestStatus
from openspot.rest_edge.operators.pending.service import PendingActions
from openspot.rest_edge.operators.pending.store import get as get_request


class AssetPrices(Protocol):
    """The present fair prices."""

    def of_assets(self, valuation_asset: str) -> Mapping[str, AssetPrice]:
        """The price of each asset in `valuation_asset`."""


@dataclass(frozen=True, slots=True)
class MoveMeans:
    """What every kind of moves works with."""

    pool: Pool
    runner: TransferRunner
    pending: PendingActions
    prices: AssetPrices
    assets: Mapping[str, AssetScale]
    now: Callable[[], datetime]
    cents_alone: Callable[[Connection, Collection[str], datetime], Awaitable[int]]
    """US cents that a person with all of these accounts has moved without another since then, outside the house."""


class Moves(Generic[WhatT, Response]):
    """The moves of one kind, and the requests for them. An operator may move `bound_cents` within WINDOW alone."""

    def __init__(self, kind: MoveKind[WhatT, Response], means: MoveMeans, bound_cents: int) -> None:
        self._kind = kind
        self._means = means
        self._bound_cents = bound_cents

    async def resumed(self, operation: IdempotentOperation) -> Response | None:
        """What an earlier run of the operation has made or asked for."""
        return await self._find(operation.operation_id) if operation.is_resumed else None

    def wanted(
        self, operation: IdempotentOperation, acting: Acting, what: WhatT, asset: str, amount: Decimal
    ) -> Move[WhatT]:
        """The move that an operator wants."""
        return Move(
            move_id=operation.operation_id,
            what=what,
            asset=asset,
            amount=amount,
            reason=acting.reason,
            value_cents=value_in_cents(amount, counted_price(self._means.prices.of_assets(DOLLAR), asset)),
            requested_by=acting.operator.name,
            approved_by=None,
            created_at=self._means.now(),
        )

    def asked(self, request: OperatorRequest) -> Move[WhatT]:
        """The move that a request is for."""
        detail = request.detail
        cents = detail["valueCents"]
        return Move(
            move_id=request.request_id,
            what=self._kind.table.what.of_request(request),
            asset=detail["asset"],
            amount=parse_decimal(detail["amount"]),
            reason=request.reason,
            value_cents=int(cents) if cents else None,
            requested_by=request.requested_by,
            approved_by=request.decided_by,
            created_at=request.requested_at,
            status="rejected" if request.status is RequestStatus.REJECTED else "waiting",
            decided_at=request.decided_at,
        )

    def window_began(self) -> datetime:
        """The moment since which it counts what an operator has moved alone."""
        return self._means.now() - WINDOW

    async def begin_or_ask(
        self, connection: Connection, move: Move[WhatT], acting: Acting, used_cents: int
    ) -> Transfer | OperatorRequest:
        """Begin a move, or ask for it where another person must approve: in the caller's transaction, with the trail.

        The operator has moved `used_cents` alone since `window_began`. 403 for an account of one's own.
        """
        kind = self._kind
        if needs_second_person(move.value_cents, used_cents, self._bound_cents):
            return await self._means.pending.ask(
                connection, acting, kind.request, move.what.subject, _detail(move),
                request_id=move.move_id, is_single=False,
            )  # fmt: skip
        transfer = await self._begin(connection, move)
        await record(
            connection, acting, kind.made, kind.request.subject_kind, move.what.subject, {},
            {kind.word: move.move_id} | _detail(move),
        )  # fmt: skip
        return transfer

    async def begin_approved(self, connection: Connection, asked: Move[WhatT], approver: str) -> Transfer:
        """Begin what was asked for, in the transaction of its approval."""
        return await self._begin(connection, replace(asked, approved_by=approver, status="pending", decided_at=None))

    async def _begin(self, connection: Connection, move: Move[WhatT]) -> Transfer:
        transfer = self._kind.transfer_of(move)
        await self._kind.table.add(connection, replace(move, created_at=self._means.now()))
        await self._means.runner.begin(connection, transfer)
        return transfer

    async def send(self, transfer: Transfer) -> None:
        """Send what was begun, after its transaction."""
        await self._means.runner.attempt(transfer)

    async def outcome(self, begun: Transfer | OperatorRequest) -> Response:
        """What became of it, after its transaction: a request as it was written, or a move that is sent."""
        if isinstance(begun, OperatorRequest):
            return self._described(self.asked(begun))
        await self.send(begun)
        return await self.get(begun.subject_id)

    async def get(self, move_id: str) -> Response:
        """One move, or the request for one. Raises HttpError (404) if there is neither."""
        found = await self._find(move_id)
        if found is None:
            raise self._kind.missing()
        return found

    async def page(self, wanted: MoveFilter, limit: int, cursor: str | None) -> Page[Response]:
        """A page of moves that were made, newest first. Raises HttpError (400) for a cursor that no list gave."""
        rows = await self._kind.table.page(self._means.pool, wanted, limit + 1, time_and_id_of(cursor))
        return page_of(rows, limit, lambda row: time_place(row.created_at, row.move_id), self._described)

    async def _find(self, move_id: str) -> Response | None:
        made = await self._kind.table.get(self._means.pool, move_id)
        if made is not None:
            return self._described(made)
        request = await get_request(self._means.pool, move_id)
        if request is None or request.kind is not self._kind.request:
            return None
        return self._described(self.asked(request))

    def _described(self, move: Move[WhatT]) -> Response:
        return self._kind.response(
            **asdict(move.what),
            id=move.move_id,
            asset=move.asset,
            amount=text_of(move.amount),
            reason=move.reason,
            value_usd=dollars(move.value_cents),
            requested_by=move.requested_by,
            approved_by=move.approved_by,
            status=move.status,
            result_code=move.result_code,
            created_at=iso_of(move.created_at),
            decided_at=None if move.decided_at is None else iso_of(move.decided_at),
        )


def _detail(move: Move[WhatT]) -> dict[str, str]:
    return move.what.detail() | {
        "asset": move.asset,
        "amount": decimal_to_text(move.amount),
        "valueCents": "" if move.value_cents is None else str(move.value_cents),
    }
