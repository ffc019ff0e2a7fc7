"""A safe opening: cancels alone, then orders that cannot trade, then everybody once the book has depth."""

import re
from collections.abc import AsyncIterator

import asyncpg
import pytest

from openspot.contracts.refusals import RefusalCode
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient
from tests.support.fair_prices import FakeFairPrices
from tests.support.fake_ledger import FakeLedger
from tests.support.router_client import RouterClient, running_router
from tests.support.waiting import eventually, stretched

CANCEL_ONLY_S = stretched(1.0)
"""Long enough that the first order comes within it."""


@pytest.fixture
async def settings(settings: Settings) -> Settings:
    opening = {"opening_cancel_only_s": CANCEL_ONLY_S, "opening_post_only_s": 3600.0}
    return settings.model_copy(update={"price_band": "fair_price"} | opening)


@pytest.fixture
async def router(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient, ledger: FakeLedger
) -> AsyncIterator[RouterClient]:
    """A router right after its start, with an empty book; BTC is worth 100 USD."""
    prices = FakeFairPrices(settings)
    await prices.start()
    await prices.publish("BTC-USD", "100")
    async with running_router(settings):
        yield RouterClient(bus)
    await prices.stop()


async def test_after_a_start_nobody_trades_until_both_sides_of_the_book_have_depth(router: RouterClient) -> None:
    closed = await router.submit("alice", price="99")
    assert closed.code is RefusalCode.PRE_TRADE_CHECK
    assert re.fullmatch(r"BTC-USD opens in [1-8] s: until then only cancels are taken", str(closed.error))

    async def is_taken() -> bool:
        return (await router.submit("alice", price="99", quantity="0.5")).success

    await eventually(is_taken)
    for fields in ({"type": "market"}, {"price": "100"}, {"side": "sell", "price": "99"}):
        refused = await router.submit("bob", **fields)
        assert str(refused.error).startswith("BTC-USD waits for its makers: until then"), fields
    assert (await router.submit("bob", side="sell", price="101", quantity="0.5")).success
    # 0.5 BTC on each side are not enough: a thousand times the least notional are 1,000 USD.
    assert not (await router.submit("carol", type="market", quantity="0.1")).success
    await router.place("alice", price="98", quantity="10")
    await router.place("bob", side="sell", price="102", quantity="10")

    async def is_open() -> bool:
        return (await router.submit("alice", type="market", quantity="0.1")).success

    await eventually(is_open)
