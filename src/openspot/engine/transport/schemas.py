"""Request bodies and responses of the engine's HTTP interface: camelCase names, decimals as strings."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from openspot.contracts.messages.message import DecimalText
from openspot.domain.listing import REASON_LENGTH_MAX
from openspot.domain.money import AMOUNT_PLACES
from openspot.engine.intake.command_intake import CANCELS_MAX
from openspot.engine.intake.money_intake import REFERENCE_LENGTH_MAX
from openspot.engine_client.listing_schemas import PhaseFields
from openspot.http.validation import (
    Body,
    Currency,
    ExactPositiveDecimal,
    NoBoolean,
    ParticipantId,
    PositiveDecimal,
    ResponseBody,
    Symbol,
    WholeNumber,
    example,
    rule_broken,
)

ID_MAX = 2**31 - 1

Identifier = Annotated[int, Field(ge=1, le=ID_MAX), NoBoolean]
CurrencyName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Places = Annotated[int, Field(ge=0, le=AMOUNT_PLACES), NoBoolean]
CurrencyLogo = Annotated[str, StringConstraints(max_length=32)]
Reference = Annotated[str, StringConstraints(max_length=REFERENCE_LENGTH_MAX)]


class DepositBody(Body):
    """Money for one participant. A `reference` is credited once, however often it is sent."""

    model_config = example({"participantId": "alice", "currency": "USD", "amount": "100.25", "reference": "tx-1"})

    participant_id: ParticipantId
    currency: Currency
    amount: PositiveDecimal
    reference: Reference = ""


class CurrencyBody(Body):
    """A new currency. Without `currencyId` it gets the next free number."""

    model_config = example({"currency": "DOGE", "name": "Dogecoin", "places": 8})

    currency: Currency
    currency_id: Identifier | None = None
    name: CurrencyName | None = None
    places: Places = AMOUNT_PLACES
    logo: CurrencyLogo = ""


class CurrencyChange(Body):
    """The new values of a currency. What is not given stays as it is."""

    name: CurrencyName | None = None
    places: Places | None = None
    logo: CurrencyLogo | None = None


class SymbolBody(Body):
    """A new symbol. A scale that is not given becomes the smallest that lot and tick need."""

    model_config = example(
        {"symbol": "DOGE-USD", "lotSize": "0.1", "tickSize": "0.0001", "takerFee": 25, "makerFee": 15}
    )

    symbol: Symbol
    symbol_id: Identifier | None = None
    base_currency: str | None = None
    quote_currency: str | None = None
    lot_size: ExactPositiveDecimal
    tick_size: ExactPositiveDecimal
    base_scale_k: WholeNumber | None = None
    quote_scale_k: WholeNumber | None = None
    taker_fee: WholeNumber
    maker_fee: WholeNumber

    @model_validator(mode="after")
    def currencies_are_those_of_the_name(self) -> Self:
        """Refuse currencies that the symbol's name does not have."""
        base, quote = self.symbol.split("-")
        if self.base_currency not in (None, base) or self.quote_currency not in (None, quote):
            raise rule_broken("baseCurrency and quoteCurrency must be those of the symbol's name")
        return self


class PhaseBody(PhaseFields):
    """A phase of a market, and why it enters it. `seconds` later continuous trading begins; 0: with the next change.

    With the phase that the caller saw, `expected`, the change is refused if the market is in another one by now.
    """

    model_config = example({"phase": "auction", "seconds": 300, "reason": "a wrong price was published"})

    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=REASON_LENGTH_MAX)]


class CancellationBody(Body):
    """How many open orders of a market are cancelled at most, and why."""

    model_config = example({"ordersMax": 500, "reason": "the market is stopped after a fault"})

    orders_max: Annotated[int, Field(ge=1, le=CANCELS_MAX), NoBoolean] = CANCELS_MAX
    reason: Annotated[
        str,
        StringConstraints(strict=True, strip_whitespace=True, min_length=3, max_length=500, pattern=r"^[^\x00-\x1f]*$"),
    ]


class CancellationResponse(ResponseBody):
    """How many orders were cancelled, and how many are still open."""

    symbol: str
    cancelled: int
    open_orders: int


class OpenOrdersResponse(ResponseBody):
    """How many orders are open on a market, those that wait for a trigger included."""

    symbol: str
    open_orders: int


class SymbolChange(Body):
    """The new values of a symbol. What is not given stays as it is. A symbol that is not `active` takes no orders."""

    taker_fee: WholeNumber | None = None
    maker_fee: WholeNumber | None = None
    active: bool | None = None


class SymbolResponse(ResponseBody):
    """A symbol. Fees are in basis points; a negative maker fee is a rebate."""

    symbol: str
    symbol_id: int
    base_currency: str
    quote_currency: str
    base_scale_k: int
    quote_scale_k: int
    tick_size: DecimalText
    lot_size: DecimalText
    taker_fee: int
    maker_fee: int
    active: bool
    phase: Annotated[
        str | None, Field(description="Left out in continuous trading, and so are the two that follow")
    ] = None
    phase_ends_at: Annotated[int | None, Field(description="Milliseconds since 1970; 0: no end is set")] = None
    phase_reference: Annotated[DecimalText | None, Field(description="What an auction's price is near to; 0: none")] = (
        None
    )
    phase_cause: Annotated[
        Literal["volatility", "volatility-extension"] | None,
        Field(description="Why the engine itself began the auction; left out if it did not"),
    ] = None
    terms: Annotated[
        dict[str, Any] | None,
        Field(description="The terms that an operator has set, as in /listings; left out while nobody has"),
    ] = None
    logo: Annotated[str | None, Field(description="The picture of the base asset; left out if it has none")] = None
    quote_logo: Annotated[str | None, Field(description="That of the quote asset; left out if it has none")] = None


class CurrencyResponse(ResponseBody):
    """A currency and the number that the journal knows it by."""

    currency: str
    currency_id: int
    name: str
    places: int
    logo: Annotated[str, Field(description="The name of its picture in the folder of the brand; empty: it has none")]


Level = Annotated[list[str], Field(min_length=2, max_length=2, description="[price, quantity]")]


class OrderBookResponse(ResponseBody):
    """Level-2 bids and asks, best first. `sequence` is that of the newest event, `timestamp` in milliseconds."""

    symbol: str
    bids: list[Level]
    asks: list[Level]
    sequence: int
    timestamp: int


class DepositResponse(ResponseBody):
    """The participant's total after the deposit."""

    success: Literal[True]
    result_code: Literal["SUCCESS"]
    balance: DecimalText


class BalanceResponse(ResponseBody):
    """One participant's money in one currency: available = total - locked.

    `reserved` is held beyond `locked`: worst-case fees of open buys, and withdrawals on their way. Orders and
    withdrawals can use available - reserved.
    """

    participant_id: str
    currency: str
    total: DecimalText
    available: DecimalText
    locked: DecimalText
    reserved: DecimalText


class BalancesResponse(ResponseBody):
    """The balances of one participant, or of all."""

    balances: list[BalanceResponse]
