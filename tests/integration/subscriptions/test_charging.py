"""What plans cost moves from the user to the house, once, or nothing changes; credit comes back at the end."""

from datetime import date, timedelta
from importlib.resources import files
from typing import Any

import asyncpg
import pytest

from openspot.domain.ids import SUBSCRIPTIONS_ACCOUNT_ID
from openspot.subscriptions.plans import load_plans
from tests.support.fake_transfers import FakeTransfers
from tests.support.subscriptions import SubscriptionShop
from tests.support.waiting import eventually

PRO = {"planId": "pro", "asset": "USD"}
PREMIUM = {"planId": "premium"}
LEASE = timedelta(seconds=31)
HOUSE = SUBSCRIPTIONS_ACCOUNT_ID
PLANS = files("openspot.subscriptions").joinpath("plans.toml").read_text("utf-8")


def yearly_pro() -> Any:
    """A plan of lower rank that costs 360 a year, so that an upgrade to the monthly one leaves credit."""
    before, pro = PLANS.split("[plans.pro]", 1)
    pro = pro.replace("interval_months = 1", "interval_months = 12", 1).replace('"30.00"', '"360.00"')
    return load_plans(f"{before}[plans.pro]{pro}")


async def outcome(shop: SubscriptionShop, path: str, body: Any = None, user: str = "ada", key: str = "") -> Any:
    reply = await shop(user, "POST", path, body, key=key)
    return reply.status, reply.json.get("code")


@pytest.mark.spec("B4.6-13", "B4.6-05")
async def test_a_subscription_is_paid_from_the_users_account_to_the_houses(shop: SubscriptionShop) -> None:
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    assert (shop.engine.held("ada", "USD"), shop.engine.held(HOUSE, "USD")) == ("99970", "30")
    shop.time += timedelta(days=10)
    await shop.good("ada", "POST", "/api/upgrade", PREMIUM)
    # 90.00 less 19.29 for the 18 of 28 days that are left.
    assert (shop.engine.held("ada", "USD"), shop.engine.held(HOUSE, "USD")) == ("99899.29", "100.71")
    assert await shop.pass_days(28) == 1
    assert shop.engine.held(HOUSE, "USD") == "190.71"
    paid = await shop.pool.fetchval("SELECT sum(amount) FROM subscription_payments WHERE status = 'completed'")
    assert f"{paid:f}".rstrip("0") == "190.71"


async def test_a_user_without_the_funds_is_refused_with_what_to_do_and_nothing_is_recorded(
    shop: SubscriptionShop,
) -> None:
    shop.engine.fund("eve", "USD", "29.99")
    refused = await shop("eve", "POST", "/api/subscribe", PRO)
    assert (refused.status, refused.json["code"]) == (409, "INSUFFICIENT_FUNDS")
    assert refused.json["message"] == (
        "your spot account does not have 30 USD that no order uses: add funds and try again"
    )
    assert await shop.charged() == []
    assert (await shop("eve", "GET", "/api/subscription")).status == 404
    shop.engine.fund("eve", "USD", "0.01")
    await shop.good("eve", "POST", "/api/subscribe", PRO)
    assert shop.engine.held("eve", "USD") == "0"
    assert await outcome(shop, "/api/upgrade", PREMIUM, "eve") == (409, "INSUFFICIENT_FUNDS")
    assert (await shop.good("eve", "GET", "/api/subscription"))["planId"] == "pro"
    assert await shop.charged() == [("eve", 1, "completed")]


