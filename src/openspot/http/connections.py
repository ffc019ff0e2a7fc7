"""Bounds on the connections of a server: in total, and for each client address. Rules without IO.

A connection waits for a request or works on one. At a bound, a new connection takes the place of the oldest waiting
one. Connections that have never sent a whole request head go first, then those between two requests. So a client that
holds connections open without using them keeps nobody out. A new connection is refused only if all others are at work.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from openspot.http.throttle import network_of


@dataclass(frozen=True, slots=True)
class ConnectionBounds:
    """At most `total` connections of the process, and `per_address` of one client.

    Addresses in `trusted` are proxies with many clients behind them: they have no bound per address.
    """

    total: int
    per_address: int
    trusted: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Group:
    """Connections that share a bound."""

    members: int = 0
    fresh: dict["_Entry", None] = field(default_factory=dict)
    idle: dict["_Entry", None] = field(default_factory=dict)

    def oldest_waiting(self) -> "_Entry | None":
        return next(iter(self.fresh), None) or next(iter(self.idle), None)

    def stop_waiting(self, entry: "_Entry") -> None:
        self.fresh.pop(entry, None)
        self.idle.pop(entry, None)


@dataclass(eq=False, slots=True)
class _Entry:
    """An open connection, and the groups whose bounds count it."""

    key: Hashable
    cut: Callable[[], None]
    address: str | None
    groups: tuple[_Group, ...]


class Connections:
    """The open connections of one server, by a key such as the transport."""

    def __init__(self, bounds: ConnectionBounds) -> None:
        self._bounds = bounds
        self._entries: dict[Hashable, _Entry] = {}
        self._all = _Group()
        self._by_address: dict[str, _Group] = {}

    def __len__(self) -> int:
        return self._all.members

    def admit(self, key: Hashable, address: str, cut: Callable[[], None]) -> bool:
        """Take in a connection that waits for its first request; False if there is no place for it.

        `cut` is called to end the connection at once if its place is needed while it waits.
        """
        network = None if address in self._bounds.trusted else network_of(address)
        own = _Group() if network is None else self._by_address.setdefault(network, _Group())
        has_place = (network is None or own.members < self._bounds.per_address or self._make_room(own)) and (
            self._all.members < self._bounds.total or self._make_room(self._all)
        )
        if not has_place:
            self._drop_if_empty(network)
            return False
        if network is not None:
            # Making room may have ended the last connection of this address.
            own = self._by_address.setdefault(network, own)
        entry = self._entries[key] = _Entry(key, cut, network, (self._all, own))
        for group in entry.groups:
            group.members += 1
            group.fresh[entry] = None
        return True

    def note_request(self, key: Hashable) -> None:
        """Record that a whole request head has come: the connection is at work."""
        entry = self._entries.get(key)
        if entry is not None:
            for group in entry.groups:
                group.stop_waiting(entry)

    def note_response(self, key: Hashable) -> None:
        """Record that the response is sent: the connection waits for the next request."""
        entry = self._entries.get(key)
        if entry is not None:
            for group in entry.groups:
                group.idle[entry] = None

    def remove(self, key: Hashable) -> None:
        """Record that the connection has ended. A second call changes nothing."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        for group in entry.groups:
            group.stop_waiting(entry)
            group.members -= 1
        self._drop_if_empty(entry.address)

    def cut_fresh(self) -> None:
        """End the connections that have never sent a whole request head."""
        while self._all.fresh:
            self._cut(next(iter(self._all.fresh)))

    def _make_room(self, group: _Group) -> bool:
        victim = group.oldest_waiting()
        if victim is None:
            return False
        self._cut(victim)
        return True

    def _cut(self, entry: _Entry) -> None:
        self.remove(entry.key)
        entry.cut()

    def _drop_if_empty(self, network: str | None) -> None:
        if network is not None and network in self._by_address and not self._by_address[network].members:
            del self._by_address[network]
