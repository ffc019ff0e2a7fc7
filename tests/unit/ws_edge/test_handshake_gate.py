"""How fast an address may open connections, and how long each has to wait."""

import pytest

from openspot.http.errors import HttpError
from openspot.kit.rate_limit import NANOSECONDS_PER_S
from openspot.ws_edge.handshake_gate import FLOOD_COST, UNDELAYED, Arrivals

PER_SECOND = 100
INTERVAL_S = 1 / PER_SECOND


class Opening:
    """Opens connections at times of its own."""

    def __init__(self) -> None:
        self.now_s = 1.0
        self.arrivals = Arrivals(PER_SECOND, lambda: int(self.now_s * NANOSECONDS_PER_S))

    def wait_s(self, network: str = "a", *, is_handshake: bool = True) -> float | None:
        """How long a connection has to wait, None if it is refused."""
        try:
            return self.arrivals.admit(network, is_handshake)
        except HttpError as error:
            assert (error.status_code, error.code, error.message, error.headers) == (
                429, "TOO_MANY_REQUESTS", "this address opens connections too fast", {"Retry-After": "1"},
            )  # fmt: skip
            return None


def test_the_first_are_served_at_once_the_others_in_turns_and_those_beyond_a_second_are_refused() -> None:
    opening = Opening()
    waits = [opening.wait_s() for _ in range(PER_SECOND)]
    assert waits[:UNDELAYED] == [pytest.approx(0)] * UNDELAYED
    assert waits[UNDELAYED:] == [pytest.approx(INTERVAL_S * n) for n in range(1, PER_SECOND - UNDELAYED + 1)]
    assert opening.wait_s() is None
    # Another address, and a plain request of the same one, wait for nobody.
    assert opening.wait_s("b") == 0
    assert opening.wait_s(is_handshake=False) == 0
    opening.now_s += 1
    assert opening.wait_s() == 0


def test_a_flood_counts_as_many_handshakes_and_as_no_more_than_are_allowed() -> None:
    opening = Opening()
    opening.arrivals.note_flood("a")
    assert opening.wait_s() == pytest.approx(INTERVAL_S * (FLOOD_COST + 1 - UNDELAYED))
    for _ in range(10):
        opening.arrivals.note_flood("a")
    assert opening.wait_s() is None
    assert opening.wait_s("b") == 0
    # However many floods there were, after a second the address is as good as new.
    opening.now_s += 1
    assert opening.wait_s() == 0
