"""The subscription's state machine: its table, its renewals, and what a user may use when."""

import random
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.subscriptions.billing_calendar import period_at
from openspot.subscriptions.entitlements import access_end, entitlements
from openspot.subscriptions.lifecycle import (
    ACTIVE,
    ENDING,
    EXPIRED,
    PAST_DUE,
    TRANSITIONS,
    DueStep,
    StepKind,
    Subscription,
    SubscriptionError,
    SubscriptionState,
    SubscriptionTrigger,
    blocks_another,
    cancel,
    charge_failed,
    charge_succeeded,
    due_step,
    expire,
    next_due_on,
    next_state,
    upgraded,
)
from openspot.subscriptions.plans import load_plans

T = SubscriptionTrigger
RETRIES = (1, 3, 7)
FRESH = Subscription("sub-1", "user-1", "pro", "USD", 1, date(2025, 1, 31), 30)
END = date(2025, 2, 28)
PLANS = load_plans()


def day(number: int) -> date:
    """A day, counted from the end of the first period."""
    return END + timedelta(days=number)


@pytest.mark.spec("A3.2-03")
@pytest.mark.parametrize(
    ("before", "trigger", "after"),
    [
        (None, T.CHARGE_SUCCEEDED, ACTIVE),
        (ACTIVE, T.CANCEL_REQUESTED, ENDING),
        (ACTIVE, T.UPGRADED, ACTIVE),
        (ACTIVE, T.CHARGE_SUCCEEDED, ACTIVE),
        (ACTIVE, T.CHARGE_FAILED, PAST_DUE),
        (ENDING, T.CANCEL_REQUESTED, ENDING),
        (ENDING, T.UPGRADED, ACTIVE),
        (ENDING, T.PERIOD_ENDED, EXPIRED),
        (PAST_DUE, T.CANCEL_REQUESTED, EXPIRED),
        (PAST_DUE, T.CHARGE_SUCCEEDED, ACTIVE),
        (PAST_DUE, T.CHARGE_FAILED, PAST_DUE),
        (PAST_DUE, T.LAST_CHARGE_FAILED, EXPIRED),
        (ACTIVE, T.USER_DELETED, EXPIRED),
        (ENDING, T.USER_DELETED, EXPIRED),
        (PAST_DUE, T.USER_DELETED, EXPIRED),
        (ENDING, T.CHARGE_SUCCEEDED, None),
        (PAST_DUE, T.UPGRADED, None),
        (ACTIVE, T.PERIOD_ENDED, None),
        (None, T.CHARGE_FAILED, None),
    ],
)
def test_a_subscription_moves_as_its_table_says(
    before: SubscriptionState | None, trigger: T, after: SubscriptionState | None
) -> None:
    assert next_state(before, trigger) == after


def test_expired_is_final_and_there_are_no_other_transitions() -> None:
    assert len(TRANSITIONS) == 15
    assert not [before for before, _ in TRANSITIONS if before == EXPIRED]


def test_a_renewal_is_due_on_the_day_the_period_ends() -> None:
    assert due_step(FRESH, day(-1), RETRIES) is None
    assert due_step(FRESH, day(0), RETRIES) == DueStep(StepKind.CHARGE, 1, "sub-1:2")


def test_a_failed_charge_is_tried_again_on_days_1_3_and_7_under_the_same_key_and_then_expires() -> None:
    subscription, attempts = FRESH, []
    for number in range(30):
        step = due_step(subscription, day(number), RETRIES)
        if step is not None:
            attempts.append((number, step.charge_key))
            subscription = charge_failed(subscription, day(number), RETRIES)
    assert attempts == [(number, "sub-1:2") for number in (0, 1, 3, 7)]
    assert subscription.state == EXPIRED


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_a_late_payment_does_not_move_the_periods(failures: int) -> None:
    subscription = FRESH
    for number in (0, 1, 3)[:failures]:
        subscription = charge_failed(subscription, day(number), RETRIES)
    assert subscription.state == PAST_DUE
    late = (1, 3, 7)[failures - 1]
    step = due_step(subscription, day(late), RETRIES)
    assert step == DueStep(StepKind.CHARGE, 1, "sub-1:2")
    paid = charge_succeeded(subscription, 1, 30, 0)
    assert paid.state == ACTIVE
    assert (paid.period.start, paid.period.end) == (END, date(2025, 3, 31))
    assert (paid.attempts, paid.past_due_since, paid.period_number) == (0, None, 2)
    assert due_step(paid, day(late), RETRIES) is None


def test_a_period_that_went_by_whole_without_a_renewal_is_not_charged() -> None:
    step = due_step(FRESH, date(2025, 6, 15), RETRIES)
    assert step == DueStep(StepKind.CHARGE, 4, "sub-1:2")
    paid = charge_succeeded(FRESH, 4, 30, 0)
    assert (paid.period.start, paid.period.end) == (date(2025, 5, 31), date(2025, 6, 30))


def test_retries_count_from_the_first_failure_also_if_it_came_late() -> None:
    failed = charge_failed(FRESH, day(20), RETRIES)
    assert due_step(failed, day(20), RETRIES) is None
    assert due_step(failed, day(21), RETRIES) is not None
    assert access_end(failed, RETRIES) == day(28)


def test_a_subscription_that_failed_more_often_than_there_are_retries_now_is_due_on_the_last_of_them() -> None:
    failed = FRESH
    for number in (0, 1, 3):
        failed = charge_failed(failed, day(number), RETRIES)
    assert failed.attempts == 3
    assert next_due_on(failed, RETRIES) == day(7)
    assert next_due_on(failed, (1, 2)) == day(2)


