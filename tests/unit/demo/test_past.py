"""The invented past: it ends where the bots begin, is repeatable, and could be a file of another venue."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from openspot.demo.market import demo_markets
from openspot.demo.past import HOURS, MINUTES, invented_past
from openspot.demo.prices import usual_prices
from openspot.demo.valuation import dollar_prices
from openspot.domain.candles import Interval
from openspot.domain.market import load_markets
from openspot.market_data.imported_candles import COLUMNS, read_candles

NOW = datetime(2026, 1, 7, 9, 41, 30, tzinfo=UTC)
CONFIGURATION = load_markets()
MARKETS = demo_markets(CONFIGURATION)
USUAL = usual_prices(CONFIGURATION.seeds)


def test_every_market_has_candles_that_join_and_end_at_the_bots_first_price() -> None:
    found = invented_past(MARKETS, dollar_prices(MARKETS, USUAL), NOW)
    for market in MARKETS:
        candles = sorted((c for c in found if c.symbol == market.symbol), key=lambda candle: candle.begins_at)
        assert candles[-1].begins_at == datetime(2026, 1, 7, 9, 40, tzinfo=UTC)
        assert abs(candles[-1].close - USUAL[market.symbol]) <= max(market.tick, USUAL[market.symbol] / 1000)
        for earlier, later in pairwise(candles):
            assert earlier.begins_at + earlier.interval.length == later.begins_at
            assert earlier.close == later.open
        minutes = [candle for candle in candles if candle.interval is Interval.M1]
        assert MINUTES <= len(minutes) < MINUTES + 60
        assert len(candles) - len(minutes) == HOURS


def test_the_same_time_has_the_same_past_and_the_import_would_read_it() -> None:
    prices = dollar_prices(MARKETS, USUAL)
    found = invented_past(MARKETS[:2], prices, NOW)
    assert found == invented_past(MARKETS[:2], prices, NOW + timedelta(seconds=20))
    lines = [",".join(COLUMNS)] + [
        f"{c.symbol},{c.begins_at.isoformat()},{c.open:f},{c.high:f},{c.low:f},{c.close:f},{c.volume:f},{c.interval}"
        for c in found
    ]
    assert read_candles(lines, {market.symbol for market in MARKETS}, NOW) == found
    assert all(isinstance(c.close, Decimal) for c in found)
