"""Records money of the house that comes from outside or goes there: a deposit or withdrawal at engine and ledger.

A flow has the id of the operation that asked for it, and its reference at the engine is made of that id. So a repeated
request moves once. Its external reference counts once, too: nothing that has one already is recorded again. Row,
transfer and entry in the trail are written in one transaction; then it is sent until the engine has decided.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from openspot.domain.fair_price.reference import DOLLAR
from openspot.domain.ids import EXTERNAL_ACCOUNT_ID
from openspot.domain.market import AssetScale
from openspot.domain.money import MoneyError, decimal_to_text, parse_decimal, to_scaled
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_transfers.model import Transfer
from openspot.engine_transfers.runner import TransferRunner
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError, validation_error
from openspot.http.paging import Page, page_of, time_and_id_of, time_place
from openspot.http.policy import Permission
from openspot.kit.clock import iso_of
from openspot.kit.database import Connection, Pool, text_of
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.adjustments.alone import cents_alone
from openspot.rest_edge.operators.adjustments.rules import needs_second_person, value_in_cents
from openspot.rest_edge.operators.adjustments.service import WINDOW, AssetPrices, dollars
from openspot.rest_edge.operators.pending.rules import ActionKind, OperatorRequest, RequestStatus
from openspot.rest_edge.operators.pending.service import Approval, PendingActions
from openspot.rest_edge.operators.pending.store import get as get_request
from openspot.rest_edge.operators.pending.store import linked_with, lock_operator
from openspot.rest_edge.operators.treasury import flow_store as store
from openspot.rest_edge.operators.treasury.flow_store import FlowFilter, HouseFlow
from openspot.rest_edge.operators.treasury.outside import reference_of
from openspot.rest_edge.operators.treasury.rules import FlowCategory, outside_fault
from openspot.rest_edge.operators.treasury.schemas import HouseFlowBody, HouseFlowResponse


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be recorded."""

    flow_id: str
    account: str
    asset: str
    amount: Decimal
    category: FlowCategory
    reference: str
    value_cents: int | None


