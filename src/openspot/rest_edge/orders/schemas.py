"""Request and response bodies of the order routes (facts A2.1-01 to A2.1-14, B4.1-11 and B4.1-12)."""

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Self

from pydantic import (
    BeforeValidator,
    Field,
    SkipValidation,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from openspot.contracts.messages import Message, OrderRecord, OrderRequest
from openspot.contracts.messages.message import Count, DecimalText, TimeText, listed
from openspot.domain.market import SLIPPAGE_BPS_MAX
from openspot.domain.money import decimal_to_text
from openspot.domain.order import (
    COMPLETE_ORDER_TYPES,
    MARKET_TYPES,
    TRAILING_BPS_MAX,
    OrderType,
    PostOnlyMode,
    SelfTradePrevention,
    TimeInForce,
    TriggerSource,
)
from openspot.domain.order_terms import OrderTerms, terms_fault
from openspot.http.errors import validation_error
from openspot.http.routing import read_json
from openspot.http.validation import (
    Body,
    IsoUtcDatetime,
    LowerCase,
    PositiveDecimal,
    PrintableText,
    Symbol,
    example,
    messages_of,
    non_negative_decimal,
    rule_broken,
)
from openspot.kit.clock import iso_of, ms_from_datetime

BATCH_MAX = 20
CLIENT_ORDER_ID_LENGTH_MAX = 64
ORDER_ID_PATTERN = r"^[A-Za-z0-9_:-]{1,64}$"
"""It admits more than the edge's own ids, because orders that are placed through the bus have other ids."""

OrderId = Annotated[str, StringConstraints(pattern=ORDER_ID_PATTERN)]
ClientOrderId = Annotated[str, PrintableText, StringConstraints(max_length=CLIENT_ORDER_ID_LENGTH_MAX)]


def _basis_points(value: object) -> str:
    number = non_negative_decimal(value)
    if number > SLIPPAGE_BPS_MAX:
        raise PydanticCustomError("decimal", f"must be at most {SLIPPAGE_BPS_MAX}")
    return decimal_to_text(number)


BasisPoints = Annotated[
    str,
    BeforeValidator(_basis_points),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": r"^\d+(\.\d{1,18})?$"},
                {"type": "number", "minimum": 0, "maximum": SLIPPAGE_BPS_MAX},
            ],
            "examples": ["12.5"],
        }
    ),
]
"""Basis points from 0 to SLIPPAGE_BPS_MAX with at most 18 places, as plain decimal text. The router's bounds."""


class OrderSide(StrEnum):
    """Side of an order at the edge."""

    BUY = "buy"
    SELL = "sell"


_COMPLETE_FIELDS = (
    "post_only",
    "post_only_mode",
    "trigger_by",
    "trailing_amount",
    "trailing_bps",
    "expires_at",
    "self_trade_prevention",
    "display_quantity",
)
"""Only the complete rules know these."""


