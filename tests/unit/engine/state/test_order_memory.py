"""The orders that the engine remembers."""

import pytest

from openspot.domain.order import EngineOrderType
from openspot.engine.state.order_memory import CANCELLED, FILLED, REJECTED, OrderMemory, RememberedOrder

PLACED = RememberedOrder(order_id="x", account=2, symbol=1, side=1, order_type=1, price=100, quantity=50, time_ns=9)


def entry(order_id: str) -> tuple[object, ...]:
    """The entry of an open order."""
    return PLACED._replace(order_id=order_id)[: RememberedOrder._fields.index("status")]


def add(memory: OrderMemory, number: int, given: tuple[object, ...]) -> None:
    """Add an order as the command intake does."""
    memory.entries[number] = given
    if given[0]:
        memory.ids[str(given[0])] = number


def test_open_orders_are_never_forgotten_and_ended_ones_oldest_first() -> None:
    memory = OrderMemory(2)
    for number in range(1, 6):
        add(memory, number, entry(f"x{number}"))
    for number in (2, 1, 3):
        memory.end(number, FILLED, 0)
    memory.trim()
    assert [number for number in range(1, 6) if memory.find(number)] == [1, 3, 4, 5]
    assert memory.ids == {"x1": 1, "x3": 3, "x4": 4, "x5": 5}
    assert memory.open_count == 2
    # A forgotten id can be used again.
    add(memory, 2, entry("x2"))
    assert memory.find(2) == PLACED._replace(order_id="x2")


def test_an_order_without_an_order_id_is_found_by_the_engines() -> None:
    memory = OrderMemory(1)
    add(memory, 1, entry(""))
    add(memory, 2, entry(""))
    memory.end(1, FILLED, 0)
    memory.end(2, FILLED, 0)
    memory.trim()
    assert memory.ids == {}
    assert (memory.find(1), memory.find(2)) == (None, PLACED._replace(order_id="", status=FILLED))


def test_a_move_changes_price_and_quantity_and_an_end_the_status() -> None:
    memory = OrderMemory(10)
    add(memory, 1, entry("x"))
    memory.move(1, 120, -15)
    memory.end(1, CANCELLED, 30)
    amended = PLACED._replace(price=120, quantity=PLACED.quantity - 15, status=CANCELLED, remaining=30)
    assert memory.find(1) == amended


def test_a_reduction_lowers_the_ordered_quantity() -> None:
    memory = OrderMemory(10)
    add(memory, 1, entry("x"))
    memory.reduce(1, 20)
    memory.end(1, CANCELLED, 10)
    assert memory.find(1) == PLACED._replace(quantity=30, status=CANCELLED, remaining=10)


def test_a_snapshot_restores_all_but_pending_orders() -> None:
    memory = OrderMemory(10)
    for number in range(1, 8):
        add(memory, number, entry(f"x{number}" if number != 5 else ""))
    for number in (6, 2):
        memory.end(number, FILLED, 0)
    again = OrderMemory(10)
    again.restore(memory.snapshot({7}))
    assert again.snapshot(()) == memory.snapshot({7})
    assert again.find(7) is None
    assert again.ids == {f"x{number}": number for number in (1, 2, 3, 4, 6)}
    # The sequence in which orders ended is restored, so the same one is forgotten next.
    smaller = OrderMemory(1)
    smaller.restore(memory.snapshot(()))
    assert (smaller.find(6), smaller.find(2) is not None) == (None, True)


def test_a_replay_forgets_ended_orders_whose_ids_were_reused() -> None:
    memory = OrderMemory(2)
    for number in (1, 2, 3):
        add(memory, number, entry(f"x{number}"))
        memory.end(number, FILLED, 0)
    # With room for one ended order, the live engine had already forgotten order 1 and order id x2.
    memory.make_room(1)
    add(memory, 1, entry("x1"))
    memory.entries[4] = entry("x2")
    memory.drop_index()
    assert memory.ids == {"x1": 1, "x2": 4, "x3": 3}
    # The older order with this order id is forgotten; the newer one keeps it.
    memory.end(1, FILLED, 0)
    memory.trim()
    assert memory.find(2) is None
    assert memory.ids == {"x1": 1, "x2": 4, "x3": 3}
    memory.end(4, CANCELLED, 5)
    memory.trim()
    assert memory.find(4) == PLACED._replace(order_id="x2", status=CANCELLED, remaining=5)
    assert memory.ids == {"x1": 1, "x2": 4}


@pytest.mark.parametrize("content", [b"", b"\x01", b"\x92\x90"])
def test_a_malformed_snapshot_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="not a snapshot"):
        OrderMemory(1).restore(content)


def ids_of(memory: OrderMemory) -> dict[tuple[int, int], list[list[int]]]:
    """The ids of the sells and of the buys, by account and symbol."""
    return {owner: [list(sells), list(buys)] for owner, (sells, buys) in memory.open_orders.items()}


def test_open_orders_are_kept_by_account_symbol_and_side_until_they_end() -> None:
    gtc, ioc, post_only = int(EngineOrderType.GTC), int(EngineOrderType.IOC), int(EngineOrderType.POST_ONLY)
    memory = OrderMemory(1)
    for number, (account, symbol, side, order_type) in enumerate(
        [(2, 1, 1, gtc), (2, 1, 2, post_only), (2, 1, 1, ioc), (2, 7, 1, gtc), (3, 1, 2, gtc)], start=1
    ):
        memory.entries[number] = ("", account, symbol, side, order_type, 100, 50, 9)
    # An IOC order cannot rest, so it is not there.
    assert ids_of(memory) == {(2, 1): [[2], [1]], (2, 7): [[], [4]], (3, 1): [[5], []]}
    assert list(memory.open_engine_order_ids(2, (1, 7))) == [1, 2, 4]
    assert list(memory.open_engine_order_ids(2, (1, 7), side=1)) == [1, 4]
    assert list(memory.open_engine_order_ids(2, (1, 7), side=2)) == [2]
    assert list(memory.open_engine_order_ids(9, (1, 7))) == []
    memory.end(1, FILLED, 0)
    memory.end(3, CANCELLED, 50)
    memory.trim()
    assert ids_of(memory) == {(2, 1): [[2], []], (2, 7): [[], [4]], (3, 1): [[5], []]}
    memory.end(4, REJECTED, 50)
    memory.trim()
    # A second call removes no order twice, even though only one ended order is remembered.
    memory.trim()
    assert ids_of(memory) == {(2, 1): [[2], []], (3, 1): [[5], []]}
    restored = OrderMemory(1)
    restored.restore(memory.snapshot(()))
    assert restored.open_orders == memory.open_orders
    restored.drop_index()
    restored.entries[9] = ("", 3, 1, 1, gtc, 100, 50, 9)
    assert ids_of(restored) == {(2, 1): [[2], []], (3, 1): [[5], [9]]}
