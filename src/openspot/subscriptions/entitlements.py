"""Entitlements: the features and limits that a user has at a moment.

A paid period gives access to its end. After it, a subscription that is to renew keeps its access while its charge is
tried again, to the end of the last retry's day. If nobody runs the renewals, it keeps its access for as many days.
A subscription that is to end gives no access from the day of its end on, even before its expiry is recorded.
"""

from dataclasses import dataclass
from datetime import date, timedelta

from openspot.subscriptions.lifecycle import ENDING, Subscription, SubscriptionStatus
from openspot.subscriptions.plans import Access, PlanConfiguration


@dataclass(frozen=True, slots=True)
class Entitlements:
    """A user's access and the plan that gives it; `valid_until` is the first day without it, as things stand."""

    plan_id: str | None
    access: Access
    valid_until: date | None


def access_end(subscription: Subscription, retry_days: tuple[int, ...]) -> date | None:
    """The first UTC date without access, as things stand; None if there is none now."""
    if subscription.state.status is SubscriptionStatus.EXPIRED:
        return None
    if subscription.state == ENDING:
        return subscription.period.end
    return (subscription.past_due_since or subscription.period.end) + timedelta(days=retry_days[-1] + 1)


def entitlements(subscription: Subscription | None, today: date, configuration: PlanConfiguration) -> Entitlements:
    """The entitlements of a user with that subscription at `today` (UTC)."""
    if subscription is not None:
        end = access_end(subscription, configuration.retry_days)
        plan = configuration.plans.get(subscription.plan_id)
        if plan is not None and end is not None and subscription.anchor <= today < end:
            return Entitlements(plan.plan_id, plan.access, end)
    return Entitlements(None, configuration.free, None)
