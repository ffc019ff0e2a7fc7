"""The subscription service describes itself."""

from openspot.contracts import subjects
from openspot.kit.description import Address, BusAccess, Descriptor, Listener, OwnDatabase, Process, Tables
from openspot.subscriptions.settings import SubscriptionSettings

DESCRIPTOR = Descriptor(
    name="subscriptions",
    title="Subscription service",
    settings=SubscriptionSettings,
    processes=(
        Process(
            name="subscriptions",
            title="Subscription service",
            module="openspot.subscriptions.service",
            host="subscriptions_host",
            listeners=(Listener("subscriptions_port", "REST"),),
            secrets_checked=("jwt_secret",),
            uses=("engine",),
            bus=BusAccess(
                serves=(
                    subjects.ENTITLEMENTS_GET,
                    subjects.SUBSCRIPTIONS_PLANS_GET,
                    subjects.SUBSCRIPTIONS_LIST,
                    subjects.SUBSCRIPTIONS_PAYMENTS_LIST,
                    subjects.SUBSCRIPTIONS_CANCEL,
                ),
                publishes=(subjects.NOTIFICATIONS_SEND,),
                reads_buckets=(subjects.SESSIONS_REVOKED_BUCKET, subjects.USERS_DELETED_BUCKET),
            ),
        ),
    ),
    tables=Tables(owns=("subscriptions", "subscription_payments", "subscription_charges", "subscription_transfers")),
    addresses=(
        Address("Subscription service", lambda settings: f"{settings.subscriptions_url}/api", is_for_users=True),
    ),
    http="openspot.subscriptions.app:documented",
    database=OwnDatabase("subscriptions_database", "subscriptions_database_url", "subscriptions"),
)
