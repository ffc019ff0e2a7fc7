"""The order book at the edge, out of a running engine by way of market data (section B4.1 of docs/facts.md)."""

from typing import Any

import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.engine_client import running_engine
from tests.support.market_data import running_market_data
from tests.support.rest_client import running_edge
from tests.support.waiting import eventually


@pytest.mark.spec("B4.1-27")
async def test_the_book_sums_quantities_by_price_and_begins_with_the_best(
    settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    async with running_engine(settings) as engine, running_market_data(settings), running_edge(settings) as edge:
        await engine.fund("alice")
        for side, price, quantity in (
            ("buy", "98", "2"),
            ("buy", "99", "1"),
            ("buy", "99", "0.5"),
            ("sell", "102", "3"),
            ("sell", "101", "1"),
            ("sell", "101", "0.25"),
        ):
            await engine.place(side, price, quantity, "alice")
        newest = await engine.last_sequence()

        async def current() -> Any:
            reply = (await edge("GET", "/markets/BTC-USD/orderbook")).body
            return reply if reply["sequence"] == newest else None

        book = await eventually(current)
    assert book["bids"] == [["99", "1.5"], ["98", "2"]]
    assert book["asks"] == [["101", "1.25"], ["102", "3"]]
