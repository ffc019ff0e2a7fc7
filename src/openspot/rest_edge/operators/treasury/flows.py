"""Records money of the house that comes from outside or goes there: a deposit or withdrawal at engine and ledger.

The external reference of a flow counts once: nothing that has one already is recorded again.
"""

from openspot.domain.transfer import TransferKind
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError, validation_error
from openspot.http.policy import Permission
from openspot.kit.database import Connection
from openspot.rest_edge.operators.acting import Acting
from openspot.rest_edge.operators.moves.kind import MoveKind
from openspot.rest_edge.operators.moves.model import Move
from openspot.rest_edge.operators.moves.rules import amount_faults
from openspot.rest_edge.operators.moves.service import MoveMeans, Moves
from openspot.rest_edge.operators.pending.rules import ActionKind, OperatorRequest
from openspot.rest_edge.operators.pending.service import Approval
from openspot.rest_edge.operators.pending.store import linked_with, lock_operator
from openspot.rest_edge.operators.treasury.flow_store import FLOWS, HouseFlow, known, lock_reference
from openspot.rest_edge.operators.treasury.outside import REFERENCE_PREFIX
from openspot.rest_edge.operators.treasury.rules import outside_fault
from openspot.rest_edge.operators.treasury.schemas import HouseFlowBody, HouseFlowResponse

HOUSE_FLOW = MoveKind(
    request=ActionKind.HOUSE_FLOW,
    made="house_flow.recorded",
    word="flow",
    missing=lambda: HttpError(404, "there is no such flow", "HOUSE_FLOW_NOT_FOUND"),
    transfer=TransferKind.TREASURY,
    reference_prefix=REFERENCE_PREFIX,
    table=FLOWS,
    response=HouseFlowResponse,
)


class HouseFlows:
    """Records flows alone or with an approval; `moves` shows them. Methods raise HttpError.

    An operator may record `bound_cents` within 24 hours alone, with adjustments and all accounts of the same owner.
    """

    permission = Permission.BALANCES_APPROVE

    def __init__(self, means: MoveMeans, bound_cents: int) -> None:
        self.moves = Moves(HOUSE_FLOW, means, bound_cents)
        self._pool = means.pool
        self._assets = means.assets
        self._cents_alone = means.cents_alone
        self._now = means.now

    async def record(self, body: HouseFlowBody, acting: Acting, operation: IdempotentOperation) -> HouseFlowResponse:
        """Record a flow at once, or ask for it where another person must approve.

        400 for an account that is not open, an unknown asset or too many places; 409 for a reference that counts
        already.
        """
        earlier = await self.moves.resumed(operation)
        if earlier is not None:
            return earlier
        faults = [fault for fault in (outside_fault("account", body.account),) if fault]
        faults += amount_faults(self._assets, body.asset, "amount", body.amount)
        if faults:
            raise validation_error(faults)
        flow = HouseFlow(body.account, body.category, body.reference)
        move = self.moves.wanted(operation, acting, flow, body.asset, body.amount)
        async with self._pool.acquire() as connection, connection.transaction():
            own = await linked_with(connection, acting.operator.name)
            # The lock of adjustments: both count for one bound.
            await lock_operator(connection, ActionKind.ADJUSTMENT, own)
            await self._require_new(connection, move)
            used = await self._cents_alone(connection, own, self.moves.window_began())
            begun = await self.moves.begin_or_ask(connection, move, acting, used)
        return await self.moves.outcome(begun)

    async def carry_out(self, request: OperatorRequest, approver: str, approval: Approval) -> None:
        """Record the flow that was asked for. 409 if its reference counts already."""
        asked = self.moves.asked(request)
        async with self._pool.acquire() as connection, connection.transaction():
            await approval.check(connection)
            await self._require_new(connection, asked)
            transfer = await self.moves.begin_approved(connection, asked, approver)
            await approval.write(connection)
        await self.moves.send(transfer)

    async def _require_new(self, connection: Connection, move: Move[HouseFlow]) -> None:
        reference = move.what.reference
        await lock_reference(connection, reference)
        # The request for the move itself has its reference, too.
        other = await known(connection, reference, self._now(), except_request=move.move_id)
        if other is not None:
            raise HttpError(
                409, f"reference {reference} counts already: {other.id}, {other.text}", "REFERENCE_COUNTS_ALREADY",
                details={"id": other.id},
            )  # fmt: skip
