"""A session or key that ended ends its connections: those that are there, and those that come a moment later."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from openspot.http.api_keys.store import Ended
from openspot.kit.tokens import Claims
from openspot.ws_edge.connection import TOKEN_EXPIRED
from openspot.ws_edge.hub import API_KEY_ENDED, Hub
from openspot.ws_edge.login import SESSION_ENDED

ALICE = Claims("alice", "user", 2_000_000_000, session_id="s1", token_id="t1")


@dataclass(eq=False)
class Connection:
    """What the hub knows of a connection. `ended` keeps how it was closed."""

    claims: Claims | None = None
    api_key: Any = None
    network: str = "198.51.100.7"
    channels: set[str] = field(default_factory=set)
    ended: list[tuple[int, str]] = field(default_factory=list)
    snapshot_of: Callable[[str], bytes | None] | None = None

    def end(self, code: int, reason: str) -> bool:
        """Begin to close."""
        self.ended.append((code, reason))
        return True


def joined(hub: Hub, **fields: Any) -> Connection:
    connection: Any = Connection(**fields)
    hub.join(connection)
    return connection  # type: ignore[no-any-return]


@pytest.fixture
def hub() -> Hub:
    return Hub(lambda: 0)


async def test_the_end_of_a_session_closes_its_connections_and_no_others(hub: Hub) -> None:
    own, other = joined(hub, claims=ALICE), joined(hub, claims=Claims("alice", "user", 1, session_id="s2"))
    anonymous = joined(hub)
    hub.session_ended("s1")
    assert own.ended == [(TOKEN_EXPIRED, SESSION_ENDED)]
    assert (other.ended, anonymous.ended) == ([], [])


async def test_a_connection_that_joins_just_after_its_session_ended_is_closed(hub: Hub) -> None:
    hub.session_ended("s1")
    assert joined(hub, claims=ALICE).ended == [(TOKEN_EXPIRED, SESSION_ENDED)]
    assert joined(hub, claims=Claims("alice", "user", 1, session_id="s2")).ended == []


async def test_a_connection_that_authenticates_just_after_its_session_ended_is_closed(hub: Hub) -> None:
    hub.session_ended("s1")
    connection: Any = joined(hub)
    hub.authenticate(connection, ALICE)
    assert connection.ended == [(TOKEN_EXPIRED, SESSION_ENDED)]
    assert hub.anonymous_connections == 0


async def test_the_end_of_a_key_closes_its_earlier_versions_only(hub: Hub) -> None:
    earlier, later, other = (
        joined(hub, claims=ALICE, api_key=SimpleNamespace(key_id=key_id, version=version))
        for key_id, version in (("k1", 1), ("k1", 2), ("k2", 1))
    )
    hub.api_key_ended(Ended("k1", 2))
    assert earlier.ended == [(TOKEN_EXPIRED, API_KEY_ENDED)]
    assert (later.ended, other.ended) == ([], [])


async def test_a_network_and_a_user_without_connections_are_forgotten(hub: Hub) -> None:
    first, second = joined(hub, claims=ALICE), joined(hub)
    assert (hub.connections_of("198.51.100.7"), hub.anonymous_connections) == (2, 1)
    for connection in (first, second):
        leaving: Any = connection
        hub.leave(leaving)
    assert (hub.connections_of("198.51.100.7"), hub.anonymous_connections, hub.connections) == (0, 0, set())
