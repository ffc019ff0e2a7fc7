"""What is new and what is stale; time is passed in."""

import pytest

from openspot.venue.freshness import Freshness
from openspot.venue.novelty import CLOCK_DIFFERENCE_MS, SNAPSHOT_MS, Novelty, is_past
from openspot.venue.ticks import VenueQuote

BEGAN = 1_700_000_000_000


def quote(bid: str = "1", timestamp: int | None = None) -> VenueQuote:
    return VenueQuote(bid, "2", "3", "4", timestamp)


def test_a_quote_is_new_if_a_price_or_a_quantity_differs() -> None:
    novelty = Novelty()
    assert novelty.is_new_quote("A", quote())
    assert not novelty.is_new_quote("A", quote(timestamp=7))
    assert novelty.is_new_quote("B", quote())
    assert novelty.is_new_quote("A", quote("1.0"))
    assert novelty.is_new_quote("A", quote())
    novelty.forget_quotes()
    assert novelty.is_new_quote("A", quote())


def test_a_trade_is_new_once_in_each_market() -> None:
    novelty = Novelty()
    assert novelty.is_new_trade("A", "1")
    assert novelty.is_new_trade("B", "1")
    novelty.forget_quotes()
    assert not novelty.is_new_trade("A", "1")


def test_the_memory_of_trades_is_bounded_and_forgets_the_oldest() -> None:
    novelty = Novelty(trade_ids_max=3)
    for trade_id in ("1", "2", "3", "4"):
        assert novelty.is_new_trade("A", trade_id)
    assert not novelty.is_new_trade("A", "2")
    assert novelty.is_new_trade("A", "1")
    assert novelty.is_new_trade("A", "2")


@pytest.mark.spec("A6.1-28")
@pytest.mark.parametrize(
    ("trade_ms", "received_ms", "expected"),
    [
        (BEGAN - CLOCK_DIFFERENCE_MS - 1, BEGAN + 5, True),
        (BEGAN - CLOCK_DIFFERENCE_MS - 1, BEGAN + SNAPSHOT_MS, True),
        (BEGAN - CLOCK_DIFFERENCE_MS - 1, BEGAN + SNAPSHOT_MS + 1, False),
        (BEGAN - CLOCK_DIFFERENCE_MS, BEGAN + 5, False),
        (BEGAN + 5, BEGAN + 5, False),
    ],
)
def test_a_trade_from_before_the_session_that_comes_at_its_begin_is_past(
    trade_ms: int, received_ms: int, expected: bool
) -> None:
    assert is_past(trade_ms, received_ms, session_began_ms=BEGAN) is expected


def test_a_venue_is_stale_until_its_first_tick_and_after_the_set_time_without_one() -> None:
    freshness = Freshness(stale_s=10)
    assert freshness.problem(100) == "no tick has come yet"
    freshness.note_tick(100)
    assert freshness.problem(109.9) is None
    assert freshness.problem(110) == "no tick for 10.0 s"
    freshness.note_tick(111)
    assert freshness.problem(111) is None


def test_silence_is_counted_from_the_last_tick_or_the_sessions_begin() -> None:
    freshness = Freshness(stale_s=10)
    assert freshness.left_s(105, since=100) == 5
    freshness.note_tick(103)
    assert freshness.left_s(105, since=100) == 8
    assert freshness.left_s(113, since=100) == 0
    assert freshness.left_s(200, since=100) == 0
    assert freshness.left_s(115, since=110) == 5
