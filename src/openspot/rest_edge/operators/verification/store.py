"""Reads the queue of verifications."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openspot.kit.database import Pool
from openspot.rest_edge.operators.spans import Span

# Statuses are few, and each is read along the index from its oldest row on.
_QUEUE = """
    SELECT user_id, level, status, requested_level, provider_reference, updated_at,
        sealed_information IS NOT NULL OR clear_information IS NOT NULL AS has_information,
        (
            SELECT count(*) FROM kyc_documents
            WHERE kyc_documents.user_id = kyc_profiles.user_id AND reference = provider_reference
        ) AS documents
    FROM kyc_profiles
    WHERE status = $1 AND (updated_at, user_id) > (coalesce($2::timestamptz, '-infinity'), coalesce($3::text, ''))
        AND updated_at >= coalesce($5::timestamptz, '-infinity') AND updated_at < coalesce($6::timestamptz, 'infinity')
"""
_ORDER = " ORDER BY updated_at, user_id LIMIT $4"


@dataclass(frozen=True, slots=True)
class QueuedVerification:
    """A user's verification in the queue. `waits_since` is its last change, `documents` those of its check."""

    user_id: str
    level: int
    status: str
    requested_level: int | None
    provider_reference: str | None
    waits_since: datetime
    has_information: bool
    documents: int


async def queue(
    pool: Pool, status: str, span: Span, limit: int, after: tuple[datetime, str] | None, user_id: str | None = None
) -> list[QueuedVerification]:
    """Verifications in a state since a moment of `span`, the one that waits longest first, behind `after`.

    With `user_id`, only that user's.
    """
    values = [status, *(after or (None, None)), limit, *span]
    # A condition of its own, so that PostgreSQL reads the one row by its key.
    of_user = "" if user_id is None else " AND user_id = $7"
    rows = await pool.fetch(_QUEUE + of_user + _ORDER, *values, *([] if user_id is None else [user_id]))
    return [_queued(row) for row in rows]


def _queued(row: Any) -> QueuedVerification:
    fields = dict(row)
    fields["waits_since"] = fields.pop("updated_at")
    return QueuedVerification(**fields)
