"""The edge's book and its views, by messages alone."""

import random
import zlib
from typing import Any

from openspot.contracts.messages import OrderBookEvent
from openspot.ws_edge.book import PENDING_MAX, BookChange, DepthView, MirroredBook

SYMBOL = "BTC-USD"
Side = dict[int, str]


def levels(side: Side, *, is_bids: bool) -> list[tuple[str, str]]:
    return [(str(price), side[price]) for price in sorted(side, reverse=is_bids)]


def crc(bids: Side, asks: Side, depth: int = 10) -> int:
    texts = []
    for place in range(depth):
        for ranked in (levels(bids, is_bids=True), levels(asks, is_bids=False)):
            texts += ranked[place : place + 1]
    return zlib.crc32(":".join(":".join(level) for level in texts).encode())


class Publisher:
    """A book that changes at random, and what market data would publish of it."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.seq = 1
        self.bids: Side = {100 - step: "1" for step in range(12)}
        self.asks: Side = {101 + step: "2.5" for step in range(12)}

    def snapshot(self) -> OrderBookEvent:
        bids, asks = levels(self.bids, is_bids=True), levels(self.asks, is_bids=False)
        return OrderBookEvent(SYMBOL, "snapshot", self.seq, None, self.seq, bids, asks, crc(self.bids, self.asks))

    def update(self) -> OrderBookEvent:
        changed = []
        for side, prices in ((self.bids, (80, 100)), (self.asks, (101, 121))):
            price = self._chance.randint(*prices)
            quantity = "0" if price in side and self._chance.random() < 0.5 else str(self._chance.randint(1, 9))
            if quantity == "0":
                del side[price]
            else:
                side[price] = quantity
            changed.append([(str(price), quantity)])
        before, self.seq = self.seq, self.seq + self._chance.randint(1, 5)
        return OrderBookEvent(SYMBOL, "update", self.seq, before, self.seq, *changed, crc(self.bids, self.asks))


def apply(sides: tuple[dict[str, str], dict[str, str]], event: OrderBookEvent) -> None:
    for side, changed in zip(sides, (event.bids, event.asks), strict=True):
        if event.type == "snapshot":
            side.clear()
        for price, quantity in changed:
            if quantity == "0":
                del side[price]
            else:
                side[price] = quantity


def test_a_book_and_its_views_are_the_publishers_after_every_update() -> None:
    for seed in range(20):
        publisher = Publisher(random.Random(seed))
        book = MirroredBook(SYMBOL)
        assert book.take(publisher.snapshot()) is BookChange.REPLACED
        views = {depth: DepthView(book, depth) for depth in (1, 3, 10, 15)}
        kept: dict[int, tuple[dict[str, str], dict[str, str]]] = {depth: ({}, {}) for depth in views}
        sequences = {}
        for depth, view in views.items():
            apply(kept[depth], view.snapshot())
            sequences[depth] = view.snapshot().seq
        for _ in range(200):
            assert book.take(publisher.update()) is BookChange.UPDATED
            assert book.snapshot() == publisher.snapshot()
            for depth, view in views.items():
                update = view.update()
                if update is not None:
                    assert update.prev_seq == sequences[depth]
                    apply(kept[depth], update)
                    sequences[depth] = update.seq
                    assert update.checksum == crc(publisher.bids, publisher.asks, min(depth, 10))
                snapshot = view.snapshot()
                assert snapshot.seq == sequences[depth]
                bids, asks = (levels(side, is_bids=is_bids)[:depth] for side, is_bids in
                              ((publisher.bids, True), (publisher.asks, False)))  # fmt: skip
                assert (snapshot.bids, snapshot.asks) == (bids, asks)
                assert kept[depth] == (dict(bids), dict(asks))


def test_updates_that_come_before_or_after_the_requested_snapshot_are_taken_once() -> None:
    for overtaken in range(6):
        publisher = Publisher(random.Random(overtaken))
        book = MirroredBook(SYMBOL)
        updates = [publisher.update() for _ in range(3)]
        snapshot = publisher.snapshot()
        updates += [publisher.update() for _ in range(3)]
        for update in updates[:overtaken]:
            assert book.take(update) is BookChange.KEPT
        assert book.begin(snapshot) is BookChange.REPLACED
        for number, update in enumerate(updates[overtaken:], overtaken):
            assert book.take(update) is (BookChange.KEPT if number < 3 else BookChange.UPDATED)
        assert book.snapshot() == publisher.snapshot()


def test_a_gap_breaks_the_book_until_a_snapshot_comes() -> None:
    publisher = Publisher(random.Random(1))
    book = MirroredBook(SYMBOL)
    book.take(publisher.snapshot())
    publisher.update()
    assert book.take(publisher.update()) is BookChange.BROKEN
    assert book.seq is None
    assert book.take(publisher.update()) is BookChange.KEPT
    assert book.begin(publisher.snapshot()) is BookChange.REPLACED
    assert book.take(publisher.update()) is BookChange.UPDATED
    assert book.snapshot() == publisher.snapshot()


def test_a_snapshot_is_taken_although_its_sequence_is_lower() -> None:
    old, new = Publisher(random.Random(1)), Publisher(random.Random(2))
    book = MirroredBook(SYMBOL)
    for _ in range(5):
        old.update()
    book.take(old.snapshot())
    assert new.seq < old.seq
    assert book.take(new.snapshot()) is BookChange.REPLACED
    assert book.take(new.update()) is BookChange.UPDATED
    assert book.snapshot() == new.snapshot()


def test_a_message_that_contradicts_the_book_breaks_it() -> None:
    publisher = Publisher(random.Random(1))
    whole = publisher.snapshot()
    seq = whole.seq

    def update(bids: list[tuple[str, str]], checksum: int = 0) -> OrderBookEvent:
        return OrderBookEvent(SYMBOL, "update", seq + 1, seq, 1, bids, [], checksum)

    for message in (
        update([("7", "0")], whole.checksum),
        update([("7", "1")], whole.checksum + 1),
        update([("x", "1")], whole.checksum),
        update([("7", "-1")], whole.checksum),
        OrderBookEvent(SYMBOL, "snapshot", 9, None, 1, whole.bids, [], whole.checksum),
    ):
        book = MirroredBook(SYMBOL)
        assert book.take(whole) is BookChange.REPLACED
        assert book.take(message) is BookChange.BROKEN, message
        assert book.seq is None


def test_more_updates_than_are_kept_for_a_late_snapshot_break_the_book_again() -> None:
    publisher = Publisher(random.Random(1))
    book = MirroredBook(SYMBOL)
    snapshot = publisher.snapshot()
    for _ in range(PENDING_MAX + 1):
        book.take(publisher.update())
    assert book.begin(snapshot) is BookChange.BROKEN
    assert book.begin(publisher.snapshot()) is BookChange.REPLACED
    assert book.snapshot() == publisher.snapshot()


def test_an_empty_book_has_the_checksum_0() -> None:
    book = MirroredBook(SYMBOL)
    assert book.take(OrderBookEvent(SYMBOL, "snapshot", 1, None, 1, [], [], 0)) is BookChange.REPLACED
    assert book.snapshot().checksum == 0


def message(kind: Any, seq: int, before: int | None, bids: list[tuple[str, str]], expected: int) -> OrderBookEvent:
    """A message of a book without asks, at a time that its number gives."""
    return OrderBookEvent(SYMBOL, kind, seq, before, 1000 + seq, bids, [], expected)


ONE, TWO, THREE = [("10", "1")], [("10", "1"), ("9", "2")], [("11", "3"), ("10", "1"), ("9", "2")]
CRC_ONE, CRC_TWO, CRC_THREE = (zlib.crc32(text) for text in (b"10:1", b"10:1:9:2", b"11:3:10:1:9:2"))


def test_a_view_shows_its_levels_only_and_says_when_they_changed() -> None:
    book = MirroredBook(SYMBOL)
    book.take(message("snapshot", 5, None, TWO, CRC_TWO))
    view = DepthView(book, 1)
    first = OrderBookEvent("BTC-USD", "snapshot", 5, None, 1005, [("10", "1")], [], CRC_ONE)
    assert view.snapshot() == first
    # Below its depth nothing changes for the view, nor does its number.
    book.take(message("update", 6, 5, [("9", "0")], CRC_ONE))
    assert view.update() is None
    book.take(message("update", 7, 6, [("9", "2")], CRC_TWO))
    assert view.update() is None
    assert view.snapshot().seq == 5
    book.take(message("update", 8, 7, [("11", "3")], CRC_THREE))
    best = zlib.crc32(b"11:3")
    assert view.update() == OrderBookEvent("BTC-USD", "update", 8, 5, 1008, [("11", "3"), ("10", "0")], [], best)
    assert view.snapshot() == OrderBookEvent("BTC-USD", "snapshot", 8, None, 1008, [("11", "3")], [], best)


def test_a_view_of_asks_has_its_levels_only() -> None:
    book = MirroredBook(SYMBOL)
    whole = zlib.crc32(b"20:1:21:1")
    book.take(OrderBookEvent(SYMBOL, "snapshot", 5, None, 1, [], [("20", "1"), ("21", "1")], whole))
    view = DepthView(book, 1)
    assert (view.snapshot().bids, view.snapshot().asks) == ([], [("20", "1")])


def test_the_update_after_a_gap_is_kept_for_the_snapshot_that_is_requested() -> None:
    book = MirroredBook(SYMBOL)
    book.take(message("snapshot", 1, None, ONE, CRC_ONE))
    assert book.take(message("update", 3, 2, [("11", "3")], CRC_THREE)) is BookChange.BROKEN
    assert book.begin(message("snapshot", 2, None, TWO, CRC_TWO)) is BookChange.REPLACED
    assert book.snapshot() == message("snapshot", 3, None, THREE, CRC_THREE)


def test_the_message_that_contradicts_the_book_is_not_kept() -> None:
    book = MirroredBook(SYMBOL)
    book.take(message("snapshot", 1, None, ONE, CRC_ONE))
    assert book.take(message("update", 2, 1, [("9", "2")], CRC_ONE)) is BookChange.BROKEN
    assert book.begin(message("snapshot", 1, None, ONE, CRC_ONE)) is BookChange.REPLACED
    assert book.snapshot() == message("snapshot", 1, None, ONE, CRC_ONE)


def test_only_a_requested_snapshot_may_be_followed_by_updates_that_it_includes() -> None:
    old, new = message("update", 2, 1, [("9", "2")], CRC_TWO), message("update", 3, 2, [("11", "3")], CRC_THREE)
    requested = MirroredBook(SYMBOL)
    requested.begin(message("snapshot", 2, None, TWO, CRC_TWO))
    assert requested.take(old) is BookChange.KEPT
    # After the first update that continues it, an older one is a contradiction.
    assert requested.take(new) is BookChange.UPDATED
    assert requested.take(old) is BookChange.BROKEN
    published = MirroredBook(SYMBOL)
    published.begin(message("snapshot", 1, None, ONE, CRC_ONE))
    assert published.take(message("snapshot", 2, None, TWO, CRC_TWO)) is BookChange.REPLACED
    assert published.take(old) is BookChange.BROKEN
