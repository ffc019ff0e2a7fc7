"""Acquire a lease, lead, hand over: in virtual time, with a lease that only these tests hold."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Gauge

from openspot.kit.leader import STAND_BACK_S, Leader, NotLeadingError
from openspot.kit.lease import LeaseLostError
from tests.simulation.loop import VirtualLoop

LIFE_S = 4.0
UNKNOWN = "nobody is known to lead yet"


class FakeLease:
    """A lease that one process of the test holds at a time."""

    life_s = LIFE_S

    def __init__(self, free: asyncio.Semaphore) -> None:
        self._free = free
        self._lost = asyncio.Event()
        self.is_held = False
        self.is_kept = False

    def check(self) -> None:
        if not self.is_held:
            raise LeaseLostError

    async def acquire(self) -> None:
        await self._free.acquire()
        self.is_held = True
        self._lost.clear()

    async def keep(self) -> None:
        self.is_kept = True
        try:
            await self._lost.wait()
            raise LeaseLostError("another process holds the lease")
        finally:
            self.is_kept = False

    async def release(self) -> None:
        if self.is_held:
            self.is_held = False
            self._free.release()

    def lose(self) -> None:
        """As if another process had taken the lease."""
        self.is_held = False
        self._lost.set()


class FakeBus:
    """A bus that is connected, or not."""

    is_connected = True


class Candidate:
    """A process that would like to lead, and what it has done."""

    def __init__(self, loop: VirtualLoop, free: asyncio.Semaphore, bus: FakeBus) -> None:
        self._loop = loop
        self.lease = FakeLease(free)
        self.gauge = Gauge("leads", "1 during a session", registry=CollectorRegistry())
        self.begun: list[float] = []
        self.ended: list[tuple[float, bool]] = []
        """When a session ended, and whether the lease was renewed until then."""
        self.fails = asyncio.Event()
        self.end_s = 0.0
        self.leader = Leader(bus, self.lease, self._lead, work="test", gauge=self.gauge, fault=UNKNOWN)
        self.task = loop.create_task(self.leader.run())

    async def _lead(self) -> None:
        self.begun.append(self._loop.time())
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._work())
        finally:
            await asyncio.sleep(self.end_s)
            self.ended.append((self._loop.time(), self.lease.is_kept))

    async def _work(self) -> None:
        await self.fails.wait()
        raise ValueError("the disk is full")

    @property
    def fault(self) -> str | None:
        """What `check` says."""
        try:
            self.leader.check()
        except NotLeadingError as error:
            return str(error)
        return None


class World:
    """Two candidates for one lease. `loop` is their clock."""

    def __init__(self) -> None:
        self.loop: Any = VirtualLoop()  # type: ignore[abstract]
        self.bus = FakeBus()
        free = asyncio.Semaphore()
        self.first, self.second = (Candidate(self.loop, free, self.bus) for _ in range(2))
        self.loop.run_ready()

    def stop(self, candidate: Candidate) -> None:
        """End a process in an orderly way."""
        candidate.task.cancel()
        self.loop.run_ready()


@pytest.fixture
def world() -> Iterator[World]:
    """The world, whose processes end with the test."""
    made = World()
    yield made
    for candidate in (made.first, made.second):
        made.stop(candidate)
    made.loop.advance(60)


def led(candidate: Candidate) -> tuple[bool, float]:
    return candidate.leader.leads, candidate.gauge._value.get()


def test_one_leads_and_the_other_takes_over_when_its_work_fails(world: World) -> None:
    first, second = world.first, world.second
    assert (led(first), led(second)) == ((True, 1.0), (False, 0.0))
    assert second.fault == UNKNOWN
    world.loop.advance(10)
    first.fails.set()
    world.loop.run_ready()
    assert (led(first), led(second)) == ((False, 0.0), (True, 1.0))
    assert (first.begun, second.begun) == ([0.0], [10.0])
    assert first.fault == "the disk is full", "the cause, not the group in which it was raised"


def test_a_process_stands_back_so_that_another_may_take_the_lease(world: World) -> None:
    world.stop(world.second)
    world.first.fails.set()
    world.loop.run_ready()
    world.first.fails.clear()
    world.loop.advance(STAND_BACK_S - 0.01)
    assert world.first.begun == [0.0]
    world.loop.advance(0.02)
    assert world.first.begun == [0.0, STAND_BACK_S]


def test_a_fault_ends_when_another_process_holds_the_lease(world: World) -> None:
    world.loop.advance(LIFE_S - 0.01)
    assert world.second.fault == UNKNOWN
    world.loop.advance(0.02)
    assert world.second.fault is None
    world.first.fails.set()
    world.loop.run_ready()
    world.loop.advance(STAND_BACK_S + LIFE_S - 0.01)
    assert world.first.fault == "the disk is full"
    world.loop.advance(0.02)
    assert world.first.fault is None


def test_without_the_bus_nobody_is_known_to_lead_and_the_fault_stays(world: World) -> None:
    world.bus.is_connected = False
    world.first.fails.set()
    world.loop.run_ready()
    world.loop.advance(10 * LIFE_S)
    assert (world.first.fault, world.second.fault) == ("the disk is full", UNKNOWN)


def test_the_work_ends_when_the_lease_is_lost(world: World) -> None:
    world.loop.advance(3)
    world.first.lease.lose()
    world.loop.run_ready()
    assert world.first.ended == [(3.0, False)]
    assert led(world.first) == (False, 0.0)
    assert world.first.fault == "another process holds the lease"


def test_the_lease_is_renewed_until_the_work_has_ended_and_then_handed_over(world: World) -> None:
    world.first.end_s = 2.0
    world.loop.advance(1)
    world.stop(world.first)
    assert world.second.begun == []
    world.loop.advance(2)
    assert world.first.ended == [(3.0, True)]
    assert world.second.begun == [3.0]
