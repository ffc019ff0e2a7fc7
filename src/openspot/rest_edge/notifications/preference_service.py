"""The users' notification preferences, by event."""

from openspot.http.errors import HttpError
from openspot.kit.database import Pool
from openspot.rest_edge.notifications.preferences import (
    ALWAYS_MAILED,
    SECURITY_EVENTS,
    NotificationEvent,
    NotificationPreference,
    default_preference,
)
from openspot.rest_edge.notifications.schemas import NotificationPreferenceBody, NotificationPreferenceResponse


class NotificationPreferenceService:
    """The table `notification_settings`. Without a row, `default_preference` holds."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def settings_of(self, user_id: str) -> list[NotificationPreferenceResponse]:
        """The user's preferences of every event."""
        rows = await self._pool.fetch(
            "SELECT event, email, websocket, push FROM notification_settings WHERE user_id = $1", user_id
        )
        stored = {row["event"]: NotificationPreference(row["email"], row["websocket"], row["push"]) for row in rows}
        return [_response(event, stored.get(event.value, default_preference(event))) for event in NotificationEvent]

    async def change(
        self, user_id: str, event: NotificationEvent, body: NotificationPreferenceBody
    ) -> NotificationPreferenceResponse:
        """Set the user's preference of one event. Raises HttpError (409) if it turns mail off that is always sent."""
        if event in SECURITY_EVENTS and not body.email:
            raise HttpError(409, f"mail of {event.value} is security mail, which is always sent", "SECURITY_MAIL")
        if event in ALWAYS_MAILED and not body.email:
            raise HttpError(409, f"mail of {event.value} is always sent", "MAIL_REQUIRED")
        push = await self._pool.fetchval(
            """
            INSERT INTO notification_settings AS known (user_id, event, email, websocket, push)
            VALUES ($1, $2, $3, $4, coalesce($5::boolean, $6))
            ON CONFLICT (user_id, event) DO UPDATE SET
                email = excluded.email, websocket = excluded.websocket, push = coalesce($5::boolean, known.push)
            RETURNING push
            """,
            user_id,
            event.value,
            body.email,
            body.websocket,
            body.push,
            default_preference(event).push,
        )
        return _response(event, NotificationPreference(body.email, body.websocket, push))


def _response(event: NotificationEvent, preference: NotificationPreference) -> NotificationPreferenceResponse:
    return NotificationPreferenceResponse(
        event=event.value,
        email=preference.email,
        websocket=preference.websocket,
        push=preference.push,
        email_is_required=event in ALWAYS_MAILED,
    )
