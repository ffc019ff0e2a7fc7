"""A symbol that is new in the engine: not tradable by a router that runs, tradable after its restart."""

import aiohttp
import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient
from tests.support.fake_ledger import FakeLedger
from tests.support.router_client import RouterClient, running_router

SYMBOL = "ETH-BTC"


@pytest.mark.spec("A2.5-01", "A2.5-09", "A2.5-10")
async def test_a_new_engine_symbol_is_tradable_after_a_restart_of_the_router(
    settings: Settings, bus: Bus, engine: EngineClient, ledger: FakeLedger
) -> None:
    client = RouterClient(bus)
    async with aiohttp.ClientSession(settings.engine_url, headers=engine.headers) as administrator:
        async with administrator.get("/api/v1/markets") as response:
            (market,) = [market for market in await response.json() if market["symbol"] == SYMBOL]
        async with administrator.delete(f"/api/v1/admin/symbols/{SYMBOL}") as response:
            assert response.status == 200, await response.text()
        async with running_router(settings):
            assert (await client.submit(symbol=SYMBOL)).error == f"Market {SYMBOL} not found"
            fields = ("symbol", "baseScaleK", "quoteScaleK", "tickSize", "lotSize", "takerFee", "makerFee")
            body = {name: market[name] for name in fields}
            async with administrator.post("/api/v1/admin/symbols", json=body) as response:
                assert response.status in (200, 201), await response.text()
            assert (await client.submit(symbol=SYMBOL)).error == f"Market {SYMBOL} not found"
        async with running_router(settings):
            order = {"symbol": SYMBOL, "price": "0.05", "quantity": "2"}
            placed = await client.place("alice", **order)
            sold = await client.submit("bob", side="sell", **order)
            assert sold.order is not None
            assert (sold.order.status, sold.order.filled_quantity) == ("filled", "2")
            assert (await engine.find(external_id=placed)).status == "FILLED"
