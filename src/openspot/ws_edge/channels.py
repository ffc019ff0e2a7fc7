"""Channels and the bus subjects behind them (Document A 6.3): rules without IO."""

from typing import NamedTuple

from openspot.contracts import subjects
from openspot.domain.symbol import SYMBOL_TEXT

ORDERS_CHANNEL = "orders"
BALANCES_CHANNEL = "balances"
PER_USER_CHANNELS = frozenset({ORDERS_CHANNEL, BALANCES_CHANNEL})

MARKET_SUBJECTS = {
    subjects.MARKETDATA_TICKER: "ticker",
    subjects.MARKETDATA_ORDERBOOK: "orderbook",
    subjects.MARKETDATA_TRADE: "trades",
}
"""The kind of market channel for each subject prefix; the symbol follows the prefix."""

_MARKET_KINDS = frozenset(MARKET_SUBJECTS.values())

ORDER_EVENTS = {
    subjects.ORDERS_CREATED: "order.created",
    subjects.ORDERS_UPDATED: "order.updated",
    subjects.ORDERS_CANCELLED: "order.cancelled",
    subjects.ORDERS_FILLED: "order.filled",
    subjects.ORDERS_REJECTED: "order.rejected",
}
"""The event as clients see it for each subject prefix; the user follows the prefix."""

BALANCE_EVENT = "balance.updated"


def is_market_channel(channel: str) -> bool:
    """Whether a client can subscribe to `channel`."""
    kind, _, symbol = channel.partition(":")
    return kind in _MARKET_KINDS and SYMBOL_TEXT.fullmatch(symbol) is not None


def market_channel(subject: str) -> str | None:
    """The channel of a `marketdata.*` subject, or None if it has none."""
    prefix, _, symbol = subject.rpartition(".")
    kind = MARKET_SUBJECTS.get(prefix)
    return None if kind is None else f"{kind}:{symbol}"


class OrderSubject(NamedTuple):
    """The parts of an order subject: the event as clients see it, and the user, None if the subject names none."""

    event: str
    user_id: str | None


def order_event(subject: str) -> OrderSubject | None:
    """The parts of `subject` if it is an order subject, else None."""
    event = ORDER_EVENTS.get(subject)
    if event is not None:
        return OrderSubject(event, None)
    prefix, _, user_id = subject.rpartition(".")
    event = ORDER_EVENTS.get(prefix)
    return None if event is None else OrderSubject(event, user_id)
