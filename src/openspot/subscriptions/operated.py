"""The subscriptions and payments of all users, for operators: pages of the tables, newest first.

Filters that are given become conditions, so that PostgreSQL plans for exactly these. A page is read along
`subscriptions_newest`, `subscriptions_of_plan` or `subscriptions_of_user`, and the numbers of payments. Payments of a
span of time are found by `subscription_payments_made`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from openspot.contracts.messages import PlanRecord, SubscriptionPaymentRecord, SubscriptionRecord
from openspot.domain.money import amount_to_text
from openspot.kit.clock import iso_of
from openspot.kit.database import Pool
from openspot.subscriptions.entitlements import access_end
from openspot.subscriptions.lifecycle import SubscriptionStatus, next_due_on
from openspot.subscriptions.plans import Plan
from openspot.subscriptions.store import (
    PAYMENT_COLUMNS,
    SUBSCRIPTION_COLUMNS,
    StoredSubscription,
    SubscriptionPayment,
    payment_of,
    subscription_of,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows a list has: those with these values by column, created at `since` or later and before `until`.

    None admits all.
    """

    values: Mapping[str, str | None]
    since: datetime | None = None
    until: datetime | None = None


async def subscriptions(
    pool: Pool, wanted: Wanted, limit: int, after: tuple[datetime, str] | None
) -> list[StoredSubscription]:
    """Up to `limit` subscriptions behind the position `after`."""
    conditions, values = _conditions(wanted)
    if after is not None:
        values += list(after)
        conditions.append(f"(created_at, subscription_id) < (${len(values) - 1}, ${len(values)})")
    values.append(limit)
    rows = await pool.fetch(
        f"SELECT {SUBSCRIPTION_COLUMNS} FROM subscriptions WHERE {' AND '.join(conditions)}"  # noqa: S608
        f" ORDER BY created_at DESC, subscription_id DESC LIMIT ${len(values)}",
        *values,
    )
    return [subscription_of(row) for row in rows]


async def payments(pool: Pool, wanted: Wanted, limit: int, before: int | None) -> list[SubscriptionPayment]:
    """Up to `limit` payments with numbers below `before`."""
    conditions, values = _conditions(wanted)
    if before is not None:
        values.append(before)
        conditions.append(f"payment_number < ${len(values)}")
    values.append(limit)
    rows = await pool.fetch(
        f"SELECT {PAYMENT_COLUMNS} FROM subscription_payments WHERE {' AND '.join(conditions)}"  # noqa: S608
        f" ORDER BY payment_number DESC LIMIT ${len(values)}",
        *values,
    )
    return [payment_of(row) for row in rows]


def _conditions(wanted: Wanted) -> tuple[list[str], list[Any]]:
    bounds = {f"{column} =": value for column, value in wanted.values.items()}
    moments = {"created_at >=": wanted.since, "created_at <": wanted.until}
    given = [(condition, value) for condition, value in (bounds | moments).items() if value is not None]
    conditions = [f"{condition} ${number}" for number, (condition, _) in enumerate(given, 1)]
    return ["true", *conditions], [value for _, value in given]


def plan_record(plan: Plan) -> PlanRecord:
    """A plan as operators see it."""
    return PlanRecord(
        id=plan.plan_id,
        name=plan.name,
        rank=plan.rank,
        interval_months=plan.interval_months,
        active=plan.active,
        prices={asset: amount_to_text(price) for asset, price in plan.prices.items()},
        features=tuple(sorted(plan.access.features)),
        limits=dict(plan.access.limits),
    )


def subscription_record(stored: StoredSubscription, retry_days: tuple[int, ...]) -> SubscriptionRecord:
    """A subscription as operators see it."""
    subscription = stored.subscription
    state = subscription.state
    has_charge = state.status is not SubscriptionStatus.EXPIRED and not state.cancel_at_period_end
    return SubscriptionRecord(
        id=subscription.subscription_id,
        user_id=subscription.user_id,
        plan_id=subscription.plan_id,
        status=state.status.value,
        cancel_at_period_end=state.cancel_at_period_end,
        asset=subscription.asset,
        price=amount_to_text(subscription.price),
        credit=amount_to_text(subscription.credit),
        period_start=subscription.period.start.isoformat(),
        period_end=subscription.period.end.isoformat(),
        attempts=subscription.attempts,
        next_charge_on=_day(next_due_on(subscription, retry_days)) if has_charge else None,
        past_due_since=_day(subscription.past_due_since),
        access_until=_day(access_end(subscription, retry_days)),
        created_at=iso_of(stored.created_at),
    )


def payment_record(payment: SubscriptionPayment) -> SubscriptionPaymentRecord:
    """A payment as operators see it."""
    return SubscriptionPaymentRecord(
        id=payment.payment_id,
        user_id=payment.user_id,
        subscription_id=payment.subscription_id,
        plan_id=payment.plan_id,
        kind=payment.kind,
        status=payment.status,
        reason=payment.reason,
        asset=payment.asset,
        price=_amount(payment.price),
        credit=_amount(payment.credit),
        amount=_amount(payment.amount),
        attempt=payment.attempt,
        period_start=payment.period_start.isoformat(),
        period_end=payment.period_end.isoformat(),
        created_at=iso_of(payment.created_at),
    )


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _amount(amount: int | None) -> str | None:
    return None if amount is None else amount_to_text(amount)
