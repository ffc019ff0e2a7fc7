"""Plans as configuration, the discount, and what a period or an upgrade costs."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.money import AMOUNT_SCALE, to_amount
from openspot.subscriptions.billing_calendar import Period
from openspot.subscriptions.charges import Charge, ChargeError, charge_for, token_discount_bps, upgrade_credit
from openspot.subscriptions.lifecycle import ENDING, EXPIRED, PAST_DUE, Subscription, SubscriptionError
from openspot.subscriptions.plans import PlanError, load_plans
from openspot.subscriptions.upgrade import upgrade_charge

PLANS = load_plans()
BASIC, PRO, PREMIUM = PLANS.plans.values()
NOTHING = Decimal(0)


def money(text: str) -> int:
    return to_amount(Decimal(text))


@pytest.mark.spec("A2.8-10")
def test_there_are_three_tiers_each_dearer_and_larger_than_the_one_below() -> None:
    assert list(PLANS.plans) == ["basic", "pro", "premium"]
    for lower, higher in ((BASIC, PRO), (PRO, PREMIUM)):
        assert all(higher.prices[asset] > price for asset, price in lower.prices.items())
        assert all(higher.access.limits[name] > limit for name, limit in lower.access.limits.items())
    assert all(BASIC.access.limits[name] > limit for name, limit in PLANS.free.limits.items())


def test_a_plan_that_is_not_active_is_not_offered() -> None:
    text = SHIPPED.replace(
        "rank = 2\ninterval_months = 1\nactive = true", "rank = 2\ninterval_months = 1\nactive = false"
    )
    assert [plan.plan_id for plan in load_plans(text).offered()] == ["basic", "premium"]
    assert [plan.plan_id for plan in PLANS.offered()] == ["basic", "pro", "premium"]


SHIPPED = """
payment_token = "USDT"
retry_days = [1, 3, 7]
[places]
USD = 2
USDT = 6
[plans.basic]
name = "Basic"
rank = 1
interval_months = 1
active = true
features = []
prices = { USD = "9.00" }
limits = { api_keys = 5 }
[plans.pro]
name = "Pro"
rank = 2
interval_months = 1
active = true
features = []
prices = { USD = "30.00" }
limits = { api_keys = 5 }
[plans.premium]
name = "Premium"
rank = 3
interval_months = 1
active = true
features = []
prices = { USD = "90.00" }
limits = { api_keys = 5 }
[free]
features = []
limits = { api_keys = 1 }
"""


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("retry_days = [1, 3, 7]", "", "retry_days is missing"),
        ("retry_days = [1, 3, 7]", "retry_days = [1, 1]", "retry_days must be positive and grow"),
        ("retry_days = [1, 3, 7]", "retry_days = [0]", "retry_days must be positive and grow"),
        ("retry_days = [1, 3, 7]", "retry_days = []", "retry_days must be positive and grow"),
        ('payment_token = "USDT"', 'payment_token = "BTC"', "payment_token has no entry in places"),
        ("USDT = 6", "USDT = 19", "places.USDT must lie between 0 and 18"),
        ("USDT = 6", "usdt = 6\nUSDT = 6", "places names usdt, which is no asset"),
        ('USD = "9.00"', 'USD = "9.001"', "plans.basic.prices.USD has more than 2 decimal places"),
        ('USD = "9.00"', 'USD = "0"', "plans.basic.prices.USD must be positive"),
        ('USD = "9.00"', 'USD = "nine"', "plans.basic.prices.USD is not a decimal number"),
        ('USD = "9.00"', 'BRL = "9.00"', "plans.basic.prices.BRL has no entry in places"),
        ('prices = { USD = "9.00" }', "prices = {}", "plans.basic.prices is empty"),
        (
            "rank = 2\ninterval_months = 1",
            "rank = 2\ninterval_months = 0",
            "plans.pro.interval_months must lie between 1 and 12",
        ),
        ("rank = 2", "rank = 1", "two plans have the same rank"),
        ("limits = { api_keys = 1 }", "limits = { api_keys = -1 }", "free.limits.api_keys must not be negative"),
        ("limits = { api_keys = 1 }", "limits = { api_keys = true }", "free.limits.api_keys must be a whole number"),
        ("limits = { api_keys = 1 }", "limits = {}", "plans.basic.limits must name the same limits"),
        ("[places]", "[places", "plans are not valid TOML"),
        ("[1, 3, 7]", '"daily"', "retry_days must be a list"),
        ("[1, 3, 7]", "[1, 2.5]", "retry_days must hold whole numbers"),
        ("USDT = 6", 'USDT = "6"', "places.USDT must be a whole number"),
        ('USD = "9.00"', "USD = 9.00", "plans.basic.prices.USD must be a text"),
        ("active = true", 'active = "no"', "plans.basic.active must be true or false"),
        ("features = []", "features = [1]", "plans.basic.features must hold texts"),
        ("features = []", "", "plans.basic.features is missing"),
        ("[free]", "[unused]", "free is missing"),
    ],
)
def test_a_bad_configuration_is_refused_with_place_and_reason(before: str, after: str, message: str) -> None:
    assert before in SHIPPED
    with pytest.raises(PlanError, match=f"^{message}"):
        load_plans(SHIPPED.replace(before, after, 1))


@pytest.mark.spec("A8-21")
@pytest.mark.parametrize(
    ("staking_balance", "bps"),
    [
        ("0", 1000),
        ("99.99", 1000),
        ("100", 1001),
        ("50000", 1500),
        ("99999.999999999999999999", 1999),
        ("100000", 2000),
        ("100001", 2000),
        ("1e30", 2000),
    ],
)
def test_the_token_discount_grows_to_20_percent_at_a_staking_balance_of_100000(staking_balance: str, bps: int) -> None:
    assert token_discount_bps(Decimal(staking_balance)) == bps


@pytest.mark.spec("A8-20")
@given(st.decimals())
def test_the_token_discount_is_never_below_10_nor_above_20_percent(staking_balance: Decimal) -> None:
    assert 1000 <= token_discount_bps(staking_balance) <= 2000


def test_only_payments_in_the_payment_token_get_the_discount() -> None:
    assert charge_for(PLANS, PRO, "USD", Decimal(100_000)) == Charge("USD", money("30"), 0, 0, money("30"), 0)
    assert charge_for(PLANS, PRO, "USDT", Decimal(100_000)) == Charge("USDT", money("24"), 2000, 0, money("24"), 0)
    assert charge_for(PLANS, PRO, "USDT", NOTHING).price == money("27")


def test_credit_pays_first_and_what_is_too_much_is_kept() -> None:
    assert charge_for(PLANS, PRO, "USD", NOTHING, money("19.29"))[3:] == (money("19.29"), money("10.71"), 0)
    assert charge_for(PLANS, PRO, "USD", NOTHING, money("31"))[3:] == (money("30"), 0, money("1"))


def test_an_asset_without_a_price_does_not_pay() -> None:
    with pytest.raises(ChargeError, match="asset BTC does not pay for plan pro, only USD, USDT"):
        charge_for(PLANS, PRO, "BTC", NOTHING)
    with pytest.raises(ChargeError, match="credit must not be negative"):
        charge_for(PLANS, PRO, "USD", NOTHING, -1)


@pytest.mark.spec("B4.6-09")
def test_the_worked_example_credits_19_29() -> None:
    """30.00 from 31 January to 28 February, upgraded on 10 February: 18 of 28 days are left."""
    period = Period(date(2025, 1, 31), date(2025, 2, 28))
    assert upgrade_credit(money("30.00"), period, date(2025, 2, 10), 2) == money("19.29")


def test_an_upgrade_on_the_first_day_credits_everything_and_on_the_last_one_day() -> None:
    period = Period(date(2025, 4, 1), date(2025, 5, 1))
    assert upgrade_credit(money("30"), period, period.start, 2) == money("30")
    assert upgrade_credit(money("30"), period, date(2025, 4, 30), 2) == money("1")
    for outside in (date(2025, 3, 31), period.end):
        with pytest.raises(ChargeError, match="lies outside the paid period"):
            upgrade_credit(money("30"), period, outside, 2)


@given(st.integers(1, 10**12), st.integers(1, 366), st.integers(0, 365), st.integers(0, 18))
def test_a_credit_is_the_exact_share_rounded_once_half_up(cents: int, days: int, passed: int, places: int) -> None:
    price = cents * AMOUNT_SCALE // 100
    period = Period(date(2024, 1, 1), date(2024, 1, 1) + timedelta(days=days))
    day = period.start + timedelta(days=passed % days)
    exact = Fraction(price * (period.end - day).days, days)
    unit = 10 ** (18 - places)
    credit = upgrade_credit(price, period, day, places)
    assert credit % unit == 0
    assert -unit / Fraction(2) <= exact - credit < unit / Fraction(2)
    assert 0 <= credit <= price + unit


SUBSCRIPTION = Subscription("sub-1", "user-1", "pro", "USD", 1, date(2025, 1, 31), money("30"))


@pytest.mark.spec("B4.6-09")
def test_an_upgrade_costs_the_new_price_less_the_credit() -> None:
    charge = upgrade_charge(PLANS, SUBSCRIPTION, PREMIUM, date(2025, 2, 10), NOTHING)
    assert (charge.price, charge.credit, charge.due, charge.credit_left) == (
        money("90"),
        money("19.29"),
        money("70.71"),
        0,
    )


def test_an_upgrade_uses_credit_that_was_kept_and_keeps_what_is_too_much() -> None:
    rich = Subscription("sub-1", "user-1", "pro", "USD", 1, date(2025, 1, 31), money("30"), credit=money("100"))
    charge = upgrade_charge(PLANS, rich, PREMIUM, date(2025, 2, 10), NOTHING)
    assert (charge.due, charge.credit_left) == (0, money("29.29"))


@pytest.mark.parametrize(
    ("changes", "today", "message"),
    [
        ({"state": PAST_DUE}, date(2025, 2, 10), "no paid period"),
        ({"state": EXPIRED}, date(2025, 2, 10), "no paid period"),
        ({}, date(2025, 2, 28), "no paid period"),
        ({"plan_id": "premium"}, date(2025, 2, 10), "plan premium is no upgrade of plan premium"),
    ],
)
def test_an_upgrade_that_is_not_possible_is_refused(changes: dict[str, object], today: date, message: str) -> None:
    with pytest.raises(SubscriptionError, match=message):
        upgrade_charge(PLANS, replace(SUBSCRIPTION, **changes), PREMIUM, today, NOTHING)  # type: ignore[arg-type]


def test_an_upgrade_leads_upwards_and_to_offered_plans_only() -> None:
    with pytest.raises(SubscriptionError, match="plan basic is no upgrade of plan pro"):
        upgrade_charge(PLANS, SUBSCRIPTION, BASIC, date(2025, 2, 10), NOTHING)
    withdrawn = load_plans(
        SHIPPED.replace("rank = 3\ninterval_months = 1\nactive = true", "rank = 3\ninterval_months = 1\nactive = false")
    )
    with pytest.raises(SubscriptionError, match="plan premium is not offered any more"):
        upgrade_charge(withdrawn, SUBSCRIPTION, withdrawn.plans["premium"], date(2025, 2, 10), NOTHING)


def test_a_subscription_that_is_to_end_can_be_upgraded() -> None:
    assert upgrade_charge(PLANS, replace(SUBSCRIPTION, state=ENDING), PREMIUM, date(2025, 2, 10), NOTHING).due == money(
        "70.71"
    )
