"""Answered records laid over rows."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from openspot.contracts.messages import OrderRecord
from openspot.rest_edge.orders import recent
from openspot.rest_edge.orders.recent import OrderFilter, RecentOrderRecords, Window, newer_record
from tests.support.order_records import order_record

WHOLE = Window()


def order(
    order_id: str, status: str = "open", created: int = 0, updated: int | None = None, **more: Any
) -> OrderRecord:
    return order_record(
        order_id=order_id,
        status=status,
        created_at=f"2026-01-01T00:00:{created:02}.000Z",
        updated_at=f"2026-01-01T00:00:{created if updated is None else updated:02}.000Z",
        **more,
    )


@pytest.mark.parametrize(
    ("row", "answered", "winner"),
    [
        (("open", 1), ("cancelled", 2), "answered"),
        (("filled", 2), ("open", 1), "row"),
        (("partially_filled", 1), ("open", 1), "row"),
        (("open", 1), ("cancelled", 1), "answered"),
        (("filled", 1), ("cancelled", 1), "row"),
        (("cancelled", 1), ("cancelled", 2), "row"),
        (("filled", 1), ("open", 2), "row"),
    ],
)
def test_the_newer_record_counts(row: tuple[str, int], answered: tuple[str, int], winner: str) -> None:
    both = {"row": order("a", row[0], updated=row[1]), "answered": order("a", answered[0], updated=answered[1])}
    assert newer_record(both["row"], both["answered"]) is both[winner]


def test_of_an_order_of_a_list_that_has_ended_the_newer_record_counts() -> None:
    row, answered = (order("a", "filled", updated=updated, list_id="l1") for updated in (1, 2))
    assert newer_record(row, answered) is answered


def test_a_record_alone_counts() -> None:
    record = order("a")
    assert newer_record(record, None) is record
    assert newer_record(None, record) is record
    assert newer_record(None, None) is None


def merged_with_recent(
    answered: list[OrderRecord],
    rows: list[OrderRecord],
    wanted: OrderFilter,
    window: Window = WHOLE,
    beside: Sequence[OrderRecord] = (),
) -> list[str]:
    orders = RecentOrderRecords()
    for record in answered:
        orders.note(record, 0)
    named = orders.beside_the_page("u1", rows, wanted, window)
    found = {record.order_id: record for record in beside if record.order_id in named}
    page = orders.merged_with_recent("u1", rows, wanted, window, found)
    return [f"{record.order_id}:{record.status}" for record in page]


def test_a_placed_order_stands_in_its_place_before_its_row_is_written() -> None:
    rows = [order("c", created=3), order("a", created=1)]
    assert merged_with_recent([order("b", created=2)], rows, OrderFilter()) == ["c:open", "b:open", "a:open"]


def test_a_cancelled_order_leaves_the_open_ones_and_joins_the_ended_ones() -> None:
    cancelled = order("a", "cancelled", created=1, updated=9)
    assert merged_with_recent([cancelled], [order("a", created=1)], OrderFilter(("open",))) == []
    assert merged_with_recent([cancelled], [], OrderFilter(("cancelled",))) == ["a:cancelled"]


def test_an_order_that_was_filled_since_it_was_sent_is_no_open_one() -> None:
    sent = [order("a", created=1), order("b", created=2)]
    written = [order("a", "filled", created=1, updated=2)]
    assert merged_with_recent(sent, [], OrderFilter(("open",)), beside=written) == ["b:open"]
    assert merged_with_recent(sent, written, OrderFilter(("filled",))) == ["a:filled"]


def test_only_a_filter_by_status_asks_for_rows_beside_the_page() -> None:
    orders = RecentOrderRecords()
    for record in (order("a", created=1), order("b", "cancelled", created=2), order("c", created=3)):
        orders.note(record, 0)
    rows, is_open = [order("c", created=3)], OrderFilter(("open",))
    assert orders.beside_the_page("u1", rows, is_open, WHOLE) == ["a"]
    assert orders.beside_the_page("u1", rows, is_open, Window(before=(order("a", created=1).created_at, "a"))) == []
    assert orders.beside_the_page("u1", rows, OrderFilter(), WHOLE) == []
    assert orders.beside_the_page("u2", rows, is_open, WHOLE) == []


def test_an_order_outside_the_page_stays_outside() -> None:
    answered = [order(name, created=number) for number, name in enumerate("abcde")]
    rows = [order("d", created=3), order("b", created=1)]
    window = Window((order("e", created=4).created_at, "e"), (order("b", created=1).created_at, "b"))
    assert merged_with_recent(answered, rows, OrderFilter(), window) == ["d:open", "c:open", "b:open"]


def test_only_what_the_filter_takes_joins() -> None:
    answered = [order("a", symbol="ETH-USD"), order("b", side="sell"), order("c", client_order_id="x"), order("d")]
    assert merged_with_recent(answered, [], OrderFilter(symbol="ETH-USD")) == ["a:open"]
    assert merged_with_recent(answered, [], OrderFilter(side="sell")) == ["b:open"]
    assert merged_with_recent(answered, [], OrderFilter(client_order_id="x")) == ["c:open"]
    assert merged_with_recent([order("z", user_id="u2")], [], OrderFilter()) == []


def test_records_are_forgotten_by_age_and_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "KEPT_MAX", 3)
    orders = RecentOrderRecords()
    for number in range(5):
        orders.note(order(f"o{number}"), number / 10)
    assert len(orders) == 3
    assert orders.get("u1", "o1") is None
    assert orders.get("u1", "o2") is not None
    orders.note(order("o4", "cancelled"), 4)
    orders.forget_old(5.45)
    assert orders.get("u1", "o3") is None
    assert orders.get("u1", "o4") == order("o4", "cancelled")
    orders.forget_old(9)
    assert len(orders) == 0
    assert not orders._of_user


def test_a_list_takes_orders_from_its_first_moment_and_before_its_last() -> None:
    first, last = datetime(2026, 1, 1, 0, 0, 2, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 4, tzinfo=UTC)
    orders = [order(str(second), created=second) for second in range(1, 6)]

    def taken(wanted: OrderFilter) -> list[str]:
        return [record.order_id for record in orders if wanted.takes(record)]

    assert taken(OrderFilter(since=first)) == ["2", "3", "4", "5"]
    assert taken(OrderFilter(until=last)) == ["1", "2", "3"]
    assert taken(OrderFilter(since=first, until=last)) == ["2", "3"]


def test_a_row_that_is_newer_than_what_was_sent_stays() -> None:
    sent = order("a", "open", created=1)
    assert merged_with_recent([sent], [order("a", "filled", created=1, updated=2)], OrderFilter()) == ["a:filled"]
    # The order with which the next page begins is not shown on this one as well.
    place = (sent.created_at, "a")
    assert merged_with_recent([sent], [], OrderFilter(), Window(before=place)) == []
    assert merged_with_recent([sent], [], OrderFilter(), Window(after=place)) == []
