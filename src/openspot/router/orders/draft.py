"""Reads a request `orders.submit`: every field must have the right type and fit into its column.

`pre_trade` checks the rules of the market later. The edge validates the same fields, but others on the bus may send
orders, too.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TypeVar

from openspot.contracts.messages import OrderRequest, SubmitOrder
from openspot.contracts.refusals import InvalidRequestError
from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.domain.market import SLIPPAGE_BPS_MAX
from openspot.domain.money import MoneyError, parse_decimal, to_amount
from openspot.domain.order import (
    MARKET_TYPES,
    TRAILING_BPS_MAX,
    TRIGGER_TYPES,
    OrderType,
    PostOnlyMode,
    SelfTradePrevention,
    TimeInForce,
    TriggerSource,
)
from openspot.domain.order_list import ListType
from openspot.domain.order_terms import EXPIRY_MS_MAX, NO_TERMS, OrderTerms
from openspot.kit.clock import ms_from_datetime

ORDER_ID_TEXT = re.compile(r"[A-Za-z0-9_:-]{1,64}")
"""It allows more than the ids of the edge, because other callers on the bus may use ids of their own."""
SYMBOL_TEXT = re.compile(r"[A-Za-z0-9._/-]{1,32}")
CLIENT_ORDER_ID_LENGTH_MAX = 128
MARGIN_MODE_LENGTH_MAX = 32

_NOTHING_GIVEN = (None,) * 7

Choice = TypeVar("Choice", bound=StrEnum)


class OrderSide(StrEnum):
    """The side of an order, as the bus writes it."""

    BUY = "buy"
    SELL = "sell"


_BUY = OrderSide.BUY
"""Python finds a member of an enumeration slowly, and each order asks for its side several times."""


@dataclass(frozen=True, slots=True)
class OrderDraft:
    """An order request whose fields have their types.

    Quantities are in the base asset, `quote_quantity` is in the quote asset. With `is_immediate`, the engine gets the
    order's own time in force.
    """

    user_id: str
    order_id: str
    symbol: str
    side: OrderSide
    type: OrderType
    time_in_force: TimeInForce
    quantity: Decimal | None
    quote_quantity: Decimal | None
    price: Decimal | None
    max_slippage_bps: Decimal | None
    margin_mode: str | None
    client_order_id: str | None
    post_only: PostOnlyMode | None = None
    is_immediate: bool = False
    terms: OrderTerms = NO_TERMS

    @property
    def is_buy(self) -> bool:
        return self.side is _BUY

    @property
    def is_market(self) -> bool:
        """Whether the order names no price, also if it waits for its trigger."""
        return self.type in MARKET_TYPES

    @property
    def has_trigger(self) -> bool:
        return self.type in TRIGGER_TYPES


def draft_of(request: SubmitOrder) -> OrderDraft:
    """The draft in `request`. Raises InvalidRequestError for the first field that cannot be read."""
    order = request.order
    check_ids(request.user_id, order.order_id)
    check_symbol(order.symbol)
    post_only = order.post_only and _choice("postOnlyMode", order.post_only, PostOnlyMode)
    return OrderDraft(
        user_id=request.user_id,
        order_id=order.order_id,
        symbol=order.symbol,
        side=_choice("side", order.side, OrderSide),
        type=_choice("type", order.type, OrderType),
        time_in_force=_choice("timeInForce", order.time_in_force, TimeInForce),
        quantity=decimal_in("quantity", order.quantity),
        quote_quantity=decimal_in("quoteQuantity", order.quote_quantity),
        price=decimal_in("price", order.price),
        max_slippage_bps=_slippage(order.max_slippage_bps),
        margin_mode=_text("marginMode", order.margin_mode, MARGIN_MODE_LENGTH_MAX),
        client_order_id=_text("clientOrderId", order.client_order_id, CLIENT_ORDER_ID_LENGTH_MAX),
        post_only=post_only or None,
        is_immediate=request.is_immediate,
        terms=_terms_in(order),
    )


def _terms_in(order: OrderRequest) -> OrderTerms:
    prevention = order.self_trade_prevention
    given = (
        order.stop_price, order.trigger_by, order.trailing_amount, order.trailing_bps, order.expires_at, prevention,
        order.display_quantity,
    )  # fmt: skip
    if given == _NOTHING_GIVEN:
        # Most orders ask for nothing.
        return NO_TERMS
    return OrderTerms(
        stop_price=decimal_in("stopPrice", order.stop_price),
        trigger_by=None if order.trigger_by is None else _choice("triggerBy", order.trigger_by, TriggerSource),
        trailing_amount=decimal_in("trailingAmount", order.trailing_amount),
        trailing_bps=_trailing_bps(order.trailing_bps),
        expires_ms=_time_in("expiresAt", order.expires_at),
        self_trade_prevention=(
            None if prevention is None else _choice("selfTradePrevention", prevention, SelfTradePrevention)
        ),
        display_quantity=decimal_in("displayQuantity", order.display_quantity),
    )


def _trailing_bps(value: int | None) -> int | None:
    if value is not None and not 1 <= value <= TRAILING_BPS_MAX:
        raise InvalidRequestError(f"trailingBps must be between 1 and {TRAILING_BPS_MAX}")
    return value


def _time_in(field: str, text: str | None) -> int | None:
    """The time in `text`, in milliseconds since 1970. Raises InvalidRequestError unless it has a zone."""
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise InvalidRequestError(f"{field} must be an ISO 8601 time with a zone")
    milliseconds = ms_from_datetime(time)
    if not 0 <= milliseconds < EXPIRY_MS_MAX:
        raise InvalidRequestError(f"{field} must be in the years 1970 to 2499")
    return milliseconds


def check_user_id(user_id: str) -> None:
    """Raise InvalidRequestError unless `user_id` has the form of an id."""
    if not PARTICIPANT_ID_TEXT.fullmatch(user_id):
        raise InvalidRequestError("userId must be 1 to 64 letters, digits, '_', ':' or '-'")


def check_ids(user_id: str, order_id: str) -> None:
    """Raise InvalidRequestError unless both have the form of an id."""
    check_user_id(user_id)
    if not ORDER_ID_TEXT.fullmatch(order_id):
        raise InvalidRequestError("orderId must be 1 to 64 letters, digits, '_', ':' or '-'")


def check_list_ids(user_id: str, list_id: str, client_list_id: str | None = None) -> None:
    """Raise InvalidRequestError unless the ids have the form of ids, and that of the client fits."""
    check_user_id(user_id)
    if not ORDER_ID_TEXT.fullmatch(list_id):
        raise InvalidRequestError("listId must be 1 to 64 letters, digits, '_', ':' or '-'")
    _text("clientListId", client_list_id, CLIENT_ORDER_ID_LENGTH_MAX)


def list_type_in(text: str) -> ListType:
    """The type of an order list. Raises InvalidRequestError."""
    return _choice("type", text, ListType)


def check_symbol(symbol: str) -> None:
    """Raise InvalidRequestError unless `symbol` has the form of a symbol."""
    if not SYMBOL_TEXT.fullmatch(symbol):
        raise InvalidRequestError("symbol must have the form <BASE>-<QUOTE>")


def _choice(field: str, text: str, choices: type[Choice]) -> Choice:
    try:
        return choices(text.lower())
    except ValueError:
        raise InvalidRequestError(f"{field} must be one of {', '.join(choices)}") from None


def decimal_in(field: str, text: str | None) -> Decimal | None:
    """The number in `text`, which must fit into a column with 18 decimal places. Raises InvalidRequestError."""
    if text is None:
        return None
    try:
        value = parse_decimal(text)
        to_amount(value)
    except MoneyError as error:
        raise InvalidRequestError(f"{field} {error}") from None
    return value


def _slippage(text: str | None) -> Decimal | None:
    value = decimal_in("maxSlippageBps", text)
    if value is not None and not 0 <= value <= SLIPPAGE_BPS_MAX:
        raise InvalidRequestError(f"maxSlippageBps must be between 0 and {SLIPPAGE_BPS_MAX} basis points")
    return value


def _text(field: str, text: str | None, length_max: int) -> str | None:
    if text is not None and (len(text) > length_max or not text.isprintable()):
        raise InvalidRequestError(f"{field} must be at most {length_max} printable characters")
    return text
