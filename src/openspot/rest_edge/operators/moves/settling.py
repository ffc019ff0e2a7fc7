"""What the engine decides of a move becomes the status of its row."""

from datetime import datetime
from typing import Any

from openspot.engine_transfers.model import Transfer, TransferResult
from openspot.kit.database import Connection
from openspot.rest_edge.operators.moves.kind import MoveKind


class MoveRules:
    """Handles the transfers of these kinds of moves. What the engine refuses stays refused: nobody owes it."""

    is_owed = False

    def __init__(self, *kinds: MoveKind[Any, Any]) -> None:
        self._tables = {kind.reference_prefix: kind.table for kind in kinds}

    async def before(self, transfer: Transfer) -> None:
        """Nothing has to be done before."""

    async def settle(self, connection: Connection, transfer: Transfer, result: TransferResult, now: datetime) -> None:
        """Write the outcome into the row."""
        table = self._tables[transfer.reference.removesuffix(transfer.subject_id)]
        status = "done" if result.succeeded else "refused"
        await table.decide(connection, transfer.subject_id, status, None if result.succeeded else result.code, now)
