"""Entitlements: the features and limits that a user has at a moment.

A paid period gives access until its end. After that, a subscription that is to renew keeps its access while its charge
is tried again, until the end of the last retry's day; just as long if no process runs the renewals. A subscription
that is to end gives no access from the day of its end on, even if its expiry is not recorded yet.
"""

from dataclasses import dataclass
from datetime import date, timedelta

from openspot.subscriptions.lifecycle import ENDING, Subscription, SubscriptionStatus
from openspot.subscriptions.plans import PlanAccess, PlanConfiguration


@dataclass(frozen=True, slots=True)
class Entitlements:
    """A user's access and the plan that gives it. As things stand, `valid_until` is the first day without access."""

    plan_id: str | None
    access: PlanAccess
    valid_until: date | None


def access_end(subscription: Subscription, retry_days: tuple[int, ...]) -> date | None:
    """The first UTC date without access, as things stand; None if there is none now."""
    if subscription.state.status is SubscriptionStatus.EXPIRED:
        return None
    if subscription.state == ENDING:
        return subscription.period.end
    return (subscription.past_due_since or subscription.period.end) + timedelta(days=retry_days[-1] + 1)


def entitlements(subscription: Subscription | None, today: date, configuration: PlanConfiguration) -> Entitlements:
    """The entitlements of a user with this subscription on `today` (UTC)."""
    if subscription is not None:
        end = access_end(subscription, configuration.retry_days)
        plan = configuration.plans.get(subscription.plan_id)
        if plan is not None and end is not None and subscription.anchor <= today < end:
            return Entitlements(plan.plan_id, plan.access, end)
    return Entitlements(None, configuration.free, None)
