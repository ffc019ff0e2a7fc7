"""Which open order holds which client order id."""

from openspot.engine.state.client_order_ids import ClientOrderIds
from openspot.engine.state.directory import UNKNOWN_ACCOUNT


def test_an_order_holds_its_id_for_its_account_until_it_ends() -> None:
    ids = ClientOrderIds()
    assert ids.holder(7, "mine") is None
    ids.hold(7, "mine", 1)
    ids.hold(8, "mine", 2)
    assert (ids.holder(7, "mine"), ids.holder(8, "mine"), len(ids)) == (1, 2, 2)
    ids.release(1)
    ids.release(1)
    ids.release(99)
    assert (ids.holder(7, "mine"), ids.holder(8, "mine"), len(ids)) == (None, 2, 1)


def test_the_end_of_an_earlier_holder_frees_nothing() -> None:
    ids = ClientOrderIds()
    ids.hold(7, "mine", 1)
    ids.hold(7, "mine", 2)
    ids.release(1)
    assert (ids.holder(7, "mine"), len(ids)) == (2, 1)
    ids.release(2)
    assert (ids.holder(7, "mine"), len(ids)) == (None, 0)


def test_an_order_of_an_unknown_account_holds_nothing() -> None:
    ids = ClientOrderIds()
    ids.hold(UNKNOWN_ACCOUNT, "mine", 1)
    assert (ids.holder(UNKNOWN_ACCOUNT, "mine"), len(ids)) == (None, 0)


def test_a_snapshot_has_what_durable_orders_hold_in_the_order_of_their_ids() -> None:
    ids = ClientOrderIds([(5, 7, "later"), (3, 7, "mine")])
    ids.hold(8, "pending", 4)
    assert ids.snapshot({4}) == [(3, 7, "mine"), (5, 7, "later")]
    assert ids.snapshot(()) == [(3, 7, "mine"), (4, 8, "pending"), (5, 7, "later")]
    again = ClientOrderIds(ids.snapshot(()))
    assert (again.holder(7, "mine"), again.holder(7, "later"), again.holder(8, "pending")) == (3, 5, 4)
