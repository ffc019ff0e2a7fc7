"""Bodies of the routes of assignments."""

from typing import Annotated

from pydantic import StringConstraints

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import Body, ResponseBody, example
from openspot.rest_edge.operators.schemas import Reason

OperatorName = Annotated[str, StringConstraints(strict=True, pattern=r"^(user|engine):[A-Za-z0-9_.:-]{1,64}$")]


class AssigneeBody(Body):
    """The operator who is to decide, null for nobody. `expected` is the one that the caller has seen."""

    model_config = example({"assignee": "user:Ada1", "expected": None, "reason": "covers the night"})

    assignee: OperatorName | None
    expected: OperatorName | None
    reason: Reason


class AssignmentResponse(ResponseBody):
    """Who is to decide on a withdrawal; null if nobody is. `assignedBy` changed it last."""

    withdrawal_id: str
    assignee: str | None
    assigned_by: str
    assigned_at: TimeText


class AssigneeResponse(ResponseBody):
    """A user who may be asked to decide on withdrawals. `assigned` counts the open withdrawals of this operator."""

    operator: str
    email: str
    display_name: str | None
    assigned: int
