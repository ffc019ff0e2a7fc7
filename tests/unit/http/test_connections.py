"""Bounds on connections: who gets a place, and whose place is taken."""

import pytest
from hypothesis import given, strategies

from openspot.http.addresses import client_address
from openspot.http.connections import ConnectionBounds, Connections


class Server:
    """Connections by name, and the names of those that were cut."""

    def __init__(self, total: int = 100, per_address: int = 100, trusted: frozenset[str] = frozenset()) -> None:
        self.connections = Connections(ConnectionBounds(total, per_address, trusted))
        self.cut: list[str] = []

    def admit(self, name: str, address: str = "203.0.113.1") -> bool:
        return self.connections.admit(name, address, lambda: self.cut.append(name))

    def work(self, *names: str) -> None:
        for name in names:
            self.connections.note_request(name)

    def rest(self, *names: str) -> None:
        for name in names:
            self.connections.note_response(name)


def test_at_the_bound_the_oldest_that_never_sent_a_request_gives_way() -> None:
    server = Server(total=3)
    assert all(server.admit(name) for name in ("idle", "silent", "late"))
    server.work("idle")
    server.rest("idle")
    assert server.admit("new")
    assert server.cut == ["silent"]
    assert len(server.connections) == 3


def test_an_idle_connection_gives_way_only_after_all_silent_ones() -> None:
    server = Server(total=2)
    for name in ("first", "second"):
        server.admit(name)
        server.work(name)
        server.rest(name)
    server.work("first")
    server.rest("first")
    assert server.admit("new")
    # The one that has waited longest.
    assert server.cut == ["second"]


def test_those_that_never_sent_a_request_can_be_ended_together() -> None:
    server = Server()
    for name in ("idle", "silent", "working", "late"):
        server.admit(name)
    server.work("idle", "working")
    server.rest("idle")
    server.connections.cut_fresh()
    assert server.cut == ["silent", "late"]
    assert len(server.connections) == 2
    server.connections.cut_fresh()
    assert server.cut == ["silent", "late"]


def test_where_every_connection_works_the_new_one_is_refused() -> None:
    server = Server(total=2)
    server.admit("a")
    server.admit("b")
    server.work("a", "b")
    assert not server.admit("c")
    assert not server.cut
    server.connections.remove("a")
    assert server.admit("c")


def test_one_address_takes_places_from_itself_alone() -> None:
    server = Server(total=100, per_address=2)
    server.admit("other", "203.0.113.9")
    assert all(server.admit(f"attacker {number}") for number in range(50))
    assert len(server.cut) == 48
    assert "other" not in server.cut
    server.work("attacker 48", "attacker 49")
    assert not server.admit("attacker 50")
    assert server.admit("another", "203.0.113.10")


def test_an_ipv6_subscriber_is_one_address_and_a_trusted_proxy_has_no_bound_of_its_own() -> None:
    server = Server(per_address=1, trusted=frozenset({"10.0.0.1"}))
    server.admit("a", "2001:db8::1")
    server.work("a")
    assert not server.admit("b", "2001:db8::2")
    assert all(server.admit(f"behind {number}", "10.0.0.1") for number in range(20))
    assert not server.cut
    assert len(server.connections) == 21


def test_a_place_that_an_address_takes_from_itself_still_counts() -> None:
    server = Server(per_address=1)
    server.admit("silent")
    assert server.admit("busy")
    assert server.cut == ["silent"]
    server.work("busy")
    assert not server.admit("third")


def test_addresses_without_connections_are_forgotten() -> None:
    server = Server(total=1, trusted=frozenset({"10.0.0.1"}))
    server.admit("proxy", "10.0.0.1")
    assert not server.connections._by_address
    server.work("proxy")
    assert not server.admit("refused", "203.0.113.1")
    assert not server.connections._by_address
    server.connections.remove("proxy")
    server.admit("a", "203.0.113.2")
    assert list(server.connections._by_address) == ["203.0.113.2"]
    server.connections.remove("a")
    assert not server.connections._by_address


def test_an_end_that_is_told_twice_counts_once() -> None:
    server = Server()
    server.admit("a")
    for _ in range(2):
        server.connections.remove("a")
    server.work("a")
    server.rest("a")
    assert len(server.connections) == 0


STEPS = strategies.lists(
    strategies.tuples(
        strategies.sampled_from(["admit", "work", "rest", "remove"]),
        strategies.integers(0, 8),
        strategies.sampled_from(["203.0.113.1", "203.0.113.2", "10.0.0.1"]),
    ),
    max_size=60,
)


@given(STEPS)
def test_no_order_of_events_breaks_a_bound(steps: list[tuple[str, int, str]]) -> None:
    server = Server(total=4, per_address=2, trusted=frozenset({"10.0.0.1"}))
    open_now: dict[str, str] = {}
    for serial, (step, number, address) in enumerate(steps):
        names = sorted(open_now)
        name = names[number % len(names)] if names else "nobody"
        if step == "admit":
            new = f"{serial:03}"
            if server.admit(new, address):
                open_now[new] = address
        elif step == "work":
            server.work(name)
        elif step == "rest":
            server.rest(name)
        else:
            server.connections.remove(name)
            open_now.pop(name, None)
        for cut in server.cut:
            open_now.pop(cut, None)
        assert len(server.connections) == len(open_now) <= 4
        for bounded in ("203.0.113.1", "203.0.113.2"):
            assert list(open_now.values()).count(bounded) <= 2


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("203.0.113.9", ["1.2.3.4"], "203.0.113.9"),
        ("10.0.0.1", ["1.2.3.4"], "1.2.3.4"),
        ("10.0.0.1", ["6.6.6.6, 1.2.3.4"], "1.2.3.4"),
        ("10.0.0.1", ["6.6.6.6", "1.2.3.4, 10.0.0.2"], "1.2.3.4"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", [" , "], "10.0.0.1"),
    ],
)
def test_an_address_is_believed_as_far_as_trusted_proxies_wrote_it(
    peer: str, forwarded: list[str], expected: str
) -> None:
    assert client_address(peer, forwarded, {"10.0.0.1", "10.0.0.2"}) == expected
