"""Order books of texts, and their checksum."""

import random
import zlib

import pytest

from openspot.domain.order_book import BookContradictionError, RankedSide, TextBook, checksum, differences

Side = dict[int, str]


def ranked(side: Side, *, is_bids: bool) -> list[tuple[str, str]]:
    return [(str(price), side[price]) for price in sorted(side, reverse=is_bids)]


def crc(bids: Side, asks: Side) -> int:
    """The checksum by the steps of docs/guides/order-book.md."""
    texts = []
    for place in range(10):
        for side in (ranked(bids, is_bids=True), ranked(asks, is_bids=False)):
            texts += [":".join(level) for level in side[place : place + 1]]
    return zlib.crc32(":".join(texts).encode())


@pytest.mark.parametrize("prices", [6, 40])
def test_a_book_that_changes_at_random_keeps_order_levels_and_checksum(prices: int) -> None:
    chance, book = random.Random(prices), TextBook()
    bids: Side = {}
    asks: Side = {}
    for _ in range(2000):
        changes: list[list[tuple[str, str]]] = [[], []]
        for side, changed, first in ((bids, changes[0], 1000), (asks, changes[1], 2000)):
            price = first + chance.randrange(prices)
            if price in side and chance.random() < 0.5:
                del side[price]
                changed.append((str(price), "0"))
            else:
                side[price] = str(chance.randint(1, 99))
                changed.append((str(price), side[price]))
        book.apply(*changes, crc(bids, asks))
        assert list(book.bids.top().values()) == ranked(bids, is_bids=True)
        assert list(book.asks.top(3).values()) == ranked(asks, is_bids=False)[:3]


def test_an_empty_book_has_the_checksum_0() -> None:
    assert TextBook().checksum() == 0 == checksum([], [])


def test_sides_of_different_lengths_leave_out_what_they_lack() -> None:
    assert checksum([("2", "1"), ("1", "3")], [("4", "5")]) == zlib.crc32(b"2:1:4:5:1:3")
    assert checksum([], [("4", "5"), ("6", "7")]) == zlib.crc32(b"4:5:6:7")
    many = [(str(price), "1") for price in range(20)]
    assert checksum(many, []) == checksum(many[:10], [])


def test_prices_compare_as_numbers() -> None:
    book = TextBook()
    levels = [("9.5", "1"), ("10", "1"), ("100.000000000000000001", "1"), ("100", "1")]
    book.apply(levels, levels, checksum([levels[at] for at in (2, 3, 1, 0)], [levels[at] for at in (0, 1, 3, 2)]))


@pytest.mark.parametrize(
    "level", [("5", "0"), ("x", "1"), ("1", "-1"), ("1", "1e5"), ("1.0000000000000000001", "1"), ("", "1")]
)
def test_a_level_that_cannot_be_is_refused(level: tuple[str, str]) -> None:
    with pytest.raises(BookContradictionError):
        TextBook().apply([level], [], 0)


def test_a_wrong_checksum_is_refused() -> None:
    with pytest.raises(BookContradictionError, match="checksum"):
        TextBook().apply([("1", "1")], [], 1)


def test_differences_name_new_changed_and_removed_ranks_best_first() -> None:
    assert list(differences({1: "a", 2: "b", 3: "c"}, {2: "x", 3: "c", 0: "d"}).items()) == [
        (0, "d"), (1, None), (2, "x"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("level", "reason"),
    [(("1", "0"), "no level at 1 to remove"), (("x", "1"), "('x', '1') is not a plain decimal number")],
)
def test_a_refused_level_is_named(level: tuple[str, str], reason: str) -> None:
    with pytest.raises(BookContradictionError) as refused:
        TextBook().bids.set(level)
    assert str(refused.value) == reason


def test_a_cleared_book_is_empty_and_its_asks_rise() -> None:
    book = TextBook()
    book.apply([("9", "1")], [], checksum([("9", "1")], []))
    book.clear()
    assert book.checksum() == 0
    book.asks.set(("11", "1"))
    book.asks.set(("10", "1"))
    assert (book.asks.best_levels(), book.bids.best_levels()) == ([("10", "1"), ("11", "1")], [])


def test_only_the_ten_best_levels_of_each_side_are_in_the_checksum() -> None:
    asks = [(str(price), "1") for price in range(10, 20)]
    assert checksum([], asks) == checksum([], [*asks, ("20", "1")]) != checksum([], asks[:9])


def test_a_ranked_side_keeps_one_value_for_each_price() -> None:
    side: RankedSide[str] = RankedSide(is_bids=True)
    for rank, value in ((-9, "a"), (-10, "b"), (-9, "c")):
        side.put(rank, value)
    assert (side.best, side.top(), len(side)) == (10, {-10: "b", -9: "c"}, 2)
