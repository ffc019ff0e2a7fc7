"""Makes adjustments: moves between `house:adjustments` and a user, in the engine and so in the ledger."""

from openspot.domain.transfer import TransferKind
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError, validation_error
from openspot.http.policy import Permission
from openspot.kit.database import Connection
from openspot.rest_edge.operators.acting import Acting, require_permission
from openspot.rest_edge.operators.adjustments.schemas import AdjustmentBody, AdjustmentResponse
from openspot.rest_edge.operators.adjustments.store import ADJUSTMENTS, Adjustment
from openspot.rest_edge.operators.moves.kind import MoveKind
from openspot.rest_edge.operators.moves.rules import amount_faults
from openspot.rest_edge.operators.moves.service import MoveMeans, Moves
from openspot.rest_edge.operators.pending.rules import ActionKind, OperatorRequest, require_other_person
from openspot.rest_edge.operators.pending.service import Approval
from openspot.rest_edge.operators.pending.store import linked_with, lock_operator
from openspot.rest_edge.operators.users.store import exists

ADJUSTMENT = MoveKind(
    request=ActionKind.ADJUSTMENT,
    made="adjustment.made",
    word="adjustment",
    missing=lambda: HttpError(404, "there is no such adjustment", "ADJUSTMENT_NOT_FOUND"),
    transfer=TransferKind.ADJUSTMENT,
    reference_prefix="adjustment:",
    table=ADJUSTMENTS,
    response=AdjustmentResponse,
)


class Adjustments:
    """Makes adjustments alone or with an approval; `moves` shows them. Methods raise HttpError.

    An operator may adjust `bound_cents` within 24 hours alone, with all accounts of the same owner together.
    """

    permission = Permission.BALANCES_APPROVE

    def __init__(self, means: MoveMeans, bound_cents: int) -> None:
        self.moves = Moves(ADJUSTMENT, means, bound_cents)
        self._pool = means.pool
        self._assets = means.assets
        self._cents_alone = means.cents_alone

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
        earlier = await self.moves.resumed(operation)
        if earlier is not None:
            return earlier
        if faults := amount_faults(self._assets, body.asset, "amount", body.amount):
            raise validation_error(faults)
        # Whoever has several accounts has one bound.
        own = await linked_with(self._pool, acting.operator.name)
        require_other_person(acting.operator.name, user_id, own)
        move = self.moves.wanted(operation, acting, Adjustment(user_id, body.category), body.asset, body.amount)
        async with self._pool.acquire() as connection, connection.transaction():
            await _require_user(connection, user_id)
            await lock_operator(connection, ActionKind.ADJUSTMENT, own)
            used = await self._cents_alone(connection, own, self.moves.window_began())
            begun = await self.moves.begin_or_ask(connection, move, acting, used)
        return await self.moves.outcome(begun)

    async def carry_out(self, request: OperatorRequest, approver: str, approval: Approval) -> None:
        """Make the adjustment that was asked for. 404 if the user is gone."""
        async with self._pool.acquire() as connection, connection.transaction():
            await _require_user(connection, request.user_id)
            await approval.check(connection)
            transfer = await self.moves.begin_approved(connection, self.moves.asked(request), approver)
            await approval.write(connection)
        await self.moves.send(transfer)


async def _require_user(connection: Connection, user_id: str) -> None:
    if not await exists(connection, user_id, lock=True):
        raise HttpError(404, f"user {user_id} not found", "USER_NOT_FOUND")
