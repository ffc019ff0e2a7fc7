"""A publisher that holds what the bus does not take, and goes on with everything else."""

import asyncio
from collections.abc import Sequence

import pytest

from openspot.kit.bus import OutgoingEvent, PendingEvent, PublishError, RetryingPublisher, retrying_publisher
from tests.support.waiting import eventually, stretched


class FakeBus:
    """Takes events but those of `failing` subjects. Each subject's own gate can hold a call back."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.failing: set[str] = set()
        self.gates: dict[str, asyncio.Event] = {}
        self.is_connected = True
        self.calls = 0

    async def publish_many(self, events: Sequence[OutgoingEvent]) -> None:
        self.calls += 1
        for subject in {event.subject for event in events} & self.gates.keys():
            await self.gates[subject].wait()
        if not self.is_connected:
            raise PublishError("not connected", events)
        left = [event for event in events if event.subject in self.failing]
        self.taken += [event.message_id for event in events if event not in left]
        if left:
            raise PublishError("does not work", left)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying_publisher, "RETRY_S", 0.001)
    monkeypatch.setattr(retrying_publisher, "RETRY_S_MAX", 0.002)


async def no_wait() -> None:
    return


def publisher_on(bus: FakeBus, held_max: int = 1000) -> RetryingPublisher:
    return RetryingPublisher(bus, held_max=held_max, ready=no_wait)


def order_event(user: str, number: int) -> PendingEvent:
    return PendingEvent(OutgoingEvent(f"orders.created.{user}", b"{}", f"{user}-{number}"), number)


def trade(number: int) -> PendingEvent:
    return PendingEvent(OutgoingEvent("trades.executed", b"{}", f"trade-{number}"), number)


def own(taken: list[str], name: str) -> list[str]:
    return [message_id for message_id in taken if message_id.startswith(f"{name}-")]


async def test_while_all_is_well_everything_is_published_at_once_in_one_call() -> None:
    bus = FakeBus()
    publisher = publisher_on(bus)
    await publisher.publish([order_event("ann", 1), trade(2), order_event("bob", 3)])
    assert bus.taken == ["ann-1", "trade-2", "bob-3"]
    assert (bus.calls, publisher.held) == (1, 0)


@pytest.mark.spec("A7-15")
async def test_a_failing_subject_holds_back_its_own_later_events_and_nobody_elses() -> None:
    bus = FakeBus()
    bus.failing = {"orders.created.ann"}
    publisher = publisher_on(bus)
    for number in range(5):
        await publisher.publish([order_event("ann", number), trade(number), order_event("bob", number)])
    await eventually(lambda: len(own(bus.taken, "bob")) == 5)
    assert own(bus.taken, "trade") == [f"trade-{number}" for number in range(5)]
    assert own(bus.taken, "bob") == [f"bob-{number}" for number in range(5)]
    assert own(bus.taken, "ann") == []
    assert publisher.held == 5
    bus.failing = set()
    await eventually(lambda: publisher.held == 0)
    await publisher.publish([order_event("ann", 5)])
    assert own(bus.taken, "ann") == [f"ann-{number}" for number in range(6)]
    assert len(bus.taken) == len(set(bus.taken))


async def test_a_stream_that_does_not_answer_delays_no_other() -> None:
    bus = FakeBus()
    bus.failing = {"orders.created.ann"}
    publisher = publisher_on(bus)
    await publisher.publish([order_event("ann", 0)])
    bus.gates["orders.created.ann"] = asyncio.Event()
    for number in range(1, 4):
        async with asyncio.timeout(stretched(5)):
            await publisher.publish([order_event("bob", number), trade(number)])
    assert own(bus.taken, "trade") == ["trade-1", "trade-2", "trade-3"]
    bus.failing = set()
    bus.gates.pop("orders.created.ann").set()
    await eventually(lambda: publisher.held == 0)
    assert own(bus.taken, "bob") == ["bob-1", "bob-2", "bob-3"]
    await publisher.close()


async def test_one_subject_with_many_held_events_does_not_crowd_out_the_others_of_its_stream() -> None:
    bus = FakeBus()
    bus.failing = {"orders.created.ann"}
    publisher = publisher_on(bus, held_max=10_000)
    await publisher.publish([order_event("ann", number) for number in range(1000)])
    await publisher.publish([order_event("bob", number) for number in range(100)])
    await eventually(lambda: len(own(bus.taken, "bob")) == 100)
    assert own(bus.taken, "bob") == [f"bob-{number}" for number in range(100)]
    assert publisher.held == 1000
    await publisher.close()


async def test_without_a_connection_the_batch_waits_and_nothing_is_held() -> None:
    bus = FakeBus()
    bus.is_connected = False
    publisher = publisher_on(bus)
    publishing = asyncio.create_task(publisher.publish([order_event("ann", 1), trade(2)]))
    await eventually(lambda: bus.calls > 3)
    assert not publishing.done()
    assert publisher.held == 0
    bus.is_connected = True
    await publishing
    assert bus.taken == ["ann-1", "trade-2"]


async def test_beyond_the_bound_publishing_waits() -> None:
    bus = FakeBus()
    bus.failing = {"orders.created.ann"}
    publisher = publisher_on(bus, held_max=3)
    await publisher.publish([order_event("ann", number) for number in range(4)])
    waiting = asyncio.create_task(publisher.publish([trade(9)]))
    await eventually(lambda: bus.calls > 3)
    assert not waiting.done()
    bus.failing = set()
    await asyncio.wait_for(waiting, stretched(5))
    assert own(bus.taken, "trade") == ["trade-9"]


async def test_what_is_not_on_disk_is_named_until_it_is_stored_or_published() -> None:
    bus = FakeBus()
    bus.failing = {"orders.created.ann"}
    forgotten: list[str] = []

    async def forget(events: Sequence[PendingEvent]) -> None:
        forgotten.extend(pending.event.message_id for pending in events)

    publisher = RetryingPublisher(bus, held_max=100, ready=no_wait, forget=forget)
    assert publisher.oldest_unstored is None
    await publisher.publish([order_event("ann", 3), order_event("ann", 5), trade(6)])
    assert publisher.oldest_unstored == 3
    unstored = publisher.unstored(4)
    assert [pending.sequence for pending in unstored] == [3]
    publisher.note_stored(unstored)
    assert publisher.oldest_unstored == 5
    bus.failing = set()
    await eventually(lambda: forgotten == ["ann-3"])
    assert (publisher.held, publisher.oldest_unstored) == (0, None)


async def test_an_event_that_was_published_while_it_was_stored_is_forgotten_too() -> None:
    bus = FakeBus()
    bus.failing = {"orders.created.ann"}
    forgotten: list[str] = []
    fails = True

    async def forget(events: Sequence[PendingEvent]) -> None:
        if fails:
            raise OSError("the database is away")
        forgotten.extend(pending.event.message_id for pending in events)

    publisher = RetryingPublisher(bus, held_max=100, ready=no_wait, forget=forget)
    await publisher.publish([order_event("ann", 1)])
    being_stored = publisher.unstored(1)
    bus.failing = set()
    await eventually(lambda: publisher.held == 0)
    publisher.note_stored(being_stored)
    await asyncio.sleep(0)
    assert forgotten == []
    fails = False
    await eventually(lambda: forgotten == ["ann-1"])


async def test_what_an_earlier_process_held_is_published_before_new_events_of_the_subject() -> None:
    bus = FakeBus()
    forgotten: list[str] = []

    async def forget(events: Sequence[PendingEvent]) -> None:
        forgotten.extend(pending.event.message_id for pending in events)

    publisher = RetryingPublisher(bus, held_max=100, ready=no_wait, forget=forget)
    held = [PendingEvent(order_event("ann", number).event, number, is_stored=True) for number in (1, 2)]
    publisher.restore(held)
    assert publisher.oldest_unstored is None
    await publisher.publish([order_event("ann", 3), trade(4)])
    await eventually(lambda: publisher.held == 0 and len(forgotten) == 2)
    assert own(bus.taken, "ann") == ["ann-1", "ann-2", "ann-3"]
    assert forgotten == ["ann-1", "ann-2"]


async def test_after_a_new_beginning_what_is_held_comes_before_every_sequence() -> None:
    bus = FakeBus()
    bus.failing = {"orders.created.ann"}
    publisher = publisher_on(bus)
    await publisher.publish([order_event("ann", 700)])
    publisher.begin_again()
    assert publisher.oldest_unstored == 0
    assert len(publisher.unstored(1)) == 1
    await publisher.close()


async def test_if_this_process_may_no_longer_publish_the_caller_hears_of_it() -> None:
    bus = FakeBus()
    bus.failing = {"orders.created.ann"}
    lost = False

    async def ready() -> None:
        if lost:
            raise RuntimeError("the lease was lost")

    publisher = RetryingPublisher(bus, held_max=100, ready=ready)
    await publisher.publish([order_event("ann", 1)])
    lost = True

    async def refused() -> bool:
        try:
            await publisher.publish([trade(2)])
        except RuntimeError:
            return True
        return False

    await eventually(refused)
    assert bus.taken == []
