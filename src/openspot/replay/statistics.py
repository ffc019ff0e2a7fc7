"""What a replay counts while it runs."""

from collections import Counter
from dataclasses import dataclass, field

PERCENT = 100


@dataclass(slots=True)
class Statistics:
    """Counts of one replay. Latencies are seconds from an order to its reply, without throttling."""

    orders_sent: int = 0
    orders_accepted: int = 0
    orders_rejected: Counter[str] = field(default_factory=Counter)
    orders_unclear: Counter[str] = field(default_factory=Counter)
    """Orders without a decision, by reason: not sent, or the reply was lost and later queries found no order."""
    cancels_sent: int = 0
    cancels_done: int = 0
    cancels_too_late: int = 0
    cancels_without_order: int = 0
    """Cancels that were not sent: their order was older than the file, or was not accepted here."""
    cancels_failed: Counter[str] = field(default_factory=Counter)
    throttle_waits: int = 0
    throttle_wait_s: float = 0.0
    latencies_s: list[float] = field(default_factory=list)

    def latency_ms(self, percent: float) -> float | None:
        """The latency in milliseconds that `percent` of the placements did not exceed. None without placements."""
        if not self.latencies_s:
            return None
        ordered = sorted(self.latencies_s)
        rank = max(1, -(-len(ordered) * percent // PERCENT))
        return ordered[int(rank) - 1] * 1000
