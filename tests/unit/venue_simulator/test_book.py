"""The order book that the simulated venue's REST interface returns."""

from openspot.venue_simulator.book import Book


def depth(update_id: int, bids: list[tuple[str, str]], asks: list[tuple[str, str]]) -> dict[str, object]:
    return {"U": update_id, "u": update_id, "b": bids, "a": asks}


def test_levels_are_set_replaced_and_removed() -> None:
    book = Book(5, [("10.00", "1.0"), ("9.50", "2.0")], [("11.00", "3.0")])
    book.apply(depth(6, [("10.00", "4.0"), ("9.50", "0.00000000"), ("9.00", "5.0")], [("10.90", "1.0")]))
    assert book.snapshot(10) == {
        "lastUpdateId": 6,
        "bids": [("10.00", "4.0"), ("9.00", "5.0")],
        "asks": [("10.90", "1.0"), ("11.00", "3.0")],
    }


def test_a_snapshot_has_the_best_levels_of_each_side() -> None:
    book = Book(1, [("9", "1"), ("10", "1"), ("8", "1")], [("12", "1"), ("11", "1")])
    assert book.snapshot(1) == {"lastUpdateId": 1, "bids": [("10", "1")], "asks": [("11", "1")]}


def test_an_update_that_the_book_has_changes_nothing() -> None:
    book = Book(5, [("10", "1")])
    book.apply(depth(5, [("10", "2")], []))
    assert book.snapshot(5)["bids"] == [("10", "1")]


def test_changes_lead_from_one_book_to_another() -> None:
    book = Book(5, [("10", "1"), ("9", "1")], [("11", "1")])
    other = Book(1, [("10", "2"), ("8", "1")], [("11", "1"), ("12", "7")])
    bids, asks = book.changes_to(other)
    assert asks == [("12", "7")]
    book.apply(depth(6, bids, asks))
    assert book.snapshot(9) | {"lastUpdateId": 1} == other.snapshot(9)


def test_a_copy_is_a_book_of_its_own() -> None:
    book = Book(5, [("10", "1")])
    copy = book.copy()
    book.apply(depth(6, [("10", "2")], []))
    assert copy.snapshot(5) == {"lastUpdateId": 5, "bids": [("10", "1")], "asks": []}
