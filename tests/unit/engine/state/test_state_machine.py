"""The state machine: a function of its commands, whether live, replayed or restored."""

from openspot.domain.order import EngineOrderType, Side
from openspot.engine.core.records import FLAG_SLIDE, decode_commands
from openspot.engine.state.order_memory import CANCELLED, FILLED, REJECTED
from openspot.engine.state.state_machine import RECENT_TRADES_MAX, placed_engine_order_ids
from tests.support.engine_state import SEED, Commands, cancel, deposit, feed, new_machine, place, together

HISTORY: list[Commands] = [
    SEED,
    deposit(2, "alice", 1000),
    deposit(3, "bob", 10, currency=3),
    place(1, 2),
    place(2, 3, Side.SELL, quantity=10**8 // 2),
    place(3, 9),
    place(4, 3, Side.SELL, 20_000),
    cancel(4),
    place(5, 2, quantity=10**7, order_id=""),
]


def test_orders_end_as_events_say() -> None:
    machine = new_machine()
    for batch in HISTORY:
        feed(machine, batch)
    statuses = {number: machine.orders.find(number) for number in range(1, 6)}
    assert {number: (order.status, order.remaining) for number, order in statuses.items() if order} == {
        1: (0, 0),
        2: (FILLED, 0),
        3: (REJECTED, 10**8),
        4: (CANCELLED, 10**8),
        5: (0, 0),
    }
    assert len(machine.trades[1]) == 1


def test_events_carry_the_texts_of_their_orders_and_commands() -> None:
    machine = new_machine()
    texts = [text for batch in HISTORY for text in feed(machine, batch).events.texts]
    assert texts == [
        ("alice", ""),
        ("bob", ""),
        ("order-1", "{}"),
        ("order-2", "{}"),
        ("order-2", "order-1"),
        ("order-3", "{}"),
        ("order-4", "{}"),
        ("order-4",),
        ("order-5", "{}"),
    ]


def test_the_state_does_not_depend_on_how_commands_are_batched() -> None:
    one_by_one, at_once = new_machine(), new_machine()
    events = [feed(one_by_one, batch).events for batch in HISTORY]
    everything = feed(at_once, together(*HISTORY)).events
    assert one_by_one.snapshot() == at_once.snapshot()
    assert b"".join(part.records for part in events) == everything.records
    assert [text for part in events for text in part.texts] == everything.texts


def test_a_restored_machine_continues_like_the_original() -> None:
    first, second = new_machine(), new_machine()
    for batch in HISTORY:
        feed(first, batch)
    second.restore(*first.snapshot())
    assert second.snapshot() == first.snapshot()
    more = together(deposit(4, "carol", 7), place(6, 3, Side.SELL, quantity=10**8), cancel(5))
    assert feed(first, more).events.records == feed(second, more).events.records
    assert first.snapshot() == second.snapshot()


def test_a_replay_returns_only_unknown_events_and_reaches_the_same_state() -> None:
    live, replay = new_machine(), new_machine()
    *earlier, last = HISTORY
    for batch in earlier:
        feed(live, batch)
    known = live.core.event_sequence
    newest = feed(live, last).events
    for batch in earlier:
        replay.register(*batch)
        assert len(replay.apply(*batch, known).events) == 0
    replay.register(*last)
    again = replay.apply(*last, known).events
    assert (again.first_sequence, again.records, again.texts) == (known + 1, newest.records, newest.texts)
    assert len(again) > 0
    assert replay.snapshot() == live.snapshot()


def test_a_snapshot_omits_what_is_not_durable_yet() -> None:
    machine = new_machine()
    for batch in HISTORY:
        feed(machine, batch)
    durable = machine.snapshot()
    commands, notes = together(deposit(4, "carol", 7), place(6, 4))
    machine.register(commands, notes)
    assert machine.snapshot(placed_engine_order_ids(commands)) == durable
    machine.apply(commands, notes)
    assert machine.snapshot() != durable


def test_recent_trades_are_bounded() -> None:
    machine = new_machine()
    feed(machine, together(SEED, deposit(2, "alice", 10**9), deposit(3, "bob", 10**6, currency=3)))
    feed(machine, place(1, 2, quantity=10 * RECENT_TRADES_MAX))
    feed(machine, together(*(place(10 + n, 3, Side.SELL, quantity=1) for n in range(RECENT_TRADES_MAX + 5))))
    assert len(machine.trades[1]) == RECENT_TRADES_MAX


def marked(batch: Commands, client_order_id: str) -> Commands:
    """A placement that asks for a client order id of its own."""
    commands, notes = batch
    return commands, [(*note, client_order_id) for note in notes]


def test_the_client_order_ids_of_open_orders_do_not_depend_on_how_commands_are_batched() -> None:
    history = [
        *HISTORY,
        marked(place(6, 2), "ended"),
        cancel(6),
        marked(place(7, 2), "again"),
        cancel(7),
        marked(place(8, 2), "again"),
        marked(place(9, 9), "of an unknown account"),
        marked(place(10, 3, Side.SELL, 20_000), "of bob"),
    ]
    one_by_one, at_once = new_machine(), new_machine()
    for batch in history:
        feed(one_by_one, batch)
    feed(at_once, together(*history))
    for machine in (one_by_one, at_once):
        assert machine.orders.client_ids.snapshot(()) == [(8, 2, "again"), (10, 3, "of bob")]
        assert machine.orders.client_ids.snapshot({8}) == [(10, 3, "of bob")]
    restored = new_machine()
    restored.restore(*at_once.snapshot())
    assert restored.snapshot() == one_by_one.snapshot()
    assert restored.orders.client_ids.holder(2, "again") == 8
    feed(restored, cancel(8))
    assert restored.orders.client_ids.holder(2, "again") is None


def test_a_snapshot_without_client_order_ids_is_one_of_before() -> None:
    machine = new_machine()
    for batch in HISTORY:
        feed(machine, batch)
    assert b"client_ids" not in machine.snapshot()[1]


def test_an_order_is_remembered_as_the_core_accepted_it() -> None:
    machine = new_machine()
    for batch in (*HISTORY[:3], place(1, 3, Side.SELL, 10_000)):
        feed(machine, batch)
    slid, notes = place(2, 2, price=10_500)
    command = next(decode_commands(slid))._replace(order_type=EngineOrderType.POST_ONLY, flags=FLAG_SLIDE)
    feed(machine, (command.encode(), notes))  # type: ignore[union-attr]
    order = machine.orders.find(2)
    assert order is not None
    assert (order.price, order.quantity) == (9_999, 10**8)
