"""A durable consumer begins again after every fault, and tells how it is."""

import asyncio
import dataclasses
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import BalanceUpdated
from openspot.contracts.streams import BALANCES
from openspot.kit.bus import Bus, BusError, ConsumerError, Consumption, DurableConsumer
from openspot.kit.bus import consumer as consumer_module
from openspot.kit.health import Health
from openspot.kit.metrics import BUS_CONSUMER_LAG, exposition
from openspot.kit.settings import Settings
from openspot.kit.tasks import end_tasks
from openspot.up.embedded_nats import EmbeddedNats
from tests.support.waiting import eventually, hasty, stretched

SUBJECT = subjects.of_user(subjects.BALANCES_UPDATED, "u1")
DURABLE = "test-durable"
CONSUMPTION = Consumption(BALANCES, SUBJECT, DURABLE, BalanceUpdated, batch_max=10)


def balance(number: int) -> BalanceUpdated:
    return BalanceUpdated("u1", "BTC", str(number), "0", f"t{number}", number)


class Sink:
    """Takes batches, unless it is told to fail or to wait."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.fails = False
        self.go = asyncio.Event()
        self.go.set()

    async def take(self, events: list[BalanceUpdated]) -> None:
        await self.go.wait()
        if self.fails:
            raise RuntimeError("the database is away")
        self.seen += [int(event.available) for event in events]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often, and begin again soon."""
    monkeypatch.setattr(consumer_module, "LAG_INTERVAL_S", 0.1)
    monkeypatch.setattr(consumer_module, "RESTART_PAUSE_S_MAX", 0.2)
    monkeypatch.setattr(consumer_module, "REDELIVERY_PAUSE_S", 0.1)


@asynccontextmanager
async def running(bus: Bus, sink: Sink) -> AsyncIterator[DurableConsumer[BalanceUpdated]]:
    stop = asyncio.Event()
    consumer = DurableConsumer(bus, CONSUMPTION, sink.take)
    task = asyncio.create_task(consumer.run(stop))
    try:
        yield consumer
    finally:
        stop.set()
        sink.go.set()
        await asyncio.wait_for(task, stretched(30))


async def is_well(consumer: DurableConsumer[BalanceUpdated]) -> bool:
    try:
        await consumer.check()
    except ConsumerError:
        return False
    return True


async def test_its_health_is_down_before_and_after_and_while_a_batch_fails(bus: Bus) -> None:
    sink = Sink()
    consumer = DurableConsumer(bus, CONSUMPTION, sink.take)
    with pytest.raises(ConsumerError, match="test-durable: not started"):
        await consumer.check()
    stop = asyncio.Event()
    task = asyncio.create_task(consumer.run(stop))
    await eventually(lambda: is_well(consumer))
    sink.fails = True
    await bus.publish(SUBJECT, balance(1), "m1")

    async def tells_why() -> bool:
        try:
            await consumer.check()
        except ConsumerError as error:
            return "the newest batch failed: RuntimeError('the database is away')" in str(error)
        return False

    await eventually(tells_why)
    sink.fails = False
    await eventually(lambda: sink.seen == [1])
    await eventually(lambda: is_well(consumer))
    stop.set()
    await asyncio.wait_for(task, stretched(30))
    with pytest.raises(ConsumerError, match="stopped"):
        await consumer.check()


async def health_of(bus: Bus, durable: str = DURABLE) -> dict[str, str]:
    """What a service on this bus shows of the consumer."""
    health = Health()
    health.add_all_of(bus.consumer_checks)
    _, body = await health.report(vital_only=False)
    shown: dict[str, str] = body["details"][durable]
    return shown


def stuck_metric(durable: str = DURABLE) -> float:
    line = next(
        line for line in exposition()[0].decode().splitlines() if f'consumer_stuck{{durable="{durable}"}}' in line
    )
    return float(line.rpartition(" ")[2])


async def test_a_consumer_that_nobody_runs_is_in_the_health_of_its_service(bus: Bus) -> None:
    DurableConsumer(bus, CONSUMPTION, Sink().take)
    assert await health_of(bus) == {"status": "down", "message": "test-durable: not started"}
    assert stuck_metric() == 1


async def test_a_consumer_on_which_the_service_does_not_depend_makes_it_degraded(bus: Bus) -> None:
    DurableConsumer(bus, dataclasses.replace(CONSUMPTION, is_essential=False), Sink().take)
    assert await health_of(bus) == {"status": "degraded", "message": "not started"}


async def test_a_consumer_whose_task_was_cancelled_has_stopped(bus: Bus) -> None:
    consumer = DurableConsumer(bus, CONSUMPTION, Sink().take)
    task = asyncio.create_task(consumer.run(asyncio.Event()))
    await eventually(lambda: is_well(consumer))
    await end_tasks(task)
    assert await health_of(bus) == {"status": "down", "message": "test-durable: stopped"}
    assert stuck_metric() == 1


async def test_a_handler_that_hangs_makes_the_consumer_stuck_until_it_goes_on(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer_module, "STUCK_S", 0.3)
    sink = Sink()
    sink.go.clear()
    async with running(bus, sink) as consumer:
        await eventually(lambda: is_well(consumer))
        assert (await health_of(bus))["status"] == "up"
        assert stuck_metric() == 0
        await bus.publish(SUBJECT, balance(1), "m1")

        async def shows() -> str:
            return (await health_of(bus))["status"]

        await eventually(lambda: stuck_metric() == 1)
        assert await shows() == "degraded", "the messages are kept, and other work goes on"
        message = (await health_of(bus))["message"]
        assert message.startswith("stuck: 1 messages wait, and the oldest has not been dealt with for ")
        sink.go.set()
        await eventually(lambda: stuck_metric() == 0)
        assert await shows() == "up"


