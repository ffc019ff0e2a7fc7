"""Metrics that every service has. Each service declares its own in its `metrics.py`."""

from prometheus_client import CONTENT_TYPE_LATEST, Counter, Gauge, Histogram, generate_latest

BUS_MALFORMED = Counter("openspot_bus_malformed_total", "Bus messages that could not be read", ["subject"])
BUS_HANDLER_FAILURES = Counter("openspot_bus_handler_failures_total", "Bus messages whose handler failed", ["subject"])
BUS_PUBLISH_FAILURES = Counter("openspot_bus_publish_failures_total", "Publishes that failed", ["subject"])
BUS_BREAKER_OPEN = Counter(
    "openspot_bus_breaker_open_total", "Publishes refused by an open circuit breaker", ["subject"]
)
BUS_CONSUMER_LAG = Gauge(
    "openspot_bus_consumer_lag_messages", "Messages that a durable consumer has not dealt with", ["durable"]
)
BUS_CONSUMER_RESETS = Counter(
    "openspot_bus_consumer_resets_total",
    "How often the bus lost a durable consumer and the events that it had not delivered",
    ["durable"],
)
BUS_CONSUMER_STUCK = Gauge(
    "openspot_bus_consumer_stuck", "1 while a durable consumer does not deal with its messages", ["durable"]
)
PACE_WAIT_SECONDS = Histogram(
    "openspot_pace_wait_seconds",
    "How long a batch waited before it began, so that batches keep apart",
    ["pace"],
    buckets=(0.001, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5),
)


def exposition() -> tuple[bytes, str]:
    """All metrics in the Prometheus text format: (body, content type)."""
    return generate_latest(), CONTENT_TYPE_LATEST
