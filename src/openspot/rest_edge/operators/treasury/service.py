"""Moves money between the house's accounts: one transfer in the engine and so in the ledger.

A transfer has the id of the operation that asked for it, and its reference at the engine is made of that id. So a
repeated request moves once. The row, its transfer and its entry in the trail are written in one transaction; the
transfer is sent until the engine has decided. The engine refuses what the source has not got.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from openspot.domain.fair_price.reference import DOLLAR
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
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.adjustments.rules import needs_second_person, value_in_cents
from openspot.rest_edge.operators.adjustments.service import WINDOW, AssetPrices, dollars
from openspot.rest_edge.operators.pending.rules import ActionKind, OperatorRequest, RequestStatus
from openspot.rest_edge.operators.pending.service import Approval, PendingActions
from openspot.rest_edge.operators.pending.store import get as get_request
from openspot.rest_edge.operators.pending.store import linked_with, lock_operator
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.operators.treasury import flow_store, store
from openspot.rest_edge.operators.treasury.outside import REFERENCE_PREFIX
from openspot.rest_edge.operators.treasury.rules import transfer_faults
from openspot.rest_edge.operators.treasury.schemas import HouseTransferBody, HouseTransferResponse
from openspot.rest_edge.operators.treasury.store import HouseTransfer


class HouseTransferRules:
    """Handles what moves money of the house, within it or from and to outside.

    What the engine refuses stays refused: nobody owes it.
    """

    is_owed = False

    async def before(self, transfer: Transfer) -> None:
        """Nothing has to be done before."""

    async def settle(self, connection: Connection, transfer: Transfer, result: TransferResult, now: datetime) -> None:
        """Write the outcome into the row."""
        status = "done" if result.succeeded else "refused"
        rows = flow_store if transfer.reference.startswith(REFERENCE_PREFIX) else store
        await rows.decide(connection, transfer.subject_id, status, None if result.succeeded else result.code, now)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be moved."""

    transfer_id: str
    source: str
    destination: str
    asset: str
    amount: Decimal
    value_cents: int | None


