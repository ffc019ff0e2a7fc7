"""Ticks become messages, or are counted as dropped; time is passed in."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from openspot.contracts.messages import VenueBookTicker, VenueTrade
from openspot.venue.freshness import Freshness
from openspot.venue.intake import LOG_INTERVAL_S, Intake, count_drop
from openspot.venue.novelty import CLOCK_DIFFERENCE_MS, SNAPSHOT_MS
from openspot.venue.outbox import TickOutbox
from openspot.venue.symbols import SymbolMap
from tests.support.venue import Counts

NOW_MS = 1_700_000_000_000


def quote(bid: str = "1", **fields: Any) -> dict[str, Any]:
    return {"symbol": "A/B", "bid": bid, "bidVolume": "2", "ask": "3", "askVolume": "4", "timestamp": None} | fields


def trade(trade_id: str, timestamp: int = NOW_MS, **fields: Any) -> dict[str, Any]:
    tick = {"symbol": "A/B", "price": "1", "amount": "2", "id": trade_id, "side": "buy", "timestamp": timestamp}
    return tick | fields


class Bench:
    """An intake whose clocks the test moves."""

    def __init__(self) -> None:
        self.now_ms = NOW_MS
        self.monotonic = 1000.0
        self.freshness = Freshness(10)
        self.outbox = TickOutbox(100, count_drop)
        symbols = SymbolMap(("A-B", "A-C"), {"A-C": "A/B"})
        self.intake = Intake(
            "venue", symbols, self.outbox, self.freshness, lambda: self.now_ms * 1_000_000, lambda: self.monotonic
        )
        self.intake.begin_session()

    def messages(self) -> list[VenueBookTicker | VenueTrade]:
        return [tick.message for tick in self.outbox.take(100)]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_quote_is_stamped_with_its_receipt_if_the_venue_gives_no_time(bench: Bench) -> None:
    bench.now_ms += 7
    bench.intake.take_quote(quote())
    first, second = bench.outbox.take(100)
    assert first.message == VenueBookTicker("venue", "A-B", "1", "2", "3", "4", NOW_MS + 7)
    assert second.message == VenueBookTicker("venue", "A-C", "1", "2", "3", "4", NOW_MS + 7)
    # Nothing can be said about its delay.
    assert first.venue_ms is second.venue_ms is None
    bench.intake.take_quote(quote("1.5", timestamp=NOW_MS - 3))
    third, _ = bench.outbox.take(100)
    assert (third.message.timestamp, third.venue_ms) == (NOW_MS - 3, NOW_MS - 3)


@pytest.mark.spec("A6.1-28")
def test_trades_from_before_the_session_that_a_venue_sends_at_its_begin_are_dropped(bench: Bench) -> None:
    counts = Counts()
    old = NOW_MS - CLOCK_DIFFERENCE_MS - 1
    bench.intake.take_trade(trade("1", old))
    bench.intake.take_trade(trade("2", NOW_MS))
    bench.now_ms += SNAPSHOT_MS + 1
    bench.intake.take_trade(trade("3", old))
    assert [message.trade_id for message in bench.messages() if message.symbol == "A-B"] == ["2", "3"]  # type: ignore[union-attr]
    assert counts.dropped("trade", "past") == 1
    bench.intake.begin_session()
    bench.intake.take_trade(trade("4", old))
    assert bench.messages() == []
    assert counts.dropped("trade", "past") == 2


def test_after_a_new_session_the_first_quote_is_published_even_if_it_is_the_last_one_again(bench: Bench) -> None:
    counts = Counts()
    bench.intake.take_quote(quote())
    bench.intake.take_quote(quote())
    assert len(bench.messages()) == 2
    bench.intake.begin_session()
    bench.intake.take_quote(quote())
    assert len(bench.messages()) == 2
    assert counts.dropped("bookTicker", "unchanged") == 1


def test_only_usable_ticks_of_known_markets_are_signs_of_life(bench: Bench) -> None:
    for tick in (quote(symbol="X/Y"), quote(bid="0")):
        bench.intake.take_quote(tick)
    for tick in (trade("1", symbol="X/Y"), trade("1", side=None)):
        bench.intake.take_trade(tick)
    assert bench.freshness.problem(bench.monotonic) == "no tick has come yet"
    bench.intake.take_trade(trade("1"))
    assert bench.freshness.problem(bench.monotonic) is None


def test_a_repeated_quote_and_a_repeated_trade_are_signs_of_life(bench: Bench) -> None:
    for take, tick in ((bench.intake.take_quote, quote()), (bench.intake.take_trade, trade("1"))):
        take(tick)
        assert len(bench.messages()) == 2
        for _ in range(3):
            bench.monotonic += 9
            take(tick)
            assert bench.freshness.problem(bench.monotonic) is None
        assert bench.messages() == []
    bench.monotonic += 10
    assert bench.freshness.problem(bench.monotonic) == "no tick for 10.0 s"


def test_a_flood_of_useless_ticks_is_counted_and_logged_once_in_a_while(bench: Bench) -> None:
    counts = Counts()
    with capture_logs() as lines:
        for _ in range(50):
            bench.intake.take_quote(quote(symbol="X/Y" * 1000))
            bench.intake.take_trade(trade("1", symbol="X/Y"))
            bench.intake.take_quote(quote(bid=""))
            bench.intake.note_unreadable(b"\xff" * 5000, ValueError("no"))
        bench.monotonic += LOG_INTERVAL_S
        bench.intake.take_trade(trade("1", symbol="X/Y"))
    assert counts.dropped("bookTicker", "unknown_symbol") == 50
    assert counts.dropped("trade", "unknown_symbol") == 51
    assert counts.dropped("bookTicker", "unusable") == 50
    assert counts("openspot_venue_unreadable_frames_total") == 50
    assert len(lines) == 4
    assert all(len(str(line)) < 2000 for line in lines)
