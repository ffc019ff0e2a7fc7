"""Renewals, retries and expiries: each period is charged once, whoever runs, whatever is killed, however late."""

import asyncio
import signal
import sys
from collections import Counter
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path

import pytest

from openspot.domain.ids import SUBSCRIPTIONS_ACCOUNT_ID
from openspot.subscriptions.plans import PlanConfiguration, load_plans
from tests.support.subscriptions import SubscriptionShop

PRO = {"planId": "pro", "asset": "USD"}
PLANS = files("openspot.subscriptions").joinpath("plans.toml").read_text("utf-8")


def without_dollars(retry_days: str = "[1, 3, 7]") -> PlanConfiguration:
    """Plans that nobody can pay in US dollars any more: charges in them fail."""
    lines = [line for line in PLANS.splitlines() if not line.startswith("USD = ") or line == "USD = 2"]
    return load_plans("\n".join(lines).replace("[1, 3, 7]", retry_days))


@pytest.mark.spec("A3.2-03")
async def test_a_year_of_days_charges_every_month_once_on_the_anchors_day(shop: SubscriptionShop) -> None:
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    assert await shop.pass_days(365) == 12
    rows = await shop.pool.fetch("SELECT period_start, status FROM subscription_payments ORDER BY payment_number")
    assert [row["period_start"] for row in rows] == [
        date(2025, 1, 31), date(2025, 2, 28), date(2025, 3, 31), date(2025, 4, 30), date(2025, 5, 31),
        date(2025, 6, 30), date(2025, 7, 31), date(2025, 8, 31), date(2025, 9, 30), date(2025, 10, 31),
        date(2025, 11, 30), date(2025, 12, 31), date(2026, 1, 31),
    ]  # fmt: skip
    assert {row["status"] for row in rows} == {"completed"}


@pytest.mark.spec("A3.2-03")
async def test_a_charge_that_fails_is_tried_again_on_days_1_3_and_7_and_then_the_subscription_expires(
    shop: SubscriptionShop,
) -> None:
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    shop.configure(without_dollars())
    await shop.pass_days(28)
    past_due = await shop.good("ada", "GET", "/api/subscription")
    assert (past_due["status"], past_due["pastDueSince"], past_due["nextChargeOn"]) == (
        "past_due", "2025-02-28", "2025-03-01",
    )  # fmt: skip
    assert (await shop.good("ada", "GET", "/api/entitlements"))["planId"] == "pro"
    assert (await shop("ada", "POST", "/api/subscribe", {"planId": "pro"})).status == 409
    await shop.pass_days(10)
    tries = [row for row in await shop.good("ada", "GET", "/api/payments") if row["status"] == "failed"]
    assert [row["createdAt"][:10] for row in tries] == ["2025-03-07", "2025-03-03", "2025-03-01", "2025-02-28"]
    assert {row["reason"] for row in tries} == {"asset USD does not pay for plan pro, only USDT"}
    assert {row["amount"] for row in tries} == {None}
    assert (await shop("ada", "GET", "/api/subscription")).status == 404
    assert (await shop.good("ada", "GET", "/api/entitlements"))["planId"] is None
    assert await shop.pass_days(60) == 0


async def test_a_retry_that_succeeds_keeps_the_anchor_and_charges_the_period_once(shop: SubscriptionShop) -> None:
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    shop.configure(without_dollars())
    await shop.pass_days(29)
    shop.configure(load_plans())
    await shop.pass_days(5)
    active = await shop.good("ada", "GET", "/api/subscription")
    assert (active["status"], active["periodStart"], active["periodEnd"]) == ("active", "2025-02-28", "2025-03-31")
    assert await shop.charged() == [
        ("ada", 1, "completed"), ("ada", 2, "failed"), ("ada", 2, "failed"), ("ada", 2, "completed"),
    ]  # fmt: skip


async def test_fewer_retries_in_a_new_configuration_end_what_was_past_due(shop: SubscriptionShop) -> None:
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    shop.configure(without_dollars())
    await shop.pass_days(30)
    shop.configure(without_dollars("[1]"))
    await shop.pass_days(5)
    assert (await shop("ada", "GET", "/api/subscription")).status == 404


async def test_more_days_until_the_retry_in_a_new_configuration_are_waited_for(shop: SubscriptionShop) -> None:
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    shop.configure(without_dollars())
    await shop.pass_days(28)
    shop.configure(without_dollars("[5]"))
    # The date that was stored comes; the step only stores the new one.
    assert await shop.pass_days(4) == 1
    assert len(await shop.charged()) == 2
    assert await shop.pass_days(1) == 1


async def test_renewals_that_stood_still_for_months_charge_the_present_period_only(shop: SubscriptionShop) -> None:
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    shop.time += timedelta(days=150)
    assert await shop.renewals.run_due() == 1
    assert (await shop.good("ada", "GET", "/api/subscription"))["periodStart"] == "2025-06-30"
    assert await shop.charged() == [("ada", 1, "completed"), ("ada", 2, "completed")]


