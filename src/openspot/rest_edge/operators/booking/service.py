"""The approval of a booking. It decides alone: `openspot ledger book-adjustments`, run again, books what was approved.

The edge does not read all events of the engine, and writes nothing into the ledger; the command does both in one
transaction (docs/adr/0113-operators-book-engine-adjustments.md).
"""

from openspot.http.errors import HttpError
from openspot.http.policy import Permission
from openspot.kit.database import Pool
from openspot.rest_edge.operators.pending.rules import OperatorRequest, person_of
from openspot.rest_edge.operators.pending.service import Approval
from openspot.rest_edge.operators.pending.store import linked_with

ACCOUNTS_SEPARATOR = ","


class BookingApproval:
    """Lets a second person agree that adjustments of the engine are booked in the ledger."""

    permission = Permission.BALANCES_APPROVE

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def carry_out(self, request: OperatorRequest, approver: str, approval: Approval) -> None:
        """Write the approval. 403 if one of the accounts is the approver's own."""
        own = await linked_with(self._pool, approver) | {person_of(approver)}
        accounts = {name.lower() for name in request.detail["accounts"].split(ACCOUNTS_SEPARATOR)}
        if own & accounts:
            raise HttpError(403, "nobody acts on an account of their own", "OWN_ACCOUNT")
        async with self._pool.acquire() as connection, connection.transaction():
            await approval.check(connection)
            await approval.write(connection)
