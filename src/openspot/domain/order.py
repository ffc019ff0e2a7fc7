"""Orders: their enums and their states.

An order row starts as `pending` when a valid request arrives, and changes only by TRANSITIONS (facts A3.1-01 to
A3.1-14). Terminal states have no transition. A partially filled order can get more partial fills, so partially_filled →
partially_filled is a transition too.
"""

from enum import IntEnum, StrEnum


class Side(IntEnum):
    """Side of an order, as in the engine's records."""

    BUY = 1
    SELL = 2


class EngineOrderType(IntEnum):
    """Order types of the engine (facts A2.8-01 to A2.8-06). POST_ONLY is no order type of a public interface."""

    GTC = 1
    IOC = 2
    FOK = 3
    FOK_BUDGET = 4
    POST_ONLY = 5


RESTING_TYPES = frozenset({EngineOrderType.GTC, EngineOrderType.POST_ONLY})
"""An unfilled remainder of these order types stays in the book. Orders of other types end at once."""


class OrderType(StrEnum):
    """Order types of the REST edge (fact A2.1-06)."""

    LIMIT = "limit"
    MARKET = "market"
    STOP_LIMIT = "stop_limit"
    STOP_MARKET = "stop_market"
    TAKE_PROFIT_LIMIT = "take_profit_limit"
    TAKE_PROFIT_MARKET = "take_profit_market"
    TRAILING_STOP_LIMIT = "trailing_stop_limit"
    TRAILING_STOP_MARKET = "trailing_stop_market"


COMPLETE_ORDER_TYPES = frozenset(
    {
        OrderType.TAKE_PROFIT_LIMIT,
        OrderType.TAKE_PROFIT_MARKET,
        OrderType.TRAILING_STOP_LIMIT,
        OrderType.TRAILING_STOP_MARKET,
    }
)
"""Only the complete rules of orders know these."""
MARKET_TYPES = frozenset(
    {OrderType.MARKET, OrderType.STOP_MARKET, OrderType.TAKE_PROFIT_MARKET, OrderType.TRAILING_STOP_MARKET}
)
"""Orders that name no price. All others need one."""
TRAILING_TYPES = frozenset({OrderType.TRAILING_STOP_LIMIT, OrderType.TRAILING_STOP_MARKET})
"""Their trigger follows the best price since the order was placed."""
TAKE_PROFIT_TYPES = frozenset({OrderType.TAKE_PROFIT_LIMIT, OrderType.TAKE_PROFIT_MARKET})
TRIGGER_TYPES = COMPLETE_ORDER_TYPES | {OrderType.STOP_LIMIT, OrderType.STOP_MARKET}
"""They wait for their trigger before they match."""


class TriggerSource(StrEnum):
    """The price that fires a trigger."""

    LAST = "last"
    """Of the last trade."""
    MARK = "mark"
    """The fair price of market data."""


class TriggerStatus(StrEnum):
    """Whether an order's trigger has fired."""

    WAITING = "waiting"
    TRIGGERED = "triggered"


class TimeInForce(StrEnum):
    """How long an order stays. It is only stored, unless the router honours it (facts A1.2-11 to A1.2-15)."""

    GTC = "gtc"
    IOC = "ioc"
    FOK = "fok"
    GTD = "gtd"
    """Until a time that the order names. Only the complete rules of orders know it."""


class PostOnlyMode(StrEnum):
    """What becomes of a post-only order that would match at once, under the complete rules of orders."""

    REFUSE = "refuse"
    SLIDE = "slide"
    """It rests one tick behind the best opposite price."""


ICEBERG_SLICES_MAX = 100
"""An order shows at least this part of its quantity, so that what it adds to a command is bounded."""
FILLS_LISTED_MAX = 100
"""Fills that the reply to a placement lists at most."""


class StpMode(IntEnum):
    """Self-trade prevention modes (facts A2.6-12 to A2.6-17). The mode of the incoming order's participant applies."""

    NONE = 0
    CANCEL_RESTING = 1
    CANCEL_INCOMING = 2
    CANCEL_BOTH = 3
    DECREMENT_AND_CANCEL = 4


