"""Bodies and responses of the routes about networks of coins. Amounts are in the coin."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from openspot.contracts.messages.message import DecimalText
from openspot.http.validation import Body, NonNegativeDecimal, PositiveDecimal, ResponseBody, example
from openspot.rest_edge.operators.schemas import Reason

CONFIRMATIONS_MAX = 10_000
NetworkName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{1,31}$", strict=True)]
AddressForm = Literal["bitcoin", "ethereum", "solana", "tron", "stellar"]


class CoinNetworkBody(Body):
    """The terms of a coin on a network.

    `addressForm` says whose addresses the network has, and `takesTag` whether an address takes a tag (memo): a new
    network needs the form, one that is known keeps both. `confirmations` are the blocks until a transfer counts, of all
    coins of the network. `withdrawalMinimum` includes the fee.
    """

    model_config = example(
        {
            "addressForm": "bitcoin", "confirmations": 20, "takesTag": False, "withdrawalFee": "2",
            "withdrawalMinimum": "10", "depositMinimum": "1", "reason": "DOGE arrives on Monday",
        }
    )  # fmt: skip

    address_form: AddressForm | None = None
    confirmations: Annotated[int | None, Field(ge=1, le=CONFIRMATIONS_MAX, strict=True)] = None
    takes_tag: Annotated[bool | None, Field(strict=True)] = None
    withdrawal_fee: NonNegativeDecimal
    withdrawal_minimum: PositiveDecimal
    deposit_minimum: PositiveDecimal
    reason: Reason


class CoinNetworkResponse(ResponseBody):
    """A coin on a network. `listed` says whether an operator set these terms; else they are the platform's own."""

    asset: str
    network: str
    address_form: str
    confirmations: int
    takes_tag: bool
    withdrawal_fee: DecimalText
    withdrawal_minimum: DecimalText
    deposit_minimum: DecimalText
    listed: bool
