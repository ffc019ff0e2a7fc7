"""A generated order flow for `--sample`: a small market. The same seed gives the same flow.

The middle price walks at random. Many orders rest near it, some cross, and many are cancelled again. A few are market
orders, and a few break a rule on purpose, so that every kind of reply occurs.
"""

import random
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice

from openspot.replay.source import BookEvent

EVENTS = 2_000
START_PRICE = Decimal("250")
START_MS = 1_700_000_000_000
TICK = Decimal("0.01")
LOT = Decimal("0.00000001")
OPENING_LEVELS = 20
"""Orders on each side before the walk begins, so that market orders have a reference price."""

_MARKET_PRICE = Decimal(0)
_SMALLEST = LOT
"""A quantity below every market's minimum: such an order is rejected."""
_FAR = Decimal("0.25")
"""A price at this fraction of the middle price looks like a typing error (fat finger): such an order is rejected."""


def sample_events(seed: int) -> Iterator[BookEvent]:
    """The EVENTS events of a flow that depends on `seed` alone."""
    return islice(_Flow(random.Random(seed)).events(), EVENTS)  # noqa: S311  (a repeatable flow, not a secret)


class _Flow:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._middle = START_PRICE
        self._now = START_MS
        self._serial = 0
        self._live: list[BookEvent] = []

    def events(self) -> Iterator[BookEvent]:
        """The endless flow."""
        for level in range(1, OPENING_LEVELS + 1):
            for side, direction in (("buy", -1), ("sell", 1)):
                yield self._create(side, self._middle + direction * level * 100 * TICK, self._quantity())
        # The first trade: market orders and the fat-finger check need a last price.
        yield self._create("buy", self._middle + OPENING_LEVELS * 100 * TICK, Decimal("0.01"))
        while True:
            self._walk()
            yield self._next()

    def _walk(self) -> None:
        self._now += self._chance.randrange(1, 200)
        step = Decimal(self._chance.randrange(-2, 3)) * TICK
        self._middle = max(START_PRICE / 2, self._middle + step)

    def _next(self) -> BookEvent:
        kind = self._chance.random()
        side = self._chance.choice(("buy", "sell"))
        away = -1 if side == "buy" else 1
        if kind < 0.38 and self._live:
            return self._cancel()
        if kind < 0.78:
            distance = Decimal(self._chance.randrange(1, 16)) * TICK
            return self._create(side, self._middle + away * distance, self._quantity())
        if kind < 0.94:
            distance = Decimal(self._chance.randrange(0, 5)) * TICK
            return self._create(side, self._middle - away * distance, self._quantity())
        if kind < 0.97:
            return self._create(side, _MARKET_PRICE, self._quantity())
        if kind < 0.985:
            return self._create(side, self._middle, _SMALLEST)
        return self._create(side, (self._middle * _FAR).quantize(TICK), self._quantity())

    def _quantity(self) -> Decimal:
        return Decimal(self._chance.randrange(500_000, 50_000_000)) * LOT

    def _create(self, side: str, price: Decimal, quantity: Decimal) -> BookEvent:
        self._serial += 1
        event = BookEvent(f"sample-{self._serial}", self._now, price, quantity, "created", side)
        if price != _MARKET_PRICE:
            self._live.append(event)
        return event

    def _cancel(self) -> BookEvent:
        index = self._chance.randrange(len(self._live))
        self._live[index], self._live[-1] = self._live[-1], self._live[index]
        event = self._live.pop()
        return BookEvent(event.venue_id, self._now, event.price, event.volume, "deleted", event.side)
