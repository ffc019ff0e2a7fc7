"""Candles on the socket, from the market data service and a real engine."""

import asyncio
from typing import Any

from openspot.kit.settings import Settings
from tests.support.engine_client import running_engine
from tests.support.market_data import running_market_data
from tests.support.waiting import stretched
from tests.support.websocket_edge import ask, open_client, receive, running_edge

SYMBOL = "BTC-USD"
FIELDS = {"symbol", "interval", "timestamp", "open", "high", "low", "close", "volume", "trades"}


async def until_trades(client: Any, total: int) -> list[dict[str, Any]]:
    """The pushes up to one with which all candles together have `total` trades."""
    pushes: list[dict[str, Any]] = []
    counts: dict[int, int] = {}
    while sum(counts.values()) < total:
        pushes.append(await receive(client))
        data = pushes[-1]["data"]
        assert data.keys() == FIELDS
        assert (data["symbol"], pushes[-1]["ts"], pushes[-1]["seq"]) == (SYMBOL, data["timestamp"], data["trades"])
        counts[data["timestamp"]] = data["trades"]
    assert sum(counts.values()) == total
    return pushes


async def test_a_candle_comes_as_snapshot_and_then_whenever_it_changed(settings: Settings) -> None:
    quick = settings.model_copy(update={"market_data_ticker_ms": 50})
    async with running_engine(settings) as engine:
        for user in ("alice", "bob"):
            await engine.fund(user, USD="100000", BTC="100")
        async with running_market_data(quick), running_edge(quick) as edge, open_client(edge) as client:
            weekly, minutes = f"candles:{SYMBOL}:1w", f"candles:{SYMBOL}:1m"
            assert (await ask(client, action="subscribe", channel=weekly))["type"] == "subscribed"

            async def trade(price: str, quantity: str) -> None:
                await engine.place("sell", price, quantity, "alice")
                await engine.place("buy", price, quantity, "bob")

            await trade("100", "1")
            first = (await until_trades(client, 1))[0]
            assert (first["channel"], first["type"]) == (weekly, "snapshot")
            assert (first["data"]["open"], first["data"]["volume"]) == ("100", "1")
            await trade("110", "0.5")
            await trade("90", "0.25")
            last = (await until_trades(client, 3))[-1]
            assert last["type"] == "update"
            assert [last["data"][name] for name in ("open", "high", "low", "close", "volume")] == [
                "100", "110", "90", "90", "1.75",
            ]  # fmt: skip
            async with open_client(edge) as later:
                assert (await ask(later, action="subscribe", channel=weekly))["type"] == "subscribed"
                assert await receive(later) == last | {"type": "snapshot"}
                assert (await ask(later, action="subscribe", channel=minutes))["type"] == "subscribed"
                newest = await receive(later)
                assert (newest["channel"], newest["type"]) == (minutes, "snapshot")
                assert newest["data"]["close"] == "90"
                await ask(client, action="unsubscribe", channel=weekly)
                await trade("95", "1")
                seen = {}
                while len(seen) < 2:
                    push = await asyncio.wait_for(receive(later), stretched(30))
                    if push["data"]["close"] == "95":
                        seen[push["channel"]] = push["type"]
                assert seen == {weekly: "update", minutes: "update"}
