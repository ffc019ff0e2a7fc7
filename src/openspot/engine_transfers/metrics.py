"""Metrics of a service's transfers."""

from prometheus_client import Counter, Gauge


class TransferMetrics:
    """What a runner counts, named `openspot_<name>_transfers_…`. A process makes the metrics of a name once."""

    def __init__(self, name: str, owner: str) -> None:
        prefix = f"openspot_{name}_transfers"
        self.pending = Gauge(f"{prefix}_pending", f"Transfers of {owner} whose outcome is not known")
        self.owed = Gauge(
            f"{prefix}_owed",
            f"Transfers of {owner} that the engine has refused, and that are tried again: a house account lacks funds",
        )
        self.given_up = Counter(f"{prefix}_given_up_total", f"Transfers of {owner} that have used up their attempts")
