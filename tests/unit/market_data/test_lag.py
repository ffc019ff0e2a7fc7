"""A leader that is behind the engine answers for some seconds, and no longer."""

from types import SimpleNamespace
from typing import Any

import pytest

from openspot.market_data.lag import Lag
from openspot.market_data.leader_session import LeaderSession, StaleError
from openspot.market_data.settings import MarketDataSettings


def test_a_leader_that_catches_up_in_time_is_current() -> None:
    lag = Lag(5.0)
    assert lag.fault(100.0) is None
    lag.note(7, 100.0)
    assert lag.fault(105.0) is None
    lag.note(0, 105.0)
    assert lag.fault(1000.0) is None


def test_a_leader_that_stays_behind_is_not_current_however_near_it_comes() -> None:
    lag = Lag(5.0)
    lag.note(7, 100.0)
    lag.note(3, 104.0)
    assert lag.fault(105.01) == "3 events behind the engine, for 5 s"
    # Behind once more, it has its whole time again.
    lag.note(0, 106.0)
    lag.note(1, 107.0)
    assert lag.fault(112.0) is None
    assert lag.fault(112.01) == "1 events behind the engine, for 5 s"


async def test_a_session_far_behind_the_engine_refuses_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    around: Any = SimpleNamespace(
        settings=MarketDataSettings(), store=None, fair_price_store=None,
        commands=None, queries=None, clock=lambda: 0, check=lambda: None,
        token=1, position=None,
    )  # fmt: skip
    session = LeaderSession(around, around, around)
    # It has not reached the engine's events yet.
    with pytest.raises(StaleError, match="the engine's events have not been reached yet"):
        session.check_current()
    monkeypatch.setattr(session, "_fault", None)
    session.check_current()
    monkeypatch.setattr(session, "_lag", SimpleNamespace(fault=lambda _now_s: "9 events behind"))
    with pytest.raises(StaleError, match="9 events behind"):
        session.check_current()
