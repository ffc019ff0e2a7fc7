"""Durable consumers: every event of a stream subject, at least once, in batches.

The consumer acknowledges a batch after its handler has returned. So an event is handled even if every process was down
when it was published, or if a process is killed in the middle of a batch. Processes with the same durable name share
the events.

Every consumer registers with its bus when it is created, so that its service shows its health and its metrics
(`Bus.consumer_checks`, kit/service_frame.py). A consumer is in one of three states:

- It works: it takes batches, and the oldest waiting message changes.
- It does not consume: its loop has not begun, has ended, or begins again after a fault; or its newest batch failed as a
  whole. The consumer notices this at once. If the service cannot work without these events
  (`Consumption.is_essential`), it is not ready; otherwise it is shown as degraded.
- It is stuck: messages wait, and the oldest of them has not been acknowledged for STUCK_S seconds. There are three
  causes: a handler that hangs, an event that fails again and again among others that succeed, and deliveries that do
  not arrive. The service is shown as degraded and stays ready: the bus keeps the messages, and other work goes on.

In the last two, `openspot_bus_consumer_stuck` is 1.

A bus that comes back without its disk has new streams and new consumers: what the old ones had not delivered never
arrives. A consumer notices that the server made it anew. It goes on, logs an error, counts
`openspot_bus_consumer_resets_total`, and stays degraded until the process ends, so that somebody compares the books.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import nats.errors
import nats.js.errors
from nats.aio.msg import Msg

from openspot.contracts.streams import StreamConsumer, StreamDefinition
from openspot.kit.backoff import Backoff, pause_s
from openspot.kit.bus.codec import UNREADABLE, decoder_of, note_malformed
from openspot.kit.bus.connection import Connection
from openspot.kit.bus.errors import BusError, ConsumerError
from openspot.kit.bus.preparation import deliveries_of, make_consumer
from openspot.kit.bus.streams import STREAM_ERRORS, ConsumerState, Streams
from openspot.kit.health import DegradedError
from openspot.kit.log import get_logger
from openspot.kit.metrics import BUS_CONSUMER_LAG, BUS_CONSUMER_RESETS, BUS_CONSUMER_STUCK, BUS_HANDLER_FAILURES
from openspot.kit.pacing import Pace
from openspot.kit.tasks import cancellable, end_tasks, first_ended, is_set_within

log = get_logger("bus")

REDELIVERY_PAUSE_S = 1.0
REDELIVERY_PAUSE_S_MAX = 30.0
RESTART_PAUSE_S = 0.5
RESTART_PAUSE_S_MAX = 15.0
LAG_INTERVAL_S = 5.0
"""Seconds between two questions to the server: whether the consumer still exists, and how far behind it is."""
STUCK_S = 60.0
"""A consumer is stuck if messages wait and the oldest has not been acknowledged for this many seconds.

The server delivers a failed event again sooner than that, and gives an event of a dead process to another one sooner.
"""

Event = TypeVar("Event")
Handler = Callable[[list[Event]], Awaitable[Collection[int] | None]]
"""Handles a batch. Returns the indexes of single events that failed, if any; raises if the whole batch failed."""


@dataclass(frozen=True, slots=True)
class Consumption(Generic[Event]):
    """What a durable consumer consumes, and how.

    A batch holds the events that have arrived, at most `batch_max`. Batches begin at least `interval_s` seconds apart,
    further on a busy machine; a full batch begins at once. An event that is not acknowledged within
    `acknowledge_wait_s` seconds goes to another process. If `is_essential`, the service is not ready while it does not
    consume these events.
    """

    stream: StreamDefinition
    subject: str
    durable: str
    event_type: type[Event]
    batch_max: int
    acknowledge_wait_s: float = 30.0
    interval_s: float = 0.0
    is_essential: bool = True

    @classmethod
    def of(
        cls, consumer: StreamConsumer, event_type: type[Event], *, interval_s: float = 0.0, is_essential: bool = True
    ) -> "Consumption[Event]":
        """The consumption of a durable consumer that a descriptor declares."""
        return cls(
            consumer.stream,
            consumer.subject,
            consumer.durable,
            event_type,
            consumer.batch_max,
            consumer.acknowledge_wait_s,
            interval_s,
            is_essential,
        )

    @property
    def consumer(self) -> StreamConsumer:
        """What the server keeps of it."""
        return StreamConsumer(self.stream, self.subject, self.durable, self.batch_max, self.acknowledge_wait_s)


class ConsumingBus(Protocol):
    """What a DurableConsumer needs of a bus."""

    def register(self, consumer: "DurableConsumer[Any]") -> None:
        """Show the health and the metrics of `consumer`."""

    async def consume(self, consumption: Consumption[Event], handler: Handler[Event], stop: asyncio.Event) -> None:
        """Consume until `stop` is set; raises BusError."""

    async def consumer_state(self, stream: str, durable: str) -> ConsumerState | None:
        """The consumer's progress as the server reports it; raises BusError."""