@pytest.mark.spec("A3.2-03")
async def test_a_renewal_without_funds_is_past_due_told_retried_and_ends_or_goes_on(shop: SubscriptionShop) -> None:
    for user in ("eve", "fay"):
        shop.engine.fund(user, "USD", "30")
        await shop.good(user, "POST", "/api/subscribe", PRO)
    await shop.pass_days(28)
    for user in ("eve", "fay"):
        assert (await shop.good(user, "GET", "/api/subscription"))["status"] == "past_due"
        assert (await shop.good(user, "GET", "/api/entitlements"))["planId"] == "pro"
    assert [(told.id.endswith(":2:1:failed"), told.kind, told.user_id, told.text) for told in shop.told] == [
        (True, "subscription.failed", user, "Your spot account does not have 30 USD that no order uses: add funds and "
         "try again.\nYour plan pro goes on for now. The charge is tried again on 2025-03-01.")
        for user in sorted(("eve", "fay"), key=[told.user_id for told in shop.told].index)
    ]  # fmt: skip
    shop.engine.fund("fay", "USD", "30")
    await shop.pass_days(10)
    assert (await shop.good("fay", "GET", "/api/subscription"))["status"] == "active"
    assert (await shop("eve", "GET", "/api/subscription")).status == 404
    assert (await shop.good("eve", "GET", "/api/entitlements"))["planId"] is None
    tries = [row for row in await shop.good("eve", "GET", "/api/payments") if row["status"] == "failed"]
    assert [(row["createdAt"][:10], row["amount"]) for row in tries] == [
        (day, "30") for day in ("2025-03-07", "2025-03-03", "2025-03-01", "2025-02-28")
    ]  # fmt: skip
    assert shop.told[-1].text.endswith("\nYour plan pro has ended.")
    assert (shop.engine.held(HOUSE, "USD"), len(shop.told)) == ("90", 5)


async def test_an_engine_that_is_away_is_no_failure_of_the_users(shop: SubscriptionShop) -> None:
    shop.engine.faults = ["unsent"]
    assert await outcome(shop, "/api/subscribe", PRO, key="k") == (503, "ENGINE_UNREACHABLE")
    assert await shop.pool.fetchval("SELECT count(*) FROM subscription_charges") == 0
    await shop.good("ada", "POST", "/api/subscribe", PRO, key="k")
    shop.time += timedelta(days=28)
    shop.engine.faults = ["unsent"]
    assert await shop.renewals.run_due() == 1
    assert (await shop.good("ada", "GET", "/api/subscription"))["status"] == "active"
    assert await shop.renewals.run_due() == 0
    shop.time += timedelta(minutes=1)
    assert await shop.renewals.run_due() == 1
    assert await shop.charged() == [("ada", 1, "completed"), ("ada", 2, "completed")]
    assert (shop.engine.held(HOUSE, "USD"), shop.told) == ("60", [])


async def test_a_charge_whose_reply_is_lost_holds_other_changes_back_and_is_made_once(shop: SubscriptionShop) -> None:
    shop.engine.faults = ["lost"]
    assert await outcome(shop, "/api/subscribe", PRO, key="k") == (503, "CHARGE_UNDER_WAY")
    assert await outcome(shop, "/api/subscribe", {"planId": "basic"}) == (409, "CHARGE_UNDER_WAY")
    shop.time += LEASE
    assert await shop.runner.resume() == 1
    first = await shop.good("ada", "POST", "/api/subscribe", PRO, key="k")
    assert first["payment"]["status"] == "completed"

    shop.time += timedelta(days=28)
    shop.engine.faults = ["late"]
    assert await shop.renewals.run_due() == 1
    assert await outcome(shop, "/api/cancel") == (409, "CHARGE_UNDER_WAY")
    assert (await outcome(shop, "/api/upgrade", PREMIUM))[0] == 409
    assert (await shop.good("ada", "GET", "/api/entitlements"))["planId"] == "pro"
    assert await shop.renewals.run_due() == 0
    shop.time += LEASE
    assert await shop.runner.resume() == 1
    assert await shop.charged() == [("ada", 1, "completed"), ("ada", 2, "completed")]
    assert shop.engine.held(HOUSE, "USD") == "60"
    assert (await shop.good("ada", "POST", "/api/cancel"))["cancelAtPeriodEnd"] is True


async def test_credit_pays_later_charges_and_what_is_left_at_the_end_comes_back(shop: SubscriptionShop) -> None:
    shop.configure(yearly_pro())
    await shop.good("ada", "POST", "/api/subscribe", PRO)
    upgraded = await shop.good("ada", "POST", "/api/upgrade", PREMIUM)
    # On the first day the whole 360 is credited: 90 of it pay the month.
    assert (upgraded["payment"]["amount"], upgraded["subscription"]["credit"]) == ("0", "270")
    assert await shop.pass_days(28) == 1
    assert (await shop.good("ada", "GET", "/api/subscription"))["credit"] == "180"
    await shop.good("ada", "POST", "/api/cancel")
    assert (shop.engine.held("ada", "USD"), shop.engine.held(HOUSE, "USD")) == ("99640", "360")
    await shop.pass_days(32)
    assert (await shop("ada", "GET", "/api/subscription")).status == 404
    assert await shop.runner.resume() == 1
    assert (shop.engine.held("ada", "USD"), shop.engine.held(HOUSE, "USD")) == ("99820", "180")
    assert await shop.pool.fetchval("SELECT sum(credit) FROM subscriptions") == 0
    # Nothing comes back twice, and a deleted user's credit stays.
    await shop.good("bob", "POST", "/api/subscribe", PRO)
    await shop.good("bob", "POST", "/api/upgrade", PREMIUM)
    shop.deleted.add("bob")
    await shop.pass_days(40)
    assert await shop.runner.resume() == 0
    assert shop.engine.held(HOUSE, "USD") == "540"


