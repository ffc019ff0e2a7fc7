"""Channels and the bus subjects behind them (facts A6.3-05 to A6.3-14): rules without IO."""

import re
from enum import StrEnum
from typing import NamedTuple

from openspot.contracts import subjects
from openspot.domain.candles import Interval
from openspot.domain.symbol import SYMBOL_TEXT

ORDERS_CHANNEL = "orders"
BALANCES_CHANNEL = "balances"
NOTIFICATIONS_CHANNEL = "notifications"
PER_USER_CHANNELS = frozenset({ORDERS_CHANNEL, BALANCES_CHANNEL, NOTIFICATIONS_CHANNEL})


class Kind(StrEnum):
    """Kinds of market channels."""

    TICKER = "ticker"
    ORDERBOOK = "orderbook"
    TRADES = "trades"
    CANDLES = "candles"
    BBO = "bbo"
    """Best bid and ask, which the edge takes from the order book."""
    AGGREGATE_TRADES = "agg-trades"
    """What each order took at one price, as one trade."""


MARKET_SUBJECTS = {
    subjects.MARKETDATA_TICKER: Kind.TICKER,
    subjects.MARKETDATA_ORDERBOOK: Kind.ORDERBOOK,
    subjects.MARKETDATA_TRADE: Kind.TRADES,
    subjects.MARKETDATA_AGGREGATE: Kind.AGGREGATE_TRADES,
    subjects.MARKETDATA_CANDLE: Kind.CANDLES,
}
"""The kind of market channel for each subject prefix; the symbol follows the prefix."""

DEPTHS = (1, 5, 10, 20, 25, 50, 100, 200, 500, 1000)
"""The depths of views. Each view costs one comparison at each update, for any number of clients."""

CHANNEL_FORMS = (
    "channel must be ticker:<SYMBOL>, orderbook:<SYMBOL>, orderbook:<SYMBOL>?depth=<N>, trades:<SYMBOL> "
    "or candles:<SYMBOL>:<INTERVAL>"
)
_COMPLETE_FORMS = f"{CHANNEL_FORMS}, or bbo:<SYMBOL> or agg-trades:<SYMBOL>"
_OF_COMPLETE_RULES = frozenset({Kind.BBO, Kind.AGGREGATE_TRADES})
_DEPTH_TEXT = re.compile(r"depth=([1-9][0-9]{0,3})", re.ASCII)

ORDER_EVENTS = {
    subjects.ORDERS_CREATED: "order.created",
    subjects.ORDERS_UPDATED: "order.updated",
    subjects.ORDERS_CANCELLED: "order.cancelled",
    subjects.ORDERS_FILLED: "order.filled",
    subjects.ORDERS_REJECTED: "order.rejected",
}
"""The event that clients see for each subject prefix; the user follows the prefix."""

BALANCE_EVENT = "balance.updated"
NOTIFICATION_EVENT = "notification"


class UnknownChannelError(Exception):
    """No market channel has this name; the message says why."""


class Channel(NamedTuple):
    """A market channel. `depth` limits the view of an order book, `interval` is the interval of candles."""

    name: str
    kind: Kind
    symbol: str
    depth: int | None = None
    interval: Interval | None = None


def market_channel(name: str, *, has_complete_rules: bool = True) -> Channel:
    """The channel that a client names. Only the complete rules have `bbo` and `agg-trades`.

    Raises UnknownChannelError.
    """
    forms = _COMPLETE_FORMS if has_complete_rules else CHANNEL_FORMS
    kind_text, _, rest = name.partition(":")
    try:
        kind = Kind(kind_text)
    except ValueError:
        raise UnknownChannelError(forms) from None
    if kind in _OF_COMPLETE_RULES and not has_complete_rules:
        raise UnknownChannelError(forms)
    symbol, depth, interval = rest, None, None
    if kind is Kind.CANDLES:
        symbol, _, interval_text = rest.partition(":")
        if interval_text not in set(Interval):
            raise UnknownChannelError(f"the interval of candles must be one of {', '.join(Interval)}")
        interval = Interval(interval_text)
    elif kind is Kind.ORDERBOOK and "?" in rest:
        symbol, _, query = rest.partition("?")
        given = _DEPTH_TEXT.fullmatch(query)
        depth = int(given[1]) if given is not None else 0
        if depth not in DEPTHS:
            raise UnknownChannelError(f"depth must be one of {', '.join(map(str, DEPTHS))}")
    elif kind is Kind.BBO:
        depth = 1
    if SYMBOL_TEXT.fullmatch(symbol) is None:
        raise UnknownChannelError(forms)
    return Channel(name, kind, symbol, depth, interval)


class MarketSubject(NamedTuple):
    """The parts of a `marketdata.*` subject."""

    kind: Kind
    symbol: str


def market_subject(subject: str) -> MarketSubject | None:
    """The parts of `subject` if a channel gets its data from it, else None."""
    prefix, _, symbol = subject.rpartition(".")
    kind = MARKET_SUBJECTS.get(prefix)
    return None if kind is None else MarketSubject(kind, symbol)


class OrderSubject(NamedTuple):
    """The parts of an order subject: the event that clients see, and the user, None if the subject names none."""

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