class DurableConsumer(Generic[Event]):
    """Consumes, and restarts after every fault. `check` and `check_health` raise if it does not consume."""

    def __init__(self, bus: ConsumingBus, consumption: Consumption[Event], handler: Handler[Event]) -> None:
        self._bus = bus
        self._consumption = consumption
        self._handler = handler
        self._backoff = Backoff(RESTART_PAUSE_S, RESTART_PAUSE_S_MAX)
        self._fault: str | None = "not started"
        self._failed_batch: str | None = None
        self._failed_events = 0
        self._acknowledged_until = 0
        self._waiting = 0
        self._made_at: str | None = None
        self._moved_at: float | None = None
        self._stuck: str | None = None
        self._reset: str | None = None
        bus.register(self)
        BUS_CONSUMER_STUCK.labels(consumption.durable).set_function(lambda: 0.0 if self._reason is None else 1.0)

    @property
    def durable(self) -> str:
        """The name of the consumer on the server."""
        return self._consumption.durable

    async def run(self, stop: asyncio.Event) -> None:
        """Consume until `stop` is set, and finish the batch under way."""
        try:
            while not stop.is_set():
                try:
                    await self._consume(stop)
                except Exception as error:
                    self._fault = str(error) or repr(error)
                    log.warning("consumer begins again", durable=self.durable, error=repr(error))
                    await is_set_within(stop, self._backoff.failed())
        finally:
            self._fault = "stopped"

    async def check(self) -> None:
        """Raise ConsumerError, with the reason, if events are not consumed or the newest batch failed."""
        reason = self._not_consuming
        if reason is not None:
            raise ConsumerError(f"{self.durable}: {reason}")

    async def check_health(self) -> None:
        """The check for the service's health.

        Raises ConsumerError if essential events are not consumed. Raises DegradedError if other events are not
        consumed, if the consumer is stuck, or if the bus has lost events.
        """
        if self._consumption.is_essential:
            await self.check()
        reason = self._reason or self._reset
        if reason is not None:
            raise DegradedError(reason)

    @property
    def _not_consuming(self) -> str | None:
        if self._fault is not None:
            return self._fault
        return None if self._failed_batch is None else f"the newest batch failed: {self._failed_batch}"

    @property
    def _reason(self) -> str | None:
        """Why events are not consumed; None if they are."""
        return self._not_consuming or self._stuck

    async def _consume(self, stop: asyncio.Event) -> None:
        consuming = asyncio.create_task(self._bus.consume(self._consumption, self._take, stop))
        watching = asyncio.create_task(self._watch())
        self._fault = None
        try:
            await first_ended(consuming, watching)
        finally:
            await end_tasks(consuming, watching)

    async def _take(self, events: list[Event]) -> Collection[int] | None:
        try:
            failed = await self._handler(events)
        except Exception as error:
            self._failed_batch = repr(error)
            raise
        self._failed_batch = None
        self._failed_events = len(failed) if failed is not None else 0
        self._backoff.succeeded()
        return failed

    async def _watch(self) -> None:
        """Report the lag. Raises ConsumerError if the server has lost the consumer, because no event would arrive."""
        stream, may_be_in_the_making = self._consumption.stream.name, True
        while True:
            try:
                state = await self._bus.consumer_state(stream, self.durable)
            except BusError as error:
                # When the connection comes back, the client library restores the subscription.
                log.warning("lag is not known", durable=self.durable, error=str(error))
                self._moved_at = None
            else:
                if state is not None:
                    self._note_state(state)
                elif not may_be_in_the_making:
                    raise ConsumerError("the server has lost the consumer")
            may_be_in_the_making = False
            await asyncio.sleep(LAG_INTERVAL_S)

    def _note_state(self, state: ConsumerState) -> None:
        BUS_CONSUMER_LAG.labels(self.durable).set(state.lag)
        if self._made_at is not None and state.made_at != self._made_at:
            self._note_reset()
        self._made_at = state.made_at
        self._note_progress(state)

    def _note_reset(self) -> None:
        """Note that the server has made the consumer anew since the last look."""
        self._reset = (
            f"the bus lost its place after event {self._acknowledged_until} of {self._consumption.stream.name}: "
            "events may never arrive; run `openspot reconcile`, mend what it names, and restart this service"
        )
        BUS_CONSUMER_RESETS.labels(self.durable).inc()
        log.error(
            "the bus came back without this consumer: events may be missing",
            durable=self.durable,
            stream=self._consumption.stream.name,
            acknowledged_until=self._acknowledged_until,
            waited_when_last_seen=self._waiting,
            remedy="run `openspot reconcile` and mend what it names (docs/operations/faults.md)",
        )

    def _note_progress(self, state: ConsumerState) -> None:
        """Note whether the oldest waiting message has changed."""
        now = asyncio.get_running_loop().time()
        self._waiting = state.lag
        moves = not state.lag or state.acknowledged_until != self._acknowledged_until
        if moves or self._moved_at is None:
            self._moved_at = now
        self._acknowledged_until = state.acknowledged_until
        waits_s = now - self._moved_at
        if waits_s < STUCK_S:
            self._stuck = None
            return
        was_stuck = self._stuck is not None
        self._stuck = f"stuck: {state.lag} messages wait, and the oldest has not been dealt with for {waits_s:.0f} s"
        if self._failed_events:
            self._stuck += f"; {self._failed_events} events of the newest batch failed"
        if not was_stuck:
            log.error("consumer is stuck", durable=self.durable, reason=self._stuck)