class KilledError(BaseException):
    """The process has died."""


def dying_connection(statements_max: int, died: list[int]) -> type[asyncpg.Connection]:
    """A kind of connection on which that statement, and every later one, is never sent; each is noted in `died`."""
    sent = 0

    class DyingConnection(asyncpg.Connection):  # type: ignore[misc]
        def _count(self) -> None:
            nonlocal sent
            sent += 1
            if sent >= statements_max:
                died.append(sent)
                raise KilledError

        async def execute(self, *arguments: Any, **options: Any) -> Any:
            self._count()
            return await super().execute(*arguments, **options)

        async def fetchrow(self, *arguments: Any, **options: Any) -> Any:
            self._count()
            return await super().fetchrow(*arguments, **options)

        async def fetchval(self, *arguments: Any, **options: Any) -> Any:
            self._count()
            return await super().fetchval(*arguments, **options)

    return DyingConnection


async def subscribe(shop: SubscriptionShop) -> None:
    await shop("eve", "POST", "/api/subscribe", PRO)


async def upgrade(shop: SubscriptionShop) -> None:
    await shop("eve", "POST", "/api/upgrade", PREMIUM)


async def goes_on(shop: SubscriptionShop) -> bool:
    await shop.runner.resume()
    return await shop.pool.fetchval("SELECT count(*) FROM subscription_charges") == 0


async def is_paid(shop: SubscriptionShop, step: Any, whole: int) -> bool:
    await step(shop)
    return shop.engine.balances[HOUSE, "USD"] == whole


async def renew(shop: SubscriptionShop) -> None:
    await shop.renewals.run_due()


@pytest.mark.parametrize(("step", "before", "cost"), [(subscribe, [], 30), (upgrade, [subscribe], 60),
                                                      (renew, [subscribe], 30)])  # fmt: skip
async def test_a_process_that_dies_before_any_statement_charges_once_or_not_at_all(
    subscriptions_database_url: str, step: Any, before: list[Any], cost: int
) -> None:
    survived, statements = False, 0
    async with asyncpg.create_pool(subscriptions_database_url, min_size=1, max_size=4) as pool:
        while not survived:
            statements += 1
            await pool.execute(
                "TRUNCATE subscriptions, subscription_payments, subscription_charges, subscription_transfers"
            )
            shop = SubscriptionShop(pool, date(2025, 1, 31))
            shop.engine = engine = FakeTransfers()
            shop.configure(load_plans())
            engine.fund("eve", "USD", "1000")
            for earlier in before:
                await earlier(shop)
            paid, charges = engine.balances[HOUSE, "USD"], len(await shop.charged())
            if step is renew:
                shop.time += timedelta(days=28)
            died: list[int] = []
            dying = await asyncpg.create_pool(
                subscriptions_database_url, min_size=1, max_size=1, connection_class=dying_connection(statements, died)
            )
            mortal = SubscriptionShop(dying, shop.time.date())
            mortal.engine = engine
            mortal.configure(load_plans())
            try:
                await step(mortal)
            except KilledError:
                pass
            finally:
                dying.terminate()
            survived = not died
            # Another process goes on, when the lease has run out and the server has given up the dead one's locks.
            shop.time += LEASE
            await eventually(lambda shop=shop: goes_on(shop))  # type: ignore[misc]
            moved = engine.balances[HOUSE, "USD"] - paid
            assert (moved, len(await shop.charged()) - charges) in ((0, 0), (cost * 10**18, 1)), statements
            await eventually(lambda shop=shop, whole=paid + cost * 10**18: is_paid(shop, step, whole))  # type: ignore[misc]
            assert len(await shop.charged()) - charges == 1
    assert statements > 8