class HouseTransfers:
    """Transfers between the house's accounts, and the requests for them. Methods raise HttpError.

    An operator may move `bound_cents` within 24 hours alone, with all accounts of the same owner together.
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

    async def move(
        self, body: HouseTransferBody, acting: Acting, operation: IdempotentOperation
    ) -> HouseTransferResponse:
        """Move at once, or ask for it where another person must approve.

        400 for an account that is not open, an unknown asset or too many places.
        """
        if operation.is_resumed:
            earlier = await self._earlier(operation.operation_id)
            if earlier is not None:
                return earlier
        self._check(body)
        value = value_in_cents(body.amount, self._prices.of_assets(DOLLAR).get(body.asset))
        wanted = _Wanted(operation.operation_id, body.source, body.destination, body.asset, body.amount, value)
        async with self._pool.acquire() as connection, connection.transaction():
            own = await linked_with(connection, acting.operator.name)
            await lock_operator(connection, ActionKind.HOUSE_TRANSFER, own)
            of_day = await store.sum_alone(connection, own, self._now() - WINDOW)
            if needs_second_person(value, of_day, self._bound_cents):
                request = await self._pending.ask(
                    connection, acting, ActionKind.HOUSE_TRANSFER, wanted.source, _detail(wanted),
                    request_id=wanted.transfer_id, is_single=False,
                )  # fmt: skip
                return _of_request(request)
            transfer = await self._begin(connection, wanted, acting.reason, acting.operator.name, None)
            await record(
                connection, acting, "house_transfer.made", "account", wanted.source, {},
                {"transfer": wanted.transfer_id} | _detail(wanted),
            )  # fmt: skip
        await self._runner.attempt(transfer)
        return await self.get(wanted.transfer_id)

    async def carry_out(self, request: OperatorRequest, approver: str, approval: Approval) -> None:
        """Make the transfer that was asked for."""
        detail = request.detail
        cents = detail["valueCents"]
        wanted = _Wanted(
            request.request_id, detail["from"], detail["to"], detail["asset"], parse_decimal(detail["amount"]),
            int(cents) if cents else None,
        )  # fmt: skip
        async with self._pool.acquire() as connection, connection.transaction():
            await approval.check(connection)
            transfer = await self._begin(connection, wanted, request.reason, request.requested_by, approver)
            await approval.write(connection)
        await self._runner.attempt(transfer)

    async def get(self, transfer_id: str) -> HouseTransferResponse:
        """One transfer, or the request for one. 404 if there is neither."""
        found = await self._earlier(transfer_id)
        if found is None:
            raise HttpError(404, "there is no such transfer", "HOUSE_TRANSFER_NOT_FOUND")
        return found

    async def page(
        self, account: str | None, span: Span, limit: int, cursor: str | None
    ) -> Page[HouseTransferResponse]:
        """A page of transfers that were made in `span`, newest first; of one account only if it is given."""
        rows = await store.page(self._pool, account, span, limit + 1, time_and_id_of(cursor))
        return page_of(rows, limit, lambda row: time_place(row.created_at, row.transfer_id), _described)

    async def _earlier(self, transfer_id: str) -> HouseTransferResponse | None:
        made = await store.get(self._pool, transfer_id)
        if made is not None:
            return _described(made)
        request = await get_request(self._pool, transfer_id)
        return _of_request(request) if request is not None and request.kind is ActionKind.HOUSE_TRANSFER else None

    def _check(self, body: HouseTransferBody) -> None:
        faults = transfer_faults(body.source, body.destination)
        asset = self._assets.get(body.asset)
        if asset is None:
            faults.append(f"asset must be one of {', '.join(sorted(self._assets))}")
        else:
            try:
                to_scaled(body.amount, 10**asset.places)
            except MoneyError as error:
                faults.append(f"amount {error}")
        if faults:
            raise validation_error(faults)

    async def _begin(
        self, connection: Connection, wanted: _Wanted, reason: str, requested_by: str, approved_by: str | None
    ) -> Transfer:
        row = HouseTransfer(
            transfer_id=wanted.transfer_id,
            source=wanted.source,
            destination=wanted.destination,
            asset=wanted.asset,
            amount=wanted.amount,
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


def transfer_of(row: HouseTransfer) -> Transfer:
    """The transfer that carries a row out."""
    return Transfer(
        f"treasury:{row.transfer_id}",
        TransferKind.TREASURY,
        row.transfer_id,
        (Movement(row.source, row.destination, row.asset, row.amount),),
    )


def _detail(wanted: _Wanted) -> dict[str, str]:
    return {
        "from": wanted.source,
        "to": wanted.destination,
        "asset": wanted.asset,
        "amount": decimal_to_text(wanted.amount),
        "valueCents": "" if wanted.value_cents is None else str(wanted.value_cents),
    }


def _of_request(request: OperatorRequest) -> HouseTransferResponse:
    cents = request.detail["valueCents"]
    return HouseTransferResponse(
        id=request.request_id,
        source=request.detail["from"],
        destination=request.detail["to"],
        asset=request.detail["asset"],
        amount=request.detail["amount"],
        reason=request.reason,
        value_usd=dollars(int(cents) if cents else None),
        requested_by=request.requested_by,
        approved_by=request.decided_by,
        status="rejected" if request.status is RequestStatus.REJECTED else "waiting",
        result_code=None,
        created_at=iso_of(request.requested_at),
        decided_at=None if request.decided_at is None else iso_of(request.decided_at),
    )


def _described(row: HouseTransfer) -> HouseTransferResponse:
    return HouseTransferResponse(
        id=row.transfer_id,
        source=row.source,
        destination=row.destination,
        asset=row.asset,
        amount=text_of(row.amount),
        reason=row.reason,
        value_usd=dollars(row.value_cents),
        requested_by=row.requested_by,
        approved_by=row.approved_by,
        status=row.status,
        result_code=row.result_code,
        created_at=iso_of(row.created_at),
        decided_at=None if row.decided_at is None else iso_of(row.decided_at),
    )
