"""JetStream streams: which events are kept until every consumer has them (design section 7).

Request subjects (`orders.submit`, `ledger.*`, …) are in no stream: a late answer helps nobody.
"""

from dataclasses import dataclass

from openspot.contracts import subjects

_DAY_S = 86_400
DUPLICATE_WINDOW_S = 120


@dataclass(frozen=True, slots=True)
class StreamDefinition:
    """A stream: its name, its subjects and how long (seconds) a message stays.

    With `republish` (pattern, destination) the server publishes each message again, once it is stored, on a second
    subject that is in no stream.
    """

    name: str
    subjects: tuple[str, ...]
    age_s_max: int
    republish: tuple[str, str] | None = None


TRADES = StreamDefinition("TRADES", (subjects.TRADES_EXECUTED, f"{subjects.TRADES_EXECUTED}.*"), 30 * _DAY_S)
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
        )
    ),
    7 * _DAY_S,
    # The router publishes the form with the user; the bare one (Document A 6.1) is the server's work.
    republish=("orders.*.*", "orders.{{wildcard(1)}}"),
)
BALANCES = StreamDefinition("BALANCES", (f"{subjects.BALANCES_UPDATED}.*",), 7 * _DAY_S)
CUSTODY = StreamDefinition("CUSTODY", ("custody.deposit.*", "custody.withdrawal.*"), 30 * _DAY_S)
RISK = StreamDefinition("RISK", (subjects.RISK_CHECK_FAILED,), 7 * _DAY_S)

STREAMS = (TRADES, ORDERS, BALANCES, CUSTODY, RISK)
