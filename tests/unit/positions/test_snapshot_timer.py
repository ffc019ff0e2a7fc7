"""The snapshot timer runs at the configured interval, and old snapshots go also where none is taken."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.positions import timers
from openspot.positions.timers import LATE_S_MAX, Marking, Snapshots

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Bench:
    """A timer whose store keeps what it is asked to take and to forget, at a time that the test sets."""

    def __init__(self, interval_s: float = 900.0, kept_days: int = 30) -> None:
        self.now = NOON
        self.nanoseconds = 0
        self.taken: list[datetime] = []
        self.forgotten: list[datetime] = []
        self.slept: list[float] = []
        store: Any = self
        self.timer = Snapshots(store, self.clock, interval_s, kept_days)

    def clock(self) -> int:
        return round(self.now.timestamp() * 1000) * 1_000_000 + self.nanoseconds

    async def take_snapshot(self, taken_at: datetime) -> int:
        self.taken.append(taken_at)
        return 1

    async def forget_snapshots(self, before: datetime) -> None:
        self.forgotten.append(before)

    async def sleep(self, seconds: float) -> None:
        """Let the time pass at once, and end the timer after its third sleep."""
        self.slept.append(seconds)
        if len(self.slept) > 3:
            raise asyncio.CancelledError
        self.now += timedelta(seconds=seconds)


@pytest.mark.spec("B4.5-30")
@pytest.mark.parametrize("interval_s", [900.0, 3600.0, 0.5])
async def test_the_timer_takes_one_snapshot_at_each_multiple_of_its_interval(
    monkeypatch: pytest.MonkeyPatch, interval_s: float
) -> None:
    bench = Bench(interval_s)
    bench.now = NOON + timedelta(seconds=interval_s / 5)
    monkeypatch.setattr(timers.asyncio, "sleep", bench.sleep)
    with pytest.raises(asyncio.CancelledError):
        await bench.timer.run()
    assert bench.slept == [interval_s * 0.8, interval_s, interval_s, interval_s]
    assert bench.taken == [NOON + timedelta(seconds=interval_s * number) for number in (1, 2, 3)]


async def test_old_snapshots_go_at_the_start_and_before_each_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(kept_days=30)
    monkeypatch.setattr(timers.asyncio, "sleep", bench.sleep)
    with pytest.raises(asyncio.CancelledError):
        await bench.timer.run()
    days_ago = NOON - timedelta(days=30)
    assert bench.forgotten == [days_ago + timedelta(minutes=15 * number) for number in range(4)]


@pytest.mark.parametrize(
    ("interval_s", "late_s_max"), [(3600.0, LATE_S_MAX), (LATE_S_MAX * 2, LATE_S_MAX), (10.0, 5.0)]
)
async def test_a_snapshot_is_late_after_a_minute_or_half_an_interval(interval_s: float, late_s_max: float) -> None:
    bench = Bench(interval_s)
    bench.now = NOON + timedelta(seconds=late_s_max)
    await bench.timer.take()
    assert bench.taken == [NOON]
    bench.now += timedelta(milliseconds=1)
    await bench.timer.take()
    assert bench.taken == [NOON]


async def test_parts_of_a_millisecond_do_not_count() -> None:
    bench = Bench(900.0)
    bench.nanoseconds = 999_999
    assert bench.timer.seconds_to_next() == 900.0
    await bench.timer.forget()
    assert bench.forgotten == [NOON - timedelta(days=30)]
    bench.now = NOON + timedelta(seconds=LATE_S_MAX)
    await bench.timer.take()
    assert bench.taken == [NOON]


async def test_work_is_repeated_after_each_pause_even_if_it_fails_and_a_failure_is_logged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench()
    monkeypatch.setattr(timers.asyncio, "sleep", bench.sleep)
    failures = iter([ConnectionError("away"), ValueError("odd"), None, None])
    runs = []

    async def work() -> None:
        runs.append(bench.now)
        if (failure := next(failures)) is not None:
            raise failure

    with capture_logs() as lines, pytest.raises(asyncio.CancelledError):
        await timers.repeat("mark positions", work, 2.5)
    assert bench.slept == [2.5, 2.5, 2.5, 2.5]
    assert runs == [NOON + timedelta(seconds=2.5 * number) for number in range(4)]
    assert [(line["event"], line["work"]) for line in lines] == [
        ("the database does not respond", "mark positions"),
        ("work failed", "mark positions"),
    ]


async def test_the_timer_goes_on_after_failures_which_are_logged_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()

    async def fail(_: datetime) -> int:
        raise ValueError

    bench.take_snapshot = bench.forget_snapshots = fail  # type: ignore[method-assign, assignment]
    monkeypatch.setattr(timers.asyncio, "sleep", bench.sleep)
    with capture_logs() as lines, pytest.raises(asyncio.CancelledError):
        await bench.timer.run()
    assert [line["work"] for line in lines] == [*["forget snapshots", "take snapshots"] * 3, "forget snapshots"]


class Market:
    """Market data with one price, or none now; and the store that the price is noted in."""

    def __init__(self, answer: dict[str, tuple[int, datetime]] | Exception) -> None:
        self.answer = answer
        self.marked: list[dict[str, tuple[int, datetime]]] = []

    async def latest(self) -> dict[str, tuple[int, datetime]]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def mark(self, prices: dict[str, tuple[int, datetime]]) -> None:
        self.marked.append(prices)


def markings(outcome: str) -> float:
    """How often the timer has counted this outcome."""
    return REGISTRY.get_sample_value("openspot_positions_markings_total", {"outcome": outcome}) or 0.0


async def test_the_latest_prices_are_noted_and_without_market_data_nothing_is() -> None:
    before = [markings(outcome) for outcome in ("marked", "no prices")]
    market: Any = Market({"BTC-USD": (5, NOON)})
    await Marking(market, market).run_once()
    assert market.marked == [{"BTC-USD": (5, NOON)}]
    market.answer = MarketDataUnavailableError("away")
    await Marking(market, market).run_once()
    assert len(market.marked) == 1
    assert [markings(outcome) for outcome in ("marked", "no prices")] == [count + 1 for count in before]
