"""An upgrade: its credit and its price (fact B4.6-09).

The credit for the rest of the paid period, and credit that was left over before, pay for the new plan's first period.
Surplus credit is kept. An upgrade leads to a plan of higher rank and is paid in the asset of the subscription, since
credit cannot change its asset.
"""

from datetime import date
from decimal import Decimal

from openspot.subscriptions.charges import Charge, charge_for, check_pays, upgrade_credit
from openspot.subscriptions.lifecycle import Subscription, SubscriptionError, SubscriptionStatus
from openspot.subscriptions.plans import Plan, PlanConfiguration


def upgrade_charge(
    configuration: PlanConfiguration, subscription: Subscription, plan: Plan, today: date, staking_balance: Decimal
) -> Charge:
    """The charge for the first period of `plan` from `today` on.

    Raises SubscriptionError if the upgrade is not possible, ChargeError if `plan` has no price in the asset.
    """
    if subscription.state.status is not SubscriptionStatus.ACTIVE or today not in subscription.period:
        raise SubscriptionError("subscription has no paid period today; pay for it first")
    if not plan.active:
        raise SubscriptionError(f"plan {plan.plan_id} is not offered any more")
    current = configuration.plans.get(subscription.plan_id)
    if current is not None and plan.rank <= current.rank:
        raise SubscriptionError(f"plan {plan.plan_id} is no upgrade of plan {current.plan_id}")
    check_pays(subscription.asset, plan)
    places = configuration.places[subscription.asset]
    credit = upgrade_credit(subscription.price, subscription.period, today, places)
    return charge_for(configuration, plan, subscription.asset, staking_balance, subscription.credit + credit)
