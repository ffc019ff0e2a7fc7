"""The taker's rules: when it trades, on which side, and how much. Pure; chance is passed in."""

import math
import random
from dataclasses import dataclass
from decimal import Decimal

from openspot.demo.inventory import Appetite
from openspot.demo.market import DemoMarket, QuoteSide

SIZE_SPREAD = 0.8
"""Standard deviation of the logarithm of a size."""
SIZE_FACTOR_MAX = 4.0
"""Largest size, in multiples of the usual one. It is less than two levels of the maker, so no take empties a book."""
_CENTS = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Take:
    """A limit order that crosses the spread."""

    side: QuoteSide
    price: Decimal
    quantity: Decimal


def take(
    market: DemoMarket,
    mid: Decimal,
    wants: Appetite,
    usual_quantity: Decimal,
    reach_bps: Decimal,
    chance: random.Random,
) -> Take | None:
    """A take on one market, or None if the inventory allows neither side or the size is below the market's limits.

    The side is drawn at random, with the odds of the appetite: a taker that holds too much sells more often, and at the
    bound it only sells. The price is `reach_bps` beyond the mid, so that the order meets the maker's quotes.
    """
    either = wants.buy + wants.sell
    if either <= 0:
        return None
    side = QuoteSide.BUY if Decimal(chance.random()) * either < wants.buy else QuoteSide.SELL
    opposite = QuoteSide.SELL if side is QuoteSide.BUY else QuoteSide.BUY
    price = market.price(mid, opposite, reach_bps)
    factor = min(math.exp(chance.gauss(0.0, SIZE_SPREAD)), SIZE_FACTOR_MAX)
    quantity = market.quantity(usual_quantity * Decimal(factor).quantize(_CENTS), price)
    return Take(side, price, quantity) if quantity is not None else None


def pause_s(usual_s: float, chance: random.Random) -> float:
    """The pause before the next take on a market: 0.5 to 1.5 times the usual one."""
    return usual_s * (0.5 + chance.random())
