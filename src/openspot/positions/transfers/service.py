"""Creates and ends transfers. The transaction that changes a transfer's state also moves the balances, exactly once."""

from collections.abc import Container
from typing import Any

from openspot.domain.accounts import AccountKey
from openspot.domain.money import parse_decimal, to_amount
from openspot.http.context import Identity
from openspot.http.errors import HttpError
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import numeric
from openspot.positions.access import is_admin, participant_not_found, require_asset, require_visible
from openspot.positions.amounts import amount_of, shown
from openspot.positions.holdings.trade_store import add_to_balances
from openspot.positions.lifecycle import (
    BalanceChange,
    PositionTransferKind,
    PositionTransferStatus,
    TransferError,
    TransferTrigger,
    transfer_step,
)
from openspot.positions.transfers.schemas import AdjustmentBody, TransferBody, TransferResponse
from openspot.positions.transfers.store import PositionTransferStore


class TransferService:
    """Does the work of the routes of transfers. Raises HttpError."""

    def __init__(
        self, pool: Pool, store: PositionTransferStore, assets: Container[str], *, pending_max: int, day_max: int
    ) -> None:
        """A participant may have `pending_max` transfers that have not ended, and begin `day_max` in 24 hours."""
        self._pool = pool
        self._assets = assets
        self._pending_max = pending_max
        self._day_max = day_max
        self.store = store

    async def find(self, caller: Identity, transfer_id: str) -> TransferResponse:
        """One transfer. Raises HttpError (404) if there is none that the caller may see."""
        row = await self.store.find(transfer_id)
        if row is None or not _may_see(caller, row):
            raise _not_found(transfer_id)
        return transfer_response(row)

    async def create(
        self, caller: Identity, kind: PositionTransferKind, body: TransferBody | AdjustmentBody, transfer_id: str
    ) -> tuple[TransferResponse, bool]:
        """Create a transfer, or find the one that has this id or reference already.

        Returns it, and whether it is new. Raises HttpError: 404 if the participant does not exist or the caller may not
        see it; 409 if the reference belongs to another transfer, if the balance does not cover a withdrawal, or if too
        many transfers wait; 429 if there were too many within 24 hours.
        """
        participant_id = require_visible(caller, body.participant_id or caller.subject)
        asset = require_asset(body.asset_id, self._assets)
        if participant_id != caller.subject and not await self.store.knows_user(participant_id):
            raise participant_not_found(participant_id)
        amount = to_amount(parse_decimal(body.amount))
        step = transfer_step(kind, None, TransferTrigger.CREATE, amount)
        async with self._pool.acquire() as connection, connection.transaction():
            await self.store.lock_participant(connection, participant_id)
            inserted = await self.store.insert(
                connection,
                transfer_id=transfer_id,
                participant_id=participant_id,
                asset=asset,
                kind=kind,
                amount=numeric(amount),
                reference=body.reference,
                reason=body.reason if isinstance(body, AdjustmentBody) else None,
                allow_negative=body.allow_negative if isinstance(body, AdjustmentBody) else False,
                created_by=caller.subject,
            )
            if inserted is not None:
                if not is_admin(caller):
                    # What a participant has begun does not keep an operator from a correction.
                    await self._check_bounds(connection, participant_id)
                await self._move(connection, inserted, step.change)
                return transfer_response(inserted), True
            known = await self.store.same(connection, transfer_id, participant_id, kind, body.reference)
        if known is None or (known["asset"], amount_of(known["amount"])) != (asset, amount):
            message = f"reference {body.reference} belongs to another {kind} of this participant"
            raise HttpError(409, message, "REFERENCE_IN_USE")
        return transfer_response(known), False

    async def end(self, caller: Identity, transfer_id: str, trigger: TransferTrigger) -> TransferResponse:
        """Complete or cancel a transfer. A repetition changes nothing.

        Raises HttpError: 404 if there is none that the caller may see; 409 if the transfer has ended in the other way,
        or if a balance would become negative.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            row = await self.store.find(transfer_id, connection)
            if row is None or not _may_see(caller, row):
                raise _not_found(transfer_id)
            kind, status = PositionTransferKind(row["kind"]), PositionTransferStatus(row["status"])
            try:
                step = transfer_step(kind, status, trigger, amount_of(row["amount"]))
            except TransferError as error:
                raise HttpError(409, str(error), "TRANSFER_ENDED", details={"status": status}) from error
            if step.repeated:
                return transfer_response(row)
            await self._move(connection, row, step.change)
            return transfer_response(await self.store.end(connection, transfer_id, step.status, caller.subject))

    async def _check_bounds(self, connection: Connection, participant_id: str) -> None:
        """Raise HttpError if the new transfer, which is in the table already, is one too many."""
        if await self.store.pending(connection, participant_id) > self._pending_max:
            message = f"{self._pending_max} transfers of {participant_id} have not ended: cancel one first"
            raise HttpError(409, message, "TOO_MANY_TRANSFERS")
        if await self.store.has_begun_within_a_day(connection, participant_id, self._day_max + 1):
            message = f"{participant_id} may begin {self._day_max} transfers in 24 hours: wait before the next"
            raise HttpError(429, message, "TOO_MANY_TRANSFERS")

    async def _move(self, connection: Connection, row: Any, change: BalanceChange) -> None:
        """Change the balance. Raises HttpError (409) if the available balance would become negative."""
        if change == (0, 0):
            return
        account = AccountKey(row["participant_id"], row["asset"])
        await add_to_balances(connection, {account: (change.available, change.locked)})
        available = await self.store.available(connection, account)
        if change.available < 0 and available < 0 and not row["allow_negative"]:
            before, needed = shown(available - change.available), shown(-change.available)
            message = f"{before} {account.asset} are available, {needed} are needed"
            raise HttpError(409, message, "INSUFFICIENT_BALANCE")


def transfer_response(row: Any) -> TransferResponse:
    """The response for a row of transfers."""
    return TransferResponse(
        id=row["transfer_id"],
        participant_id=row["participant_id"],
        asset_id=row["asset"],
        kind=row["kind"],
        amount=shown(amount_of(row["amount"])),
        status=row["status"],
        reference=row["reference"],
        reason=row["reason"],
        allow_negative=row["allow_negative"],
        created_by=row["created_by"],
        created_at=row["created_at"],
        ended_by=row["ended_by"],
        ended_at=row["ended_at"],
    )


def _may_see(caller: Identity, row: Any) -> bool:
    return is_admin(caller) or row["participant_id"] == caller.subject


def _not_found(transfer_id: str) -> HttpError:
    return HttpError(404, f"transfer {transfer_id} not found", "TRANSFER_NOT_FOUND")
