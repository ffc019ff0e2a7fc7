"""Bodies of the operators' routes of alerts."""

from openspot.http.operator_alerts import AlertKind
from openspot.http.validation import Body, example
from openspot.rest_edge.operators.schemas import Reason


class AlertTryBody(Body):
    """The alert that is tried, and why: the trail keeps it."""

    model_config = example({"kind": "disk_low", "reason": "a new address for the night"})

    kind: AlertKind
    reason: Reason
