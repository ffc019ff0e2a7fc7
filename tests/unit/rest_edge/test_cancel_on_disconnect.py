"""What becomes of the orders of a connection that ended, while the engine or the database is away."""

from typing import Any

import asyncpg
import pytest

from openspot.http.errors import HttpError
from openspot.rest_edge.orders import connections as module
from openspot.rest_edge.orders.connections import OrderConnections


class Platform:
    """Orders and timers, each of which fails so many times."""

    def __init__(self, cancels: list[Exception | None], timers: list[Exception | None]) -> None:
        self.cancels = cancels
        self.timers = timers
        self.done: list[str] = []

    async def cancel_all_open(self, user_id: str) -> list[str]:
        return self._next(self.cancels, f"cancelled {user_id}")

    async def run_out(self, user_id: str) -> None:
        self._next(self.timers, f"due {user_id}")

    def _next(self, outcomes: list[Exception | None], done: str) -> list[str]:
        outcome = outcomes.pop(0)
        if outcome is not None:
            raise outcome
        self.done.append(done)
        return ["order1"]


AWAY = HttpError(503, "no engine", "SERVICE_UNAVAILABLE")
LOST = asyncpg.ConnectionDoesNotExistError("connection was closed")


@pytest.mark.parametrize(
    ("cancels", "timers", "done"),
    [
        ([None], [], ["cancelled u1"]),
        ([AWAY], [None], ["due u1"]),
        ([LOST], [None], ["due u1"]),
        ([AWAY, AWAY], [LOST, None], ["due u1"]),
        ([AWAY, None], [LOST], ["cancelled u1"]),
        ([AWAY] * 20, [LOST] * 20, []),
    ],
)
async def test_the_orders_are_cancelled_or_noted_for_the_edges_as_soon_as_one_of_both_is_possible(
    monkeypatch: pytest.MonkeyPatch,
    cancels: list[Exception | None],
    timers: list[Exception | None],
    done: list[str],
) -> None:
    monkeypatch.setattr(module, "RETRY_PAUSE_S_MIN", 0.0)
    platform: Any = Platform(list(cancels), list(timers))
    await OrderConnections("", platform, platform)._cancel("u1")
    assert (platform.done, platform.cancels, platform.timers) == (done, [], [])