class SelfTradePrevention(StrEnum):
    """The mode that an order may choose for itself under the complete rules. Without one its account's mode applies."""

    NONE = "none"
    CANCEL_RESTING = "cancel_resting"
    CANCEL_INCOMING = "cancel_incoming"
    CANCEL_BOTH = "cancel_both"
    DECREMENT_AND_CANCEL = "decrement_and_cancel"


TRAILING_BPS_MAX = 9_999


class TriggerKind(IntEnum):
    """What an order waits for before it matches. The numbers are part of the engine's records."""

    NONE = 0
    FIXED = 1
    """A price."""
    TRAILING_DISTANCE = 2
    """A price at a fixed distance from the best price since the order was placed."""
    TRAILING_BASIS_POINTS = 3
    """… at a distance that is a part of that price."""


class OrderListType(IntEnum):
    """How the orders of a list depend on each other. The numbers are part of the engine's records."""

    OCO = 1
    """Two exits of one position: one cancels the other."""
    OTO = 2
    """An entry, which triggers one exit."""
    BRACKET = 3
    """An entry, which triggers two exits, of which one cancels the other."""


class OrderStatus(StrEnum):
    """States of an order (fact A2.1-11)."""

    PENDING = "pending"
    OPEN = "open"
    PARTIALLY_FILLED = "partially_filled"
    FILLED = "filled"
    CANCELLED = "cancelled"
    REJECTED = "rejected"


class OrderTrigger(StrEnum):
    """What moves an order from one state to the next."""

    ACCEPTED = "accepted"
    PRE_TRADE_FAILURE = "pre_trade_failure"
    ENGINE_REJECTED = "engine_rejected"
    ENGINE_CANCELLED = "engine_cancelled"
    PARTIAL_FILL = "partial_fill"
    COMPLETING_FILL = "completing_fill"
    CANCEL = "cancel"


TERMINAL = frozenset({OrderStatus.FILLED, OrderStatus.CANCELLED, OrderStatus.REJECTED})

TRANSITIONS: dict[tuple[OrderStatus, OrderTrigger], OrderStatus] = {
    (OrderStatus.PENDING, OrderTrigger.ACCEPTED): OrderStatus.OPEN,
    (OrderStatus.PENDING, OrderTrigger.PRE_TRADE_FAILURE): OrderStatus.REJECTED,
    (OrderStatus.PENDING, OrderTrigger.ENGINE_REJECTED): OrderStatus.REJECTED,
    (OrderStatus.PENDING, OrderTrigger.ENGINE_CANCELLED): OrderStatus.CANCELLED,
    # A late reject: the engine rejects an order that it had already accepted (fact A6.1-03).
    (OrderStatus.OPEN, OrderTrigger.ENGINE_REJECTED): OrderStatus.REJECTED,
    (OrderStatus.OPEN, OrderTrigger.PARTIAL_FILL): OrderStatus.PARTIALLY_FILLED,
    (OrderStatus.OPEN, OrderTrigger.COMPLETING_FILL): OrderStatus.FILLED,
    (OrderStatus.OPEN, OrderTrigger.CANCEL): OrderStatus.CANCELLED,
    (OrderStatus.PARTIALLY_FILLED, OrderTrigger.PARTIAL_FILL): OrderStatus.PARTIALLY_FILLED,
    (OrderStatus.PARTIALLY_FILLED, OrderTrigger.COMPLETING_FILL): OrderStatus.FILLED,
    (OrderStatus.PARTIALLY_FILLED, OrderTrigger.CANCEL): OrderStatus.CANCELLED,
}


def next_status(status: OrderStatus, trigger: OrderTrigger) -> OrderStatus | None:
    """The state that `trigger` leads to, or None if TRANSITIONS has no such transition."""
    return TRANSITIONS.get((status, trigger))