async def test_a_fault_in_one_subscription_does_not_keep_the_others_waiting(shop: SubscriptionShop) -> None:
    for user in ("ada", "bob"):
        await shop.good(user, "POST", "/api/subscribe", PRO)
    # Ada's next period has been charged already, as no step ever leaves it: her charge breaks the unique key.
    await shop.pool.execute(
        "INSERT INTO subscription_payments (payment_id, subscription_id, user_id, plan_id, kind, period_number,"
        " attempt, period_start, period_end, status, asset, price, discount_bps, credit, amount, created_at)"
        " SELECT 'stray', subscription_id, user_id, plan_id, 'renewal', 2, 1, '2025-02-28', '2025-03-31',"
        " 'completed', asset, price, 0, 0, price, now() FROM subscriptions WHERE user_id = 'ada'"
    )
    shop.time += timedelta(days=28)
    assert await shop.renewals.run_due() == 2
    assert Counter(user for user, number, _ in await shop.charged() if number == 2) == {"ada": 1, "bob": 1}
    # It is looked at again after an hour, not at once.
    assert await shop.renewals.run_due() == 0
    await shop.pool.execute("DELETE FROM subscription_payments WHERE payment_id = 'stray'")
    # Her charge is with the engine, which knows its outcome.
    shop.time += timedelta(hours=1)
    assert (await shop.renewals.run_due(), await shop.runner.resume()) == (0, 1)
    assert Counter(user for user, number, _ in await shop.charged() if number == 2) == {"ada": 1, "bob": 1}
    assert shop.engine.held(SUBSCRIPTIONS_ACCOUNT_ID, "USD") == "120"


async def process(url: str, time: str, engine: Path, statements_max: int = 0) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.renewal_process", url, time, str(engine), str(statements_max),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.proof
async def test_two_processes_side_by_side_charge_each_subscription_once(
    shop: SubscriptionShop, subscriptions_database_url: str, tmp_path: Path
) -> None:
    users = [f"user-{number}" for number in range(150)]
    shop.fund(*users)
    for user in users:
        await shop.good(user, "POST", "/api/subscribe", PRO)
    engine = tmp_path / "engine"
    engine.touch()
    workers = [await process(subscriptions_database_url, "2025-02-28", engine) for _ in range(2)]
    done = [int((await worker.communicate())[0]) for worker in workers]
    assert sum(done) == len(users)
    renewed = Counter(user for user, number, status in await shop.charged() if (number, status) == (2, "completed"))
    assert renewed == dict.fromkeys(users, 1)
    carried_out = engine.read_text("utf-8").split()
    assert len(carried_out) == len(set(carried_out)) == len(users)


@pytest.mark.proof
async def test_a_process_killed_at_any_statement_has_charged_once_or_not_at_all(
    shop: SubscriptionShop, subscriptions_database_url: str, tmp_path: Path
) -> None:
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    killed, engine = 0, tmp_path / "engine"
    engine.touch()
    while True:
        # Each process begins a minute later, when the lease of the one before has run out.
        worker = await process(subscriptions_database_url, f"2025-02-28T00:{killed:02}", engine, killed + 1)
        await worker.communicate()
        charges = [row for row in await shop.charged() if row[1] == 2]
        number = await shop.pool.fetchval("SELECT period_number FROM subscriptions")
        # Charge and period go together.
        assert (len(charges), number) in ((0, 1), (1, 2))
        if worker.returncode == 0:
            break
        assert worker.returncode == -signal.SIGKILL
        killed += 1
    # Begin, claim, charge, save, commit at least.
    assert killed >= 5
    assert len(engine.read_text("utf-8").split()) == 1
    assert await shop.charged() == [("ada", 1, "completed"), ("ada", 2, "completed")]


async def test_the_subscription_of_a_deleted_user_ends_without_another_charge(shop: SubscriptionShop) -> None:
    for user in ("ada", "bob", "cem"):
        await shop.good(user, "POST", "/api/subscribe", PRO)
    shop.configure(without_dollars())
    await shop.pass_days(28)
    # Ada deletes her account while her charge is tried again, Bob before his next period.
    shop.deleted.add("ada")
    shop.configure(load_plans())
    await shop.pass_days(2)
    shop.deleted.add("bob")
    await shop.pass_days(365)
    rows = await shop.pool.fetch(
        "SELECT user_id, count(*) AS charges FROM subscription_payments WHERE status = 'completed' GROUP BY user_id"
    )
    charges = {row["user_id"]: row["charges"] for row in rows}
    assert (charges["ada"], charges["bob"]) == (1, 2)
    assert charges["cem"] > 12
    for user, status in (("ada", 404), ("bob", 404), ("cem", 200)):
        assert (await shop(user, "GET", "/api/subscription")).status == status
    assert (await shop.good("ada", "GET", "/api/entitlements"))["planId"] is None
