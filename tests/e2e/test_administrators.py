"""An administrator of the platform, from the command to what only administrators can do; no token is made by hand."""

from typing import Any

import aiohttp
import pytest

from openspot.positions.app import PREFIX
from openspot.up.child_platform import ChildPlatform
from tests.support.money_user import MoneyUser, log_in, money_user, openspot
from tests.support.waiting import eventually, unstarved

pytestmark = pytest.mark.proof


@pytest.mark.spec("A5-11", "B4.5-10")
async def test_a_promoted_user_completes_transfers_adjusts_and_sees_everybody_and_others_do_not(
    platform: ChildPlatform,
) -> None:
    async with (
        money_user(platform) as boss,
        money_user(platform) as user,
        aiohttp.ClientSession(platform.settings.positions_url) as session,
    ):

        async def ask(who: MoneyUser, method: str, path: str, body: Any = None) -> tuple[int, Any]:
            async def attempt() -> aiohttp.ClientResponse:
                headers = {"Authorization": f"Bearer {who.client.token}"}
                async with session.request(method, f"{PREFIX}{path}", json=body, headers=headers) as response:
                    await response.read()
                    return response

            response = await unstarved(attempt)
            return response.status, await response.json()

        email = boss.credentials["email"]
        assert "is an administrator" in await openspot(platform, "users", "promote", email)
        boss.client.token = await log_in(boss.client, boss.credentials)
        assert boss.user_id in await openspot(platform, "users", "list", "--role", "admin")
        assert user.user_id not in await openspot(platform, "users", "list", "--role", "admin")

        status, transfer = await ask(user, "POST", "/transfers/deposit", {"assetId": "USD", "amount": "12.5"})
        assert status == 201, transfer
        complete = f"/transfers/{transfer['id']}/complete"
        adjustment = {"participantId": user.user_id, "assetId": "USD", "amount": "-2.5", "reason": "ticket 7"}
        assert [(await ask(user, "POST", path, body))[0] for path, body in (
            (complete, None), ("/transfers/adjustment", adjustment),
        )] == [403, 403]  # fmt: skip
        status, completed = await ask(boss, "POST", complete)
        assert (status, completed["status"]) == (200, "completed")
        status, adjusted = await ask(boss, "POST", "/transfers/adjustment", adjustment)
        assert status == 201, adjusted
        assert (await ask(boss, "POST", f"/transfers/{adjusted['id']}/complete"))[0] == 200
        status, balance = await ask(boss, "GET", f"/balances/{user.user_id}/USD")
        assert (status, balance["available"]) == (200, "10")
        # The views of all participants show others to the administrator only.
        status, seen = await ask(boss, "GET", "/transfers?limit=200")
        assert status == 200 and user.user_id in {row["participantId"] for row in seen}
        assert (await ask(user, "GET", f"/balances/{boss.user_id}/USD"))[0] == 404
        _, own = await ask(user, "GET", "/transfers?limit=200")
        assert {row["participantId"] for row in own} == {user.user_id}

        assert "all sessions have ended" in await openspot(platform, "users", "demote", email)

        async def is_refused() -> bool:
            return (await ask(boss, "GET", "/transfers"))[0] == 401

        await eventually(is_refused)
        boss.client.token = await log_in(boss.client, boss.credentials)
        assert (await ask(boss, "POST", "/transfers/adjustment", adjustment))[0] == 403
