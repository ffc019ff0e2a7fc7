"""Bands on fair prices: no print moves them, a restart has them at once, and an uncertain market is not frozen."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from openspot.domain.fair_price.model import PriceState
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient
from tests.support.fair_prices import FakeFairPrices
from tests.support.fake_ledger import FakeLedger
from tests.support.router_client import Published, RouterClient, running_router
from tests.support.waiting import eventually

WIDTH = 2000
"""The deviation of BTC-USD in markets.toml."""


@pytest.fixture
async def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"price_band": "fair_price"})


@pytest.fixture
async def prices(settings: Settings) -> AsyncIterator[FakeFairPrices]:
    """Market data, for which BTC is worth 100 USD."""
    published = FakeFairPrices(settings)
    await published.start()
    await published.publish("BTC-USD", "100")
    yield published
    await published.stop()


@pytest.fixture
async def router(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient, ledger: FakeLedger, prices: FakeFairPrices
) -> AsyncIterator[RouterClient]:
    async with running_router(settings):
        yield RouterClient(bus)


async def test_two_accounts_that_trade_with_each_other_cannot_walk_the_band(
    router: RouterClient, published: Published
) -> None:
    await router.place("alice", price="119")
    await router.place("bob", side="sell", price="119")
    await eventually(published.trades)
    # Around the last trade this would be allowed.
    refused = await router.submit("alice", price="121")
    assert refused.error == f"price 121 deviates from the fair price 100 by more than {WIDTH} bps on BTC-USD"
    # And everybody honest still trades: with the last trade at 81, a buy at 119 would be refused.
    await router.place("alice", price="81")
    await router.place("bob", side="sell", price="81")
    await eventually(lambda: len(published.trades()) == 2)
    assert (await router.submit("alice", price="119")).success


async def test_a_new_router_knows_the_price_at_once_and_refuses_ten_times_it(router: RouterClient) -> None:
    assert (await router.submit("alice", type="market", quantity="0.1")).success
    refused = await router.submit("alice", price="1000")
    assert refused.error == f"price 1000 deviates from the fair price 100 by more than {WIDTH} bps on BTC-USD"


async def test_a_disputed_price_widens_the_band_and_a_new_price_moves_it(
    router: RouterClient, prices: FakeFairPrices
) -> None:
    assert not (await router.submit("alice", price="139")).success
    await prices.publish("BTC-USD", "100", state=PriceState.DISPUTED, reason="the sources differ")

    async def accepted(price: str) -> bool:
        return (await router.submit("alice", price=price)).success

    assert await eventually(lambda: accepted("139"))
    assert not await accepted("141")
    await prices.publish("BTC-USD", "200")
    assert await eventually(lambda: accepted("239"))
    assert not await accepted("139")


async def test_without_a_fair_price_only_market_orders_are_refused(router: RouterClient) -> None:
    refused = await router.submit("alice", symbol="ETH-USD", type="market", quantity="0.1")
    assert refused.error == "no fair price for ETH-USD yet: a market order needs one, a limit order does not"
    assert (await router.submit("alice", symbol="ETH-USD", price="1", quantity="100")).success
