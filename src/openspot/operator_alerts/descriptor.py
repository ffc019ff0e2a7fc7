"""The service of operators' alerts describes itself."""

from openspot.kit.description import Address, Descriptor, Listener, Process
from openspot.operator_alerts.settings import OperatorAlertSettings

TITLE = "Operators' alerts"

DESCRIPTOR = Descriptor(
    name="operator-alerts",
    title=TITLE,
    settings=OperatorAlertSettings,
    processes=(
        Process(
            name="operator-alerts",
            title=TITLE,
            module="openspot.operator_alerts.service",
            host="alerts_host",
            listeners=(Listener("alerts_port", "health, metrics and calls of the REST edge"),),
            secrets_checked=("alerts_secret",),
            enabled_by=("alert_mails", "alert_webhook_url"),
            # /ready is degraded at most: it never waits for a mail server.
            started_path="/health/live",
        ),
    ),
    addresses=(Address("Operators' alerts", lambda settings: f"{settings.alerts_url}/health"),),
    http="openspot.operator_alerts.app:documented",
)
