"""The state machine of a subscription, and its due steps (fact A3.2-03).

A subscription is `active` in a period that is paid. When the period ends, the next one is charged; if that fails the
subscription is `past_due` and keeps its access while the charge is tried again 1, 3 and 7 days after the first failure.
A charge that succeeds makes it `active` again, with the periods that the anchor gives. After the last failure it is
`expired` for ever.

A deleted user's subscription expires at its next step, without a charge.

A cancel sets `cancel_at_period_end`: access continues until the period's end, then the subscription expires without
a charge. A cancel while past due expires it at once, because its paid period is over. An upgrade begins a new period
at a new anchor and withdraws a cancel; it needs a paid period, so it is refused while past due.

Each paid period has a number that never repeats, also across upgrades. Subscription and number are the key of its
one charge: an attempt that is repeated after a crash carries the same key and cannot charge twice.

`due_step` returns the step that is due at a given date, one at a time. A charge is for the period that contains that
date. If the renewals did not run for so long that a whole period went by, that period is not charged, because access
had ended in it (see entitlements.py).
"""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import NamedTuple

from openspot.subscriptions.billing_calendar import Period, period_at, period_containing


class SubscriptionStatus(StrEnum):
    """States of a subscription."""

    ACTIVE = "active"
    PAST_DUE = "past_due"
    EXPIRED = "expired"


class SubscriptionTrigger(StrEnum):
    """Events that move a subscription from one state to the next."""

    CANCEL_REQUESTED = "cancel_requested"
    UPGRADED = "upgraded"
    PERIOD_ENDED = "period_ended"
    CHARGE_SUCCEEDED = "charge_succeeded"
    CHARGE_FAILED = "charge_failed"
    LAST_CHARGE_FAILED = "last_charge_failed"
    USER_DELETED = "user_deleted"


class SubscriptionState(NamedTuple):
    """A status, and whether the subscription is to end with its period."""

    status: SubscriptionStatus
    cancel_at_period_end: bool = False


ACTIVE = SubscriptionState(SubscriptionStatus.ACTIVE)
ENDING = SubscriptionState(SubscriptionStatus.ACTIVE, cancel_at_period_end=True)
PAST_DUE = SubscriptionState(SubscriptionStatus.PAST_DUE)
EXPIRED = SubscriptionState(SubscriptionStatus.EXPIRED)

TRANSITIONS: dict[tuple[SubscriptionState | None, SubscriptionTrigger], SubscriptionState] = {
    # A subscription exists only after the charge of its first period has succeeded.
    (None, SubscriptionTrigger.CHARGE_SUCCEEDED): ACTIVE,
    (ACTIVE, SubscriptionTrigger.CANCEL_REQUESTED): ENDING,
    (ACTIVE, SubscriptionTrigger.UPGRADED): ACTIVE,
    (ACTIVE, SubscriptionTrigger.CHARGE_SUCCEEDED): ACTIVE,
    (ACTIVE, SubscriptionTrigger.CHARGE_FAILED): PAST_DUE,
    (ENDING, SubscriptionTrigger.CANCEL_REQUESTED): ENDING,
    (ENDING, SubscriptionTrigger.UPGRADED): ACTIVE,
    (ENDING, SubscriptionTrigger.PERIOD_ENDED): EXPIRED,
    (PAST_DUE, SubscriptionTrigger.CANCEL_REQUESTED): EXPIRED,
    (PAST_DUE, SubscriptionTrigger.CHARGE_SUCCEEDED): ACTIVE,
    (PAST_DUE, SubscriptionTrigger.CHARGE_FAILED): PAST_DUE,
    (PAST_DUE, SubscriptionTrigger.LAST_CHARGE_FAILED): EXPIRED,
    (ACTIVE, SubscriptionTrigger.USER_DELETED): EXPIRED,
    (ENDING, SubscriptionTrigger.USER_DELETED): EXPIRED,
    (PAST_DUE, SubscriptionTrigger.USER_DELETED): EXPIRED,
}


class SubscriptionError(ValueError):
    """A subscription cannot take this step; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription. `period_index` counts periods from the anchor, `period_number` all paid periods ever, from 1.

    `price` is the price of the paid period after discount and before credit. `credit` is kept for later charges (18
    places). `attempts` counts the failed charges of the next period; the first of them was on `past_due_since`.
    """

    subscription_id: str
    user_id: str
    plan_id: str
    asset: str
    interval_months: int
    anchor: date
    price: int
    state: SubscriptionState = ACTIVE
    period_index: int = 0
    period_number: int = 1
    attempts: int = 0
    past_due_since: date | None = None
    credit: int = 0

    @property
    def period(self) -> Period:
        """The last period that was paid."""
        return period_at(self.anchor, self.interval_months, self.period_index)


class StepKind(StrEnum):
    """Kinds of steps that can be due."""

    CHARGE = "charge"
    EXPIRE = "expire"


