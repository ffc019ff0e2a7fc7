"""What a kind of moves says of itself."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from openspot.domain.transfer import TransferKind
from openspot.engine_transfers.model import Transfer
from openspot.http.errors import HttpError
from openspot.rest_edge.operators.moves.model import Move, WhatT
from openspot.rest_edge.operators.moves.table import MoveTable
from openspot.rest_edge.operators.pending.rules import ActionKind

Response = TypeVar("Response", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveKind(Generic[WhatT, Response]):
    """A kind of moves."""

    request: ActionKind
    """What asks for one that another person must approve."""
    made: str
    """What the trail calls one that was made at once."""
    word: str
    """What the trail calls its id."""
    missing: Callable[[], HttpError]
    """What is raised for an id that there is not."""
    transfer: TransferKind
    reference_prefix: str
    """Before the id, it is the reference at the engine."""
    table: MoveTable[WhatT]
    response: type[Response]

    def transfer_of(self, move: Move[WhatT]) -> Transfer:
        """The transfer that carries a move out."""
        return Transfer(
            f"{self.reference_prefix}{move.move_id}",
            self.transfer,
            move.move_id,
            (move.what.movement(move.asset, move.amount),),
        )
