"""JetStream streams: the events that the bus keeps until every consumer has them (docs/adr/0001, docs/adr/0006).

Subjects of requests (`orders.submit`, `ledger.*`, …) are in no stream: nobody waits for a late reply.
"""

from dataclasses import dataclass

from openspot.contracts import subjects

_DAY_S = 86_400
DUPLICATE_WINDOW_S = 120
"""Within this time the bus drops a message whose id it has seen before."""


@dataclass(frozen=True, slots=True)
class StreamDefinition:
    """A stream: its name, its subjects, and for how many seconds it keeps a message.

    With `republish` (pattern, destination) the server publishes each message a second time, once it is stored, on a
    subject that is in no stream.

    `is_news` marks a stream whose messages can be made again from elsewhere. A single server may acknowledge them
    before they are on disk; all other messages must survive a power cut once they are acknowledged.
    """

    name: str
    subjects: tuple[str, ...]
    age_s_max: int
    republish: tuple[str, str] | None = None
    is_news: bool = False


@dataclass(frozen=True, slots=True)
class StreamConsumer:
    """A durable consumer: it takes `subject` from a stream, in batches of at most `batch_max` messages.

    A message that is not acknowledged within `acknowledge_wait_s` seconds goes to another process. If `enabled_by`
    names a setting, the consumer exists only while that setting is not empty.
    """

    stream: StreamDefinition
    subject: str
    durable: str
    batch_max: int
    acknowledge_wait_s: float = 30.0
    enabled_by: str = ""


TRADES = StreamDefinition("TRADES", (subjects.TRADES_EXECUTED,), 30 * _DAY_S)
# Separate from TRADES: each message that settles a trade is synced to disk, while a trade's two sides are news.
TRADE_SIDES = StreamDefinition("TRADE_SIDES", (f"{subjects.TRADES_EXECUTED}.*",), 30 * _DAY_S, is_news=True)
ORDERS = StreamDefinition(
    "ORDERS",
    tuple(
        f"{subject}.*"
        for subject in (
            subjects.ORDERS_CREATED,
            subjects.ORDERS_UPDATED,
            subjects.ORDERS_REJECTED,
            subjects.ORDERS_CANCELLED,
            subjects.ORDERS_FILLED,
            subjects.ORDERS_INCOMPLETE,
        )
    ),
    7 * _DAY_S,
    # The router publishes the subject with the user id; the server adds the bare one (facts A6.1-01, A6.2-04).
    republish=("orders.*.*", "orders.{{wildcard(1)}}"),
    is_news=True,
)
BALANCES = StreamDefinition("BALANCES", (f"{subjects.BALANCES_UPDATED}.*",), 7 * _DAY_S, is_news=True)
CUSTODY = StreamDefinition("CUSTODY", ("custody.deposit.*", "custody.withdrawal.*"), 30 * _DAY_S)
RISK = StreamDefinition("RISK", (subjects.RISK_CHECK_FAILED,), 7 * _DAY_S, is_news=True)

# Separate from TRADES: conversions and rewards must not wait behind a backlog of trades.
TRANSFERS = StreamDefinition("TRANSFERS", (subjects.TRANSFERS_EXECUTED,), 30 * _DAY_S)
NOTIFICATIONS = StreamDefinition("NOTIFICATIONS", (subjects.NOTIFICATIONS_SEND,), 7 * _DAY_S)

MARGIN = StreamDefinition(
    "MARGIN",
    (
        subjects.MARGIN_LIQUIDATION_WARNING,
        subjects.MARGIN_POSITION_CLOSED,
        subjects.MARGIN_POSITION_UPDATED,
        subjects.ORDERS_LIQUIDATION,
        subjects.COMMANDS_ORDER_CANCEL,
    ),
    30 * _DAY_S,
)

STREAMS = (TRADES, TRADE_SIDES, ORDERS, BALANCES, CUSTODY, RISK, TRANSFERS, MARGIN, NOTIFICATIONS)

RETIRED_CONSUMERS = ((ORDERS.name, "rest-edge-fills"),)
"""Stream and durable name of consumers that earlier releases used: a prepared bus does not have them."""

# Patterns differ in their first two tokens or in their length.
_BY_SHAPE = {
    (*pattern.split(".")[:2], pattern.count(".")): definition
    for definition in STREAMS
    for pattern in definition.subjects
}


def stream_of(subject: str) -> StreamDefinition | None:
    """The stream that captures `subject`, None if no stream does."""
    tokens = subject.split(".")
    return _BY_SHAPE.get((*tokens[:2], len(tokens) - 1))
