"""The table `adjustments`."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, Self

from openspot.domain.ids import ADJUSTMENTS_ACCOUNT_ID
from openspot.domain.transfer import Movement
from openspot.rest_edge.operators.adjustments.rules import Category
from openspot.rest_edge.operators.moves.rules import given_or_taken
from openspot.rest_edge.operators.moves.table import MoveTable
from openspot.rest_edge.operators.newest import equal_to
from openspot.rest_edge.operators.pending.rules import OperatorRequest
from openspot.rest_edge.operators.spans import Span


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What a move is as an adjustment. Its amount is what the user gets; below 0 what the user gives."""

    user_id: str
    category: Category

    @classmethod
    def of_row(cls, row: Any) -> Self:
        """From a row of the table."""
        return cls(row["user_id"], Category(row["category"]))

    @classmethod
    def of_request(cls, request: OperatorRequest) -> Self:
        """From a request for an adjustment."""
        return cls(request.user_id, Category(request.detail["category"]))

    @property
    def subject(self) -> str:
        """The user."""
        return self.user_id

    def detail(self) -> dict[str, str]:
        """What request and trail keep beside the user."""
        return {"category": self.category.value}

    def movement(self, asset: str, amount: Decimal) -> Movement:
        """Between the house and the user."""
        return given_or_taken(ADJUSTMENTS_ACCOUNT_ID, self.user_id, asset, amount)


ADJUSTMENTS = MoveTable(Adjustment, table="adjustments", key="adjustment_id")


class AdjustmentFilter(NamedTuple):
    """The filter of a list; None filters nothing."""

    user_id: str | None = None
    status: str | None = None
    category: str | None = None
    span: Span = Span()

    def conditions(self, values: list[Any]) -> list[str]:
        """The conditions of SQL. Their values are added to `values`, which are numbered from 1."""
        wanted = {"user_id": self.user_id, "status": self.status, "category": self.category}
        return equal_to(wanted, values) + self.span.conditions("created_at", values)
