"""The events that users can be notified of, and the default preferences. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class NotificationEvent(StrEnum):
    """The events that a user can be notified of."""

    ORDER_FILLED = "order_filled"
    ORDER_REFUSED = "order_refused"
    ORDER_CANCELLED_BY_TIMER = "order_cancelled_by_timer"
    ORDER_LIST_NOT_ARMED = "order_list_not_armed"
    BALANCE_ADJUSTED = "balance_adjusted"
    DEPOSIT_CREDITED = "deposit_credited"
    WITHDRAWAL_COMPLETED = "withdrawal_completed"
    WITHDRAWAL_FAILED = "withdrawal_failed"
    PAYMENT_COMPLETED = "payment_completed"
    CONVERSION_COMPLETED = "conversion_completed"
    STAKING_PAYOUT = "staking_payout"
    SUBSCRIPTION_CHARGED = "subscription_charged"
    SUBSCRIPTION_FAILED = "subscription_failed"
    NEW_LOGIN = "new_login"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105 (the name of an event)
    MFA_CHANGED = "mfa_changed"
    API_KEY_CHANGED = "api_key_changed"
    WITHDRAWAL_ADDRESS_CHANGED = "withdrawal_address_changed"
    WITHDRAWAL_REQUESTED = "withdrawal_requested"
    MARGIN_WARNING = "margin_warning"
    MARGIN_LIQUIDATION = "margin_liquidation"
    MARGIN_POSITION_CLOSED = "margin_position_closed"
    PRICE_ALERT = "price_alert"
    VERIFICATION_DECIDED = "verification_decided"


SECURITY_EVENTS = frozenset(
    {
        NotificationEvent.NEW_LOGIN,
        NotificationEvent.PASSWORD_CHANGED,
        NotificationEvent.MFA_CHANGED,
        NotificationEvent.API_KEY_CHANGED,
        NotificationEvent.WITHDRAWAL_ADDRESS_CHANGED,
        NotificationEvent.WITHDRAWAL_REQUESTED,
    }
)
"""The mail of these events cannot be turned off: it warns the owner of an account of a thief."""

SECURITY_PREFIX = "security."
"""So begin the kinds of security that have no event of their own."""

ALWAYS_MAILED = SECURITY_EVENTS | {NotificationEvent.ORDER_LIST_NOT_ARMED}
"""The events whose mail cannot be turned off: those of security, and a position that is left without its stop."""

WANTED_EVENTS = frozenset({NotificationEvent.ORDER_FILLED, NotificationEvent.ORDER_REFUSED})
"""Users are told of these only if they ask for it: a trading program has thousands of them a day, and hears of a
refusal in the reply to its order. Fills do come to devices, where a user has asked to be notified."""


@dataclass(frozen=True, slots=True)
class NotificationPreference:
    """Whether a user wants to be notified of an event by email, on the screen (`websocket`) and on devices (`push`)."""

    email: bool
    websocket: bool
    push: bool


def default_preference(event: str) -> NotificationPreference:
    """The preference until the user chooses: on, but for WANTED_EVENTS."""
    is_on = event not in WANTED_EVENTS
    return NotificationPreference(is_on, is_on, push=event != NotificationEvent.ORDER_REFUSED)


_DECIDED_BY = {
    "order.partly_filled": NotificationEvent.ORDER_FILLED,
    "order.not_filled": NotificationEvent.ORDER_FILLED,
}
"""Kinds without an event of their own."""


def event_of_kind(kind: str) -> str:
    """The event whose preference decides on a kind of notification: `margin_liquidation` for `margin.liquidation`."""
    return _DECIDED_BY.get(kind) or kind.replace(".", "_")


def is_of_security(kind: str) -> bool:
    """Whether a kind of notification warns the owner of an account of a thief."""
    return kind.startswith(SECURITY_PREFIX) or event_of_kind(kind) in SECURITY_EVENTS
