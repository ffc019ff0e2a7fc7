"""Request and response bodies of the routes that cancel many orders, at once or by a timer."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from openspot.contracts.messages import Message
from openspot.contracts.messages.message import Count, TimeText
from openspot.http.validation import Body, LowerCase, Symbol, example, rule_broken
from openspot.rest_edge.orders.schemas import ClientOrderId, OrderId, OrderSide

ORDER_IDS_MAX = 1000
CANCEL_TIMEOUT_S_MIN = 5
CANCEL_TIMEOUT_S_MAX = 86_400


class BulkCancelBody(Body):
    """Cancels the caller's open orders that match every given property. Without any, it cancels all of them.

    Several orders may have one `clientOrderId`: all that are open are cancelled.
    """

    model_config = example({"symbol": "BTC-USD", "side": "buy"})

    symbol: Symbol | None = None
    side: Annotated[OrderSide, LowerCase] | None = None
    order_ids: Annotated[list[OrderId], Field(min_length=1, max_length=ORDER_IDS_MAX)] | None = None
    client_order_id: ClientOrderId | None = None


class CancelTimerBody(Body):
    """After how many seconds without a renewal all your open orders are cancelled: 5 to 86400, or 0 to end it."""

    model_config = example({"timeoutSeconds": 60})

    timeout_seconds: int = Field(strict=True, ge=0, le=CANCEL_TIMEOUT_S_MAX)

    @model_validator(mode="after")
    def leaves_time_to_renew(self) -> Self:
        """Refuse a time that is too short to be renewed in."""
        if 0 < self.timeout_seconds < CANCEL_TIMEOUT_S_MIN:
            raise rule_broken(f"timeoutSeconds must be 0 or at least {CANCEL_TIMEOUT_S_MIN}")
        return self


class CancelTimer(Message, frozen=True):
    """Your dead man's switch. `cancels_at` is null while no timer runs; `timeout_seconds` is 0 then.

    `fired_at` says when it last cancelled your orders, and `cancelled_orders` how many; null if it never did.
    """

    timeout_seconds: Count
    cancels_at: TimeText | None
    fired_at: TimeText | None
    cancelled_orders: Count | None


class CancelFailure(Message, frozen=True):
    """An order that was not cancelled, and why."""

    order_id: str
    reason: str


class BulkCancel(Message, frozen=True):
    """The outcome of a bulk cancel: the ids of the cancelled orders, and the failures."""

    cancelled: list[str]
    failed: list[CancelFailure]
