"""Makes adjustments: one transfer between `house:adjustments` and the user, in the engine and so in the ledger.

An adjustment has the id of the operation that asked for it, and its transfer a reference made of that id. So a
repeated request adjusts once. It is written with its transfer and its entry in the trail in one transaction; the
transfer is sent until the engine has decided.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.reference import DOLLAR
from openspot.domain.ids import ADJUSTMENTS_ACCOUNT_ID
from openspot.domain.market import AssetScale
from openspot.domain.money import MoneyError, decimal_to_text, parse_decimal, to_scaled
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_transfers.model import Transfer, TransferResult
from openspot.engine_transfers.runner import TransferRunner
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError, validation_error
from openspot.http.paging import Page, page_of, time_and_id_of, time_place
from openspot.http.policy import Permission
from openspot.kit.clock import iso_of
from openspot.kit.database import Connection, Pool, text_of
from openspot.rest_edge.operators.acting import Acting, record, require_permission
from openspot.rest_edge.operators.adjustments import store
from openspot.rest_edge.operators.adjustments.alone import cents_alone
from openspot.rest_edge.operators.adjustments.rules import Category, needs_second_person, value_in_cents
from openspot.rest_edge.operators.adjustments.schemas import AdjustmentBody, AdjustmentResponse
from openspot.rest_edge.operators.adjustments.store import Adjustment, AdjustmentFilter
from openspot.rest_edge.operators.pending.rules import (
    ActionKind,
    OperatorRequest,
    RequestStatus,
    require_other_person,
)
from openspot.rest_edge.operators.pending.service import Approval, PendingActions
from openspot.rest_edge.operators.pending.store import get as get_request
from openspot.rest_edge.operators.pending.store import linked_with, lock_operator
from openspot.rest_edge.operators.users.store import exists

WINDOW = timedelta(hours=24)


class AssetPrices(Protocol):
    """The present fair prices."""

    def of_assets(self, valuation_asset: str) -> Mapping[str, AssetPrice]:
        """The price of each asset in `valuation_asset`."""


class AdjustmentRules:
    """Handles an adjustment's transfer. What the engine refuses stays refused: nobody owes it."""

    is_owed = False

    async def before(self, transfer: Transfer) -> None:
        """Nothing has to be done before."""

    async def settle(self, connection: Connection, transfer: Transfer, result: TransferResult, now: datetime) -> None:
        """Write the outcome into the adjustment."""
        status = "done" if result.succeeded else "refused"
        await store.decide(connection, transfer.subject_id, status, None if result.succeeded else result.code, now)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be adjusted."""

    adjustment_id: str
    user_id: str
    asset: str
    amount: Decimal
    category: Category
    value_cents: int | None


class Adjustments:
    """Adjustments and the requests for them. Methods raise HttpError.

    An operator may adjust `bound_cents` within 24 hours alone, with all accounts of the same owner together.
    """

    permission = Permission.BALANCES_APPROVE

    def __init__(
        self,
        pool: Pool,
        runner: TransferRunner,
        pending: PendingActions,
        prices: AssetPrices,
        assets: Mapping[str, AssetScale],
        bound_cents: int,
        now: Callable[[], datetime],
    ) -> None:
        self._pool = pool
        self._runner = runner
        self._pending = pending
        self._prices = prices
        self._assets = assets
        self._bound_cents = bound_cents
        self._now = now

    async def adjust(
        self, user_id: str, body: AdjustmentBody, acting: Acting, operation: IdempotentOperation
    ) -> AdjustmentResponse:
        """Adjust at once, or ask for it where another person must approve.

        400 for an unknown asset or too many places, 403 for one's own account or without the permission to take, 404
        for an unknown user.
        """
        require_permission(
            acting.operator, Permission.BALANCES_ADJUST_UP if body.amount > 0 else Permission.BALANCES_ADJUST_DOWN
        )
        if operation.is_resumed:
            earlier = await self._earlier(operation.operation_id)
            if earlier is not None:
                return earlier
        self._check(body)
        operator = acting.operator.name
        # Whoever has several accounts has one bound.
        own = await linked_with(self._pool, operator)
        require_other_person(operator, user_id, own)
        wanted = _Wanted(operation.operation_id, user_id, body.asset, body.amount, body.category, self._value(body))
        async with self._pool.acquire() as connection, connection.transaction():
            if not await exists(connection, user_id, lock=True):
                raise HttpError(404, f"user {user_id} not found", "USER_NOT_FOUND")
            await lock_operator(connection, ActionKind.ADJUSTMENT, own)
            of_day = await cents_alone(connection, own, self._now() - WINDOW)
            if needs_second_person(wanted.value_cents, of_day, self._bound_cents):
                request = await self._pending.ask(
                    connection, acting, ActionKind.ADJUSTMENT, user_id, _detail(wanted),
                    request_id=wanted.adjustment_id, is_single=False,
                )  # fmt: skip
                return _of_request(request)
            adjustment = self._adjustment(wanted, acting.reason, operator, None)
            transfer = await self._begin(connection, adjustment)
            await record(
                connection, acting, "adjustment.made", "user", user_id, {},
                {"adjustment": wanted.adjustment_id} | _detail(wanted),
            )  # fmt: skip
        await self._runner.attempt(transfer)
        return await self.get(wanted.adjustment_id)

    async def carry_out(self, request: OperatorRequest, approver: str, approval: Approval) -> None:
        """Make the adjustment that was asked for. 404 if the user is gone."""
        detail = request.detail
        cents = detail["valueCents"]
        wanted = _Wanted(
            request.request_id, request.user_id, detail["asset"], parse_decimal(detail["amount"]),
            Category(detail["category"]), int(cents) if cents else None,
        )  # fmt: skip
        async with self._pool.acquire() as connection, connection.transaction():
            if not await exists(connection, request.user_id, lock=True):
                raise HttpError(404, f"user {request.user_id} not found", "USER_NOT_FOUND")
            await approval.check(connection)
            transfer = await self._begin(
                connection, self._adjustment(wanted, request.reason, request.requested_by, approver)
            )
            await approval.write(connection)
        await self._runner.attempt(transfer)

    async def get(self, adjustment_id: str) -> AdjustmentResponse:
        """One adjustment, or the request for one. 404 if there is neither."""
        found = await self._earlier(adjustment_id)
        if found is None:
            raise HttpError(404, "there is no such adjustment", "ADJUSTMENT_NOT_FOUND")
        return found

    async def page(self, wanted: AdjustmentFilter, limit: int, cursor: str | None) -> Page[AdjustmentResponse]:
        """A page of adjustments that were made, newest first."""
        rows = await store.page(self._pool, wanted, limit + 1, time_and_id_of(cursor))
        return page_of(rows, limit, lambda row: time_place(row.created_at, row.adjustment_id), _described)

    async def _earlier(self, adjustment_id: str) -> AdjustmentResponse | None:
        made = await store.get(self._pool, adjustment_id)
        if made is not None:
            return _described(made)
        request = await get_request(self._pool, adjustment_id)
        return _of_request(request) if request is not None and request.kind is ActionKind.ADJUSTMENT else None

    def _check(self, body: AdjustmentBody) -> None:
        asset = self._assets.get(body.asset)
        if asset is None:
            raise validation_error([f"asset must be one of {', '.join(sorted(self._assets))}"])
        try:
            to_scaled(abs(body.amount), 10**asset.places)
        except MoneyError as error:
            raise validation_error([f"amount {error}"]) from error

    def _value(self, body: AdjustmentBody) -> int | None:
        return value_in_cents(body.amount, self._prices.of_assets(DOLLAR).get(body.asset))

    def _adjustment(self, wanted: _Wanted, reason: str, requested_by: str, approved_by: str | None) -> Adjustment:
        return Adjustment(
            adjustment_id=wanted.adjustment_id,
            user_id=wanted.user_id,
            asset=wanted.asset,
            amount=wanted.amount,
            category=wanted.category,
            reason=reason,
            value_cents=wanted.value_cents,
            requested_by=requested_by,
            approved_by=approved_by,
            created_at=self._now(),
        )

    async def _begin(self, connection: Connection, adjustment: Adjustment) -> Transfer:
        transfer = transfer_of(adjustment)
        await store.add(connection, adjustment)
        await self._runner.begin(connection, transfer)
        return transfer


def transfer_of(adjustment: Adjustment) -> Transfer:
    """The transfer that carries an adjustment out."""
    house, user = ADJUSTMENTS_ACCOUNT_ID, adjustment.user_id
    source, destination = (house, user) if adjustment.amount > 0 else (user, house)
    return Transfer(
        f"adjustment:{adjustment.adjustment_id}",
        TransferKind.ADJUSTMENT,
        adjustment.adjustment_id,
        (Movement(source, destination, adjustment.asset, abs(adjustment.amount)),),
    )


def _detail(wanted: _Wanted) -> dict[str, str]:
    return {
        "asset": wanted.asset,
        "amount": decimal_to_text(wanted.amount),
        "category": wanted.category.value,
        "valueCents": "" if wanted.value_cents is None else str(wanted.value_cents),
    }


def dollars(cents: int | None) -> str | None:
    """US cents as dollars; None stays None."""
    return None if cents is None else f"{cents // 100}.{cents % 100:02d}"


def _of_request(request: OperatorRequest) -> AdjustmentResponse:
    cents = request.detail["valueCents"]
    return AdjustmentResponse(
        id=request.request_id,
        user_id=request.user_id,
        asset=request.detail["asset"],
        amount=request.detail["amount"],
        category=Category(request.detail["category"]),
        reason=request.reason,
        value_usd=dollars(int(cents) if cents else None),
        requested_by=request.requested_by,
        approved_by=request.decided_by,
        status="rejected" if request.status is RequestStatus.REJECTED else "waiting",
        result_code=None,
        created_at=iso_of(request.requested_at),
        decided_at=None if request.decided_at is None else iso_of(request.decided_at),
    )


def _described(row: Adjustment) -> AdjustmentResponse:
    return AdjustmentResponse(
        id=row.adjustment_id,
        user_id=row.user_id,
        asset=row.asset,
        amount=text_of(row.amount),
        category=row.category,
        reason=row.reason,
        value_usd=dollars(row.value_cents),
        requested_by=row.requested_by,
        approved_by=row.approved_by,
        status=row.status,
        result_code=row.result_code,
        created_at=iso_of(row.created_at),
        decided_at=None if row.decided_at is None else iso_of(row.decided_at),
    )
