"""Pace on a virtual clock: batches keep apart, further apart while the machine is busy, and show how long they wait."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from prometheus_client import REGISTRY

from openspot.kit import pacing, service
from openspot.kit.pacing import MachineLoad, Pace, Widening, processor_times, use_widening
from openspot.kit.settings import Settings
from tests.simulation.loop import VirtualLoop


class Machine:
    """A machine whose processors, two of them, are as busy as the test says."""

    def __init__(self) -> None:
        self.now = 0.0
        self.used = 100.0
        self.total = 1000.0
        self.looks = 0

    def read(self) -> tuple[float, float]:
        self.looks += 1
        return self.used, self.total

    def pass_time(self, seconds: float, share: float) -> None:
        self.now += seconds
        self.total += 2 * seconds
        self.used += 2 * seconds * share


@pytest.fixture
def widen() -> Iterator[Callable[[Widening], None]]:
    """Sets the widening of this process for one test."""
    before = pacing._widening
    yield use_widening
    use_widening(before)


def run(work: Callable[[VirtualLoop], Coroutine[Any, Any, None]], seconds: float) -> None:
    """Run `work` for that many virtual seconds, in which it must end."""
    loop = VirtualLoop()

    async def begin() -> None:
        await work(loop)

    task = loop.create_task(begin())
    loop.run_ready()
    loop.advance(seconds)
    assert task.done()
    task.result()


def test_the_first_batch_after_a_pause_begins_at_once_and_the_next_ones_keep_apart() -> None:
    begins: list[float] = []

    async def work(loop: VirtualLoop) -> None:
        pace = Pace(0.5)
        for pause_s in (3.0, 0.0, 0.25, 9.0, 0.0):
            await asyncio.sleep(pause_s)
            await pace.begin()
            begins.append(loop.time())

    run(work, 60)
    assert begins == [3.0, 3.5, 4.0, 13.0, 13.5]


def test_a_full_batch_begins_at_once_and_the_next_one_keeps_apart_from_it() -> None:
    begins: list[float] = []

    async def work(loop: VirtualLoop) -> None:
        pace = Pace(0.5)
        for at_once in (False, True, False):
            await pace.begin(at_once=at_once)
            begins.append(loop.time())

    run(work, 60)
    assert begins == [0.0, 0.0, 0.5]


def test_a_busy_machine_widens_the_interval_and_a_calm_one_narrows_it_again(
    widen: Callable[[Widening], None],
) -> None:
    load = 1.0
    widen(Widening(4.0, lambda: load))
    begins: list[float] = []

    async def work(loop: VirtualLoop) -> None:
        nonlocal load
        pace, steady = Pace(0.5, "tested"), Pace(0.5)
        for load in (1.0, 1.0, 0.5, 0.7):  # noqa: B007
            await pace.begin()
            begins.append(loop.time())
        load = 1.0
        await steady.begin()
        await steady.begin()
        begins.append(loop.time())

    run(work, 60)
    # Without a name, the last pace never widens.
    assert begins == [0.0, 2.0, 2.5, 3.75, 4.25]


def test_a_lone_batch_does_not_wait_on_a_busy_machine_either(widen: Callable[[Widening], None]) -> None:
    widen(Widening(4.0, lambda: 1.0))
    begins: list[float] = []

    async def work(loop: VirtualLoop) -> None:
        pace = Pace(0.5, "tested")
        for _ in range(3):
            await asyncio.sleep(2.0)
            await pace.begin()
            begins.append(loop.time())

    run(work, 60)
    assert begins == [2.0, 4.0, 6.0]


def test_a_process_that_sets_no_widening_keeps_its_intervals() -> None:
    assert Widening().factor() == 1.0
    assert pacing._widening.factor() == 1.0


def test_a_service_widens_by_its_setting_and_the_load_of_the_machine(
    widen: Callable[[Widening], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    widen(Widening())
    # The log and the collector of this process stay as they are.
    for name in ("configure_log", "gc"):
        monkeypatch.setattr(service, name, Mock())
    seen: list[Widening] = []

    async def main(_: Settings, __: asyncio.Event) -> None:
        seen.append(pacing._widening)

    assert service.run_service("test", main, Settings(pace_widening_max=2.5)) == 0
    (used,) = seen
    assert used._factor_max == 2.5
    assert isinstance(used._load, MachineLoad)


@pytest.mark.parametrize(
    ("load", "factor"), [(0.0, 1.0), (0.5, 1.0), (0.6, 1.75), (0.7, 2.5), (0.9, 4.0), (0.95, 4.0), (1.0, 4.0)]
)
def test_the_factor_grows_evenly_between_a_calm_machine_and_a_busy_one(load: float, factor: float) -> None:
    assert Widening(4.0, lambda: load).factor() == pytest.approx(factor)


def test_a_factor_of_one_never_widens() -> None:
    assert Widening(1.0, lambda: 1.0).factor() == 1.0


def test_the_wait_of_each_batch_is_a_metric_under_the_name_of_its_pace() -> None:
    def seen(what: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(f"openspot_pace_wait_seconds_{what}", {"pace": "shown"} | labels) or 0.0

    async def work(_: VirtualLoop) -> None:
        pace = Pace(0.5, "shown")
        await pace.begin()
        await pace.begin()
        await pace.begin(at_once=True)

    run(work, 60)
    assert (seen("count"), seen("sum")) == (3.0, 0.5)
    assert (seen("bucket", le="0.001"), seen("bucket", le="0.25"), seen("bucket", le="0.5")) == (2.0, 2.0, 3.0)


def test_a_pace_without_interval_shows_no_waits_and_has_none(widen: Callable[[Widening], None]) -> None:
    widen(Widening(4.0, lambda: 1.0))

    async def work(loop: VirtualLoop) -> None:
        pace = Pace(0.0, "unpaced")
        await pace.begin()
        await pace.begin()
        assert loop.time() == 0.0

    run(work, 60)
    assert REGISTRY.get_sample_value("openspot_pace_wait_seconds_count", {"pace": "unpaced"}) is None


def test_the_load_is_that_of_the_last_second_or_more() -> None:
    machine = Machine()
    load = MachineLoad(machine.read, lambda: machine.now)
    machine.pass_time(0.999, 1.0)
    assert (load(), machine.looks) == (0.0, 1)
    machine.pass_time(0.001, 1.0)
    assert (load(), machine.looks) == (pytest.approx(1.0), 2)
    machine.pass_time(0.5, 0.0)
    assert (load(), machine.looks) == (pytest.approx(1.0), 2)
    machine.pass_time(0.5, 1.0)
    assert (load(), machine.looks) == (pytest.approx(0.5), 3)


def test_after_a_pause_the_load_is_that_of_the_whole_pause() -> None:
    machine = Machine()
    load = MachineLoad(machine.read, lambda: machine.now)
    machine.pass_time(10.0, 1.0)
    assert load() == pytest.approx(1.0)
    machine.pass_time(90.0, 0.0)
    machine.pass_time(10.0, 1.0)
    assert load() == pytest.approx(0.1)


def test_a_machine_that_counts_backwards_or_not_at_all_leaves_a_share_between_none_and_all() -> None:
    machine = Machine()
    load = MachineLoad(machine.read, lambda: machine.now)
    machine.pass_time(1.0, 0.75)
    assert load() == pytest.approx(0.75)
    machine.now += 5
    assert load() == pytest.approx(0.75)
    machine.now, machine.total, machine.used = machine.now + 5, machine.total + 1, machine.used - 1
    assert load() == 0.0
    machine.now, machine.total, machine.used = machine.now + 5, machine.total + 1, machine.used + 2
    assert load() == 1.0


def test_the_machine_counts_used_time_within_all_time() -> None:
    used, total = processor_times()
    assert 0 < used <= total
