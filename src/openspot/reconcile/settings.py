"""Settings of reconcile."""

from openspot.subscriptions.settings import SubscriptionSettings


class ReconcileSettings(SubscriptionSettings):
    """How to reach the engine, and every database with rows about money."""
