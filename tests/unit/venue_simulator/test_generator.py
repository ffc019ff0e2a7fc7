"""Invented messages: plausible, exact in their steps, consistent, and the same for each seed."""

from collections import Counter
from decimal import Decimal
from itertools import takewhile

import pytest

from openspot.domain.market import load_markets
from openspot.venue_simulator.events import Data, market_id, stamped
from openspot.venue_simulator.generator import Generator
from openspot.venue_simulator.merged import MergedSource
from tests.support.venue_book import ClientBook, first

SEEDS = load_markets().seeds
SECOND_NS = 1_000_000_000


def test_the_same_seed_gives_the_same_messages_and_another_one_others() -> None:
    one, same, other = (first(Generator(seed).events(), 2000) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_every_market_has_quotes_trades_and_depth_within_ten_seconds() -> None:
    events = takewhile(lambda event: event.at_ns < 10 * SECOND_NS, Generator(seed=1).events())
    streams = Counter(event.stream for event in events)
    for seed in SEEDS:
        for kind in ("bookTicker", "trade", "depth@100ms"):
            assert streams[f"{market_id(seed).lower()}@{kind}"] > 0, (seed.symbol, kind)


def levels_in(data: Data) -> list[tuple[str, str]]:
    """Every price with its quantity in a message."""
    if "B" in data:
        return [(data["b"], data["B"]), (data["a"], data["A"])]
    return [(data["p"], data["q"])] if "t" in data else [*data["b"], *data["a"]]


def test_prices_and_quantities_are_whole_steps_and_books_are_not_crossed() -> None:
    markets = {market_id(seed): seed for seed in SEEDS}
    for event in first(Generator(seed=3, quotes_per_s=20.0).events(), 6000):
        market, data = markets[event.data["s"]], event.data
        for price, quantity in levels_in(data):
            assert Decimal(price) > 0
            assert Decimal(price) % market.tick == 0
            assert Decimal(quantity) % market.lot == 0
            assert len(price.partition(".")[2]) == len(quantity.partition(".")[2]) == 8
            # Only a depth update removes a level.
            assert Decimal(quantity) > 0 or "U" in data
        if "B" in data:
            assert Decimal(data["b"]) < Decimal(data["a"])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_depth_updates_lead_to_the_book_that_quotes_show(seed: int) -> None:
    source = Generator(seed, quotes_per_s=20.0)
    clients = {market_id(market): ClientBook(source.first_book(market_id(market))) for market in source.markets}
    newest: dict[str, dict[str, str]] = {}
    trade_ids: dict[str, int] = {}
    for event in first(source.events(), 4000):
        name = event.data["s"]
        if "B" in event.data:
            newest[name] = event.data
        elif "t" in event.data:
            assert event.data["t"] == trade_ids.get(name, 0) + 1
            trade_ids[name] = event.data["t"]
        else:
            clients[name].take(event)
            top = clients[name].book.snapshot(1)
            quote = newest[name]
            assert list(top["bids"][0]) == [quote["b"], quote["B"]]
            assert list(top["asks"][0]) == [quote["a"], quote["A"]]
            assert top["lastUpdateId"] == quote["u"]
    assert all(client.updates > 10 for client in clients.values())


def test_trades_are_made_at_the_best_price_of_the_side_that_is_taken() -> None:
    newest: dict[str, dict[str, str]] = {}
    takers = Counter[bool]()
    for event in first(Generator(seed=4, quotes_per_s=20.0).events(), 6000):
        if "B" in event.data:
            newest[event.data["s"]] = event.data
        elif "t" in event.data and event.data["s"] in newest:
            quote = newest[event.data["s"]]
            assert event.data["p"] == (quote["b"] if event.data["m"] else quote["a"])
            takers[event.data["m"]] += 1
    assert min(takers.values()) > 100


def test_prices_agree_across_markets_and_stay_near_their_start() -> None:
    events = takewhile(lambda event: event.at_ns < 1200 * SECOND_NS, Generator(seed=5, quotes_per_s=0.1).events())
    mids: dict[str, list[float]] = {}
    for event in events:
        if "B" in event.data:
            mids.setdefault(event.data["s"], []).append((float(event.data["b"]) + float(event.data["a"])) / 2)
    for name, start in (("BTCUSD", 60_000), ("ETHUSDT", 3000), ("SOLBRL", 150 / 0.18), ("USDCUSD", 1)):
        assert all(0.5 * start < mid < 2 * start for mid in mids[name])
    assert len(set(mids["BTCUSD"])) > 50
    last = {name: values[-1] for name, values in mids.items()}
    assert last["ETHBTC"] == pytest.approx(last["ETHUSD"] / last["BTCUSD"], rel=0.01)
    assert last["BTCBRL"] / last["BTCUSD"] == pytest.approx(last["ETHBRL"] / last["ETHUSD"], rel=0.01)


def test_several_sources_are_played_as_one() -> None:
    bitcoin = [seed for seed in SEEDS if seed.symbol == "BTC-USDT"]
    others = [seed for seed in SEEDS if seed.symbol != "BTC-USDT"]
    merged = MergedSource([Generator(1, bitcoin, 50.0), Generator(2, others)])
    assert {market.symbol for market in merged.markets} == {seed.symbol for seed in SEEDS}
    events = first(merged.events(), 5000)
    assert [event.at_ns for event in events] == sorted(event.at_ns for event in events)
    assert {event.data["s"] for event in events} == {market_id(seed) for seed in SEEDS}
    assert merged.first_book("BTCUSDT").snapshot(5) == Generator(1, bitcoin).first_book("BTCUSDT").snapshot(5)


def test_times_are_those_of_the_sending_and_a_trade_stays_as_old_as_it_was() -> None:
    assert stamped({"u": 1, "b": "1"}, 5000) == {"u": 1, "b": "1"}
    assert stamped({"e": "depthUpdate", "E": 700}, 5000) == {"e": "depthUpdate", "E": 5000}
    assert stamped({"E": 700, "T": 697, "p": "1"}, 5000) == {"E": 5000, "T": 4997, "p": "1"}