class OrderBody(Body):
    """An order. Decimals may be text or JSON numbers; `side`, `type` and `timeInForce` in any letter case.

    A limit order needs `price` and `quantity`. A market order needs `quantity`; a market buy may have `quoteQuantity`
    instead, the amount to spend. Under the specification's rules a stop order passes this schema, but the pre-trade
    check rejects every one of them: 400, `Stop orders are not yet supported`.

    Under the complete rules (`GET /settings/trading`), `timeInForce` holds, the `clientOrderId` of an open order is its
    own, a limit order may be `postOnly`, and a market sell may have `quoteQuantity`, too: it sells the most whole lots
    whose proceeds, without fees, are at most that, and never more than you have. An order with a trigger waits beside
    the book: a stop buy fires at or above its `stopPrice`, a stop sell at or below; a take profit is the reverse; a
    trailing stop follows the best price at `trailingAmount` or `trailingBps`. One that would fire at once is refused
    with TRIGGER_WOULD_FIRE. A market order with a trigger may match as far from it as `maxSlippageBps` allows.
    """

    model_config = example(
        {
            "symbol": "BTC-USD",
            "side": "buy",
            "type": "limit",
            "quantity": "0.015",
            "price": "65000.50",
            "clientOrderId": "my-order-1",
        }
    )

    symbol: Symbol
    side: Annotated[OrderSide, LowerCase]
    type: Annotated[OrderType, LowerCase] = Field(
        description="`limit` or `market`; under the complete rules also those with a trigger. Under the others the "
        "pre-trade check always refuses `stop_limit` and `stop_market`"
    )
    quantity: PositiveDecimal | None = None
    price: PositiveDecimal | None = None
    quote_quantity: PositiveDecimal | None = None
    stop_price: PositiveDecimal | None = Field(
        default=None, description="What fires stop and take profit orders, which need it under the complete rules"
    )
    time_in_force: Annotated[TimeInForce, LowerCase] | None = Field(
        default=None,
        description="Stored, under the complete rules honoured; the default is `ioc` for market orders, else `gtc`. "
        "Complete rules: `gtd` for orders with a price, until `expiresAt`",
    )
    margin_mode: Annotated[str, PrintableText, StringConstraints(max_length=32)] | None = Field(
        default=None, description="Stored; changes nothing on a spot exchange"
    )
    max_slippage_bps: BasisPoints | None = Field(
        default=None, description="Market orders: how far from the last price, in basis points"
    )
    client_order_id: ClientOrderId | None = Field(
        default=None,
        description="Your own reference. Under the complete rules no two open orders have the same one: 409 names the "
        "first; else it need not be unique",
    )
    post_only: bool | None = Field(
        default=None, description="Complete rules, limit orders with `gtc` or `gtd`: the order never takes"
    )
    post_only_mode: Annotated[PostOnlyMode, LowerCase] | None = Field(
        default=None,
        description="With `postOnly`, if the order would match at once: `refuse`, the default, rejects it with "
        "POST_ONLY_WOULD_CROSS; `slide` lets it rest one tick behind the best opposite price",
    )
    trigger_by: Annotated[TriggerSource, LowerCase] | None = Field(
        default=None,
        description="Complete rules, orders with a trigger: the `last` trade or the `mark` price fires it; `last`",
    )
    trailing_amount: PositiveDecimal | None = Field(
        default=None, description="Complete rules, trailing stops: the distance in the quote asset"
    )
    trailing_bps: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=TRAILING_BPS_MAX,
        description="… or in basis points of the best price. Give one of the two",
    )
    expires_at: IsoUtcDatetime | None = Field(
        default=None, description="Complete rules, with `gtd`: when the order ends, in the future"
    )
    self_trade_prevention: Annotated[SelfTradePrevention, LowerCase] | None = Field(
        default=None,
        description="Complete rules: what becomes of a match with your own orders, while this one is incoming; the "
        "default is your account's mode",
    )
    display_quantity: PositiveDecimal | None = Field(
        default=None,
        description="Complete rules, limit orders with `gtc` or `gtd`: how much of its quantity the order shows at a "
        "time while it rests, at least a hundredth. Each part goes to the end of the queue at its price",
    )

    @model_validator(mode="after")
    def fields_fit_the_type(self) -> Self:
        """Refuse the first field that is missing for the order's type, or does not belong to it."""
        fault = self._fault()
        if fault is not None:
            raise fault
        return self

    def _fault(self) -> PydanticCustomError | None:
        limited = self.type not in MARKET_TYPES
        stopped = self.type not in (OrderType.LIMIT, OrderType.MARKET)
        if limited and self.price is None:
            return rule_broken(f"price is required for a {self.type} order")
        if not limited and self.price is not None:
            return rule_broken(f"price must not be given for a {self.type} order")
        if not stopped and self.stop_price is not None:
            return rule_broken(f"stopPrice must not be given for a {self.type} order")
        if self.post_only or self.post_only_mode is not None:
            fault = self._post_only_fault()
            if fault is not None:
                return fault
        if self.quote_quantity is None:
            return rule_broken("quantity is required") if self.quantity is None else None
        if self.type is OrderType.MARKET and self.quantity is not None:
            return rule_broken("quoteQuantity excludes quantity: give one of them")
        return None

    def _post_only_fault(self) -> PydanticCustomError | None:
        if not self.post_only:
            return rule_broken("postOnlyMode is only for orders with postOnly")
        if self.type is not OrderType.LIMIT:
            return rule_broken(f"postOnly must not be given for a {self.type} order")
        if self.time_in_force not in (None, TimeInForce.GTC, TimeInForce.GTD):
            return rule_broken(f"postOnly does not go with timeInForce {self.time_in_force}")
        return None

    def check_rules(self, *, are_complete: bool, now_ms: int) -> None:
        """Raise HttpError (400) for what only the complete rules know unless they are on, and for what they exclude.

        `now_ms` is the time in milliseconds since 1970.
        """
        faults = []
        if not are_complete:
            faults = [
                f"property {to_camel(name)} should not exist"
                for name in _COMPLETE_FIELDS
                if name in self.model_fields_set
            ]
            if self.quote_quantity is not None and (
                self.type is not OrderType.MARKET or self.side is not OrderSide.BUY
            ):
                faults.append("quoteQuantity is only for market orders that buy")
        elif self.quote_quantity is not None and self.type is not OrderType.MARKET:
            faults.append("quoteQuantity is only for market orders")
        elif self.quote_quantity is not None and self.time_in_force is TimeInForce.FOK:
            faults.append("quoteQuantity does not go with timeInForce fok")
        elif (fault := terms_fault(self._terms, self.type, self._time_in_force, now_ms)) is not None:
            faults.append(fault)
        if faults:
            raise validation_error(faults)

    @property
    def _time_in_force(self) -> TimeInForce:
        return self.time_in_force or (TimeInForce.IOC if self.type is OrderType.MARKET else TimeInForce.GTC)

    @property
    def _terms(self) -> OrderTerms:
        return OrderTerms(
            stop_price=None if self.stop_price is None else Decimal(self.stop_price),
            trigger_by=self.trigger_by,
            trailing_amount=None if self.trailing_amount is None else Decimal(self.trailing_amount),
            trailing_bps=self.trailing_bps,
            expires_ms=None if self.expires_at is None else ms_from_datetime(self.expires_at),
            self_trade_prevention=self.self_trade_prevention,
            display_quantity=None if self.display_quantity is None else Decimal(self.display_quantity),
        )

    def to_request(self, order_id: str) -> OrderRequest:
        """The order as the router receives it."""
        return OrderRequest(
            order_id=order_id,
            symbol=self.symbol,
            side=self.side.value,
            type=self.type.value,
            quantity=self.quantity,
            price=self.price,
            quote_quantity=self.quote_quantity,
            stop_price=self.stop_price,
            time_in_force=self._time_in_force.value,
            margin_mode=self.margin_mode,
            max_slippage_bps=self.max_slippage_bps,
            client_order_id=self.client_order_id,
            post_only=(self.post_only_mode or PostOnlyMode.REFUSE).value if self.post_only else None,
            trigger_by=self.trigger_by,
            trailing_amount=self.trailing_amount,
            trailing_bps=self.trailing_bps,
            expires_at=None if self.expires_at is None else iso_of(self.expires_at),
            self_trade_prevention=self.self_trade_prevention,
            display_quantity=self.display_quantity,
        )


