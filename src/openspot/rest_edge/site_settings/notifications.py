"""Which messages a user wants, by event."""

from enum import StrEnum

from openspot.http.errors import HttpError
from openspot.kit.database import Pool
from openspot.rest_edge.site_settings.schemas import NotificationBody, NotificationResponse


class NotificationEvent(StrEnum):
    """What a user can be told of."""

    ORDER_FILLED = "order_filled"
    DEPOSIT_CREDITED = "deposit_credited"
    WITHDRAWAL_COMPLETED = "withdrawal_completed"
    PAYMENT_COMPLETED = "payment_completed"
    CONVERSION_COMPLETED = "conversion_completed"
    STAKING_PAYOUT = "staking_payout"
    NEW_LOGIN = "new_login"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105 (the name of an event)
    MFA_CHANGED = "mfa_changed"
    API_KEY_CHANGED = "api_key_changed"
    WITHDRAWAL_REQUESTED = "withdrawal_requested"
    MARGIN_LIQUIDATION = "margin_liquidation"


SECURITY_EVENTS = frozenset(
    {
        NotificationEvent.NEW_LOGIN,
        NotificationEvent.PASSWORD_CHANGED,
        NotificationEvent.MFA_CHANGED,
        NotificationEvent.API_KEY_CHANGED,
        NotificationEvent.WITHDRAWAL_REQUESTED,
    }
)
"""Their mail cannot be turned off: it tells the owner of an account what a thief does in it."""


class NotificationService:
    """The table `notification_settings`. What a user never set is on."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def settings_of(self, user_id: str) -> list[NotificationResponse]:
        """The user's settings of every event."""
        rows = await self._pool.fetch(
            "SELECT event, email, websocket FROM notification_settings WHERE user_id = $1", user_id
        )
        stored = {row["event"]: (row["email"], row["websocket"]) for row in rows}
        return [_response(event, *stored.get(event.value, (True, True))) for event in NotificationEvent]

    async def change(self, user_id: str, event: NotificationEvent, body: NotificationBody) -> NotificationResponse:
        """Set what the user wants of one event. Raises HttpError (409) for security mail that is turned off."""
        if event in SECURITY_EVENTS and not body.email:
            raise HttpError(409, f"mail of {event.value} is security mail, which is always sent", "SECURITY_MAIL")
        await self._pool.execute(
            "INSERT INTO notification_settings (user_id, event, email, websocket) VALUES ($1, $2, $3, $4)"
            " ON CONFLICT (user_id, event) DO UPDATE SET email = excluded.email, websocket = excluded.websocket",
            user_id,
            event.value,
            body.email,
            body.websocket,
        )
        return _response(event, body.email, body.websocket)


def _response(event: NotificationEvent, email: bool, websocket: bool) -> NotificationResponse:
    return NotificationResponse(
        event=event.value, email=email, websocket=websocket, email_is_required=event in SECURITY_EVENTS
    )
