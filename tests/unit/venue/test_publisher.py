"""Pace of publishing over a stand-in of the bus: it is asked whether it keeps up, and waited for if it does not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from openspot.contracts.messages import VenueTrade
from openspot.kit.bus import Bus, BusUnavailableError
from openspot.kit.tasks import end_tasks
from openspot.venue import publisher
from openspot.venue.outbox import TickOutbox
from openspot.venue.publisher import UNCONFIRMED_MAX, TickPublisher
from tests.support.waiting import eventually


class StandInBus:
    """Takes ticks; answers checks while `keeps_up` is set."""

    def __init__(self) -> None:
        self.is_connected = True
        self.keeps_up = asyncio.Event()
        self.keeps_up.set()
        self.subjects: list[str] = []
        self.ids: list[str] = []
        self.checks = 0

    async def announce(self, subject: str, message: Any) -> None:
        self.subjects.append(subject)
        self.ids.append(message.trade_id)

    async def check(self) -> None:
        self.checks += 1
        await asyncio.sleep(0)
        if not self.keeps_up.is_set():
            raise BusUnavailableError("slow")


@asynccontextmanager
async def running(bus: StandInBus) -> AsyncIterator[TickOutbox]:
    outbox = TickOutbox(1_000_000, lambda *_: None)
    task = asyncio.create_task(TickPublisher(cast(Bus, bus), outbox, lambda: 0).run())
    try:
        yield outbox
    finally:
        await end_tasks(task)


def put(outbox: TickOutbox, first: int, last: int) -> None:
    for number in range(first, last + 1):
        outbox.put_trade(VenueTrade("v", "A-B", "1", "1", str(number), 0, True))


async def test_ticks_are_published_in_order_under_their_subjects() -> None:
    bus = StandInBus()
    async with running(bus) as outbox:
        put(outbox, 1, 3)
        await eventually(lambda: len(bus.ids) == 3)
        put(outbox, 4, 4)
        await eventually(lambda: len(bus.ids) == 4)
    assert bus.ids == ["1", "2", "3", "4"]
    assert set(bus.subjects) == {"venue.v.trade.A-B"}
    assert bus.checks == 0


async def test_a_bus_that_keeps_up_is_asked_once_for_many_ticks() -> None:
    bus, ticks = StandInBus(), 10 * UNCONFIRMED_MAX
    async with running(bus) as outbox:
        put(outbox, 1, ticks)
        await eventually(lambda: len(bus.ids) == ticks)
    assert 15 <= bus.checks <= 21


async def test_a_slow_bus_gets_a_bounded_number_of_ticks_until_it_has_taken_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(publisher, "BUS_PAUSE_S", 0.001)
    bus = StandInBus()
    bus.keeps_up.clear()
    async with running(bus) as outbox:
        put(outbox, 1, 3 * UNCONFIRMED_MAX)
        await eventually(lambda: bus.checks > 20)
        sent = len(bus.ids)
        assert UNCONFIRMED_MAX <= sent < UNCONFIRMED_MAX + publisher.BATCH_MAX
        bus.keeps_up.set()
        await eventually(lambda: len(bus.ids) == 3 * UNCONFIRMED_MAX)
    assert bus.ids == [str(number) for number in range(1, 3 * UNCONFIRMED_MAX + 1)]


async def test_without_a_connection_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "BUS_PAUSE_S", 0.001)
    bus = StandInBus()
    bus.is_connected = False
    bus.keeps_up.clear()
    async with running(bus) as outbox:
        put(outbox, 1, 5)
        await eventually(lambda: bus.checks > 5)
        assert bus.ids == []
        bus.is_connected = True
        bus.keeps_up.set()
        await eventually(lambda: bus.ids == ["1", "2", "3", "4", "5"])
