"""Moves money between the house's accounts, in the engine and so in the ledger. The engine refuses what the source has
not got.
"""

from openspot.domain.transfer import TransferKind
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError, validation_error
from openspot.http.policy import Permission
from openspot.rest_edge.operators.acting import Acting
from openspot.rest_edge.operators.moves.kind import MoveKind
from openspot.rest_edge.operators.moves.rules import amount_faults
from openspot.rest_edge.operators.moves.service import MoveMeans, Moves
from openspot.rest_edge.operators.pending.rules import ActionKind, OperatorRequest
from openspot.rest_edge.operators.pending.service import Approval
from openspot.rest_edge.operators.pending.store import linked_with, lock_operator
from openspot.rest_edge.operators.treasury.rules import transfer_faults
from openspot.rest_edge.operators.treasury.schemas import HouseTransferBody, HouseTransferResponse
from openspot.rest_edge.operators.treasury.store import TRANSFERS, HouseTransfer

HOUSE_TRANSFER = MoveKind(
    request=ActionKind.HOUSE_TRANSFER,
    made="house_transfer.made",
    word="transfer",
    missing=lambda: HttpError(404, "there is no such transfer", "HOUSE_TRANSFER_NOT_FOUND"),
    transfer=TransferKind.TREASURY,
    reference_prefix="treasury:",
    table=TRANSFERS,
    response=HouseTransferResponse,
)


class HouseTransfers:
    """Makes transfers between the house's accounts alone or with an approval; `moves` shows them.

    Methods raise HttpError. An operator may move `bound_cents` within 24 hours alone, with all accounts of the same
    owner together.
    """

    permission = Permission.BALANCES_APPROVE

    def __init__(self, means: MoveMeans, bound_cents: int) -> None:
        self.moves = Moves(HOUSE_TRANSFER, means, bound_cents)
        self._pool = means.pool
        self._assets = means.assets

    async def move(
        self, body: HouseTransferBody, acting: Acting, operation: IdempotentOperation
    ) -> HouseTransferResponse:
        """Move at once, or ask for it where another person must approve.

        400 for an account that is not open, an unknown asset or too many places.
        """
        earlier = await self.moves.resumed(operation)
        if earlier is not None:
            return earlier
        faults = transfer_faults(body.source, body.destination)
        faults += amount_faults(self._assets, body.asset, "amount", body.amount)
        if faults:
            raise validation_error(faults)
        accounts = HouseTransfer(body.source, body.destination)
        move = self.moves.wanted(operation, acting, accounts, body.asset, body.amount)
        async with self._pool.acquire() as connection, connection.transaction():
            own = await linked_with(connection, acting.operator.name)
            await lock_operator(connection, ActionKind.HOUSE_TRANSFER, own)
            used = await TRANSFERS.sum_alone(connection, own, self.moves.window_began())
            begun = await self.moves.begin_or_ask(connection, move, acting, used)
        return await self.moves.outcome(begun)

    async def carry_out(self, request: OperatorRequest, approver: str, approval: Approval) -> None:
        """Make the transfer that was asked for."""
        async with self._pool.acquire() as connection, connection.transaction():
            await approval.check(connection)
            transfer = await self.moves.begin_approved(connection, self.moves.asked(request), approver)
            await approval.write(connection)
        await self.moves.send(transfer)
