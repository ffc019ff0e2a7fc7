"""The fair prices that a process knows: the newest of each market, for as long as it comes again."""

from typing import Any

import pytest

from openspot.contracts.messages import FairPriceEvent
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.money import text_to_amount
from openspot.market_data_client import fair_prices
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.market_data_client.fair_prices import FairPrices
from tests.support.fair_prices import fair_price_event


class Bench:
    """Prices that follow a bus of the test."""

    read_timeout_s = 2.0

    def __init__(self) -> None:
        self.now = 100.0
        self.replies: list[FairPriceEvent] | None = []
        self.requests = 0
        self.reply_s = 0.0
        bus: Any = self
        self.prices = FairPrices(bus, lambda: self.now, stale_s=10)
        self.prices._client = bus

    async def subscribe(self, _subject: str, _kind: Any, handler: Any) -> None:
        self.handler = handler

    async def fair_prices(self) -> list[FairPriceEvent]:
        self.requests += 1
        self.now += self.reply_s
        if self.replies is None:
            raise MarketDataUnavailableError("silent")
        return self.replies

    async def publish(self, price: str, timestamp: int, symbol: str = "BTC-USD", **fields: Any) -> None:
        await self.handler(f"marketdata.fairprice.{symbol}", fair_price_event(symbol, price, timestamp, **fields))

    def shown(self, symbol: str = "BTC-USD") -> tuple[int, PriceState] | None:
        found = self.prices.of(symbol)
        return None if found is None else (found.price, found.state)


@pytest.fixture
async def bench() -> Bench:
    made = Bench()
    await made.prices.follow()
    return made


async def test_an_older_price_never_replaces_a_newer_one(bench: Bench) -> None:
    for price, timestamp, known in (("5", 10, 5), ("4", 9, 5), ("6", 10, 6), ("7", 11, 7), ("8", 10, 7)):
        await bench.publish(price, timestamp)
        assert bench.shown() == (text_to_amount(str(known)), PriceState.GOOD)


async def test_an_old_message_does_not_keep_a_price_fresh(bench: Bench) -> None:
    await bench.publish("5", 10)
    bench.now = 109.9
    await bench.publish("5", 9)
    assert bench.shown() == (text_to_amount("5"), PriceState.GOOD)
    bench.now = 110.0
    assert bench.shown() == (text_to_amount("5"), PriceState.STALE)
    await bench.publish("5", 10)
    assert bench.shown() == (text_to_amount("5"), PriceState.GOOD)


async def test_what_waited_while_the_process_stood_still_is_no_news(bench: Bench) -> None:
    await bench.publish("180", 10)
    # It stands still for ten minutes. In its connection wait prices of before.
    bench.now = 700.0
    bench.replies = None
    await bench.publish("181", 11)
    assert bench.shown() == (text_to_amount("180"), PriceState.STALE)
    bench.replies = [fair_price_event("BTC-USD", "104", 600)]
    await bench.publish("182", 12)
    assert bench.shown() == (text_to_amount("104"), PriceState.GOOD)
    # From then on published prices count again, without asking, unless they are older.
    requests = bench.requests
    for price, timestamp, known in (("183", 13, "104"), ("105", 601, "105")):
        await bench.publish(price, timestamp)
        assert bench.shown() == (text_to_amount(known), PriceState.GOOD)
    assert bench.requests == requests


async def test_a_pause_that_is_shorter_than_a_price_lives_asks_nobody(bench: Bench) -> None:
    await bench.publish("5", 10)
    bench.now = 109.9
    await bench.publish("6", 11)
    assert (bench.shown(), bench.requests) == ((text_to_amount("6"), PriceState.GOOD), 1)
    bench.now = 119.9
    bench.replies = [fair_price_event("BTC-USD", "6", 11)]
    await bench.publish("7", 12)
    assert (bench.shown(), bench.requests) == ((text_to_amount("7"), PriceState.GOOD), 2)


async def test_a_reply_is_as_old_as_the_request(bench: Bench) -> None:
    bench.now, bench.reply_s = 200.0, 600.0
    bench.replies = [fair_price_event("BTC-USD", "180", 10)]
    await bench.prices.refresh()
    assert bench.shown() == (text_to_amount("180"), PriceState.STALE)


async def test_a_price_is_taken_whole(bench: Bench) -> None:
    fields = {"low": "4", "high": "6", "day_median": "5.5", "sellable": "7", "buyable": "8", "reason": "few owners"}
    await bench.publish("5", 10, state=PriceState.THIN, **fields)
    texts = {name: text_to_amount(fields[name]) for name in ("low", "high", "day_median", "sellable", "buyable")}
    assert bench.prices.all() == {
        "BTC-USD": FairPrice(
            symbol="BTC-USD", state=PriceState.THIN, price=text_to_amount("5"), timestamp_ms=10, reason="few owners",
            **texts,
        )
    }  # fmt: skip


@pytest.mark.parametrize("fields", [{"low": "6"}, {"high": "4"}, {"low": "0"}, {"low": "5", "high": "1" + "0" * 19}])
async def test_what_cannot_be_a_price_changes_nothing(bench: Bench, fields: dict[str, str]) -> None:
    await bench.publish("5", 11, **fields)
    assert bench.shown() is None


async def test_all_prices_are_asked_for_at_most_once_a_second(bench: Bench) -> None:
    bench.replies = [fair_price_event("ETH-USD", "3", 5)]
    for bench.now, requests in ((100.9, 1), (101.0, 2), (101.5, 2), (102.0, 3)):
        await bench.prices.refresh()
        assert bench.requests == requests
    assert bench.shown("ETH-USD") == (text_to_amount("3"), PriceState.GOOD)


async def test_no_more_markets_are_kept_than_there_can_be(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_prices, "SYMBOLS_MAX", 1)
    await bench.publish("5", 10)
    await bench.publish("3", 10, "ETH-USD")
    await bench.publish("6", 11)
    assert (bench.shown("ETH-USD"), bench.shown()) == (None, (text_to_amount("6"), PriceState.GOOD))
