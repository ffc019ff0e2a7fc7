"""Orders that wait for the mark price, from the fair price to the fill, while market data and the engine are killed."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from openspot.up.child_platform import ChildPlatform
from tests.support.engine_client import EngineClient
from tests.support.fault_run import kept_after_failure
from tests.support.money_user import WAIT_S, MoneyUser, assert_every_book_agrees, money_user
from tests.support.operator_prices import set_operator_price
from tests.support.platforms import child_platform
from tests.support.waiting import START_S_MAX, eventually, eventually_served, stretched

pytestmark = [pytest.mark.proof, pytest.mark.timeout(stretched(600))]

SYMBOL = "BTC-USD"
ORDER = {"symbol": SYMBOL, "type": "limit"}
DEATHS = (
    ("market-data", True), ("market-data", False), ("engine", True), ("engine", False), ("engine", False),
)  # fmt: skip
"""Who dies, and whether before there is a new price: without that, some die while they work on it, some after."""


@pytest.fixture
async def complete(request: pytest.FixtureRequest) -> AsyncIterator[ChildPlatform]:
    """A platform with the complete rules, whose market data leads again soon after it was killed."""
    environment = {
        "OPENSPOT_RULES": "complete",
        "OPENSPOT_THROTTLE_ENABLED": "false",
        "OPENSPOT_MARKET_DATA_LEASE_S": "2",
    }
    with kept_after_failure(request) as folder:
        platform = child_platform(folder, environment)
        await asyncio.to_thread(platform.start, stretched(START_S_MAX))
        try:
            yield platform
        finally:
            await asyncio.to_thread(platform.stop)


def is_back(platform: ChildPlatform, name: str, dead: int) -> bool:
    """Whether a service runs again."""
    return platform.state.pids.get(name, dead) != dead


async def stop_at(trader: MoneyUser, price: float) -> str:
    """The id of an order that waits for the mark price and buys a tenth at 110 at most."""
    fields = {"type": "stop_limit", "side": "buy", "quantity": "0.1", "price": "110", "stopPrice": str(price)}
    placed = await trader("POST", "/orders", ORDER | fields | {"triggerBy": "mark"}, status=201)
    assert placed["triggerStatus"] == "waiting"
    return str(placed["orderId"])


async def filled(trader: MoneyUser, order_id: str) -> dict[str, Any]:
    """The order once it has ended."""

    async def ended() -> dict[str, Any] | None:
        order: dict[str, Any] = await trader("GET", f"/orders/{order_id}")
        return order if order["status"] != "open" else None

    return await eventually_served(ended, WAIT_S)


async def is_taken(trader: MoneyUser, **fields: Any) -> bool:
    """Whether the engine takes an order that waits for the mark price. It is cancelled at once."""
    wanted = ORDER | {"side": "buy", "quantity": "0.1", "price": "110", "triggerBy": "mark"} | fields
    reply = await trader.client("POST", "/orders", wanted)
    assert reply.status in (201, 400, 503), reply.body
    if reply.status == 201:
        await trader("DELETE", f"/orders/{reply.body['orderId']}")
    return reply.status == 201


async def knows_the_mark_price(trader: MoneyUser) -> None:
    """Wait until the engine knows the price of 100: nothing can follow an unknown one, and a higher one would fire."""
    trailing = partial(is_taken, trader, type="trailing_stop_limit", trailingAmount="5")
    await eventually_served(trailing, WAIT_S, 0.1)
    await eventually_served(partial(is_taken, trader, type="stop_limit", stopPrice="100.25"), WAIT_S, 0.1)


async def test_a_stop_by_the_mark_price_fires_once_whichever_of_the_two_is_killed(complete: ChildPlatform) -> None:
    async with money_user(complete) as maker, money_user(complete) as trader:
        await asyncio.gather(maker.credit("BTC", "5"), trader.credit("USD", "5000"))
        await asyncio.gather(maker.has("BTC", "5"), trader.has("USD", "5000"))
        await set_operator_price(complete, SYMBOL, "100")
        await knows_the_mark_price(trader)
        await maker("POST", "/orders", ORDER | {"side": "sell", "quantity": "5", "price": "106"}, status=201)
        orders = []
        for number, (name, dies_first) in enumerate(DEATHS, 1):
            price = 100 + number / 4
            near, far = await stop_at(trader, price), await stop_at(trader, 107)
            dead = complete.pid(name)
            if dies_first:
                complete.kill(name)
            await set_operator_price(complete, SYMBOL, str(price))
            if not dies_first:
                complete.kill(name)
            orders.append(await filled(trader, near))
            await eventually(partial(is_back, complete, name, dead), WAIT_S)
            waiting = await trader("DELETE", f"/orders/{far}")
            assert waiting["triggerStatus"] == "waiting"
        for order in orders:
            shown = order["status"], order["filledQuantity"], order["averagePrice"], order["triggerStatus"]
            assert shown == ("filled", "0.1", "106", "triggered")
        engine = EngineClient(complete.settings)
        try:
            events = await engine.events(1, await engine.last_sequence())
        finally:
            await engine.close()
        triggered = [event["externalId"] for event in events if event["type"] == "triggered"]
        assert triggered == [order["orderId"] for order in orders]
        await assert_every_book_agrees(complete)