class DueStep(NamedTuple):
    """A step that is due. A charge is for the period with that index, under a key that all its attempts share."""

    kind: StepKind
    period_index: int = 0
    charge_key: str = ""


def next_state(state: SubscriptionState | None, trigger: SubscriptionTrigger) -> SubscriptionState | None:
    """The state that `trigger` leads to, or None where the table has no such transition."""
    return TRANSITIONS.get((state, trigger))


def charge_key(subscription_id: str, period_number: int) -> str:
    """The key of the one charge of a period."""
    return f"{subscription_id}:{period_number}"


def due_step(subscription: Subscription, today: date, retry_days: tuple[int, ...]) -> DueStep | None:
    """The step that is due on `today` (UTC), or None. `retry_days` count from the first failed charge."""
    due_on = next_due_on(subscription, retry_days)
    if due_on is None or today < due_on:
        return None
    if subscription.state == ENDING:
        return DueStep(StepKind.EXPIRE)
    index = period_containing(subscription.anchor, subscription.interval_months, today)
    return DueStep(StepKind.CHARGE, index, charge_key(subscription.subscription_id, subscription.period_number + 1))


def next_due_on(subscription: Subscription, retry_days: tuple[int, ...]) -> date | None:
    """The UTC date on which its next step is due; None if it has expired."""
    if subscription.state == EXPIRED:
        return None
    if subscription.past_due_since is not None:
        # The configuration may have had more retries when the subscription became past due.
        retry = min(subscription.attempts, len(retry_days))
        return subscription.past_due_since + timedelta(days=retry_days[retry - 1])
    return subscription.period.end


def blocks_another(subscription: Subscription, today: date) -> bool:
    """Whether its user cannot subscribe anew (409): it has not expired, and no cancelled period of it is over."""
    if subscription.state == ENDING:
        return today < subscription.period.end
    return subscription.state != EXPIRED


def cancel(subscription: Subscription) -> Subscription:
    """The subscription after a cancel. Raises SubscriptionError if it has expired."""
    return replace(subscription, state=_move(subscription, SubscriptionTrigger.CANCEL_REQUESTED))


def expire(subscription: Subscription) -> Subscription:
    """The subscription after the end of its last period. Raises SubscriptionError if it does not end there."""
    return replace(subscription, state=_move(subscription, SubscriptionTrigger.PERIOD_ENDED))


def user_deleted(subscription: Subscription) -> Subscription:
    """The subscription after its user was deleted. Raises SubscriptionError if it has expired."""
    return replace(subscription, state=_move(subscription, SubscriptionTrigger.USER_DELETED))


def charge_succeeded(subscription: Subscription, period_index: int, price: int, credit_left: int) -> Subscription:
    """The subscription after a charge of `price` for the period `period_index`.

    Raises SubscriptionError if it has expired, is to end, or had this period already.
    """
    state = _move(subscription, SubscriptionTrigger.CHARGE_SUCCEEDED)
    if period_index <= subscription.period_index:
        raise SubscriptionError(f"period {period_index} was paid before")
    return replace(
        subscription,
        state=state,
        period_index=period_index,
        period_number=subscription.period_number + 1,
        attempts=0,
        past_due_since=None,
        price=price,
        credit=credit_left,
    )


def charge_failed(subscription: Subscription, today: date, retry_days: tuple[int, ...]) -> Subscription:
    """The subscription after a charge that failed today: past due, or expired after the last retry.

    Raises SubscriptionError if the subscription has expired or is to end.
    """
    last = subscription.attempts >= len(retry_days)
    trigger = SubscriptionTrigger.LAST_CHARGE_FAILED if last else SubscriptionTrigger.CHARGE_FAILED
    return replace(
        subscription,
        state=_move(subscription, trigger),
        attempts=subscription.attempts + 1,
        past_due_since=subscription.past_due_since or today,
    )


def upgraded(
    subscription: Subscription, plan_id: str, interval_months: int, today: date, price: int, credit_left: int
) -> Subscription:
    """The subscription on its new plan. A new period, which cost `price`, begins on `today`.

    Raises SubscriptionError if it is past due or expired, or `today` lies outside its paid period.
    """
    state = _move(subscription, SubscriptionTrigger.UPGRADED)
    if today not in subscription.period:
        raise SubscriptionError("subscription has no paid period today; renew it first")
    return replace(
        subscription,
        plan_id=plan_id,
        interval_months=interval_months,
        anchor=today,
        state=state,
        period_index=0,
        period_number=subscription.period_number + 1,
        price=price,
        credit=credit_left,
    )


def _move(subscription: Subscription, trigger: SubscriptionTrigger) -> SubscriptionState:
    following = next_state(subscription.state, trigger)
    if following is None:
        raise SubscriptionError(f"a subscription that is {subscription.state.status} cannot take {trigger}")
    return following
