"""Metrics of the ledger."""

from prometheus_client import Counter, Gauge, Histogram

TRADES = Counter(
    "openspot_ledger_trades_total", "Trades taken from the bus: settled, already_settled or rejected", ["outcome"]
)
TRANSFERS_POSTED = Counter(
    "openspot_ledger_transfers_total",
    "Transfers between accounts taken from the bus: posted, already_posted or rejected",
    ["outcome"],
)
SETTLED_SEQUENCE = Gauge(
    "openspot_ledger_settled_sequence",
    "Engine sequence of the newest settled trade: openspot_router_trade_sequence minus this is the lag of settlement",
)
NEGATIVE_BALANCES = Counter(
    "openspot_ledger_negative_balances_total",
    "Accounts that a settlement or posting left below zero: the ledger follows the engine, which knew of more funds",
)
BATCH_TRADES = Histogram(
    "openspot_ledger_batch_trades", "Trades in one settlement", buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
)
BATCH_SECONDS = Histogram(
    "openspot_ledger_batch_seconds",
    "Time of one settlement, its balance events included",
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
)
REQUESTS = Counter(
    "openspot_ledger_requests_total", "Credits, debits, locks and unlocks, by outcome", ["operation", "outcome"]
)
OUTBOX_RECOVERED = Counter(
    "openspot_ledger_outbox_recovered_total", "Balance events that the sweep of the outbox published"
)
