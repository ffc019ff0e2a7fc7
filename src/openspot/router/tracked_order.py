"""An order as the router follows it, the metadata that the engine keeps with it, and how clients see it."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

import msgspec

from openspot.contracts.messages import OrderRecord
from openspot.contracts.order_terms import with_list, with_terms
from openspot.domain.money import AMOUNT_PLACES, decimal_to_text
from openspot.domain.order import TERMINAL, OrderStatus
from openspot.domain.order_list import BOUND_STATES, ListState
from openspot.kit.clock import iso_from_ms

ZERO = Decimal(0)

_AVERAGE = Context(prec=60, rounding=ROUND_HALF_EVEN)
_AVERAGE_STEP = Decimal(1).scaleb(-AMOUNT_PLACES)


class OrderMetadata(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    """Fields of an order that the engine only stores, as JSON, for the router.

    `quantity` is that of an order with a quantity in quote, in case the engine refuses it: the most that it could
    trade, as the router reckons it.
    """

    type: str
    time_in_force: str
    client_order_id: str | None = None
    margin_mode: str | None = None
    quantity: str | None = None
    stop_price: str | None = None
    trigger_by: str | None = None
    trailing_amount: str | None = None
    trailing_bps: int | None = None
    expires_at_ms: int | None = None
    self_trade_prevention: str | None = None
    list_id: str | None = None
    client_list_id: str | None = None
    list_type: str | None = None
    list_role: str | None = None
    display_quantity: str | None = None
    max_slippage_bps: str | None = None


class TrackedOrder(msgspec.Struct, frozen=True, gc=False):
    """An order as the router knows it, after one of its events. It is never changed in place.

    `remaining_quantity` is the open quantity; it is 0 after the order has ended. `filled_notional` is Σ price ×
    quantity of the fills. It is in the quote asset, as `fee` is. `engine_order_id` is None for an order that the engine
    never had. `last_sequence` is the sequence of the newest engine event that this state includes, 0 before the first.
    Times are milliseconds since 1970. An order has a trigger if `trigger_by` is not None; `triggered_ms` says when it
    fired, and `stop_price` at which price, that of a trailing one only from then on. An order of a list has `list_id`,
    a `list_type`, `list_role` and `list_state` of domain.order_list, and its client's own id of the list if it has one.
    """

    order_id: str
    engine_order_id: int | None
    client_order_id: str | None
    user_id: str
    symbol: str
    side: str
    type: str
    time_in_force: str
    margin_mode: str | None
    price: Decimal | None
    quantity: Decimal
    filled_quantity: Decimal
    filled_notional: Decimal
    remaining_quantity: Decimal
    fee: Decimal
    fee_currency: str
    status: OrderStatus
    reject_reason: str | None
    last_sequence: int
    created_ms: int
    updated_ms: int
    post_only: bool = False
    stop_price: Decimal | None = None
    trigger_by: str | None = None
    trailing_amount: Decimal | None = None
    trailing_bps: int | None = None
    triggered_ms: int | None = None
    expires_ms: int | None = None
    self_trade_prevention: str | None = None
    list_id: str | None = None
    client_list_id: str | None = None
    list_type: str | None = None
    list_role: str | None = None
    list_state: str | None = None

    @property
    def is_planned(self) -> bool:
        """Whether the order is an exit that its entry has not armed yet."""
        return self.list_state == ListState.PLANNED

    @property
    def is_in_a_list(self) -> bool:
        """Whether the order is open, and what happens to it happens to the others of its list."""
        return self.list_state in BOUND_STATES and not self.has_ended

    display_quantity: Decimal | None = None
    max_slippage_bps: Decimal | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether the order has a trigger that has not fired: it is not in the book."""
        return self.trigger_by is not None and self.triggered_ms is None

    @property
    def has_ended(self) -> bool:
        """Whether the order is filled, cancelled or rejected."""
        return self.status in TERMINAL

    @property
    def average_price(self) -> Decimal | None:
        """Filled notional ÷ filled quantity, rounded half-even at 18 places. Only shown: settlement ignores it."""
        if not self.filled_quantity:
            return None
        return _AVERAGE.quantize(_AVERAGE.divide(self.filled_notional, self.filled_quantity), _AVERAGE_STEP)


def quote_of(symbol: str) -> str:
    """The quote asset of `<BASE>-<QUOTE>`."""
    return symbol.partition("-")[2]


def record_of(order: TrackedOrder) -> OrderRecord:
    """The order as clients see it."""
    average = order.average_price
    created_at = iso_from_ms(order.created_ms)
    record = OrderRecord(
        order_id=order.order_id,
        client_order_id=order.client_order_id,
        user_id=order.user_id,
        symbol=order.symbol,
        side=order.side,
        type=order.type,
        time_in_force=order.time_in_force,
        margin_mode=order.margin_mode,
        price=None if order.price is None else decimal_to_text(order.price),
        quantity=decimal_to_text(order.quantity),
        filled_quantity=decimal_to_text(order.filled_quantity),
        remaining_quantity=decimal_to_text(order.remaining_quantity),
        average_price=None if average is None else decimal_to_text(average),
        fee=decimal_to_text(order.fee),
        fee_currency=order.fee_currency,
        status=order.status.value,
        reject_reason=order.reject_reason,
        created_at=created_at,
        updated_at=created_at if order.updated_ms == order.created_ms else iso_from_ms(order.updated_ms),
    )
    if order.post_only:
        record = msgspec.structs.replace(record, post_only=True)
    if (
        order.trigger_by is not None
        or order.expires_ms is not None
        or order.self_trade_prevention is not None
        or order.display_quantity is not None
    ):
        record = with_terms(
            record,
            stop_price=order.stop_price,
            trigger_by=order.trigger_by,
            trailing_amount=order.trailing_amount,
            trailing_bps=order.trailing_bps,
            triggered_at=None if order.triggered_ms is None else iso_from_ms(order.triggered_ms),
            expires_at=None if order.expires_ms is None else iso_from_ms(order.expires_ms),
            self_trade_prevention=order.self_trade_prevention,
            display_quantity=order.display_quantity,
            max_slippage_bps=order.max_slippage_bps,
        )
    if order.list_id is not None:
        record = with_list(
            record,
            list_id=order.list_id,
            client_list_id=order.client_list_id,
            list_type=order.list_type,
            list_role=order.list_role,
            list_state=order.list_state,
        )
    return record