async def test_an_event_that_fails_again_and_again_among_others_makes_the_consumer_stuck(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer_module, "STUCK_S", 0.5)
    monkeypatch.setattr(consumer_module, "REDELIVERY_PAUSE_S_MAX", 0.1)
    seen: list[int] = []

    async def take(events: list[BalanceUpdated]) -> list[int]:
        numbers = [int(event.available) for event in events]
        seen.extend(numbers)
        return [place for place, number in enumerate(numbers) if number == 3]

    stop = asyncio.Event()
    task = asyncio.create_task(DurableConsumer(bus, CONSUMPTION, take).run(stop))
    number = 0

    async def is_stuck() -> bool:
        nonlocal number
        number += 1
        await bus.publish(SUBJECT, balance(number), f"m{number}")
        # A slow machine may find it stuck before much else has come.
        return stuck_metric() == 1 and len(set(seen)) > 5

    await eventually(is_stuck)
    assert "stuck: " in (await health_of(bus))["message"]
    stop.set()
    await asyncio.wait_for(task, stretched(30))


async def test_its_lag_is_what_it_has_not_acknowledged(bus: Bus) -> None:
    def lag() -> float:
        return float(BUS_CONSUMER_LAG.labels(DURABLE)._value.get())

    sink = Sink()
    sink.go.clear()
    async with running(bus, sink):
        for number in range(60):
            await bus.publish(SUBJECT, balance(number), f"m{number}")
        await eventually(lambda: lag() == 60)
        sink.go.set()
        await eventually(lambda: len(sink.seen) == 60)
        await eventually(lambda: lag() == 0)
    assert sink.seen == list(range(60))


async def test_a_consumer_that_the_server_has_lost_is_made_again(bus: Bus) -> None:
    sink = Sink()
    async with running(bus, sink):
        await bus.publish(SUBJECT, balance(1), "m1")
        await eventually(lambda: sink.seen == [1])
        await bus.connection.jetstream.delete_consumer(BALANCES.name, DURABLE)
        await bus.publish(SUBJECT, balance(2), "m2")
        # Its place is lost with it, so it begins at the oldest message: handlers are idempotent.
        await eventually(lambda: sink.seen[-1:] == [2])


async def test_after_the_server_lost_its_store_the_stream_is_made_again(
    settings: Settings, nats_server: EmbeddedNats
) -> None:
    bus = await Bus.connect(hasty(settings), "test")
    await bus.ensure_streams()
    sink = Sink()
    async with running(bus, sink) as consumer:
        # It can only tell of the loss of what it has seen.
        await eventually(lambda: consumer._made_at)
        nats_server.kill()
        shutil.rmtree(nats_server.directory / "jetstream")
        nats_server.start()

        async def consumes_again() -> bool:
            try:
                return await bus.consumer_state(BALANCES.name, DURABLE) is not None
            except BusError:
                return False

        await eventually(consumes_again)
        await bus.publish(SUBJECT, balance(7), "m7")
        await eventually(lambda: sink.seen == [7])

        async def tells_of_the_loss() -> bool:
            return "the bus lost its place after event 0 of BALANCES" in (await health_of(bus)).get("message", "")

        await eventually(tells_of_the_loss)
        assert (await health_of(bus))["status"] == "degraded"
        assert await is_well(consumer), "it goes on"
    await bus.close()


async def test_a_stop_finishes_the_batch_under_way(bus: Bus) -> None:
    sink = Sink()
    sink.go.clear()
    stop = asyncio.Event()
    task = asyncio.create_task(DurableConsumer(bus, CONSUMPTION, sink.take).run(stop))
    await bus.publish(SUBJECT, balance(1), "m1")

    async def under_way() -> bool:
        state = await bus.consumer_state(BALANCES.name, DURABLE)
        return state is not None and state.unacknowledged == 1

    await eventually(under_way)
    stop.set()
    sink.go.set()
    await asyncio.wait_for(task, stretched(30))
    assert sink.seen == [1]

    async def acknowledged() -> bool:
        state = await bus.consumer_state(BALANCES.name, DURABLE)
        return state is not None and state.lag == 0

    await eventually(acknowledged)


async def test_an_event_that_failed_on_its_own_comes_again_and_the_others_do_not(bus: Bus) -> None:
    seen: list[int] = []

    async def take(events: list[BalanceUpdated]) -> list[int]:
        numbers = [int(event.available) for event in events]
        failed = [place for place, number in enumerate(numbers) if number == 3 and seen.count(3) < 2]
        seen.extend(numbers)
        return failed

    stop = asyncio.Event()
    task = asyncio.create_task(DurableConsumer(bus, CONSUMPTION, take).run(stop))
    for number in range(6):
        await bus.publish(SUBJECT, balance(number), f"m{number}")
    await eventually(lambda: len(seen) == 8)
    stop.set()
    await asyncio.wait_for(task, stretched(30))
    assert sorted(seen) == [0, 1, 2, 3, 3, 3, 4, 5]