class HouseFlows:
    """Flows and the requests for them. Methods raise HttpError.

    An operator may record `bound_cents` within 24 hours alone, with adjustments and all accounts of the same owner.
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

    async def record(self, body: HouseFlowBody, acting: Acting, operation: IdempotentOperation) -> HouseFlowResponse:
        """Record a flow at once, or ask for it where another person must approve.

        400 for an account that is not open, an unknown asset or too many places; 409 for a reference that counts
        already.
        """
        if operation.is_resumed:
            earlier = await self._earlier(operation.operation_id)
            if earlier is not None:
                return earlier
        self._check(body)
        value = value_in_cents(body.amount, self._prices.of_assets(DOLLAR).get(body.asset))
        wanted = _Wanted(
            operation.operation_id, body.account, body.asset, body.amount, body.category, body.reference, value
        )
        async with self._pool.acquire() as connection, connection.transaction():
            own = await linked_with(connection, acting.operator.name)
            # The lock of adjustments: both count for one bound.
            await lock_operator(connection, ActionKind.ADJUSTMENT, own)
            await self._require_new(connection, wanted.reference)
            of_day = await cents_alone(connection, own, self._now() - WINDOW)
            if needs_second_person(value, of_day, self._bound_cents):
                request = await self._pending.ask(
                    connection, acting, ActionKind.HOUSE_FLOW, wanted.account, _detail(wanted),
                    request_id=wanted.flow_id, is_single=False,
                )  # fmt: skip
                return _of_request(request)
            transfer = await self._begin(connection, wanted, acting.reason, acting.operator.name, None)
            await record(
                connection, acting, "house_flow.recorded", "account", wanted.account, {},
                {"flow": wanted.flow_id} | _detail(wanted),
            )  # fmt: skip
        await self._runner.attempt(transfer)
        return await self.get(wanted.flow_id)

    async def carry_out(self, request: OperatorRequest, approver: str, approval: Approval) -> None:
        """Record the flow that was asked for. 409 if its reference counts already."""
        detail = request.detail
        cents = detail["valueCents"]
        wanted = _Wanted(
            request.request_id, request.user_id, detail["asset"], parse_decimal(detail["amount"]),
            FlowCategory(detail["category"]), detail["reference"], int(cents) if cents else None,
        )  # fmt: skip
        async with self._pool.acquire() as connection, connection.transaction():
            await approval.check(connection)
            await self._require_new(connection, wanted.reference, except_request=request.request_id)
            transfer = await self._begin(connection, wanted, request.reason, request.requested_by, approver)
            await approval.write(connection)
        await self._runner.attempt(transfer)

    async def get(self, flow_id: str) -> HouseFlowResponse:
        """One flow, or the request for one. 404 if there is neither."""
        found = await self._earlier(flow_id)
        if found is None:
            raise HttpError(404, "there is no such flow", "HOUSE_FLOW_NOT_FOUND")
        return found

    async def page(self, wanted: FlowFilter, limit: int, cursor: str | None) -> Page[HouseFlowResponse]:
        """A page of flows that were recorded, newest first."""
        rows = await store.page(self._pool, wanted, limit + 1, time_and_id_of(cursor))
        return page_of(rows, limit, lambda row: time_place(row.created_at, row.flow_id), _described)

    async def _earlier(self, flow_id: str) -> HouseFlowResponse | None:
        made = await store.get(self._pool, flow_id)
        if made is not None:
            return _described(made)
        request = await get_request(self._pool, flow_id)
        return _of_request(request) if request is not None and request.kind is ActionKind.HOUSE_FLOW else None

    def _check(self, body: HouseFlowBody) -> None:
        faults = [fault for fault in (outside_fault("account", body.account),) if fault]
        asset = self._assets.get(body.asset)
        if asset is None:
            faults.append(f"asset must be one of {', '.join(sorted(self._assets))}")
        else:
            try:
                to_scaled(abs(body.amount), 10**asset.places)
            except MoneyError as error:
                faults.append(f"amount {error}")
        if faults:
            raise validation_error(faults)

    async def _require_new(self, connection: Connection, reference: str, *, except_request: str = "") -> None:
        await store.lock_reference(connection, reference)
        known = await store.known(connection, reference, self._now(), except_request=except_request)
        if known is not None:
            raise HttpError(
                409, f"reference {reference} counts already: {known.id}, {known.text}", "REFERENCE_COUNTS_ALREADY",
                details={"id": known.id},
            )  # fmt: skip

    async def _begin(
        self, connection: Connection, wanted: _Wanted, reason: str, requested_by: str, approved_by: str | None
    ) -> Transfer:
        row = HouseFlow(
            flow_id=wanted.flow_id,
            account=wanted.account,
            asset=wanted.asset,
            amount=wanted.amount,
            category=wanted.category,
            reference=wanted.reference,
            reason=reason,
            value_cents=wanted.value_cents,
            requested_by=requested_by,
            approved_by=approved_by,
            created_at=self._now(),
        )
        transfer = transfer_of(row)
        await store.add(connection, row)
        await self._runner.begin(connection, transfer)
        return transfer


def transfer_of(row: HouseFlow) -> Transfer:
    """The transfer that carries a flow out: with the outside world on one side."""
    outside, account = EXTERNAL_ACCOUNT_ID, row.account
    source, destination = (outside, account) if row.amount > 0 else (account, outside)
    return Transfer(
        reference_of(row.flow_id),
        TransferKind.TREASURY,
        row.flow_id,
        (Movement(source, destination, row.asset, abs(row.amount)),),
    )


def _detail(wanted: _Wanted) -> dict[str, str]:
    return {
        "asset": wanted.asset,
        "amount": decimal_to_text(wanted.amount),
        "category": wanted.category.value,
        "reference": wanted.reference,
        "valueCents": "" if wanted.value_cents is None else str(wanted.value_cents),
    }


def _of_request(request: OperatorRequest) -> HouseFlowResponse:
    cents = request.detail["valueCents"]
    return HouseFlowResponse(
        id=request.request_id,
        account=request.user_id,
        asset=request.detail["asset"],
        amount=request.detail["amount"],
        category=FlowCategory(request.detail["category"]),
        reference=request.detail["reference"],
        reason=request.reason,
        value_usd=dollars(int(cents) if cents else None),
        requested_by=request.requested_by,
        approved_by=request.decided_by,
        status="rejected" if request.status is RequestStatus.REJECTED else "waiting",
        result_code=None,
        created_at=iso_of(request.requested_at),
        decided_at=None if request.decided_at is None else iso_of(request.decided_at),
    )


def _described(row: HouseFlow) -> HouseFlowResponse:
    return HouseFlowResponse(
        id=row.flow_id,
        account=row.account,
        asset=row.asset,
        amount=text_of(row.amount),
        category=row.category,
        reference=row.reference,
        reason=row.reason,
        value_usd=dollars(row.value_cents),
        requested_by=row.requested_by,
        approved_by=row.approved_by,
        status=row.status,
        result_code=row.result_code,
        created_at=iso_of(row.created_at),
        decided_at=None if row.decided_at is None else iso_of(row.decided_at),
    )
