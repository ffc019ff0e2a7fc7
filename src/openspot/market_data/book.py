"""A market's order book, built from the engine's events: rules without IO.

The book is level 2: it knows levels, not orders. Two facts about orders it must remember, because later events lack
them: the price at which an order rests (a MOVED event names only the new one), and which orders never rest (IOC, FOK).
An iceberg counts as one of these until its `shown` says what it shows.

While a command's events are applied, the book may be crossed: an order that matches at once is entered whole, and then
shrinks trade by trade. `is_whole` is false then, and the book is not shown. In an auction it is crossed for longer.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from openspot.contracts.engine_events import (
    AcceptedEvent,
    MovedEvent,
    ReduceEvent,
    ShownEvent,
    TradeEvent,
    TriggeredEvent,
)
from openspot.contracts.messages.market_data import Level, OrderBookEvent
from openspot.domain.money import amount_to_text
from openspot.domain.order_book import (
    CHECKSUM_LEVELS,
    BookContradictionError,
    RankedSide,
    amount_of,
    checksum,
    differences,
)

_IMMEDIATE_TYPES = frozenset({"IOC", "FOK", "FOK_BUDGET"})
_BUY = "buy"

# Prices and quantities repeat, so the cache has most of them.
_text_of = lru_cache(65_536)(amount_to_text)

BookEvent = AcceptedEvent | TradeEvent | ReduceEvent | MovedEvent | TriggeredEvent | ShownEvent
"""The events that can change a book."""


class BookBase(NamedTuple):
    """A whole book as of event `sequence`. Later events are applied to it. The best level comes first."""

    sequence: int
    timestamp: int
    bids: Iterable[Level]
    asks: Iterable[Level]


class PublishedSide(RankedSide[int]):
    """One side of a book: quantities by price, both as amounts of 18 places."""

    def __init__(self, levels: Iterable[Level], *, is_bids: bool) -> None:
        super().__init__(is_bids=is_bids)
        self._values = {self._sign * amount_of(price): amount_of(quantity) for price, quantity in levels}
        self._ranks = sorted(self._values)

    def best_of(self, view: dict[int, int]) -> Level | None:
        """The best level of a view as text; None if the view is empty."""
        return self.level(*next(iter(view.items()))) if view else None

    def change(self, price: int, quantity: int) -> None:
        """Add `quantity`, which may be negative, at `price`. Raises BookContradictionError if the sum is below 0."""
        rank = self._sign * price
        held = self._values.get(rank)
        if held is None:
            if quantity <= 0:
                raise BookContradictionError(f"nothing rests at {_text_of(price)}")
            self.put(rank, quantity)
            return
        rest = held + quantity
        if rest > 0:
            self._values[rank] = rest
        elif rest == 0:
            self.remove(rank)
        else:
            raise BookContradictionError(f"less than 0 would rest at {_text_of(price)}")

    def priced_levels(self) -> Iterator[tuple[int, int]]:
        """Prices and quantities, best first. The side must not change meanwhile."""
        return ((self._sign * rank, self._values[rank]) for rank in self._ranks)

    def level(self, rank: int, quantity: int) -> Level:
        """A level as text."""
        return _text_of(self._sign * rank), _text_of(quantity)

    def levels(self, view: dict[int, int]) -> list[Level]:
        """The levels of a view as text."""
        return [self.level(rank, quantity) for rank, quantity in view.items()]

    def changed(self, before: dict[int, int], after: dict[int, int]) -> list[Level]:
        """The levels that differ between two views, best first. A level that is gone has quantity "0"."""
        return [self.level(rank, quantity or 0) for rank, quantity in differences(before, after).items()]


class PublishedBook:
    """The book of one market. `depth` levels a side are published."""

    def __init__(self, symbol: str, base: BookBase, depth: int) -> None:
        self.symbol = symbol
        self._depth = depth
        self._resting: dict[str, int] = {}
        """The prices of the resting orders whose events were seen, by engine order id."""
        self._immediate: set[str] = set()
        """The orders of the command under way that never rest."""
        self._published: OrderBookEvent | None = None
        """The last publication since the base, without its levels. None before the first."""
        self._published_bids: dict[int, int] = {}
        self._published_asks: dict[int, int] = {}
        self.rebase(base)

    @property
    def is_whole(self) -> bool:
        """Whether the book may be shown: no event contradicts it, and no command is under way.

        While the best bid reaches the best ask, the command under way has more events, or an auction collects orders.
        """
        bid, ask = self.bids.best, self.asks.best
        return self._is_sound and (bid is None or ask is None or bid < ask)

    @property
    def best_bid(self) -> Level | None:
        """The best bid and what stands at it, or the published ones while the book is not whole."""
        return self.bids.best_of(self.bids.top(1) if self.is_whole else self._published_bids)

    @property
    def best_ask(self) -> Level | None:
        """The best ask and what stands at it, or the published ones while the book is not whole."""
        return self.asks.best_of(self.asks.top(1) if self.is_whole else self._published_asks)

    @property
    def is_changed(self) -> bool:
        """Whether events have arrived since the last call of `update`."""
        return self._examined != self.sequence

    # Events

    def rebase(self, base: BookBase) -> None:
        """Replace the levels by those of `base`. The remembered orders stay."""
        self._base_sequence = base.sequence
        self.sequence = base.sequence
        """The newest event that the book includes."""
        self.timestamp = base.timestamp
        """When that event happened, in milliseconds since 1970."""
        self.bids = PublishedSide(base.bids, is_bids=True)
        self.asks = PublishedSide(base.asks, is_bids=False)
        self._published = None
        self._examined: int | None = None
        self._is_sound = True

    def apply(self, event: BookEvent) -> None:
        """Apply the market's next event. An event that the base includes does not change the levels.

        Raises BookContradictionError. The book then is not whole until it gets a new base.
        """
        try:
            _APPLY[type(event)](self, event)
        except BookContradictionError:
            self._is_sound = False
            raise
        if event.seq > self.sequence:
            self.sequence, self.timestamp = event.seq, event.timestamp

    def _accept(self, event: AcceptedEvent) -> None:
        if event.order_type in _IMMEDIATE_TYPES or event.display_quantity:
            self._immediate.add(event.engine_order_id)
        else:
            self._rest(event, event.quantity)

    def _show(self, event: ShownEvent) -> None:
        self._immediate.discard(event.engine_order_id)
        self._rest(event, event.quantity)

    def _trigger(self, event: TriggeredEvent) -> None:
        """An order that waited comes in like a new one.

        One whose limit has followed the price down to zero or below ends in the same command.
        """
        if event.order_type in _IMMEDIATE_TYPES or event.price == "0" or event.price.startswith("-"):
            self._immediate.add(event.engine_order_id)
        else:
            self._rest(event, event.remaining)

    def _trade(self, event: TradeEvent) -> None:
        taker = self._resting.get(event.taker_engine_order_id)
        is_immediate = event.taker_engine_order_id in self._immediate
        if event.is_maker_completed:
            self._resting.pop(event.maker_engine_order_id, None)
        if event.is_taker_completed:
            self._forget(event.taker_engine_order_id)
        if event.seq <= self._base_sequence:
            return
        quantity = amount_of(event.quantity)
        makers = self.asks if event.taker_side == _BUY else self.bids
        makers.change(amount_of(event.maker_limit or event.price), -quantity)
        if event.taker_limit:
            # An auction's: both orders rested.
            self._side(event.taker_side).change(amount_of(event.taker_limit), -quantity)
            return
        if taker is not None:
            self._side(event.taker_side).change(taker, -quantity)
        elif not is_immediate:
            raise BookContradictionError(f"trade of order {event.taker_engine_order_id}, which was not accepted")

    def _reduce(self, event: ReduceEvent) -> None:
        rests = event.engine_order_id not in self._immediate and event.is_waiting is not True
        if event.is_order_completed:
            self._forget(event.engine_order_id)
        taken = event.quantity if event.shown_quantity is msgspec.UNSET else event.shown_quantity
        if rests and event.seq > self._base_sequence and amount_of(taken):
            self._side(event.side).change(amount_of(event.price), -amount_of(taken))

    def _move(self, event: MovedEvent) -> None:
        if event.is_waiting is True:
            return
        left = self._resting.get(event.engine_order_id)
        is_iceberg = event.previous_shown is not msgspec.UNSET
        if event.seq > self._base_sequence and left is not None:
            shown = event.previous_shown or event.previous_remaining or event.remaining
            self._side(event.side).change(left, -amount_of(shown))
        if is_iceberg:
            self._resting.pop(event.engine_order_id, None)
            self._immediate.add(event.engine_order_id)
        else:
            self._rest(event, event.remaining)
        if event.seq > self._base_sequence and left is None:
            raise BookContradictionError(f"order {event.engine_order_id} moved from an unknown price")

    def _rest(self, event: AcceptedEvent | MovedEvent | TriggeredEvent | ShownEvent, quantity: str) -> None:
        price = amount_of(event.price)
        self._resting[event.engine_order_id] = price
        if event.seq > self._base_sequence:
            self._side(event.side).change(price, amount_of(quantity))

    def _forget(self, order_id: str) -> None:
        self._resting.pop(order_id, None)
        self._immediate.discard(order_id)

    def _side(self, side: str) -> PublishedSide:
        return self.bids if side == _BUY else self.asks

    # Publication

    def update(self) -> OrderBookEvent | None:
        """The message about the changes since the last publication. The first one after a base is a snapshot.

        The book counts it as published. None if no level has changed.
        """
        self._examined = self.sequence
        before = self._published
        bids, asks = self.bids.top(self._depth), self.asks.top(self._depth)
        if before is None:
            self._note_published(bids, asks)
            return self.published()
        changed_bids = self.bids.changed(self._published_bids, bids)
        changed_asks = self.asks.changed(self._published_asks, asks)
        if not changed_bids and not changed_asks:
            return None
        after = self._note_published(bids, asks)
        return OrderBookEvent(
            symbol=self.symbol,
            type="update",
            seq=after.seq,
            prev_seq=before.seq,
            timestamp=after.timestamp,
            bids=changed_bids,
            asks=changed_asks,
            checksum=after.checksum,
        )

    def published(self) -> OrderBookEvent | None:
        """The last published book, as a snapshot that the next update continues. None before the first publication."""
        last = self._published
        if last is None:
            return None
        return OrderBookEvent(
            symbol=self.symbol,
            type="snapshot",
            seq=last.seq,
            prev_seq=None,
            timestamp=last.timestamp,
            bids=self.bids.levels(self._published_bids),
            asks=self.asks.levels(self._published_asks),
            checksum=last.checksum,
        )

    def current(self, depth: int) -> OrderBookEvent | None:
        """The present book, at most `depth` levels a side. This publishes nothing.

        While the book is not whole, returns the last published one; None before the first publication.
        """
        if not self.is_whole:
            last = self.published()
            return last and msgspec.structs.replace(last, bids=last.bids[:depth], asks=last.asks[:depth])
        bids, asks = self.bids.levels(self.bids.top(depth)), self.asks.levels(self.asks.top(depth))
        return OrderBookEvent(
            symbol=self.symbol,
            type="snapshot",
            seq=self.sequence,
            prev_seq=None,
            timestamp=self.timestamp,
            bids=bids,
            asks=asks,
            checksum=self._checksum(),
        )

    def _note_published(self, bids: dict[int, int], asks: dict[int, int]) -> OrderBookEvent:
        """Remember the published view. Its levels become text only when somebody asks for them."""
        self._published_bids, self._published_asks = bids, asks
        self._published = OrderBookEvent(
            symbol=self.symbol,
            type="snapshot",
            seq=self.sequence,
            prev_seq=None,
            timestamp=self.timestamp,
            bids=[],
            asks=[],
            checksum=self._checksum(),
        )
        return self._published

    def _checksum(self) -> int:
        return checksum(
            self.bids.levels(self.bids.top(CHECKSUM_LEVELS)), self.asks.levels(self.asks.top(CHECKSUM_LEVELS))
        )


_APPLY: dict[type[BookEvent], Callable[[PublishedBook, Any], None]] = {
    AcceptedEvent: PublishedBook._accept,
    TradeEvent: PublishedBook._trade,
    ReduceEvent: PublishedBook._reduce,
    MovedEvent: PublishedBook._move,
    TriggeredEvent: PublishedBook._trigger,
    ShownEvent: PublishedBook._show,
}
