"""Erases the data of deleted users that is not deleted together with the row in `users`."""

from collections.abc import Sequence

from openspot.http.audit import erase_addresses
from openspot.http.idempotency import forget_responses
from openspot.kit.database import Connection, Pool

PERSONAL_TABLES = (
    "kyc_profiles",
    "kyc_events",
    "kyc_documents",
    "withdrawal_addresses",
    "notification_settings",
    "conversion_quotes",
    "fee_quotes",
    "notifications",
    "cancel_timers",
    "price_alerts",
    "watchlists",
    "chart_drawings",
    "screen_layouts",
)
"""Tables of the REST edge with personal data only. They name the user in `user_id` without a foreign key."""


async def erase_personal_data(connection: Connection | Pool, user_ids: Sequence[str]) -> None:
    """Delete these users' personal rows and stored responses, and the addresses in their audit records.

    What they did as operators stays, under their ids; the addresses that they did it from go, and so do their views.
    """
    for table in PERSONAL_TABLES:
        await connection.execute(f"DELETE FROM {table} WHERE user_id = ANY($1::text[])", list(user_ids))  # noqa: S608
    names = [f"user:{user_id}" for user_id in user_ids]
    await connection.execute("DELETE FROM operator_action_origins WHERE operator = ANY($1::text[])", names)
    await connection.execute("DELETE FROM operator_views WHERE operator = ANY($1::text[])", names)
    await forget_responses(connection, user_ids)
    await erase_addresses(connection, user_ids)
