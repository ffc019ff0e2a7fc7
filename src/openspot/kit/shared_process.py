"""What services have in common that run in one process: requests without the bus, and one set of metrics."""

from collections.abc import Sequence

from prometheus_client.samples import Sample

from openspot.kit.bus import LocalSubjects
from openspot.kit.metrics import Shows


class SharedProcess:
    """One process with several services. `services` names them; the first one shows the metrics that are of none."""

    def __init__(self, services: Sequence[str]) -> None:
        self.local = LocalSubjects()
        """What the services ask each other."""
        self._services = tuple(services)

    def shows(self, service: str) -> Shows:
        """The share of a service in the metrics. Each sample is shown by one service, so sums stay right.

        A sample belongs to the service whose name its metric has (`openspot_router_…`), or its durable consumer.
        """

        def is_shown(sample: Sample) -> bool:
            return self._owner(sample) == service

        return is_shown

    def _owner(self, sample: Sample) -> str:
        durable = sample.labels.get("durable", "")
        for service in self._services:
            if sample.name.startswith(f"openspot_{service.replace('-', '_')}_") or durable.startswith(f"{service}-"):
                return service
        return self._services[0]
