"""Bodies of the payment routes."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from openspot.contracts.messages.message import DecimalText, TimeText
from openspot.http.validation import Body, Currency, PositiveDecimal, PrintableText, ResponseBody, example

RouteName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,64}$")]
PaymentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]{1,40}$")]
EventName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,128}$")]
UrlText = Annotated[str, PrintableText, StringConstraints(max_length=2048)]


class SessionBody(Body):
    """The amount to pay, and the route. The payment page sends the user to `returnUrl` afterwards."""

    model_config = example({"routeId": "development-usd", "amount": "100", "currency": "USD"})

    route_id: RouteName
    amount: PositiveDecimal
    currency: Currency
    return_url: UrlText | None = None


class CallbackBody(Body):
    """A provider's report on a payment. The header `X-Payload-Digest` signs the raw body."""

    model_config = example(
        {
            "eventId": "evt-1",
            "paymentId": "9FvT4qKxW2mZr7Hd",
            "paymentStatus": "paid",
            "amount": "100",
            "currency": "USD",
        }
    )

    event_id: EventName
    payment_id: PaymentName
    payment_status: Literal["paid", "failed"]
    amount: PositiveDecimal
    currency: Currency


class PaymentRouteResponse(ResponseBody):
    """A way to pay in. `simulated` routes take no real money."""

    id: str
    name: str
    currency: str
    provider: str
    minimum: DecimalText
    maximum: DecimalText
    fee_bps: int
    fee_fixed: DecimalText
    simulated: bool


class PaymentSessionResponse(ResponseBody):
    """A payment that waits for the user at `url` until `expiresAt`."""

    id: str
    url: str
    status: Literal["open", "complete", "expired", "cancelled"]
    payment_status: Literal["unpaid", "paid", "failed"]
    expires_at: TimeText


class PaymentResponse(ResponseBody):
    """A payment. The user is credited `netAmount` = amount - fee; `credited` says whether that is done."""

    id: str
    route_id: str
    currency: str
    amount: DecimalText
    fee: DecimalText
    net_amount: DecimalText
    status: Literal["open", "complete", "expired", "cancelled"]
    payment_status: Literal["unpaid", "paid", "failed"]
    credited: bool
    url: str
    return_url: str | None
    created_at: TimeText
    expires_at: TimeText
    completed_at: TimeText | None


class CallbackResponse(ResponseBody):
    """The callback was received. `repeated` says that it was a repetition or reported nothing new, and did nothing."""

    payment_id: str
    repeated: bool


class PaymentPageResponse(ResponseBody):
    """The development provider's view of a payment. It takes no money: the operator signs its callback."""

    payment_id: str
    currency: str
    amount: DecimalText
    status: Literal["open", "complete", "expired", "cancelled"]
    payment_status: Literal["unpaid", "paid", "failed"]
    simulated: bool
