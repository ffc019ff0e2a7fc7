"""The book made of the engine's events is the reference core's book, over random command streams."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openspot.contracts.engine_events import EngineEvent
from openspot.contracts.messages import OrderBookEvent
from openspot.domain.money import scaled_to_text
from openspot.engine.core.protocol import DepthLevel
from openspot.engine.core.reference import ReferenceCore
from openspot.market_data.book import BookBase
from openspot.market_data.markets import Markets, publishable
from tests.support.core_commands import CommandStream
from tests.support.market_events import events_of, scales_of, symbol_of

COMMANDS = 300
DEPTH = 10_000
SHALLOW = 3
EMPTY: tuple[list[tuple[str, str]], list[tuple[str, str]]] = ([], [])
"""The book of a symbol that was deleted."""
Levels = list[tuple[str, str]]


def levels_of(scales: tuple[int, int], rows: list[DepthLevel]) -> Levels:
    base, quote = scales
    return [(scaled_to_text(row.price, quote), scaled_to_text(row.quantity, base)) for row in rows]


def core_books(core: ReferenceCore, depth: int = 0) -> dict[str, tuple[Levels, Levels]]:
    """Every book of the core, by the name of its symbol."""
    books = {}
    for symbol, scales in scales_of(core).items():
        bids, asks = core.depth(symbol, depth)
        books[symbol_of(symbol)] = levels_of(scales, bids), levels_of(scales, asks)
    return books


def is_crossed(book: tuple[Levels, Levels]) -> bool:
    """Whether an auction collects orders in a book."""
    bids, asks = book
    return bool(bids and asks) and Decimal(bids[0][0]) >= Decimal(asks[0][0])


def run(seed: int) -> Iterator[tuple[ReferenceCore, list[EngineEvent]]]:
    """The core after each command of a stream, and the command's events."""
    core, stream, limits = ReferenceCore(), CommandStream(seed), dict[int, int]()
    for _ in range(COMMANDS):
        _, records = core.apply(stream.next(core))
        yield core, events_of(core, records, limits)


class Receiver:
    """A client's book: it takes snapshots, and updates that continue it."""

    def __init__(self) -> None:
        self.sequence: int | None = None
        self.sides: tuple[dict[str, str], dict[str, str]] = ({}, {})

    def take(self, message: OrderBookEvent) -> None:
        if message.type == "snapshot":
            self.sides = ({}, {})
        else:
            assert message.prev_seq == self.sequence
            assert message.seq > message.prev_seq
        for side, levels in zip(self.sides, (message.bids, message.asks), strict=True):
            for price, quantity in levels:
                if quantity == "0":
                    del side[price]
                else:
                    side[price] = quantity
        self.sequence = message.seq

    @property
    def levels(self) -> tuple[Levels, Levels]:
        bids, asks = self.sides
        return (
            sorted(bids.items(), key=lambda level: -float(level[0])),
            sorted(asks.items(), key=lambda level: float(level[0])),
        )


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_the_book_is_the_cores_after_every_command(seed: int) -> None:
    markets = Markets(DEPTH)
    for core, events in run(seed):
        for event in events:
            applied = markets.apply(event)
            assert applied is None or applied.contradiction is None
        expected = core_books(core)
        waiting = {order.order_id for order in core.waiting_orders()}
        resting = Counter(symbol_of(order.symbol) for order in core.open_orders() if order.order_id not in waiting)
        for market in markets.all():
            levels = expected.pop(market.symbol, EMPTY)
            assert market.book.is_whole != is_crossed(levels)
            if market.book.is_whole:
                book = market.book.current(DEPTH)
                assert book is not None
                assert (book.bids, book.asks) == levels
            remembered = len(market.book._resting) + len(market.book._immediate)
            assert remembered == resting[market.symbol], "what has ended is forgotten"
        assert all(sides == ([], []) for sides in expected.values())


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(0, COMMANDS - 1), st.sampled_from([SHALLOW, DEPTH]))
def test_a_receiver_of_snapshot_and_updates_has_the_cores_book(seed: int, base_at: int, depth: int) -> None:
    """The publisher begins in the middle of the stream. It looks after every event, and shows no torn command."""
    markets, receivers = Markets(depth), dict[str, Receiver]()
    for number, (core, events) in enumerate(run(seed)):
        if number < base_at:
            continue
        if number == base_at:
            for symbol, (bids, asks) in core_books(core).items():
                markets.set_base(symbol, BookBase(core.event_sequence, 0, bids, asks))
            continue
        for event in events:
            applied = markets.apply(event)
            if applied is not None and applied.contradiction is not None:
                # An order moved that the base includes. Only its former price is unknown.
                assert "moved from an unknown price" in applied.contradiction
                bids, asks = core_books(core)[applied.symbol]
                markets.set_base(applied.symbol, BookBase(core.event_sequence, 0, bids, asks))
            for message in publishable(markets.all()):
                receivers.setdefault(message.symbol, Receiver()).take(message)
        expected = core_books(core, depth)
        for symbol, receiver in receivers.items():
            levels = expected.get(symbol, EMPTY)
            assert is_crossed(levels) or receiver.levels == levels


@pytest.mark.parametrize("seed", range(5))
def test_the_streams_hold_every_kind_of_event_that_changes_a_book(seed: int) -> None:
    kinds = {type(event).__name__ for _, events in run(seed) for event in events}
    assert {"AcceptedEvent", "TradeEvent", "ReduceEvent", "MovedEvent"} <= kinds
