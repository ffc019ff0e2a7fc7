"""The prices that the bots trade around."""

from decimal import Decimal

from openspot.demo.prices import CATCH_UP_NS, SimulatedPrices, usual_prices
from openspot.domain.market import load_markets

SEEDS = load_markets().seeds


def test_every_market_has_a_price_at_once_and_it_moves() -> None:
    prices = SimulatedPrices(SEEDS, 1, 0.5, {})
    first = dict(prices.mids)
    assert first.keys() == {seed.symbol for seed in SEEDS}
    prices.advance(60.0)
    still = [symbol for symbol, mid in prices.mids.items() if mid == first[symbol] and not symbol.startswith("USD")]
    assert still == []
    for symbol, mid in prices.mids.items():
        assert abs(mid / first[symbol] - 1) < Decimal("0.01")


def test_they_begin_where_the_markets_stand() -> None:
    usual = usual_prices(SEEDS)
    prices = SimulatedPrices(SEEDS, 1, 0.5, {"BTC": 0.1})
    assert abs(prices.mids["BTC-USD"] / usual["BTC-USD"] - Decimal("1.10517")) < Decimal("0.001")
    assert abs(prices.mids["ETH-BTC"] / usual["ETH-BTC"] - Decimal("0.90484")) < Decimal("0.001")
    assert prices.mids["ETH-USD"] == usual["ETH-USD"]
    prices.advance(20.0)
    assert abs(prices.mids["BTC-USD"] / usual["BTC-USD"] - Decimal("1.10517")) < Decimal("0.01")


def test_after_a_long_pause_only_the_last_seconds_are_played() -> None:
    paused, steady = (SimulatedPrices(SEEDS, 7, 0.5, {}) for _ in range(2))
    hour_s = 3600.0
    paused.advance(hour_s)
    steady.advance(CATCH_UP_NS / 1e9)
    assert paused.mids == steady.mids
    # From then on both clocks run on.
    paused.advance(hour_s + 5.0)
    steady.advance(CATCH_UP_NS / 1e9 + 5.0)
    assert paused.mids == steady.mids