def test_a_period_is_not_paid_twice() -> None:
    with pytest.raises(SubscriptionError, match="period 0 was paid before"):
        charge_succeeded(FRESH, 0, 30, 0)


def test_a_cancel_keeps_access_until_the_periods_end_and_expires_then() -> None:
    ending = cancel(FRESH)
    assert cancel(ending) == ending
    assert due_step(ending, day(-1), RETRIES) is None
    assert due_step(ending, day(0), RETRIES) == DueStep(StepKind.EXPIRE)
    assert expire(ending).state == EXPIRED
    assert entitlements(ending, day(-1), PLANS).plan_id == "pro"
    # Access ends with the day, whether or not the expiry has been done.
    assert entitlements(ending, day(0), PLANS).plan_id is None


def test_a_cancel_while_past_due_expires_at_once() -> None:
    assert cancel(charge_failed(FRESH, day(0), RETRIES)).state == EXPIRED


def test_what_has_expired_takes_no_step() -> None:
    expired = replace(FRESH, state=EXPIRED)
    assert due_step(expired, day(0), RETRIES) is None
    for step in (
        lambda: cancel(expired),
        lambda: expire(expired),
        lambda: charge_succeeded(expired, 1, 30, 0),
        lambda: charge_failed(expired, day(0), RETRIES),
        lambda: upgraded(expired, "premium", 1, day(-1), 90, 0),
    ):
        with pytest.raises(SubscriptionError, match="that is expired cannot take"):
            step()


def test_an_upgrade_begins_a_period_of_its_own_and_withdraws_a_cancel() -> None:
    new = upgraded(cancel(FRESH), "premium", 1, date(2025, 2, 10), 90, 5)
    assert (new.state, new.plan_id, new.price, new.credit) == (ACTIVE, "premium", 90, 5)
    assert (new.period.start, new.period.end, new.period_number) == (date(2025, 2, 10), date(2025, 3, 10), 2)
    with pytest.raises(SubscriptionError, match="no paid period today"):
        upgraded(FRESH, "premium", 1, END, 90, 0)
    with pytest.raises(SubscriptionError, match="that is past_due cannot take upgraded"):
        upgraded(charge_failed(FRESH, day(0), RETRIES), "premium", 1, day(0), 90, 0)


def test_another_subscription_is_blocked_until_this_one_is_over() -> None:
    assert blocks_another(FRESH, day(100))
    assert blocks_another(charge_failed(FRESH, day(0), RETRIES), day(3))
    assert blocks_another(cancel(FRESH), day(-1))
    assert not blocks_another(cancel(FRESH), day(0))
    assert not blocks_another(replace(FRESH, state=EXPIRED), day(-1))


def test_entitlements_follow_plan_state_and_time() -> None:
    pro, free = PLANS.plans["pro"].access, PLANS.free
    past_due = charge_failed(FRESH, day(0), RETRIES)
    for subscription, today, access in (
        (None, day(0), free),
        (FRESH, date(2025, 1, 30), free),
        (FRESH, date(2025, 1, 31), pro),
        (FRESH, day(-1), pro),
        # The renewal is late, which is not the user's fault, but not for ever.
        (FRESH, day(7), pro),
        (FRESH, day(8), free),
        (past_due, day(7), pro),
        (past_due, day(8), free),
        (replace(FRESH, state=EXPIRED), day(-1), free),
        (replace(FRESH, plan_id="withdrawn"), day(-1), free),
    ):
        assert entitlements(subscription, today, PLANS).access == access
    assert entitlements(cancel(FRESH), day(-1), PLANS).valid_until == END


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(0, 2**32))
def test_whenever_the_scheduler_runs_each_period_is_charged_once(anchor: date, seed: int) -> None:
    """Two years of runs with gaps of up to four weeks, some of them killed between charge and record."""
    source = random.Random(seed)
    subscription = replace(FRESH, anchor=anchor)
    charged: dict[str, int] = {}
    today = anchor
    while today < anchor + timedelta(days=730):
        today += timedelta(days=source.randrange(0, 28))
        step = due_step(subscription, today, RETRIES)
        if step is None:
            continue
        charged.setdefault(step.charge_key, step.period_index)
        if source.random() < 0.3:
            continue
        subscription = charge_succeeded(subscription, step.period_index, 30, 0)
        assert today in subscription.period
        assert due_step(subscription, today, RETRIES) is None
    assert len(charged) == len(set(charged.values()))
    assert subscription.period_number - 1 in (len(charged), len(charged) - 1)


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.lists(st.booleans(), min_size=60, max_size=60))
def test_run_every_day_no_day_is_without_access_while_charges_succeed_in_time(
    anchor: date, outcomes: list[bool]
) -> None:
    subscription = replace(FRESH, anchor=anchor)
    results = iter(outcomes)
    for number in range(400):
        today = anchor + timedelta(days=number)
        if due_step(subscription, today, RETRIES) is not None:
            if next(results, True):
                index = subscription.period_index + 1
                subscription = charge_succeeded(subscription, index, 30, 0)
                assert subscription.period == period_at(anchor, 1, index)
            else:
                subscription = charge_failed(subscription, today, RETRIES)
        has_access = entitlements(subscription, today, PLANS).plan_id is not None
        assert has_access is (subscription.state != EXPIRED)
