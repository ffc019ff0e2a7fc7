"""An invented past of the charts: candles whose prices walk at random and end where the bots begin. Pure rules."""

import math
import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from openspot.demo.market import DemoMarket
from openspot.domain.candles import Interval, begin_of
from openspot.market_data.imported_candles import ImportedCandle
from openspot.venue_simulator.generator import SECONDS_PER_YEAR, volatility

SEED = 20
MINUTES = 12 * 60
HOURS = 30 * 24
"""The past is so many hours, of which the last MINUTES are in candles of one minute."""
DOLLARS_PER_MINUTE = 2000.0
_WICK = 0.4
"""How far high and low reach beyond open and close, in steps of the walk."""


class _Step(NamedTuple):
    interval: Interval
    begins_at: datetime


def invented_past(markets: Sequence[DemoMarket], dollars: Mapping[str, Decimal], now: datetime) -> list[ImportedCandle]:
    """Candles of every market until the last whole minute before `now`. At its end each asset is worth `dollars`.

    The walks are those of the assets, so that prices agree across markets. The same time has the same past.
    """
    chance = random.Random(SEED)  # noqa: S311  (prices, not secrets)
    steps = _steps(begin_of(Interval.M1, now))
    distances = dict.fromkeys(dollars, 0.0)
    found = []
    for step in steps:
        scale = math.sqrt(step.interval.length.total_seconds() / SECONDS_PER_YEAR)
        earlier = {
            asset: distance + chance.gauss(0.0, scale * volatility(asset)) for asset, distance in distances.items()
        }
        for market in markets:
            width = _WICK * scale * max(volatility(market.base), volatility(market.quote))
            found.append(_candle(market, dollars, (earlier, distances), step, width, chance))
        distances = earlier
    return found


def _steps(end: datetime) -> list[_Step]:
    """The candles' intervals, the last one first: minutes back to a whole hour, and hours before it."""
    first_minute = begin_of(Interval.H1, end - timedelta(minutes=MINUTES))
    minutes = int((end - first_minute) / Interval.M1.length)
    return [
        *(_Step(Interval.M1, end - number * Interval.M1.length) for number in range(1, minutes + 1)),
        *(_Step(Interval.H1, first_minute - number * Interval.H1.length) for number in range(1, HOURS + 1)),
    ]


def _candle(
    market: DemoMarket,
    dollars: Mapping[str, Decimal],
    distances: tuple[Mapping[str, float], Mapping[str, float]],
    step: _Step,
    width: float,
    chance: random.Random,
) -> ImportedCandle:
    """A candle that goes from the first distances to the second ones."""
    usual = float(dollars[market.base] / dollars[market.quote])
    begin, end = (usual * math.exp(at[market.base] - at[market.quote]) for at in distances)
    high = max(begin, end) * (1 + abs(chance.gauss(0.0, width)))
    low = min(begin, end) * (1 - abs(chance.gauss(0.0, width)))
    minutes = step.interval.length / Interval.M1.length
    volume = DOLLARS_PER_MINUTE * minutes * math.exp(chance.gauss(0.0, 0.5)) / float(dollars[market.base])
    first, highest, lowest, last = (max(market.tick, _on(price, market.tick)) for price in (begin, high, low, end))
    return ImportedCandle(
        market.symbol, step.interval, step.begins_at, first, highest, lowest, last, _on(volume, market.lot)
    )


def _on(value: float, step: Decimal) -> Decimal:
    """`value` on the nearest multiple of `step`."""
    return (Decimal(value) / step).to_integral_value() * step