class Deliveries(Generic[Event]):
    """One subscription to a durable consumer. `run` consumes until a fault or the stop."""

    def __init__(
        self, connection: Connection, streams: Streams, consumption: Consumption[Event], handler: Handler[Event]
    ) -> None:
        self._connection = connection
        self._streams = streams
        self._consumption = consumption
        self._handler = handler
        self._decoder = decoder_of(consumption.event_type)
        self._queue: asyncio.Queue[Msg | None] = asyncio.Queue()
        """What has arrived. None wakes the loop when the stop is set."""

    async def run(self, stop: asyncio.Event) -> None:
        """Consume until `stop` is set. Raises BusStreamError or ConsumerError if the server refuses the consumer."""
        consumption = self._consumption
        if self._connection.makes_streams:
            try:
                await self._make()
            except nats.js.errors.NotFoundError:
                # The server has lost its streams.
                await self._streams.ensure([consumption.stream])
                await self._make()
        elif await self._streams.consumer(consumption.stream.name, consumption.durable) is None:
            raise ConsumerError("the bus does not have this consumer: `openspot up` or `openspot bus prepare` makes it")

        async def take(message: Msg) -> None:
            self._queue.put_nowait(message)

        client = self._connection.client
        subscription = await client.subscribe(deliveries_of(consumption.durable), queue=consumption.durable, cb=take)
        pace = Pace(consumption.interval_s, consumption.durable)
        waking = asyncio.create_task(self._wake_at(stop))
        try:
            while not stop.is_set():
                messages = [await self._queue.get()]
                await pace.begin(at_once=self._queue.qsize() >= consumption.batch_max - 1)
                while len(messages) < consumption.batch_max and not self._queue.empty():
                    messages.append(self._queue.get_nowait())
                await self._handle([message for message in messages if message is not None])
        finally:
            await end_tasks(waking)
            if client.is_connected:
                await subscription.unsubscribe()

    async def _wake_at(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._queue.put_nowait(None)

    async def _make(self) -> None:
        """Create the consumer or update it. Raises ConsumerError; NotFoundError if the stream is missing."""
        consumption = self._consumption
        try:
            await cancellable(make_consumer(self._connection.jetstream, consumption.consumer))
        except nats.js.errors.NotFoundError:
            raise
        except STREAM_ERRORS as error:
            raise ConsumerError(f"the server refuses the consumer: {error!r}") from error

    async def _handle(self, messages: list[Msg]) -> None:
        subject = self._consumption.subject
        events: list[Event] = []
        readable: list[Msg] = []
        for message in messages:
            try:
                events.append(self._decoder.decode(message.data))
                readable.append(message)
            except UNREADABLE as error:
                note_malformed(subject, message.subject, message.data, error)
                await self._settle(message.term())
        if not events:
            return
        try:
            failed = await self._handler(events) or ()
        except Exception:
            BUS_HANDLER_FAILURES.labels(subject).inc()
            log.exception("batch failed and will be delivered again", subject=subject, events=len(events))
            for message in readable:
                await self._settle(message.nak(delay=REDELIVERY_PAUSE_S))
            return
        for place, message in enumerate(readable):
            if place in failed:
                pause = pause_s(message.metadata.num_delivered, REDELIVERY_PAUSE_S, REDELIVERY_PAUSE_S_MAX)
                await self._settle(message.nak(delay=pause))
            else:
                await self._settle(message.ack())

    async def _settle(self, answer: Awaitable[None]) -> None:
        # If an acknowledgement is lost, the message is only delivered again: handlers are idempotent.
        try:
            await answer
        except (nats.errors.Error, OSError) as error:
            log.warning("acknowledgement not sent", error=repr(error))
