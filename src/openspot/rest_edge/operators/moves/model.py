"""A move: the columns that every kind has, and those of its own kind."""

from dataclasses import Field, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeAlias, TypeVar

from openspot.domain.transfer import Movement
from openspot.rest_edge.operators.pending.rules import OperatorRequest


class What(Protocol):
    """What only the moves of one kind have: a dataclass of columns of its table, which its response has, too."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @classmethod
    def of_row(cls, row: Any) -> Self:
        """From a row of the kind's table."""

    @classmethod
    def of_request(cls, request: OperatorRequest) -> Self:
        """From a request for such a move, which has `subject` and `detail`."""

    @property
    def subject(self) -> str:
        """The user or the account of the house that request and trail name."""

    def detail(self) -> dict[str, str]:
        """The texts that request and trail keep beside the subject, by name."""

    def movement(self, asset: str, amount: Decimal) -> Movement:
        """What moves at the engine."""


MoveStatus: TypeAlias = Literal["waiting", "rejected", "pending", "done", "refused"]
"""`pending` until the engine has decided, then `done` or `refused`. What was only asked for is one of the first two."""
WhatT = TypeVar("WhatT", bound=What)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move(Generic[WhatT]):
    """Money that an operator moves. Made by one person alone, `approved_by` is None.

    `value_cents` is None where nobody knew the value. `result_code` says why one was refused.
    """

    move_id: str
    what: WhatT
    asset: str
    amount: Decimal
    reason: str
    value_cents: int | None
    requested_by: str
    approved_by: str | None
    created_at: datetime
    status: MoveStatus = "pending"
    result_code: str | None = None
    decided_at: datetime | None = None
