"""Metrics of the demo market."""

from prometheus_client import Counter, Gauge

ORDERS = Counter("openspot_demo_orders_total", "Orders that the platform accepted", ["bot"])
CANCELS = Counter("openspot_demo_cancels_total", "Orders cancelled", ["bot"])
REFUSALS = Counter("openspot_demo_refusals_total", "Requests that the platform refused, by its code", ["bot", "code"])
FAILURES = Counter("openspot_demo_failures_total", "Times that a bot had to begin again", ["bot"])
DEPOSITS = Counter("openspot_demo_deposits_total", "Deposits sent to a bot by this process", ["user"])
IMBALANCE = Gauge(
    "openspot_demo_imbalance", "Distance of an asset from its target: 1 and -1 are the bounds", ["bot", "asset"]
)
