"""The charge of a period: price, discount, credit. Amounts are integers at 18 places.

The discount holds for payments in the payment token only: discountBps = 1000 + min(1000, ⌊stakingBalance / 100⌋),
so 10 % without a stake and 20 % from a staking balance of 100,000 on (facts A8-20, A8-21).

An upgrade credits the rest of the paid period: price · remaining days / days of the period (fact B4.6-09). The day
of the upgrade is the first day of the new period, so it counts as remaining. `price` is the price of the whole period
after discount. Credit that paid for a part of it counts like money. Surplus credit is kept for later charges.

Every amount is rounded once, half up, to the places of its asset.
"""

from datetime import date
from decimal import Decimal
from typing import NamedTuple

from openspot.domain.money import AMOUNT_PLACES, BASIS_POINTS
from openspot.subscriptions.billing_calendar import Period
from openspot.subscriptions.plans import Plan, PlanConfiguration

DISCOUNT_BPS_MIN = 1_000
DISCOUNT_BPS_MAX = 2_000
STAKING_BALANCE_STEP = 100
"""A staking balance of that much more gives one basis point more."""


class ChargeError(ValueError):
    """A charge cannot be computed; the message names the field and the reason."""


class Charge(NamedTuple):
    """A charge. `price` is after discount, `credit` pays a part of it, `due` is the rest.

    `credit_left` is kept for later charges.
    """

    asset: str
    price: int
    discount_bps: int
    credit: int
    due: int
    credit_left: int


def token_discount_bps(staking_balance: Decimal) -> int:
    """Discount of a payment in the payment token, from 1,000 to 2,000 basis points.

    The staking balance comes from a token's claim, so a negative one, or one that is no number, counts as none.
    """
    if not staking_balance.is_finite() or staking_balance <= 0:
        return DISCOUNT_BPS_MIN
    largest = (DISCOUNT_BPS_MAX - DISCOUNT_BPS_MIN) * STAKING_BALANCE_STEP
    if staking_balance >= largest:
        return DISCOUNT_BPS_MAX
    return DISCOUNT_BPS_MIN + int(staking_balance) // STAKING_BALANCE_STEP


def discount_bps(configuration: PlanConfiguration, asset: str, staking_balance: Decimal) -> int:
    """Discount of a payment in `asset`: none unless it is the payment token."""
    return token_discount_bps(staking_balance) if asset == configuration.payment_token else 0


def charge_for(
    configuration: PlanConfiguration, plan: Plan, asset: str, staking_balance: Decimal, credit: int = 0
) -> Charge:
    """The charge for a period of `plan` in `asset`. Raises ChargeError if the plan has no price in that asset."""
    check_pays(asset, plan)
    if credit < 0:
        raise ChargeError("credit must not be negative")
    discount = discount_bps(configuration, asset, staking_balance)
    price = _rounded(plan.prices[asset] * (BASIS_POINTS - discount), BASIS_POINTS, configuration.places[asset])
    used = min(credit, price)
    return Charge(asset, price, discount, used, price - used, credit - used)


def check_pays(asset: str, plan: Plan) -> None:
    """Raise ChargeError unless `plan` has a price in `asset`."""
    if asset not in plan.prices:
        raise ChargeError(f"asset {asset} does not pay for plan {plan.plan_id}, only {', '.join(sorted(plan.prices))}")


def upgrade_credit(price: int, period: Period, day: date, places: int) -> int:
    """The credit for the days from `day` to the end of a paid period, rounded to `places`.

    `price` is that of the whole period. Raises ChargeError if `day` lies outside the period.
    """
    if day not in period:
        raise ChargeError(f"{day.isoformat()} lies outside the paid period")
    remaining = (period.end - day).days
    return _rounded(price * remaining, period.days, places)


def _rounded(numerator: int, denominator: int, places: int) -> int:
    """numerator ÷ denominator, half up, at `places` decimal places of an amount."""
    unit: int = 10 ** (AMOUNT_PLACES - places)
    return (2 * numerator + denominator * unit) // (2 * denominator * unit) * unit
