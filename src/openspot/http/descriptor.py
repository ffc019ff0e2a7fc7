"""The HTTP layer owns the tables that every HTTP service uses through it: audit, API keys, idempotency."""

from openspot.kit.description import Descriptor, Tables

DESCRIPTOR = Descriptor(
    name="http",
    title="HTTP layer",
    tables=Tables(
        owns=("audit_records", "api_keys", "sealing_keys", "idempotency_keys"),
        reads=(
            "users",
            "operator_roles",
            "operator_actions",
            "user_locks",
            "user_mfa",
            "user_sessions",
            "refresh_tokens",
            "owner_links",
        ),
    ),
)
