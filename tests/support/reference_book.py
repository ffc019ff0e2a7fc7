"""An order book rebuilt from the engine's event stream, order by order: what every other book is compared with.

It shares no code with market data, and no method either: it keeps orders, takes what is left of each from the events,
and adds up the levels when somebody looks.
"""

from collections.abc import Collection
from decimal import Decimal
from typing import NamedTuple

from openspot.contracts.engine_events import AcceptedEvent, EngineEvent, MovedEvent, ReduceEvent, TradeEvent

Levels = list[tuple[str, str]]
Sides = tuple[Levels, Levels]
_NEVER_RESTS = frozenset({"IOC", "FOK", "FOK_BUDGET"})


class _Order(NamedTuple):
    side: str
    price: Decimal
    remaining: Decimal


class ReferenceBook:
    """The book of one market. `apply` takes the engine's events from the first one on."""

    def __init__(self, symbol: str) -> None:
        self._symbol = symbol
        self._orders: dict[str, _Order] = {}

    def apply(self, event: EngineEvent) -> None:
        """Take the next event. Events that cannot change this market's book are ignored."""
        if getattr(event, "symbol", None) != self._symbol:
            return
        if isinstance(event, AcceptedEvent):
            if event.order_type not in _NEVER_RESTS:
                self._orders[event.engine_order_id] = _Order(event.side, Decimal(event.price), Decimal(event.quantity))
        elif isinstance(event, TradeEvent):
            self._set(event.maker_engine_order_id, event.maker_remaining)
            if event.taker_engine_order_id in self._orders:
                self._set(event.taker_engine_order_id, event.taker_remaining)
        elif isinstance(event, ReduceEvent):
            if event.engine_order_id in self._orders:
                self._set(event.engine_order_id, event.remaining)
        elif isinstance(event, MovedEvent):
            self._orders[event.engine_order_id] = _Order(event.side, Decimal(event.price), Decimal(event.remaining))

    @property
    def sides(self) -> Sides:
        """Bids and asks, best first, decimals in their shortest form."""
        levels: dict[str, dict[Decimal, Decimal]] = {"buy": {}, "sell": {}}
        for side, price, remaining in self._orders.values():
            levels[side][price] = levels[side].get(price, Decimal(0)) + remaining
        return (
            [(_text(price), _text(levels["buy"][price])) for price in sorted(levels["buy"], reverse=True)],
            [(_text(price), _text(levels["sell"][price])) for price in sorted(levels["sell"])],
        )

    def _set(self, order_id: str, remaining: str) -> None:
        left = Decimal(remaining)
        if left:
            self._orders[order_id] = self._orders[order_id]._replace(remaining=left)
        else:
            del self._orders[order_id]


def books_at(symbol: str, events: list[EngineEvent], sequences: Collection[int]) -> dict[int, Sides]:
    """The book of `symbol` as of each of these sequences; 0 is before the first event.

    `events` are all events from the first one on.
    """
    book, books = ReferenceBook(symbol), {0: ReferenceBook(symbol).sides}
    for event in events:
        book.apply(event)
        if event.seq in sequences:
            books[event.seq] = book.sides
    return books


def top(book: Sides, depth: int) -> Sides:
    """The best levels of a book."""
    return book[0][:depth], book[1][:depth]


def _text(amount: Decimal) -> str:
    return format(amount.normalize(), "f")