def read_order(body: bytes, *, are_complete: bool) -> OrderBody:
    """The order that a request body holds. Raises HttpError (400) that names every fault."""
    if not body:
        raise validation_error(["body is required"])
    try:
        return order_body(are_complete=are_complete).model_validate(read_json(body))
    except ValidationError as error:
        raise validation_error(messages_of(error.errors())) from None


def _one_of(choices: tuple[StrEnum, ...]) -> BeforeValidator:
    """Refuses a text that names none of the choices, with their names."""
    names = [choice.value for choice in choices]
    expected = ", ".join(f"'{name}'" for name in names[:-1]) + f" or '{names[-1]}'"

    def check(value: object) -> object:
        if value not in names:
            raise PydanticCustomError("enum", "must be one of {expected}", {"expected": expected})
        return value

    return BeforeValidator(check)


SPECIFICATION_TYPES = tuple(order_type for order_type in OrderType if order_type not in COMPLETE_ORDER_TYPES)
SPECIFICATION_TIMES = tuple(time_in_force for time_in_force in TimeInForce if time_in_force is not TimeInForce.GTD)


class SpecificationOrderBody(OrderBody):
    """An order under the specification's rules, which know fewer words: a refusal names no others."""

    type: Annotated[OrderType, _one_of(SPECIFICATION_TYPES), LowerCase]
    time_in_force: Annotated[TimeInForce, _one_of(SPECIFICATION_TIMES), LowerCase] | None = None


