"""An ended session is refused for a token's whole life, whatever the clock of the bus says."""

import time
from types import SimpleNamespace
from typing import Any

import pytest

from openspot.http.authentication import RevokedSessions
from openspot.http.ended_sessions import EndedSessionsFollower
from openspot.kit.bus import Entry

LIFE_S = 960


@pytest.mark.parametrize("behind_s", [0, 300, 86_400])
def test_a_bus_whose_clock_is_behind_makes_no_session_begin_again(behind_s: int) -> None:
    bus: Any = SimpleNamespace(key_value=lambda *_: None)
    revoked, now = RevokedSessions(), time.time()
    follower = EndedSessionsFollower(bus, revoked, LIFE_S)
    follower._take(Entry("s1", b"", 1, int((now - behind_s) * 1000)))
    revoked.forget_expired(now + LIFE_S - 1)
    assert "s1" in revoked
    revoked.forget_expired(now + LIFE_S + 5)
    assert "s1" not in revoked


def test_a_bus_whose_clock_is_ahead_keeps_it_for_longer() -> None:
    bus: Any = SimpleNamespace(key_value=lambda *_: None)
    revoked, now = RevokedSessions(), time.time()
    EndedSessionsFollower(bus, revoked, LIFE_S)._take(Entry("s1", b"", 1, int((now + 300) * 1000)))
    revoked.forget_expired(now + LIFE_S + 200)
    assert "s1" in revoked
