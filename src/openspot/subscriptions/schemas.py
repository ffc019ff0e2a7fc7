"""Bodies of the subscription service."""

from datetime import date
from typing import Annotated, Literal

from pydantic import StringConstraints

from openspot.contracts.messages.message import DecimalText, TimeText
from openspot.domain.money import amount_to_text
from openspot.http.validation import Body, Currency, ResponseBody, example
from openspot.kit.clock import iso_of
from openspot.subscriptions.entitlements import Entitlements, access_end
from openspot.subscriptions.lifecycle import SubscriptionStatus, next_due_on
from openspot.subscriptions.plans import Plan
from openspot.subscriptions.store import StoredSubscription, SubscriptionPayment

PLAN_ID_PATTERN = "^[a-z0-9_-]{1,64}$"
PlanName = Annotated[str, StringConstraints(pattern=PLAN_ID_PATTERN)]


class SubscribeBody(Body):
    """The plan, and the asset to pay in. The default is the payment token, which gives the discount."""

    model_config = example({"planId": "pro", "asset": "USDT"})

    plan_id: PlanName
    asset: Currency | None = None


class UpgradeBody(Body):
    """The plan to change to. It is paid in the asset of the subscription."""

    model_config = example({"planId": "premium"})

    plan_id: PlanName


class PlanResponse(ResponseBody):
    """A plan. `prices` are for one period of `intervalMonths`, by asset, before discount.

    Payments in `paymentToken` have a discount of 10 to 20 %. A plan that is not `active` takes no new subscribers.
    """

    id: str
    name: str
    rank: int
    interval_months: int
    active: bool
    prices: dict[str, str]
    payment_token: str
    features: list[str]
    limits: dict[str, int]


class SubscriptionResponse(ResponseBody):
    """A subscription. Its paid period is [`periodStart`, `periodEnd`), dates in UTC.

    `price` is the price of that period after discount. `credit` is kept for later charges. `nextChargeOn` is null if
    the subscription is to end. `accessUntil` is the first day without access, as things stand; null if it has expired.
    """

    id: str
    plan_id: str
    status: Literal["active", "past_due", "expired"]
    cancel_at_period_end: bool
    asset: str
    price: DecimalText
    credit: DecimalText
    period_start: date
    period_end: date
    next_charge_on: date | None
    past_due_since: date | None
    access_until: date | None
    created_at: TimeText


class PaymentResponse(ResponseBody):
    """The charge of a period. `amount` = `price` - `credit` was paid; `price` is after discount.

    A failed charge has a `reason`. Figures that are not known are null.
    """

    id: str
    subscription_id: str
    plan_id: str
    kind: Literal["subscribe", "upgrade", "renewal"]
    status: Literal["completed", "failed"]
    reason: str | None
    asset: str
    price: DecimalText | None
    discount_bps: int | None
    credit: DecimalText | None
    amount: DecimalText | None
    period_start: date
    period_end: date
    created_at: TimeText


class ChargedResponse(ResponseBody):
    """A subscription and the payment that it was just charged with."""

    subscription: SubscriptionResponse
    payment: PaymentResponse


class EntitlementsResponse(ResponseBody):
    """What the user may use now. A user without a plan has what everybody has, and `validUntil` is null."""

    plan_id: str | None
    features: list[str]
    limits: dict[str, int]
    valid_until: date | None


def plan_response(plan: Plan, payment_token: str) -> PlanResponse:
    """A plan as clients see it."""
    return PlanResponse(
        id=plan.plan_id,
        name=plan.name,
        rank=plan.rank,
        interval_months=plan.interval_months,
        active=plan.active,
        prices={asset: amount_to_text(price) for asset, price in plan.prices.items()},
        payment_token=payment_token,
        features=sorted(plan.access.features),
        limits=dict(plan.access.limits),
    )


def subscription_response(stored: StoredSubscription, retry_days: tuple[int, ...]) -> SubscriptionResponse:
    """A subscription as its user sees it."""
    subscription = stored.subscription
    state = subscription.state
    has_charge = state.status is not SubscriptionStatus.EXPIRED and not state.cancel_at_period_end
    return SubscriptionResponse(
        id=subscription.subscription_id,
        plan_id=subscription.plan_id,
        status=state.status.value,
        cancel_at_period_end=state.cancel_at_period_end,
        asset=subscription.asset,
        price=amount_to_text(subscription.price),
        credit=amount_to_text(subscription.credit),
        period_start=subscription.period.start,
        period_end=subscription.period.end,
        next_charge_on=next_due_on(subscription, retry_days) if has_charge else None,
        past_due_since=subscription.past_due_since,
        access_until=access_end(subscription, retry_days),
        created_at=iso_of(stored.created_at),
    )


def payment_response(payment: SubscriptionPayment) -> PaymentResponse:
    """A payment as its user sees it."""
    return PaymentResponse(
        id=payment.payment_id,
        subscription_id=payment.subscription_id,
        plan_id=payment.plan_id,
        kind=payment.kind,
        status=payment.status,
        reason=payment.reason,
        asset=payment.asset,
        price=_text(payment.price),
        discount_bps=payment.discount_bps,
        credit=_text(payment.credit),
        amount=_text(payment.amount),
        period_start=payment.period_start,
        period_end=payment.period_end,
        created_at=iso_of(payment.created_at),
    )


def entitlements_response(found: Entitlements) -> EntitlementsResponse:
    """Entitlements as clients see them."""
    return EntitlementsResponse(
        plan_id=found.plan_id,
        features=sorted(found.access.features),
        limits=dict(found.access.limits),
        valid_until=found.valid_until,
    )


def _text(amount: int | None) -> str | None:
    return None if amount is None else amount_to_text(amount)
