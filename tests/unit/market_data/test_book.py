"""The book's publications: checksum, depth, contradictions."""

import zlib

import msgspec
import pytest

from openspot.contracts.engine_events import AcceptedEvent, MovedEvent, ReduceEvent
from openspot.domain.order_book import BookContradictionError, checksum
from openspot.market_data.book import BookBase, PublishedBook
from tests.unit.router.orders import triggered

BASE = BookBase(10, 1_000, [("99.5", "1"), ("99", "2")], [("100", "0.5"), ("101", "3")])


def book(base: BookBase = BASE, depth: int = 100) -> PublishedBook:
    return PublishedBook("BTC-USD", base, depth)


def accepted(seq: int, side: str, price: str, quantity: str, kind: str = "GTC") -> AcceptedEvent:
    return AcceptedEvent(seq, seq, "BTC-USD", str(seq), "", "alice", side, kind, price, quantity, "")


def reduced(seq: int, order: int, side: str, price: str, quantity: str) -> ReduceEvent:
    return ReduceEvent(
        seq, seq, "BTC-USD", str(order), "", "alice", side, price, quantity, "0", True, "CANCELLED_BY_USER"
    )


def test_the_checksum_is_of_the_texts_of_ten_levels_bid_and_ask_in_turn() -> None:
    text = b"99.5:1:100:0.5:99:2:101:3"
    assert checksum([("99.5", "1"), ("99", "2")], [("100", "0.5"), ("101", "3")]) == zlib.crc32(text)
    bids = [(str(price), "1") for price in range(50, 30, -1)]
    assert checksum(bids, []) == zlib.crc32(b"50:1:49:1:48:1:47:1:46:1:45:1:44:1:43:1:42:1:41:1")
    assert checksum([], []) == 0


def test_the_first_publication_is_a_snapshot_and_updates_continue_it() -> None:
    made = book()
    first = made.update()
    assert first is not None
    assert (first.type, first.seq, first.prev_seq) == ("snapshot", 10, None)
    assert (first.bids, first.asks) == ([("99.5", "1"), ("99", "2")], [("100", "0.5"), ("101", "3")])
    made.apply(accepted(11, "buy", "99", "1"))
    made.apply(accepted(12, "sell", "100.5", "1"))
    made.apply(reduced(13, 5, "sell", "101", "3"))
    update = made.update()
    assert update is not None
    assert (update.type, update.seq, update.prev_seq) == ("update", 13, 10)
    assert (update.bids, update.asks) == ([("99", "3")], [("100.5", "1"), ("101", "0")])
    assert update.checksum == zlib.crc32(b"99.5:1:100:0.5:99:3:100.5:1")


@pytest.mark.parametrize("limit", ["-2", "0"])
def test_a_fired_order_whose_limit_has_followed_the_price_below_zero_leaves_the_book_as_it_is(limit: str) -> None:
    made = book()
    made.update()
    made.apply(triggered(11, 7, price=limit))
    made.apply(reduced(12, 7, "buy", limit, "1"))
    assert made.update() is None
    assert made._resting == {} and made._immediate == set()


def test_what_came_and_went_between_two_publications_is_not_published() -> None:
    made = book()
    made.update()
    made.apply(accepted(11, "buy", "98", "1"))
    made.apply(reduced(12, 11, "buy", "98", "1"))
    assert made.is_changed
    assert made.update() is None
    assert not made.is_changed
    made.apply(accepted(13, "buy", "98", "1"))
    update = made.update()
    assert update is not None
    assert (update.prev_seq, update.seq) == (10, 13)


def test_the_published_snapshot_stays_that_of_the_last_publication() -> None:
    made = book()
    assert made.published() is None
    made.update()
    made.apply(accepted(11, "buy", "99.75", "4"))
    published, current = made.published(), made.current(1)
    assert published is not None
    assert current is not None
    assert (published.seq, published.bids[0]) == (10, ("99.5", "1"))
    assert (current.seq, current.bids, current.asks) == (11, [("99.75", "4")], [("100", "0.5")])


def test_a_book_in_the_middle_of_a_command_is_not_shown() -> None:
    made = book()
    made.update()
    made.apply(accepted(11, "buy", "100", "0.1"))
    assert not made.is_whole
    shown = made.current(10)
    assert shown is not None
    assert shown.seq == 10
    assert (made.best_bid, made.best_ask) == (("99.5", "1"), ("100", "0.5"))


def test_an_order_that_never_rests_does_not_enter_the_book() -> None:
    made = book()
    made.update()
    for seq, kind in ((11, "IOC"), (13, "FOK"), (15, "FOK_BUDGET")):
        made.apply(accepted(seq, "buy", "90", "1", kind))
        made.apply(reduced(seq + 1, seq, "buy", "90", "1"))
    assert made.update() is None


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (reduced(11, 5, "buy", "98", "1"), "nothing rests at 98"),
        (reduced(11, 5, "buy", "99", "2.5"), "less than 0 would rest at 99"),
        (MovedEvent(11, 11, "BTC-USD", "5", "", "alice", "buy", "98", "1"), "order 5 moved from an unknown price"),
    ],
)
def test_an_event_that_contradicts_the_book_asks_for_a_new_base(event: ReduceEvent | MovedEvent, reason: str) -> None:
    made = book()
    made.update()
    with pytest.raises(BookContradictionError, match=reason):
        made.apply(event)
    assert not made.is_whole
    made.rebase(BookBase(20, 2_000, [("50", "1")], []))
    assert made.is_whole
    again = made.update()
    assert again is not None
    assert (again.type, again.seq, again.prev_seq, again.bids) == ("snapshot", 20, None, [("50", "1")])


def test_an_amended_order_leaves_what_it_had_and_rests_with_what_it_has() -> None:
    made = book()
    made.apply(accepted(11, "buy", "98", "1"))
    amended = MovedEvent(12, 12, "BTC-USD", "11", "", "alice", "buy", "97", "3", quantity="3", previous_remaining="1")
    made.apply(amended)
    bids = dict(made.current(10).bids)
    assert "98" not in bids
    assert bids["97"] == "3"
    made.apply(msgspec.structs.replace(amended, seq=13, price="98", remaining="0.5", previous_remaining="3"))
    bids = dict(made.current(10).bids)
    assert "97" not in bids
    assert bids["98"] == "0.5"


def test_the_orders_that_are_known_stay_known_through_a_new_base() -> None:
    made = book()
    made.apply(accepted(11, "buy", "98", "1"))
    made.rebase(BookBase(12, 0, [("98", "1")], []))
    made.apply(MovedEvent(12, 12, "BTC-USD", "11", "", "alice", "buy", "98", "1"))
    made.apply(MovedEvent(13, 13, "BTC-USD", "11", "", "alice", "buy", "97", "1"))
    current = made.current(10)
    assert current is not None
    assert current.bids == [("97", "1")]


def test_only_the_best_levels_are_published_and_others_follow_when_they_come_into_view() -> None:
    made = book(BookBase(10, 0, [(str(price), "1") for price in range(20, 0, -1)], []), depth=3)
    first = made.update()
    assert first is not None
    assert [price for price, _ in first.bids] == ["20", "19", "18"]
    made.apply(reduced(11, 5, "buy", "19", "1"))
    update = made.update()
    assert update is not None
    assert update.bids == [("19", "0"), ("17", "1")]
    made.apply(accepted(12, "buy", "21", "2"))
    update = made.update()
    assert update is not None
    assert update.bids == [("21", "2"), ("17", "0")]
