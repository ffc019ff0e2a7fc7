"""What users can be told of, and what they want of it before they choose. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class NotificationEvent(StrEnum):
    """What a user can be told of."""

    ORDER_FILLED = "order_filled"
    DEPOSIT_CREDITED = "deposit_credited"
    WITHDRAWAL_COMPLETED = "withdrawal_completed"
    WITHDRAWAL_FAILED = "withdrawal_failed"
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


@dataclass(frozen=True, slots=True)
class Wish:
    """How a user wants to be told of an event."""

    email: bool
    websocket: bool


def first_wish(event: str) -> Wish:
    """What holds until the user chooses. Fills are off, since a program that trades has thousands of them a day."""
    is_on = event != NotificationEvent.ORDER_FILLED
    return Wish(is_on, is_on)
