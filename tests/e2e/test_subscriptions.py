"""A subscription on a real platform, by a user who has staked; and the guide, as it stands, in a shell."""

from decimal import Decimal
from typing import Any

import aiohttp
import asyncpg
import pytest

from openspot.up.child_platform import ChildPlatform
from tests.e2e.test_money_guides import pasted
from tests.support.money_user import assert_every_book_agrees, log_in, money_user
from tests.support.waiting import eventually, unstarved


@pytest.mark.spec("A1.1-07", "A1.1-17", "B4.6-05", "B4.6-06", "B4.6-08", "B4.6-11", "A7-08", "A8-21")
async def test_a_user_with_a_stake_subscribes_upgrades_and_cancels(platform: ChildPlatform) -> None:
    async with money_user(platform) as user, aiohttp.ClientSession(platform.settings.subscriptions_url) as session:

        async def ask(method: str, path: str, body: Any = None, status: int = 200) -> Any:
            async def attempt() -> aiohttp.ClientResponse:
                headers = {"Authorization": f"Bearer {user.client.token}"}
                async with session.request(method, f"/api{path}", json=body, headers=headers) as response:
                    await response.read()
                    return response

            response = await unstarved(attempt)
            assert response.status == status, await response.text()
            return await response.json()

        await user.credit("USDT", "1000")
        await user.has("USDT", "1000")
        await user("POST", "/staking/stake", {"productId": "usdt-flexible", "amount": "500"}, status=201)
        # The token of the login was made before the stake; the service takes what the token says.
        charged = await ask("POST", "/subscribe", {"planId": "basic"}, 201)
        assert (charged["payment"]["discountBps"], charged["payment"]["amount"]) == (1000, "8.1")
        assert (await ask("POST", "/subscribe", {"planId": "pro"}, 409))["code"] == "SUBSCRIPTION_ACTIVE"

        user.client.token = await log_in(user.client, user.credentials)
        upgraded = await ask("POST", "/upgrade", {"planId": "premium"})
        payment = upgraded["payment"]
        # On the first day the whole price is credited.
        assert (payment["discountBps"], payment["price"], payment["credit"]) == (1005, "80.955", "8.1")
        assert Decimal(payment["amount"]) == Decimal("72.855")
        assert (await ask("GET", "/entitlements"))["planId"] == "premium"

        cancelled = await ask("POST", "/cancel")
        assert (cancelled["status"], cancelled["cancelAtPeriodEnd"]) == ("active", True)
        assert (await ask("GET", "/entitlements"))["planId"] == "premium"
        assert [row["kind"] for row in await ask("GET", "/payments")] == ["upgrade", "subscribe"]
        # 8.10 and 72.855 of the 500 that are not staked went to the house.
        await user.has("USDT", "419.045")
        await assert_every_book_agrees(platform)
        await user("POST", "/auth/logout")

        async def is_refused() -> bool:
            headers = {"Authorization": f"Bearer {user.client.token}"}
            async with session.get("/api/subscription", headers=headers) as response:
                return response.status == 401

        await eventually(is_refused)

    own = await asyncpg.connect(platform.settings.subscriptions_database)
    try:
        assert await own.fetchval("SELECT current_database()") == "openspot_subscriptions"
        assert await own.fetchval("SELECT count(*) FROM subscriptions WHERE user_id = $1", user.user_id) == 1
    finally:
        await own.close()


@pytest.mark.proof
async def test_the_guide(platform: ChildPlatform, tmp_path: Any) -> None:
    printed = await pasted(platform, tmp_path, "subscriptions.md")
    assert "credited 200 USDT" in printed
    assert '"cancelAtPeriodEnd":true' in printed
    assert '"kind":"upgrade"' in printed
