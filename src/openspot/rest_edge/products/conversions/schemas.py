"""Bodies of the conversion routes."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from openspot.contracts.messages.message import DecimalText, TimeText
from openspot.http.validation import Body, Currency, PositiveDecimal, ResponseBody, example, rule_broken

QuoteId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]{1,40}$")]


class QuoteBody(Body):
    """A conversion to price, with exactly one of `fromAmount` (you pay it) and `toAmount` (you receive it)."""

    model_config = example({"fromAsset": "USD", "toAsset": "BTC", "fromAmount": "100"})

    from_asset: Currency
    to_asset: Currency
    from_amount: PositiveDecimal | None = None
    to_amount: PositiveDecimal | None = None

    @model_validator(mode="after")
    def one_amount(self) -> Self:
        """Refuse a body with both amounts or none."""
        if (self.from_amount is None) == (self.to_amount is None):
            raise rule_broken("exactly one of fromAmount and toAmount is required")
        return self


class ConversionBody(Body):
    """The quote to execute."""

    model_config = example({"quoteId": "9FvT4qKxW2mZr7Hd"})

    quote_id: QuoteId


class PairResponse(ResponseBody):
    """A possible conversion. `minimum` and `maximum` are bounds of `fromAmount`."""

    from_asset: str
    to_asset: str
    symbol: str
    minimum: DecimalText
    maximum: DecimalText


class QuoteResponse(ResponseBody):
    """A price for the whole amount, spread included. It is valid for one conversion, until `expiresAt`.

    `price` is toAmount / fromAmount, `inversePrice` is fromAmount / toAmount. Both are rounded to 18 places for
    display; the amounts decide. `spreadAmount` is the part of `fromAmount` that is the spread.
    """

    quote_id: str
    from_asset: str
    to_asset: str
    from_amount: DecimalText
    to_amount: DecimalText
    price: DecimalText
    inverse_price: DecimalText
    spread_bps: int
    spread_amount: DecimalText
    created_at: TimeText
    expires_at: TimeText


class ConversionResponse(ResponseBody):
    """A conversion. `pending` says that the engine's decision is not known yet. The amounts move at most once."""

    id: str
    quote_id: str
    status: Literal["pending", "completed", "failed"]
    from_asset: str
    to_asset: str
    from_amount: DecimalText
    to_amount: DecimalText
    spread_amount: DecimalText
    price: DecimalText
    failure_code: str | None = Field(description="Why it failed, as the engine says")
    created_at: TimeText
    completed_at: TimeText | None
