"""Lets freqtrade leave a stop loss to the platform, kills the platform, and lets the stop fire.

Run by test_freqtrade.py:

    freqtrade_stop_run.py FREQTRADE_PYTHON

Prints one line of JSON at the end. Fails with an AssertionError that names the difference.
"""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

from openspot.client import OpenSpotClient
from openspot.up.child_platform import ChildPlatform
from tests.e2e.conftest import QUICK_MONEY
from tests.external.freqtrade_run import (
    FREQTRADE,
    FUNDS,
    MARKET,
    are_closed,
    compare,
    configuration,
    rows_of,
    running_freqtrade,
)
from tests.support.market_flow import flow_user, market_flow
from tests.support.money_user import MoneyUser, money_user
from tests.support.platforms import alive, child_platform
from tests.support.waiting import START_S_MAX, eventually, eventually_served, stretched

WAIT_S = 600.0
FALLEN = Decimal(48_900)
"""The price of the trade that fires the stop: more than two percent below that of the purchase."""


async def kill_everything(platform: ChildPlatform) -> None:
    """Kill every process of the platform at once, the servers of bus and database too."""
    pids = list(platform.state.pids.values())
    platform.kill_supervisor()
    for pid in pids:
        if alive(pid):
            os.kill(pid, signal.SIGKILL)
    await eventually(lambda: not any(alive(pid) for pid in pids), WAIT_S, 0.1)


async def stop_of(user: MoneyUser) -> dict[str, Any] | None:
    """The user's order with a trigger, once there is one."""
    orders: list[dict[str, Any]] = await user("GET", "/orders?limit=1000")
    found = [order for order in orders if "triggerStatus" in order]
    assert len(found) <= 1, found
    return found[0] if found else None


async def let_the_price_fall(platform: ChildPlatform) -> None:
    """Trade down to FALLEN, where bids for more than the stop sells stand."""
    async with flow_user(platform) as buyer, flow_user(platform) as seller:
        await buyer.fund(platform, USD="1000000")
        await seller.fund(platform, BTC="10")
        await _place(buyer.client, "buy", "2")
        await _place(seller.client, "sell", "1")


async def _place(client: OpenSpotClient, side: str, quantity: str) -> None:
    await client.place_order(MARKET.symbol, side, quantity=quantity, price=FALLEN)


async def main(python: str) -> None:
    """Start a platform, a market and freqtrade; kill the platform while the stop waits; let the price fall; compare."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-e2e-"))
    # A request's deadline and a token's end are by the clock, which runs quickly.
    settings = QUICK_MONEY | {
        "OPENSPOT_RULES": "complete", "OPENSPOT_THROTTLE_ENABLED": "false", "OPENSPOT_REQUEST_TIMEOUT_S": "60",
        "OPENSPOT_ACCESS_TOKEN_S": "86400",
    }  # fmt: skip
    platform = child_platform(folder / "platform", settings)
    (folder / "freqtrade").mkdir()
    platform.start(stretched(START_S_MAX))
    try:
        async with money_user(platform) as user:
            await user.credit("USD", "10000")
            key = {"name": "freqtrade", "scopes": ["read", "trade", "cancel"], "ipAllowList": ["127.0.0.0/8"]}
            created = await user("POST", "/api-keys", key, status=201)
            text = json.dumps(configuration(platform, created, 1))
            (folder / "freqtrade/config.json").write_text(text, "utf-8")
            overlay = ("--config", str(FREQTRADE / "stoploss_on_exchange.json"))
            async with running_freqtrade(folder / "freqtrade", python, "OneStop", *overlay) as check:

                async def placed() -> Any:
                    check()
                    return await stop_of(user)

                async with market_flow(platform, [MARKET], FUNDS, 0.2):
                    stop = await eventually(placed, WAIT_S, 0.5)
                assert (stop["type"], stop["side"], stop["status"]) == ("stop_market", "sell", "open"), stop
                await kill_everything(platform)
                platform.start(stretched(START_S_MAX))
                waiting = await eventually_served(lambda: stop_of(user), WAIT_S)
                assert waiting == stop, (waiting, stop)
                await let_the_price_fall(platform)

                def closed() -> bool:
                    check()
                    return are_closed(folder / "freqtrade", 1)

                await eventually(closed, WAIT_S, 0.5)
            fired = await stop_of(user)
            assert fired is not None
            assert (fired["orderId"], fired["status"], fired["triggerStatus"]) == (
                stop["orderId"],
                "filled",
                "triggered",
            ), fired
            database = folder / "freqtrade/trades.sqlite"
            result = await compare(user, database, Decimal(10_000))
            [trade] = rows_of(database, "SELECT * FROM trades")
            assert trade["exit_reason"] == "stoploss_on_exchange", trade
        print(json.dumps(result | {"trigger": stop["stopPrice"], "sold_at": fired["averagePrice"]}), flush=True)
    finally:
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
