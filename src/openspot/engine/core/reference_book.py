"""The reference core's order book: orders, price levels, and the two sides of a symbol.

A level is a dict of orders by id: dicts keep the order of insertion, so it is the queue of its price, oldest
first. A side keeps the sorted keys of its levels with the best one last; a key is the price of a bid and
minus the price of an ask, so that "better" is "greater" on both sides. A level exists while it has orders.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field

from openspot.domain.order import EngineOrderType, Side
from openspot.engine.core.protocol import OpenOrder


@dataclass(slots=True)
class Order:
    """A resting or incoming order. Prices and quantities are scaled integers, fees basis points.

    The fees are those of its PLACE and stay with it. `reserve_price` is that of a BUY with a limit, else 0.
    """

    order_id: int
    account: int
    symbol: int
    side: int
    order_type: int
    price: int
    reserve_price: int
    quantity: int
    remaining: int
    taker_fee_bps: int
    maker_fee_bps: int
    timestamp: int

    @property
    def has_limit(self) -> bool:
        """Whether a price bounds it. A FOK_BUDGET order takes any price that its budget allows."""
        return self.order_type != EngineOrderType.FOK_BUDGET

    def allows(self, resting_price: int) -> bool:
        """Whether its limit lets it trade at the price of an order on the opposite side."""
        if not self.has_limit:
            return True
        return resting_price <= self.price if self.side == Side.BUY else resting_price >= self.price

    def as_open_order(self) -> OpenOrder:
        """What a query shows of it."""
        return OpenOrder(
            self.order_id,
            self.account,
            self.symbol,
            self.side,
            self.order_type,
            self.price,
            self.reserve_price,
            self.quantity,
            self.remaining,
            self.timestamp,
        )


class BookSide:
    """The bids or the asks of a symbol."""

    def __init__(self, side: Side) -> None:
        self._sign = 1 if side == Side.BUY else -1
        self._levels: dict[int, dict[int, Order]] = {}
        self._keys: list[int] = []

    def add(self, order: Order) -> None:
        """Put `order` behind the queue of its price."""
        key = self._sign * order.price
        if key not in self._levels:
            self._levels[key] = {}
            insort(self._keys, key)
        self._levels[key][order.order_id] = order

    def remove(self, order: Order) -> None:
        """Take `order` out of its queue. Raises KeyError if it does not rest here."""
        key = self._sign * order.price
        level = self._levels[key]
        del level[order.order_id]
        if not level:
            del self._levels[key]
            del self._keys[bisect_left(self._keys, key)]

    def best(self) -> Order | None:
        """The first order in priority: best price, oldest at it (facts A1-02, A1-03)."""
        if not self._keys:
            return None
        return next(iter(self._levels[self._keys[-1]].values()))

    def orders(self) -> Iterator[Order]:
        """All orders by priority. The side must not change meanwhile."""
        for key in reversed(self._keys):
            yield from self._levels[key].values()

    def depth(self, levels: int) -> list[tuple[int, int, int]]:
        """(price, total remaining, orders) of the best `levels` prices, or of all for 0."""
        keys = self._keys[-levels:] if levels else self._keys
        return [
            (self._sign * key, sum(order.remaining for order in level.values()), len(level))
            for key, level in ((key, self._levels[key]) for key in reversed(keys))
        ]


@dataclass(slots=True)
class Book:
    """The two sides of a symbol."""

    bids: BookSide = field(default_factory=lambda: BookSide(Side.BUY))
    asks: BookSide = field(default_factory=lambda: BookSide(Side.SELL))

    def own(self, order: Order) -> BookSide:
        """The side where `order` rests."""
        return self.bids if order.side == Side.BUY else self.asks

    def opposite(self, order: Order) -> BookSide:
        """The side that `order` trades against."""
        return self.asks if order.side == Side.BUY else self.bids

    def orders(self) -> Iterator[Order]:
        """All orders, bids first, each side by priority."""
        yield from self.bids.orders()
        yield from self.asks.orders()
