"""Bodies of transfers. Amounts are decimal texts."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from openspot.contracts.messages.message import DecimalText
from openspot.domain.money import decimal_to_text
from openspot.http.validation import (
    Body,
    Currency,
    ParticipantId,
    PositiveDecimal,
    PrintableText,
    ResponseBody,
    example,
    signed_decimal,
)
from openspot.positions.times import ShownTime

TransferKindText = Literal["deposit", "withdrawal", "adjustment"]
TransferStatusText = Literal["pending", "completed", "cancelled"]

Reference = Annotated[str, StringConstraints(min_length=1, max_length=200), PrintableText]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]+$")]


def _not_zero(value: object) -> str:
    number: Decimal = signed_decimal(value)
    if not number:
        raise PydanticCustomError("decimal", "must not be zero")
    return decimal_to_text(number)


SignedAmount = Annotated[
    str,
    BeforeValidator(_not_zero),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": r"^-?(?=.*[1-9])[0-9]+(\.[0-9]{1,18})?$"},
                {"type": "number", "not": {"const": 0}},
            ],
            "examples": ["-0.5"],
        }
    ),
]
"""A decimal other than 0 with at most 18 places."""


class TransferBody(Body):
    """A deposit or a withdrawal. Without `participantId` it is yours.

    A second request of the same kind with the same `reference` creates nothing: the response is the first transfer.
    """

    model_config = example({"assetId": "USD", "amount": "100", "reference": "invoice-17"})

    participant_id: ParticipantId | None = None
    asset_id: Currency
    amount: PositiveDecimal
    reference: Reference | None = None


class AdjustmentBody(Body):
    """A correction of a balance: `amount` is added to it, and may be negative. `reason` says why.

    With `allowNegative` the balance may be negative afterwards.
    """

    model_config = example(
        {"participantId": "3fJk9sQwErTyUiPa", "assetId": "USD", "amount": "-0.5", "reason": "booked twice on 2 May"}
    )

    participant_id: ParticipantId
    asset_id: Currency
    amount: SignedAmount
    reason: Reason
    reference: Reference | None = None
    allow_negative: bool = Field(default=False, strict=True)


class TransferResponse(ResponseBody):
    """A transfer. It is created `pending` and ends `completed` or `cancelled`."""

    id: str
    participant_id: str
    asset_id: str
    kind: TransferKindText
    amount: DecimalText
    status: TransferStatusText
    reference: str | None
    reason: str | None
    allow_negative: bool
    created_by: str
    created_at: ShownTime
    ended_by: str | None
    ended_at: ShownTime | None
