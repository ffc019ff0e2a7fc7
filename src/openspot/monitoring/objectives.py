"""The service level objectives, and the alerts that tell how fast their error budgets burn.

Each objective allows a share of bad events in 30 days. An alert compares the share of a long and of a short window with
what would use the budget up too early: the long one says that it matters, the short one that it still goes on. Windows
and factors are those of the Site Reliability Workbook, chapter 5.
"""

from typing import NamedTuple

from openspot.monitoring.rules import Alert, Record, Severity

ORDER_SECONDS = "0.5"
"""A bucket of `openspot_http_seconds`; within it a request counts as quick."""


class Objective(NamedTuple):
    """What users may expect. `bad` and `all_events` are rates with `{window}` in place of their range."""

    name: str
    meaning: str
    target: float
    bad: str
    all_events: str


class BurnRate(NamedTuple):
    """A budget that burns `factor` times as fast as it may, seen over both windows."""

    long_window: str
    short_window: str
    factor: float
    severity: Severity


_EDGE = 'service="rest-edge"'

OBJECTIVES = (
    Objective(
        "requests",
        "99.9 % of the requests to the REST edge are answered without a fault of the platform (5xx)",
        0.999,
        f'sum(rate(openspot_http_seconds_count{{{_EDGE},outcome="fault"}}[{{window}}]))',
        f"sum(rate(openspot_http_seconds_count{{{_EDGE}}}[{{window}}]))",
    ),
    Objective(
        "orders",
        "99.9 % of the orders reach the engine and get its answer, or are refused by a check",
        0.999,
        'sum(rate(openspot_router_orders_total{outcome=~"not_sent|unknown"}[{window}])) or vector(0)',
        "sum(rate(openspot_router_orders_total[{window}]))",
    ),
    Objective(
        "speed",
        f"99 % of the requests to the REST edge are answered within {ORDER_SECONDS} s",
        0.99,
        f"sum(rate(openspot_http_seconds_count{{{_EDGE}}}[{{window}}]))"
        f' - sum(rate(openspot_http_seconds_bucket{{{_EDGE},le="{ORDER_SECONDS}"}}[{{window}}]))',
        f"sum(rate(openspot_http_seconds_count{{{_EDGE}}}[{{window}}]))",
    ),
)
BURN_RATES = (
    BurnRate("1h", "5m", 14.4, Severity.PAGE),
    BurnRate("6h", "30m", 6, Severity.PAGE),
    BurnRate("3d", "6h", 1, Severity.TICKET),
)
WINDOWS = ("5m", "30m", "1h", "6h", "3d")


def ratio_name(window: str) -> str:
    """The name under which Prometheus keeps the share of bad events over a window."""
    return f"openspot:objective_errors:ratio_rate{window}"


def records() -> list[Record]:
    """The share of bad events of each objective over each window. No value while nothing happens."""
    return [
        Record(
            ratio_name(window),
            f"({objective.bad}) / ({objective.all_events} > 0)".replace("{window}", window),
            {"objective": objective.name},
        )
        for objective in OBJECTIVES
        for window in WINDOWS
    ]


def alerts() -> list[Alert]:
    """An alert for each objective and each burn rate."""
    found = []
    for objective in OBJECTIVES:
        budget = 1 - objective.target
        for burn in BURN_RATES:
            limit = f"{burn.factor * budget:.6g}"
            where = f'{{objective="{objective.name}"}}'
            found.append(
                Alert(
                    f"OpenSpotBudget{objective.name.title()}{burn.long_window.title()}",
                    f"{ratio_name(burn.long_window)}{where} > {limit}"
                    f" and {ratio_name(burn.short_window)}{where} > {limit}",
                    "1m",
                    burn.severity,
                    f"The error budget of {objective.name} burns {burn.factor:g} times as fast as it may",
                    f"{objective.meaning}. Look at the replies by status and at the alerts of single services; the "
                    "services' logs name each fault.",
                )
            )
    return found
