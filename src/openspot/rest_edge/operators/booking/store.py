"""What was booked and agreed to, from the trail and the table `operator_requests`."""

from collections.abc import Collection
from datetime import datetime

from openspot.kit.clock import ms_from_datetime
from openspot.kit.database import Connection
from openspot.rest_edge.operators.pending.rules import ActionKind, OperatorRequest, RequestStatus
from openspot.rest_edge.operators.pending.store import newest_of_kind

BOOKED = "engine_adjustments.booked"
"""The action in the trail. Its `after` has `valueCents`, and `request` if another person approved it."""
SUBJECT_KIND = "account"
REQUESTS_MAX = 10
"""So many requests are looked at: there is at most one that waits, and an older approval was booked."""


async def lock(connection: Connection) -> None:
    """Let nobody else ask for a booking, or book, until the transaction ends."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('openspot-engine-adjustments', 0))")


async def booked_alone(connection: Connection, accounts: Collection[str], since: datetime) -> int:
    """US cents that a person, with all of these accounts, has booked without another since then."""
    return int(
        await connection.fetchval(
            "SELECT coalesce(sum(nullif(after::jsonb ->> 'valueCents', '')::numeric), 0)::bigint FROM operator_actions"
            " WHERE action = $1 AND at_ms > $2 AND lower(split_part(operator, ':', 2)) = ANY($3::text[])"
            " AND after::jsonb ->> 'request' IS NULL",
            BOOKED,
            ms_from_datetime(since),
            [*accounts],
        )
    )


async def newest_of(connection: Connection, status: RequestStatus) -> list[OperatorRequest]:
    """The newest requests for a booking that are in this state."""
    return await newest_of_kind(connection, ActionKind.ENGINE_ADJUSTMENTS, status, REQUESTS_MAX)
