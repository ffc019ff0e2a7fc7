"""The reference core's order books: price levels, and the two sides of a symbol.

A level is a dict of orders by id. A dict keeps the order of insertion, so it is the queue of its price, oldest
order first. A side has its levels by key, and a sorted list of the keys, the best one last. The key of a bid is its
price, and the key of an ask is its negated price, so a better price has a greater key on both sides. A level without
orders is removed.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass

from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS
from openspot.domain.order import Side
from openspot.engine.core.protocol import DepthLevel, Symbol
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_order_list import OrderList


@dataclass(slots=True)
class PhaseState:
    """The phase of a market.

    `ends` is when it ends, in nanoseconds since 1970, or 0. Of UNCROSSING, `following` is the phase that comes next, to
    which `ends` belongs, and `price` that of the auction, or 0 until it is calculated.
    """

    phase: MarketPhase = MarketPhase.CONTINUOUS
    ends: int = 0
    following: MarketPhase = MarketPhase.CONTINUOUS
    price: int = 0


class QueuedSide:
    """The bids or the asks of a symbol."""

    def __init__(self, side: Side) -> None:
        self._sign = 1 if side == Side.BUY else -1
        self._levels: dict[int, dict[int, BookOrder]] = {}
        self._keys: list[int] = []

    def add(self, order: BookOrder) -> None:
        """Put `order` at the end of the queue of its price."""
        key = self._sign * order.price
        if key not in self._levels:
            self._levels[key] = {}
            insort(self._keys, key)
        self._levels[key][order.order_id] = order

    def remove(self, order: BookOrder) -> None:
        """Take `order` out of its queue. Raises KeyError if it does not rest here."""
        key = self._sign * order.price
        level = self._levels[key]
        del level[order.order_id]
        if not level:
            del self._levels[key]
            del self._keys[bisect_left(self._keys, key)]

    def best(self) -> BookOrder | None:
        """The order with priority: the oldest at the best price (facts A1-02, A1-03)."""
        if not self._keys:
            return None
        return next(iter(self._levels[self._keys[-1]].values()))

    def orders(self) -> Iterator[BookOrder]:
        """All orders by priority. The side must not change while it is read."""
        for key in reversed(self._keys):
            yield from self._levels[key].values()

    def levels(self) -> Iterator[list[BookOrder]]:
        """The queues of all prices, best price first. The side must not change while it is read."""
        for key in reversed(self._keys):
            yield list(self._levels[key].values())

    def depth(self, levels: int) -> list[DepthLevel]:
        """The best `levels` prices, best first, with the quantities that are shown; 0 means all."""
        keys = self._keys[-levels:] if levels else self._keys
        return [
            DepthLevel(self._sign * key, sum(order.shown for order in level.values()), len(level))
            for key, level in ((key, self._levels[key]) for key in reversed(keys))
        ]

    def volumes(self) -> Iterator[tuple[int, int]]:
        """All prices, best first, with the whole quantities of their orders."""
        for level in self.levels():
            yield level[0].price, sum(order.remaining for order in level)


class SymbolBook:
    """A symbol, its two sides, and the exact arithmetic of its scales (amounts have 18 places)."""

    def __init__(self, symbol: Symbol) -> None:
        self.symbol = symbol
        self.bids = QueuedSide(Side.BUY)
        self.asks = QueuedSide(Side.SELL)
        self.last_price = 0
        """The price of the last trade since the core remembers prices; 0 if there was none."""
        self.mark_price = 0
        """The mark price; 0 if there was none."""
        self.phase = PhaseState()
        self.fired: dict[int, int] = {}
        """The orders that wait for their activation, in its order: order id → the price that fired it."""
        self.arming: dict[int, OrderList] = {}
        """The lists that wait until their exits get what their entry has filled, in their order, by id."""
        self._base_unit = AMOUNT_SCALE // symbol.base_scale_k
        self._quote_unit = AMOUNT_SCALE // (symbol.base_scale_k * symbol.quote_scale_k)

    def reference_price(self, *, by_mark: bool) -> int:
        """The last or the mark price, 0 if it is unknown."""
        return self.mark_price if by_mark else self.last_price

    @property
    def auction_reference(self) -> int:
        """The price that decides between prices that are equal for an auction: the last trade, else the mark price."""
        return self.last_price or self.mark_price

    @property
    def is_crossed(self) -> bool:
        """Whether the best bid reaches the best ask."""
        bid, ask = self.bids.best(), self.asks.best()
        return bid is not None and ask is not None and bid.price >= ask.price

    def own_side(self, order: BookOrder) -> QueuedSide:
        """The side where `order` rests."""
        return self.bids if order.side == Side.BUY else self.asks

    def opposite_side(self, order: BookOrder) -> QueuedSide:
        """The side that `order` trades against."""
        return self.asks if order.side == Side.BUY else self.bids

    def orders(self) -> Iterator[BookOrder]:
        """All orders, bids first, each side by priority."""
        yield from self.bids.orders()
        yield from self.asks.orders()

    def base_amount(self, quantity: int) -> int:
        """`quantity` in amount units of the base asset."""
        return quantity * self._base_unit

    def notional(self, price: int, quantity: int) -> int:
        """The cost of `quantity` at `price`, in amount units of the quote asset."""
        return price * quantity * self._quote_unit

    def fee(self, price: int, quantity: int, fee_bps: int) -> int:
        """The fee on a trade, in the quote asset; negative is a rebate. Exact, because of the rules for scales."""
        return price * quantity * (self._quote_unit // BASIS_POINTS) * fee_bps

    def held_currency(self, order: BookOrder) -> int:
        """The currency that an order holds funds in."""
        return self.symbol.quote if order.side == Side.BUY else self.symbol.base

    def hold(self, order: BookOrder) -> int:
        """The funds that an order with a limit holds: a BUY's cost at its reserve price and worst fee, or a
        SELL's base amount."""
        if order.covered:
            return 0
        if order.side == Side.SELL:
            return self.base_amount(order.remaining)
        fee = self.fee(order.reserve_price, order.remaining, order.worst_fee_bps)
        return self.notional(order.reserve_price, order.remaining) + fee

    def locked(self, order: BookOrder) -> int:
        """The part of the hold that balances show as locked: without fees, at the limit price."""
        if order.covered:
            return 0
        if order.side == Side.SELL:
            return self.base_amount(order.remaining)
        return self.notional(order.price, order.remaining)
