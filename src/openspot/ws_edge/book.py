"""A market's order book as the edge keeps it, and its views of fewer levels: rules without IO.

The book follows the messages of market data: a snapshot replaces it, and an update continues it if its `prev_seq` is
the book's `seq`. Each message's checksum must be the book's.
"""

from collections import deque
from enum import Enum, auto

from openspot.contracts.messages import OrderBookEvent
from openspot.domain.order_book import REMOVED, BookContradictionError, Level, TextBook, TextSide, checksum, differences

PENDING_MAX = 1000
"""A book keeps this many updates while it waits for a snapshot. If more arrive, it needs another snapshot."""

Levels = dict[int, Level]
"""Levels by rank, best first."""


class BookChange(Enum):
    """The effect of a message on the book."""

    UPDATED = auto()
    REPLACED = auto()
    KEPT = auto()
    """The book is as before: it is waiting for a snapshot, or has this message already."""
    BROKEN = auto()
    """The book waits for a snapshot from now on."""


class MirroredBook:
    """The book of one market. `seq` is that of its newest message, or None while it waits for a snapshot."""

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        self.seq: int | None = None
        self.timestamp = 0
        self._book = TextBook()
        self._pending: deque[OrderBookEvent] = deque(maxlen=PENDING_MAX)
        self._may_repeat = False
        """Whether updates that a requested snapshot includes may still arrive: they come by another way."""

    @property
    def bids(self) -> TextSide:
        """The bids."""
        return self._book.bids

    @property
    def asks(self) -> TextSide:
        """The asks."""
        return self._book.asks

    def take(self, message: OrderBookEvent) -> BookChange:
        """Take the next message of the market."""
        if message.type == "snapshot":
            self._may_repeat = False
            return self._replace(message)
        if self.seq is None:
            self._pending.append(message)
            return BookChange.KEPT
        if message.prev_seq != self.seq:
            if self._may_repeat and message.seq <= self.seq:
                return BookChange.KEPT
            return self._break(message)
        self._may_repeat = False
        try:
            self._apply(message)
        except BookContradictionError:
            return self._break()
        return BookChange.UPDATED

    def begin(self, snapshot: OrderBookEvent) -> BookChange:
        """Take a requested snapshot, then the updates that came meanwhile. Returns REPLACED or BROKEN."""
        pending = list(self._pending)
        change = self._replace(snapshot)
        self._may_repeat = True
        for message in pending:
            if change is BookChange.BROKEN:
                self._pending.append(message)
            elif self.take(message) is BookChange.BROKEN:
                change = BookChange.BROKEN
        return change

    def wait(self) -> None:
        """Messages may have been missed: wait for a snapshot."""
        self.seq = None
        self._pending.clear()

    def snapshot(self) -> OrderBookEvent:
        """The whole book. It must not be waiting."""
        return snapshot_of(self, self.seq, self.bids.top(), self.asks.top())

    def _replace(self, message: OrderBookEvent) -> BookChange:
        self._pending.clear()
        try:
            self._book.clear()
            self._apply(message)
        except BookContradictionError:
            return self._break()
        return BookChange.REPLACED

    def _apply(self, message: OrderBookEvent) -> None:
        self._book.apply(message.bids, message.asks, message.checksum)
        self.seq, self.timestamp = message.seq, message.timestamp

    def _break(self, message: OrderBookEvent | None = None) -> BookChange:
        self.wait()
        if message is not None:
            self._pending.append(message)
        return BookChange.BROKEN


class DepthView:
    """The best `depth` levels of a book, as clients have them. An update is the difference of two successive views.

    If an update of the book does not change the view, clients get none. So the view's `seq` is that of its last change.
    """

    def __init__(self, book: MirroredBook, depth: int) -> None:
        self._book = book
        self._depth = depth
        self.rebase()

    def rebase(self) -> None:
        """Begin again, because clients get a snapshot."""
        self._seq = self._book.seq
        self._bids, self._asks = self._book.bids.top(self._depth), self._book.asks.top(self._depth)

    def update(self) -> OrderBookEvent | None:
        """The changes since the last call, None if there are none."""
        book = self._book
        bids, asks = book.bids.top(self._depth), book.asks.top(self._depth)
        changed = _changed(self._bids, bids), _changed(self._asks, asks)
        if not any(changed):
            return None
        assert book.seq is not None, "only a book that does not wait is updated"
        before, self._seq = self._seq, book.seq
        self._bids, self._asks = bids, asks
        return OrderBookEvent(
            book.symbol, "update", book.seq, before, book.timestamp, *changed, checksum(bids.values(), asks.values())
        )

    def snapshot(self) -> OrderBookEvent:
        """The view that the next update continues."""
        return snapshot_of(self._book, self._seq, self._bids, self._asks)


def snapshot_of(book: MirroredBook, seq: int | None, bids: Levels, asks: Levels) -> OrderBookEvent:
    """A snapshot of these levels of a book that does not wait."""
    assert seq is not None, "a book that waits for a snapshot has none to give"
    return OrderBookEvent(
        symbol=book.symbol, type="snapshot", seq=seq, prev_seq=None, timestamp=book.timestamp,
        bids=list(bids.values()), asks=list(asks.values()), checksum=checksum(bids.values(), asks.values()),
    )  # fmt: skip


def _changed(before: Levels, after: Levels) -> list[Level]:
    """The levels that turn one view into the other, best first."""
    changes = differences(before, after).items()
    return [level if level is not None else (before[rank][0], REMOVED) for rank, level in changes]
