"""Metrics of the order router."""

import functools

from prometheus_client import Counter, Gauge, Histogram

ORDERS = Counter("openspot_router_orders_total", "Orders submitted, by outcome and reason", ["outcome", "reason"])
CANCELS = Counter("openspot_router_cancels_total", "Cancels asked for, by outcome", ["outcome"])
REPLACEMENTS = Counter(
    "openspot_router_replacements_total", "Requests to replace an order, by outcome: replaced or failed", ["outcome"]
)
AMENDMENTS = Counter("openspot_router_amendments_total", "Amendments asked for, by outcome", ["outcome"])
ORDER_LISTS = Counter(
    "openspot_router_order_lists_total",
    "Order lists asked for, by outcome and code of the refusal",
    ["outcome", "code"],
)
BALANCE_CHECKS = Counter("openspot_router_balance_checks_total", "Balance checks, by whose figure counted", ["source"])
ENGINE_BATCH_ORDERS = Histogram(
    "openspot_router_engine_batch_orders",
    "Orders in one PlaceOrders call",
    buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500),
)
ENGINE_CALL_SECONDS = Histogram(
    "openspot_router_engine_call_seconds",
    "Time of one PlaceOrders call",
    buckets=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5),
)
TRANSLATOR_LEADS = Gauge(
    "openspot_router_translator_leads", "Partitions of the engine's events that this process translates"
)
TRANSLATOR_LAG = Gauge("openspot_router_translator_lag_events", "Events received and not yet published")
HELD_EVENTS = Gauge(
    "openspot_router_held_events",
    "Events that the bus has not taken: those of a failing subject, and those behind them",
)
TRADE_SEQUENCE = Gauge("openspot_router_trade_sequence", "Engine sequence of the newest trade published")
TRANSLATOR_EVENTS = Counter("openspot_router_translator_events_total", "Engine events translated")
TRANSLATOR_FAULTS = Counter(
    "openspot_router_translator_faults_total", "Engine events that contradict earlier ones", ["kind"]
)
ROW_QUEUE = Gauge("openspot_router_row_queue_rows", "Order and trade rows waiting to be written")
ROW_WRITE_FAILURES = Counter("openspot_router_row_write_failures_total", "Row writes that failed", ["kind"])
ROWS_DROPPED = Counter("openspot_router_rows_dropped_total", "Rows that the database refuses for good", ["table"])
REJECTIONS_WAITING = Gauge(
    "openspot_router_rejections_waiting", "Orders being checked or refused and not recorded yet, and held events"
)
CUSTODY_EVENTS = Counter("openspot_router_custody_events_total", "Custody events, by outcome", ["kind", "outcome"])
LEDGER_ALERTS = Counter(
    "openspot_router_ledger_failures_total", "Ledger postings of custody events that failed: alert on any", ["kind"]
)


@functools.cache
def orders_of(outcome: str) -> Counter:
    """The counter of placed orders with this outcome. It is kept, because to find it takes longer than to count."""
    return ORDERS.labels(outcome, "")


@functools.cache
def balance_checks_of(source: str) -> Counter:
    """The counter of balance checks by the figure of this source. It is kept, like those of `orders_of`."""
    return BALANCE_CHECKS.labels(source)
