"""Messages about plans and subscriptions, for operators (`subscriptions.*`)."""

from typing import Annotated

from openspot.contracts.messages.message import Count, DayText, DecimalText, Message, TimeText, listed
from openspot.contracts.messages.reply import RefusableReply


class PlanRecord(Message, frozen=True):
    """A plan. `prices` are for one period of `interval_months`, by asset, before discount.

    A plan that is not `active` takes no new subscribers; present subscribers keep it.
    """

    id: str
    name: str
    rank: int
    interval_months: int
    active: bool
    prices: dict[str, str]
    features: tuple[str, ...]
    limits: dict[str, int]


class SubscriptionRecord(Message, frozen=True):
    """A subscription of any user. Its paid period is [`period_start`, `period_end`), dates in UTC.

    `attempts` counts the failed charges of the next period. `next_charge_on` is None if the subscription is to end,
    `access_until` if it has expired.
    """

    id: str
    user_id: str
    plan_id: str
    status: Annotated[str, listed("active", "past_due", "expired")]
    cancel_at_period_end: bool
    asset: str
    price: DecimalText
    credit: DecimalText
    period_start: DayText
    period_end: DayText
    attempts: Count
    next_charge_on: DayText | None
    past_due_since: DayText | None
    access_until: DayText | None
    created_at: TimeText


class SubscriptionPaymentRecord(Message, frozen=True):
    """The charge of a period. A failed one has a `reason`; figures that were not known are None."""

    id: str
    user_id: str
    subscription_id: str
    plan_id: str
    kind: Annotated[str, listed("subscribe", "upgrade", "renewal")]
    status: Annotated[str, listed("completed", "failed")]
    reason: str | None
    asset: str
    price: DecimalText | None
    credit: DecimalText | None
    amount: DecimalText | None
    attempt: Count
    period_start: DayText
    period_end: DayText
    created_at: TimeText


class GetPlans(Message, frozen=True):
    """Request `subscriptions.plans.get`: every plan, also those that take no new subscribers."""


class GetPlansReply(RefusableReply, frozen=True):
    """Reply of `subscriptions.plans.get`, the lowest rank first."""

    plans: tuple[PlanRecord, ...] = ()


class ListSubscriptions(Message, frozen=True):
    """Request `subscriptions.list`: the subscriptions of all users that fit, newest first. None admits all.

    They began at `since` or later and before `until`, in milliseconds since 1970.
    """

    limit: int
    cursor: str | None = None
    user_id: str | None = None
    plan_id: str | None = None
    status: str | None = None
    since: int | None = None
    until: int | None = None


class ListSubscriptionsReply(RefusableReply, frozen=True):
    """Reply of `subscriptions.list`: a page, and the cursor of the next."""

    subscriptions: tuple[SubscriptionRecord, ...] = ()
    next_cursor: str | None = None


class ListSubscriptionPayments(Message, frozen=True):
    """Request `subscriptions.payments.list`: the payments of all users that fit, newest first. None admits all.

    They were made at `since` or later and before `until`, in milliseconds since 1970.
    """

    limit: int
    cursor: str | None = None
    user_id: str | None = None
    status: str | None = None
    since: int | None = None
    until: int | None = None


class ListSubscriptionPaymentsReply(RefusableReply, frozen=True):
    """Reply of `subscriptions.payments.list`: a page, and the cursor of the next."""

    payments: tuple[SubscriptionPaymentRecord, ...] = ()
    next_cursor: str | None = None


class CancelSubscription(Message, frozen=True):
    """Request `subscriptions.cancel`: end a user's subscription with its paid period, or at once if it is past due."""

    user_id: str


class CancelSubscriptionReply(RefusableReply, frozen=True):
    """Reply of `subscriptions.cancel`: the subscription as it is now.

    NOT_FOUND if the user has none, BUSY while a charge of it is being made.
    """

    subscription: SubscriptionRecord | None = None
