"""Turns of clients that send much: nobody is parsed for longer than a slice while others wait, nor for a whole turn."""

from collections.abc import Callable

import pytest

from openspot.ws_edge.incoming import REST_S, SLICE_BYTES, TURN_S, Received, Turns


class EventLoop:
    """Runs what is due in turns, with a clock that slices and waiting move on."""

    def __init__(self) -> None:
        self.now = 0.0
        self.due: list[tuple[float, Callable[[], None]]] = []

    def turns(self, turn_s: float = TURN_S) -> Turns:
        """Turns in this event loop."""
        return Turns(
            lambda delay_s, function: self.due.append((self.now + delay_s, function)), lambda: self.now, turn_s
        )

    def run_turn(self) -> None:
        """Wait until something is due, and run it, and not what it makes due."""
        due, self.due = self.due, []
        for at, function in due:
            self.now = max(self.now, at)
            function()


class Client:
    """Has so many slices, each of which takes some time."""

    def __init__(self, loop: EventLoop, name: str, slices: int, seconds: float, order: list[str]) -> None:
        self.loop, self.name, self.slices, self.seconds, self.order = loop, name, slices, seconds, order

    def parse_slice(self) -> bool:
        self.slices -= 1
        self.loop.now += self.seconds
        self.order.append(self.name)
        if self.slices < 0:
            raise RuntimeError(self.name)
        return self.slices > 0


def test_clients_take_turns_slice_by_slice() -> None:
    loop, order = EventLoop(), list[str]()
    turns = loop.turns()
    for name, slices in (("a", 3), ("b", 1), ("c", 2)):
        turns.add(Client(loop, name, slices, 0, order))
    loop.run_turn()
    assert order == ["a", "b", "c", "a", "c", "a"]
    assert not loop.due


def test_a_turn_ends_after_its_time_and_goes_on_in_the_next() -> None:
    loop, order = EventLoop(), list[str]()
    turns = loop.turns()
    turns.add(Client(loop, "a", 10, TURN_S / 2, order))
    turns.add(Client(loop, "b", 1, TURN_S / 2, order))
    loop.run_turn()
    assert (order, len(loop.due)) == (["a", "b"], 1)
    while loop.due:
        loop.run_turn()
    assert order == ["a", "b", *"a" * 9]
    # Two slices in each turn but the last, and a rest between two turns.
    assert loop.now == pytest.approx(11 * TURN_S / 2 + 5 * REST_S)


def test_turns_without_time_parse_one_slice_each_and_begin_at_once_after_a_rest() -> None:
    loop, order = EventLoop(), list[str]()
    turns = loop.turns(0.0)
    for name in ("a", "b"):
        turns.add(Client(loop, name, 1, 0, order))
    loop.run_turn()
    assert (order, loop.now) == (["a"], 0.0)
    loop.run_turn()
    assert (order, loop.now) == (["a", "b"], REST_S)
    loop.now += REST_S
    turns.add(Client(loop, "c", 1, 0, order))
    loop.run_turn()
    assert (order, loop.now) == (["a", "b", "c"], 2 * REST_S)


def test_who_fails_does_not_stop_the_others() -> None:
    loop, order = EventLoop(), list[str]()
    turns = loop.turns()
    turns.add(Client(loop, "broken", 0, 0, order))
    turns.add(Client(loop, "a", 1, 0, order))
    with pytest.raises(RuntimeError, match="broken"):
        loop.run_turn()
    loop.run_turn()
    assert order == ["broken", "a"]
    turns.add(Client(loop, "b", 1, 0, order))
    loop.run_turn()
    assert order == ["broken", "a", "b"]


def test_what_was_received_is_taken_in_slices_and_in_its_order() -> None:
    received, taken = Received(), list[bytes]()
    assert len(received) == 0
    data = bytes(range(250)) * 5
    received.add(data[:1000])
    taken.append(received.take())
    assert len(received) == 744
    received.add(data[1000:])
    assert len(received) == len(data) - SLICE_BYTES
    while received:
        taken.append(received.take())
    assert b"".join(taken) == data
    assert {len(part) for part in taken} == {SLICE_BYTES, len(data) % SLICE_BYTES}
    received.add(data)
    received.clear()
    assert not received
