"""How much a liquidation trades at once, and at which price at worst. All figures are integers at 18 places.

A liquidation trades in slices: each order is at most what its market can absorb near the fair price, and no order
trades at a worse price than the fair price less a bound (for a buy: plus that bound). So whoever pushes the price away
from the fair one cannot be the buyer of what is sold.
"""

from typing import NamedTuple

from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS
from openspot.domain.order import Side
from openspot.domain.symbol import SymbolSpec
from openspot.margin.figures import Marks, forced_high, forced_low

_KEPT_MAX = 10_000


def forced_price(marks: Marks, base: str, quote: str, side: Side) -> int:
    """The price of `base` in `quote` near which a liquidation trades, at least 1.

    It is the fair price. Where nothing outside confirms that, it is not worse for the account than what a liquidation
    may believe of it: so whoever makes a price here does not buy far below the day's median.
    """
    own, other = marks[base], marks[quote]
    if side is Side.SELL:
        price, of_quote = forced_low(own, own.price), forced_high(other, other.price)
    else:
        price, of_quote = forced_high(own, own.price), forced_low(other, other.price)
    return max(price * AMOUNT_SCALE // of_quote, 1)


def bound_price(price: int, side: Side, bps: int, spec: SymbolSpec) -> int:
    """The worst price that an order may trade at: `bps` basis points from `price`, rounded towards it to a tick."""
    if side is Side.SELL:
        return in_ticks(-(-price * (BASIS_POINTS - bps) // BASIS_POINTS), side, spec)
    return in_ticks(price * (BASIS_POINTS + bps) // BASIS_POINTS, side, spec)


def in_ticks(price: int, side: Side, spec: SymbolSpec) -> int:
    """The worst price of an order in whole ticks: rounded up for a sell, down for a buy, and at least one tick."""
    tick = spec.tick * (AMOUNT_SCALE // spec.quote_scale_k)
    ticks = -(-price // tick) if side is Side.SELL else price // tick
    return max(ticks, 1) * tick


def absorbed(marks: Marks, base: str, quote: str, side: Side) -> int | None:
    """The quantity of `base` that its market with `quote` can absorb; None where no bound is known.

    Whoever sells the base asset buys the quote asset. So where the base is the valuation asset, the bound is the
    quote's.
    """
    own, other = marks[base], marks[quote]
    found = own.sellable if side is Side.SELL else own.buyable
    if found is not None:
        return found
    of_quote = other.buyable if side is Side.SELL else other.sellable
    return None if of_quote is None else of_quote * other.price // own.price


def is_fair(bound: int, side: Side, now: int) -> bool:
    """Whether an order with this worst price may still be placed where the worst price that may be taken is `now`."""
    return bound >= now if side is Side.SELL else bound <= now


class _Taken(NamedTuple):
    began_ms: int
    quantity: int


class Slices:
    """What the liquidations of this process have traded in each market lately.

    All of them together trade at most what a market can absorb in each pause. `pause_ms` is the time after which the
    market can absorb as much again.
    """

    def __init__(self, pause_ms: int) -> None:
        self._pause_ms = pause_ms
        self._taken: dict[tuple[str, Side], _Taken] = {}

    def left(self, symbol: str, side: Side, absorbed: int | None, now_ms: int) -> int | None:
        """What may still be traded now, if the market can absorb `absorbed`. None without a bound."""
        if absorbed is None:
            return None
        taken = self._taken.get((symbol, side))
        if taken is None or now_ms - taken.began_ms >= self._pause_ms:
            return absorbed
        return max(absorbed - taken.quantity, 0)

    def take(self, symbol: str, side: Side, quantity: int, now_ms: int) -> None:
        """Note what an order will trade at most."""
        taken = self._taken.get((symbol, side))
        if taken is None or now_ms - taken.began_ms >= self._pause_ms:
            taken = _Taken(now_ms, 0)
        if (symbol, side) in self._taken or len(self._taken) < _KEPT_MAX:
            self._taken[symbol, side] = _Taken(taken.began_ms, taken.quantity + quantity)
