"""Bodies of the broker of record's routes. Amounts are decimal texts."""

from typing import Annotated, Any, Literal

from pydantic import Field

from openspot.http.validation import (
    Body,
    Currency,
    LowerCase,
    ParticipantId,
    ResponseBody,
    SignedDecimal,
    Symbol,
    UtcDatetime,
    example,
)
from openspot.positions.cost_basis.schemas import ExternalId
from openspot.positions.times import ShownTime

FILLS_MAX = 1_000


class FillBody(Body):
    """One fill of the order."""

    quantity: SignedDecimal
    price: SignedDecimal


class CompletedOrderBody(Body):
    """A completed order. `price` is the average price; `fills` may be left out.

    A body of another shape is refused. A report that breaks a rule of the platform becomes an exception.
    """

    model_config = example(
        {
            "orderId": "broker-1",
            "participantId": "3fJk9sQwErTyUiPa",
            "symbol": "BTC-USD",
            "side": "buy",
            "quantity": "0.5",
            "price": "60000",
            "fee": "30",
            "feeAsset": "USD",
            "completedAt": "2026-05-02T10:00:00Z",
        }
    )

    order_id: ExternalId
    participant_id: ParticipantId
    symbol: Symbol
    side: Annotated[Literal["buy", "sell"], LowerCase]
    quantity: SignedDecimal
    price: SignedDecimal
    fee: SignedDecimal = "0"
    fee_asset: Currency
    completed_at: UtcDatetime
    fills: list[FillBody] = Field(default=[], max_length=FILLS_MAX)


class IntakeResponse(ResponseBody):
    """The outcome of a report: a trade, an exception, or nothing if it was accepted before."""

    status: Literal["accepted", "repeated", "exception"]
    order_id: str
    trade_id: str | None
    exception_id: str | None


class BrokenRuleResponse(ResponseBody):
    """One rule that a report breaks, and the field that breaks it."""

    code: str
    field: str
    reason: str


class ExceptionResponse(ResponseBody):
    """A report that breaks a rule. It moved nothing. `timesReported` counts how often it was sent."""

    id: str
    order_id: str
    participant_id: str
    reasons: list[BrokenRuleResponse]
    report: dict[str, Any]
    times_reported: int
    created_at: ShownTime