def order_body(*, are_complete: bool) -> type[OrderBody]:
    """The body of an order under these rules."""
    return OrderBody if are_complete else SpecificationOrderBody


class OrderBatchBody(Body):
    """Up to BATCH_MAX orders. They are placed side by side, and each has an outcome of its own."""

    model_config = example(
        {
            "orders": [
                {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.015", "price": "65000.50"},
                {"symbol": "BTC-USD", "side": "sell", "type": "limit", "quantity": "0.015", "price": "65100.50"},
            ]
        }
    )

    # The orders are checked one by one, so that a faulty order does not make the others fail.
    orders: Annotated[list[SkipValidation[OrderBody]], Field(min_length=1, max_length=BATCH_MAX)]


def checked_order(value: object, *, are_complete: bool) -> OrderBody:
    """One order of a batch. Raises HttpError (400) that names every fault."""
    try:
        return order_body(are_complete=are_complete).model_validate(value)
    except ValidationError as error:
        raise validation_error(messages_of(error.errors())) from None


class ReplaceMode(StrEnum):
    """What becomes of the new order of a replacement if the old one is not cancelled."""

    STOP_ON_FAILURE = "stop_on_failure"
    ALLOW_FAILURE = "allow_failure"


class ReplacementBody(OrderBody):
    """The order that replaces an open one, on the same symbol: an order as for `POST /orders`, and a `mode`.

    With `stop_on_failure`, the default, nothing is placed unless the old order is cancelled; with `allow_failure` the
    new one is placed anyway. It may have the `clientOrderId` of the old one.
    """

    model_config = example(
        {
            "symbol": "BTC-USD",
            "side": "buy",
            "type": "limit",
            "quantity": "0.015",
            "price": "64990",
            "mode": "allow_failure",
        }
    )

    mode: Annotated[ReplaceMode, LowerCase] = ReplaceMode.STOP_ON_FAILURE


class OwnTrade(Message, frozen=True):
    """One side of a trade: the fill of an order of the caller, with its fee.

    A trade between two orders of the caller is listed twice, once for each order. `side` is the order's, `sequence` is
    the engine's, `executed_at` is in UTC.
    """

    trade_id: str
    order_id: str
    symbol: str
    side: Annotated[str, listed(*OrderSide)]
    price: DecimalText
    quantity: DecimalText
    fee: DecimalText
    fee_currency: str
    role: Annotated[str, listed("maker", "taker")]
    sequence: Count
    executed_at: TimeText


class BatchRefusal(Message, frozen=True):
    """Why an order of a batch was not placed, with the fields of a single order's refusal."""

    message: str | list[str]
    code: str
    details: dict[str, str] | None


class BatchEntry(Message, frozen=True):
    """The outcome of one order of a batch: the HTTP status of the same order alone, and its record or its refusal."""

    status: int
    order: OrderRecord | None
    error: BatchRefusal | None


class Replacement(Message, frozen=True):
    """The outcome of a replacement whose new order was placed: its record, and what became of the old one.

    `cancelled` is the record of the old order, null if it was not cancelled: `cancel_error` says why then.
    """

    order: OrderRecord
    cancelled: OrderRecord | None
    cancel_error: BatchRefusal | None
