"""Metrics of the subscription service."""

from prometheus_client import Counter, Gauge

from openspot.engine_transfers.metrics import TransferMetrics

CHARGES = Counter("openspot_subscription_charges_total", "Charges of periods", ["kind", "status"])
EXPIRED = Counter("openspot_subscription_expired_total", "Subscriptions that have ended")
FAULTS = Counter("openspot_subscription_step_faults_total", "Due steps that failed by a fault and were put off")
OVERDUE = Gauge("openspot_subscription_overdue", "Subscriptions whose due step has not been done yet")
TRANSFERS = TransferMetrics("subscription", "the subscription service")
