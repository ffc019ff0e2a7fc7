"""Metrics that every service has. Each service declares its own in its `metrics.py`."""

from collections.abc import Callable, Iterator

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

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


Shows = Callable[[Sample], bool]
"""Whether a service shows a sample: services that share a process divide its metrics among themselves."""


class _Shown(Collector):
    """The metrics of this process, with those of their samples that `shows` picks."""

    def __init__(self, shows: Shows) -> None:
        self._shows = shows

    def collect(self) -> Iterator[Metric]:
        """All families, so that each has its type, and of each the samples that are shown."""
        for family in REGISTRY.collect():
            # A copy, because some collectors return the same family again and again.
            shown = Metric(family.name, family.documentation, family.type, family.unit)
            shown.samples = [sample for sample in family.samples if self._shows(sample)]
            yield shown


def exposition(shows: Shows | None = None) -> tuple[bytes, str]:
    """The metrics of this process in the Prometheus text format, all or those of `shows`: (body, content type)."""
    return generate_latest(REGISTRY if shows is None else _Shown(shows)), CONTENT_TYPE_LATEST
