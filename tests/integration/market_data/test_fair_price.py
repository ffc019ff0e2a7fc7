"""The fair price on the bus: published every second, served, kept, and continued by the next leader."""

from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import FairPriceEvent, VenueBookTicker
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.market_data.operator import PriceOperator
from openspot.market_data_client.requests import MarketDataClient
from tests.support.engine_client import EngineClient
from tests.support.market_data import Heard, running_market_data
from tests.support.mirrored_market import MirroredMarket, mirrored_market
from tests.support.waiting import eventually

SYMBOL = "BTC-USD"
QUICK = {"fair_price_standing_s": 2, "fair_price_owners_min": 3, "fair_price_parts_min": 1}
Figures = tuple[str, str, str, str]


@pytest.fixture
async def market(settings: Settings, bus: Bus, pool: asyncpg.Pool) -> AsyncIterator[MirroredMarket]:
    """Engine, router and ledger, and users with funds."""
    async with mirrored_market(settings, bus, pool) as made:
        await made.fund()
        yield made


def figures(event: FairPriceEvent) -> Figures:
    return event.state, event.price, event.sellable, event.buyable


async def is_published(heard: Heard, wanted: Figures, symbol: str = SYMBOL) -> FairPriceEvent:
    """Wait until this is the newest price."""
    prices = heard.fair_prices[symbol]
    await eventually(lambda: bool(prices) and figures(prices[-1]) == wanted)
    return prices[-1]


async def trade_and_quote(market: MirroredMarket) -> None:
    """33,000 USD in trades at 1,000 between three users, and a book with its middle at 1,010."""
    for buyer, seller in (("alice", "bob"), ("carol", "alice"), ("bob", "carol")):
        await market.place("buy", "1000", "11", buyer)
        await market.place("sell", "1000", "11", seller)
    await market.place("buy", "1000", "4", "alice")
    await market.place("sell", "1020", "5", "bob")


async def test_a_price_is_published_each_second_and_continued_by_the_next_leader(
    settings: Settings,
    bus: Bus,
    pool: asyncpg.Pool,
    market: MirroredMarket,
    heard: Heard,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("openspot.market_data.leader_session.TICK_S", 0.2)
    # Or an unchanged price would come every three seconds.
    monkeypatch.setattr("openspot.market_data.unchanged_prices.UNCHANGED_S", 0.0)
    quick = settings.model_copy(update=QUICK)
    async with running_market_data(quick):
        # Before anybody trades, the platform's settings say what the assets are worth.
        await is_published(heard, ("thin", "100000", "0", "0"))
        await PriceOperator(pool).set_price(
            "ETH-USD", "4200", timedelta(hours=1), reason="halted", who="olga", is_far_meant=False
        )
        await trade_and_quote(market)
        good = await is_published(heard, ("good", "1010", "4", "5"))
        assert (good.low, good.high, good.reason) == ("1000", "1010", "")
        # The day so far: first the trades alone said the price.
        assert good.day_median in ("1000", "1010")
        await is_published(heard, ("good", "4200", "0", "0"), "ETH-USD")
        # It comes again and again, though nothing happens.
        count = len(heard.fair_prices[SYMBOL])
        await eventually(lambda: len(heard.fair_prices[SYMBOL]) >= count + 2)
        served = {event.symbol: event for event in await MarketDataClient(bus).fair_prices()}
        assert figures(served[SYMBOL]) == figures(good)
        assert served[SYMBOL].timestamp >= good.timestamp

    row = await pool.fetchrow("SELECT * FROM fair_prices WHERE symbol = $1", SYMBOL)
    assert row is not None
    assert (row["state"], row["price"], row["standing_price"]) == ("good", 1010, 1010)
    assert row["move_cost"] > 0
    assert await pool.fetchval("SELECT count(*) FROM fair_price_samples WHERE symbol = $1", SYMBOL) >= 1

    heard.fair_prices.clear()
    async with running_market_data(quick):
        await eventually(lambda: len(heard.fair_prices[SYMBOL]) >= 15)
    # No price of the new leader is less sure, or another one: it read the trades of before.
    assert {figures(event) for event in heard.fair_prices[SYMBOL]} == {figures(good)}


async def test_the_quote_of_a_venue_is_a_source(
    settings: Settings, engine: EngineClient, bus: Bus, heard: Heard
) -> None:
    quote = VenueBookTicker("v", SYMBOL, "999", "1", "1001", "1", 1)
    async with running_market_data(settings):

        async def is_taken() -> bool:
            await bus.announce(subjects.of_venue("v", subjects.VENUE_BOOK_TICKER, SYMBOL), quote)
            prices = heard.fair_prices[SYMBOL]
            return bool(prices) and prices[-1].price == "1000"

        await eventually(is_taken)
    newest = heard.fair_prices[SYMBOL][-1]
    assert (newest.state, newest.low, newest.high) == ("thin", "1000", "1000")
    assert newest.reason == (
        "The price rests on an outside venue alone. "
        "It becomes sure when more people trade or when an outside price comes."
    )
