"""A coin and its market are listed on a platform that runs: nobody restarts anything, and users trade within seconds.

Every service is killed meanwhile. It comes back, and knows the new market from the engine.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from openspot.positions.app import PREFIX as POSITIONS
from openspot.up.child_platform import ChildPlatform
from tests.support.coin_pictures import SVG, brand_with_coins
from tests.support.fault_run import kept_after_failure
from tests.support.money_user import MoneyUser, assert_every_book_agrees, money_user, openspot
from tests.support.platforms import child_platform
from tests.support.rest_client import RestClient
from tests.support.waiting import START_S_MAX, eventually, stretched

pytestmark = [pytest.mark.proof, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(stretched(900))]

SERVICES = (
    "router", "rest-edge", "market-data", "ws-edge", "ledger", "ledger-worker", "custody", "margin", "positions",
    "engine",
)  # fmt: skip
NEW = (
    "--tick", "0.0001", "--lot", "0.1", "--quantity", "1:1000000", "--notional", "1:1000000",
    "--asset-name", "Dogecoin", "--asset-places", "8", "--logo", "doge", "--announcement", "New here.",
    "--reason", "asked for by many", "--as", "carol",
)  # fmt: skip
WAIT_S = 60.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ChildPlatform]:
    """A platform whose services follow what operators list, each service in a process of its own."""
    environment = {
        "OPENSPOT_BRAND": brand_with_coins(tmp_path_factory.mktemp("brand"), doge_svg=SVG),
        "OPENSPOT_MARKETS": "live",
        "OPENSPOT_RULES": "complete",
        "OPENSPOT_ONE_PROCESS": "false",
        "OPENSPOT_THROTTLE_ENABLED": "false",
        "OPENSPOT_POSITIONS_THROTTLE_ENABLED": "false",
        "OPENSPOT_MARKET_DATA_LEASE_S": "2",
    }
    with kept_after_failure(request) as folder:
        child = child_platform(folder, environment)
        await asyncio.to_thread(child.start, stretched(START_S_MAX))
        yield child
        await asyncio.to_thread(child.stop)


async def reply_of(client: RestClient, path: str) -> Any:
    """The body of a public route, None if the edge is away or does not know what is asked for."""
    try:
        reply = await client("GET", path)
    except aiohttp.ClientError:
        return None
    return reply.body if reply.status == 200 else None


async def trade(platform: ChildPlatform, buyer: MoneyUser, seller: MoneyUser, symbol: str, price: str) -> None:
    """Sell ten from the one to the other. The edge may have to hear of the market first."""

    async def placed(user: MoneyUser, side: str) -> Any:
        async def accepted() -> Any:
            body = {"symbol": symbol, "side": side, "type": "limit", "quantity": "10", "price": price}
            try:
                reply = await user.client("POST", "/orders", body)
            except aiohttp.ClientError:
                return None
            return reply.body if reply.status == 201 else None

        return await eventually(accepted, WAIT_S, 0.2)

    await placed(seller, "sell")
    order = await placed(buyer, "buy")

    async def filled() -> bool:
        found = await reply_of(buyer.client, f"/orders/{order['orderId']}")
        return found is not None and found["status"] == "filled"

    await eventually(filled, WAIT_S, 0.2)


async def test_a_coin_is_listed_traded_through_kills_and_delisted_without_a_restart(platform: ChildPlatform) -> None:
    async with money_user(platform) as buyer, money_user(platform) as seller:
        await buyer.credit("USD", "10000")
        assert await reply_of(buyer.client, "/markets/DOGE-USD") is None
        lines = await openspot(platform, "market", "list-new", "doge-usd", "--status", "open", *NEW)
        assert lines.startswith("DOGE-USD is open")

        # The coin can be deposited and the market traded on, and its trade reaches every part of the platform.
        await seller.credit("DOGE", "1000")
        await trade(platform, buyer, seller, "DOGE-USD", "0.1")

        async def shown() -> Any:
            return await reply_of(buyer.client, "/markets/DOGE-USD")

        # The edge knows markets for a second, and was asked for this one before it was listed.
        market = await eventually(shown, WAIT_S, 0.2)
        assert {name: market[name] for name in ("status", "announcement", "logo", "quantityMax", "takerFee")} == {
            "status": "open", "announcement": "New here.", "logo": "doge", "quantityMax": "1000000", "takerFee": 25,
        }  # fmt: skip

        async def has_ticker() -> bool:
            ticker = await reply_of(buyer.client, "/markets/DOGE-USD/ticker")
            return ticker is not None and ticker["lastPrice"] == "0.1"

        await eventually(has_ticker, WAIT_S, 0.2)
        await buyer.has("DOGE", "10")

        async def has_cost() -> bool:
            # The complete rules alone follow the trades: one dollar, and a fee of a quarter percent.
            url = f"{platform.settings.positions_url}{POSITIONS}/spot/{buyer.user_id}/DOGE"
            headers = {"Authorization": f"Bearer {buyer.client.token}"}
            async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as response:
                return response.status == 200 and (await response.json())["averageCost"] == "0.10025"

        await eventually(has_cost, WAIT_S, 0.2)

        async def pushed() -> bool:
            url = platform.settings.ws_url
            async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
                await socket.send_json({"action": "subscribe", "channel": "ticker:DOGE-USD"})
                async with asyncio.timeout(stretched(10)):
                    async for message in socket:
                        if "DOGE-USD" in str(message.data) and "0.1" in str(message.data):
                            return True
            return False

        assert await pushed()

        # Whoever is killed knows the market again, from the engine.
        for number, name in enumerate(SERVICES, 1):
            await asyncio.to_thread(platform.kill, name)
            await trade(platform, buyer, seller, "DOGE-USD", f"0.1{number:02}")
        await buyer.has("DOGE", str(10 + 10 * len(SERVICES)))

        # A change counts without a restart, too.
        await openspot(
            platform, "market", "edit", "DOGE-USD", "--quantity", "1:20", "--reason", "thin", "--as", "carol",
            "--offer", "staking", "--staking", "apr=0.04,minimum=1,maximum=10,capacity=100",
        )  # fmt: skip

        async def is_staked(*, offered: bool) -> bool:
            products = await reply_of(buyer.client, "/staking/products")
            return ("market-doge-usd" in [product["id"] for product in products]) is offered

        await eventually(lambda: is_staked(offered=True), WAIT_S, 0.2)
        stake = await buyer("POST", "/staking/stake", {"productId": "market-doge-usd", "amount": "5"}, status=201)
        body = {"symbol": "DOGE-USD", "side": "buy", "type": "limit", "quantity": "21", "price": "0.1"}

        async def refused() -> bool:
            reply = await buyer.client("POST", "/orders", body)
            return reply.status == 400 and "quantity" in json.dumps(reply.body)

        await eventually(refused, WAIT_S, 0.2)
        history = await openspot(platform, "market", "changes", "DOGE-USD")
        assert "by shell:carol: thin" in history
        assert "quantityMax: '1000000' -> '20'" in history

        # Delisted: the open order ends, nothing can be placed, and the coin is still the buyer's.
        open_order = (await buyer("POST", "/orders", body | {"quantity": "15"}, status=201))["orderId"]
        await openspot(platform, "market", "delist", "DOGE-USD", "--reason", "the coin has ended")

        async def ended() -> bool:
            found = await reply_of(buyer.client, f"/orders/{open_order}")
            market = await reply_of(buyer.client, "/markets/DOGE-USD")
            return (found["status"], market["status"]) == ("cancelled", "delisted")

        await eventually(ended, WAIT_S, 0.2)
        # What is staked outlives the market's offer.
        await eventually(lambda: is_staked(offered=False), WAIT_S, 0.2)
        await buyer("POST", "/staking/unstake", {"balanceId": stake["id"]}, status=201)
        assert (await buyer.client("POST", "/orders", body | {"quantity": "15"})).status in (400, 422)
        assert await buyer.total("DOGE") == Decimal(10 + 10 * len(SERVICES))
        assert await reply_of(buyer.client, "/markets/DOGE-USD/trades")
        await assert_every_book_agrees(platform)
