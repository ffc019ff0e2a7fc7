"""An operator links two users from the command line, and the matching engine keeps their orders apart until the end."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from openspot.up.child_platform import ChildPlatform
from tests.support.money_user import WAIT_S, assert_every_book_agrees, money_user, openspot
from tests.support.operator import Operator
from tests.support.waiting import eventually

ORDER = {"symbol": "SOL-BRL", "type": "limit", "price": "900"}
"""Nobody else trades on this market."""

pytestmark = pytest.mark.proof


def prevent_self_trades(platform: ChildPlatform, user_id: str) -> None:
    operator = Operator(platform.settings)
    try:
        answer = operator.call("UpdateStpMode", participantId=user_id, stpMode="CANCEL_INCOMING")
        assert answer["success"], answer
    finally:
        operator.close()


async def test_linked_users_do_not_trade_with_each_other_until_the_link_ends(platform: ChildPlatform) -> None:
    async with money_user(platform) as maker, money_user(platform) as taker:
        await asyncio.gather(maker.credit("SOL", "5"), taker.credit("BRL", "5000"))
        await asyncio.gather(maker.has("SOL", "5"), taker.has("BRL", "5000"))
        await asyncio.to_thread(prevent_self_trades, platform, taker.user_id)
        await maker("POST", "/orders", ORDER | {"side": "sell", "quantity": "5"}, status=201)

        def meets_with(status: str) -> Callable[[], Awaitable[bool]]:
            async def met() -> bool:
                incoming = ORDER | {"side": "buy", "quantity": "0.01", "timeInForce": "ioc"}
                order_id = (await taker("POST", "/orders", incoming, status=201))["orderId"]
                order = await taker("GET", f"/orders/{order_id}")
                assert order["status"] in ("filled", "cancelled"), order
                assert order["filledQuantity"] == ("0.01" if order["status"] == "filled" else "0")
                return bool(order["status"] == status)

            return met

        assert await meets_with("filled")()
        pair = (maker.user_id, taker.credentials["email"])
        assert "are one owner" in await openspot(platform, "owners", "link", *pair, "--reason", "one person")
        await eventually(meets_with("cancelled"), WAIT_S, 0.2)
        assert maker.user_id in await openspot(platform, "owners", "list")
        # The resting order stands all the time.
        assert "not linked any more" in await openspot(platform, "owners", "unlink", *pair, "--reason", "two after all")
        await eventually(meets_with("filled"), WAIT_S, 0.2)
        await assert_every_book_agrees(platform)
