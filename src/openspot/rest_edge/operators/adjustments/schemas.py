"""Bodies of adjustments."""

from openspot.contracts.messages.message import DecimalText, TimeText
from openspot.http.validation import Body, Currency, ResponseBody, example
from openspot.rest_edge.operators.adjustments.rules import Category
from openspot.rest_edge.operators.moves.model import MoveStatus
from openspot.rest_edge.operators.schemas import Reason, SignedAmount


class AdjustmentBody(Body):
    """What the user gets; a negative `amount` is what the user gives."""

    model_config = example(
        {"asset": "USDT", "amount": "25", "category": "goodwill", "reason": "delayed withdrawal, ticket 4711"}
    )

    asset: Currency
    amount: SignedAmount
    category: Category
    reason: Reason


class AdjustmentResponse(ResponseBody):
    """An adjustment, or the request for one that another person approves: then `status` is `waiting` or
    `rejected`.

    `pending`: the engine has not answered yet, it is tried again. `resultCode` says why one was refused. `valueUsd` is
    null where nobody knew the value.
    """

    id: str
    user_id: str
    asset: str
    amount: DecimalText
    category: Category
    reason: str
    value_usd: DecimalText | None
    requested_by: str
    approved_by: str | None
    status: MoveStatus
    result_code: str | None
    created_at: TimeText
    decided_at: TimeText | None
