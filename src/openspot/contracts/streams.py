"""JetStream streams: which events are kept until every consumer has them (design section 7).

Request subjects (`orders.submit`, `ledger.*`, …) are in no stream: a late answer helps nobody.
"""

from dataclasses import dataclass

from openspot.contracts import subjects

_DAY_S = 86_400
DUPLICATE_WINDOW_S = 120


@dataclass(frozen=True, slots=True)
class StreamDefinition:
    """A stream: its name, its subjects and how long (seconds) a message stays."""

    name: str
    subjects: tuple[str, ...]
    age_s_max: int


def _with_tail(*names: str) -> tuple[str, ...]:
    return tuple(form for name in names for form in (name, f"{name}.*"))


TRADES = StreamDefinition("TRADES", _with_tail(subjects.TRADES_EXECUTED), 30 * _DAY_S)
ORDERS = StreamDefinition(
    "ORDERS",
    _with_tail(
        subjects.ORDERS_CREATED,
        subjects.ORDERS_UPDATED,
        subjects.ORDERS_REJECTED,
        subjects.ORDERS_CANCELLED,
        subjects.ORDERS_FILLED,
    ),
    7 * _DAY_S,
)
BALANCES = StreamDefinition("BALANCES", (f"{subjects.BALANCES_UPDATED}.*",), 7 * _DAY_S)
CUSTODY = StreamDefinition("CUSTODY", ("custody.deposit.*", "custody.withdrawal.*"), 30 * _DAY_S)
RISK = StreamDefinition("RISK", (subjects.RISK_CHECK_FAILED,), 7 * _DAY_S)

STREAMS = (TRADES, ORDERS, BALANCES, CUSTODY, RISK)
