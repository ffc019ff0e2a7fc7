"""Notifications: a service sends one, and the user's connections receive it."""

from openspot.contracts.messages.message import Message


class SendNotification(Message, frozen=True):
    """Payload of `notifications.send`: a notification for a user. Each id is sent to the user once."""

    id: str
    user_id: str
    kind: str
    title: str
    text: str
    timestamp: int


class UserNotification(Message, frozen=True):
    """Payload of `notifications.user.<userId>`: a notification for the user's connections.

    `created_at` is in milliseconds since 1970. The same id may arrive twice.
    """

    id: str
    kind: str
    title: str
    text: str
    created_at: int
