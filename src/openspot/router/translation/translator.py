"""The translator of a partition: follows its events of the engine, publishes them and writes their rows.

See facts A6.4-01 to A6.4-07. One router at a time translates a partition: the holder of its lease. It handles a batch
of events in three steps: publish on the bus, save the published position, queue the rows. Position and rows never pass
an event before the bus has acknowledged it or the database has stored it.

After a restart, the translator loads the open orders as of the rows' cursor, follows the stream from there, and
publishes only events after the published position. If a process dies before it has saved the position, the next one
publishes the same events again under the same message ids, and the bus drops them.

The translator holds an event that the bus does not store. A held event delays only the later events of its subject. A
held order event delays the later order events of its user, so that an order's events stay in their order. The rows may
pass a held event, because it is stored together with them (`router_held_events`).

After a change of the number of partitions, the rows include some of the events after the cursor already
(rows_position.py). The translator leaves those out.

If the engine has a new journal (another epoch), the translator follows it from its first event. If the engine's newest
event is older than what was published, or the next event is gone, the translator stops: an operator has to decide.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import NoReturn

import aiohttp

from openspot.contracts.engine_events import EngineEvent, Hello, symbol_of
from openspot.contracts.messages import OrderEvent
from openspot.domain.partition import Partition
from openspot.engine_client.position import StreamPosition
from openspot.engine_client.stream import EngineStream, StreamEndedError
from openspot.kit import tracing
from openspot.kit.backoff import Backoff
from openspot.kit.bus import Bus, KeyValueError, OutgoingEvent, PendingEvent, RetryingPublisher, encode
from openspot.kit.leader import Leader
from openspot.kit.lease import Lease
from openspot.kit.log import get_logger
from openspot.kit.pacing import Pace
from openspot.kit.tasks import end_tasks, first_ended
from openspot.router.division import PartitionsRefusedError
from openspot.router.metrics import (
    TRANSLATOR_EVENTS,
    TRANSLATOR_FAULTS,
    TRANSLATOR_LEADS,
)
from openspot.router.rows_position import PassedEvents, passed
from openspot.router.settings import RouterSettings
from openspot.router.store import Resumption, RouterStore
from openspot.router.tracked_order import TrackedOrder
from openspot.router.trade_row import TradeRow
from openspot.router.translation.lease import LEASE_BUCKET, POSITION_BUCKET, PublishedPosition, key_of
from openspot.router.translation.order_state_machine import OrderStateMachine, TranslatedEvent
from openspot.router.translation.row_writer import RowWriter
from openspot.router.translation.transfer_gathering import whole_transfers

log = get_logger("translator")

EVENTS_MAX = 256
"""Events in one batch, at most. The bus acknowledges this many long before the lease expires."""
BATCH_INTERVAL_S = 0.02
"""Seconds between two batches, at least. A batch costs one round of acknowledgements and one save of the position."""
HELD_MAX = 20_000
"""Held events, at most. At this number the translator waits."""
PAUSE_S = 0.1
PAUSE_S_MAX = 2.0
DRAIN_S_MAX = 3.0


class EngineHistoryError(Exception):
    """The engine's events do not continue what was published before."""


class Translator:
    """Translates `partition` while this process holds its lease. `run` does the work."""

    def __init__(
        self,
        *,
        settings: RouterSettings,
        bus: Bus,
        store: RouterStore,
        session: aiohttp.ClientSession,
        engine_url: str,
        partition: Partition,
    ) -> None:
        self.partition = partition
        self._settings = settings
        self._bus = bus
        self._store = store.of(partition)
        self._session = session
        self._engine_url = engine_url
        self._publisher: RetryingPublisher | None = None
        self._writer: RowWriter | None = None
        self._given_up = asyncio.Event()
        self.lag = 0
        """Events received and not yet published."""
        self.trade_sequence = 0
        """Engine sequence of the newest trade published; 0 before the first."""
        self._lease = Lease.on(bus, LEASE_BUCKET, key_of(partition), settings.translator_lease_s)
        self._position = PublishedPosition(bus.key_value(POSITION_BUCKET, StreamPosition), partition)
        self._leader = Leader(bus, self._lease, self._lead, work="translation", gauge=TRANSLATOR_LEADS)

    @property
    def held(self) -> int:
        """The number of events that the bus has not stored."""
        return 0 if self._publisher is None else self._publisher.held

    @property
    def rows_waiting(self) -> int:
        """The number of rows that wait to be written."""
        return 0 if self._writer is None else self._writer.waiting

    @property
    def leads(self) -> bool:
        """Whether this process translates the partition. It may have lost the lease without knowing it yet."""
        return self._leader.leads

    def check(self) -> None:
        """Raise NotLeadingError, with the reason, if this process cannot translate and knows of no other that does."""
        self._leader.check()

    async def run(self) -> None:
        """Translate whenever this process holds the lease, until cancelled."""
        await self._leader.run()

    def give_up(self) -> None:
        """End the present session in order, so that another process can take the lease."""
        self._given_up.set()

    async def _lead(self) -> None:
        """Translate until cancelled or given up. Raises LeaseLostError, or the error that ended the translation."""
        lease = self._lease
        self._given_up.clear()
        if (stored := await self._store.division.begin(self.partition.total)) != self.partition.total:
            raise PartitionsRefusedError(
                f"this router has {self.partition.total} partitions, but the stored number is {stored}: "
                "start every router with the same number"
            )
        resumption = await self._store.resumption()

        async def may_publish() -> None:
            """Wait for the connection. Raises LeaseLostError if the lease is lost meanwhile."""
            lease.check()
            while not self._bus.is_connected:
                await asyncio.sleep(PAUSE_S)
                lease.check()

        publisher = RetryingPublisher(self._bus, held_max=HELD_MAX, ready=may_publish, forget=self._forget)
        writer = RowWriter(self._store, publisher, resumption.position, self._settings.row_queue_max)
        session = _LeaderSession(
            may_publish=may_publish,
            published_position=self._position,
            published=await self._position.load(),
            published_earlier=await self._published_earlier(resumption),
            publisher=publisher,
            writer=writer,
            resumption=resumption,
        )
        # Each step of the end is taken, even if a second cancellation interrupts the one before it.
        async with AsyncExitStack() as end:
            self._publisher, self._writer = publisher, writer
            end.callback(self._forget_session)
            end.push_async_callback(publisher.close)
            end.push_async_callback(writer.cancel)
            publisher.restore(resumption.held)
            writing = asyncio.create_task(writer.failure())
            end.push_async_callback(end_tasks, writing)
            end.push_async_callback(self._drain, writer, writing)
            following = asyncio.create_task(self._follow(session))
            end.push_async_callback(end_tasks, following)
            giving_up = asyncio.create_task(self._given_up.wait())
            end.push_async_callback(end_tasks, giving_up)
            await first_ended(writing, following, giving_up)

    async def _published_earlier(self, resumption: Resumption) -> list[tuple[Partition, StreamPosition]]:
        """The published positions of the partitions of earlier divisions."""
        bucket = self._bus.key_value(POSITION_BUCKET, StreamPosition)
        found = []
        for mark in resumption.earlier:
            position = await PublishedPosition(bucket, mark.partition).load()
            if position is not None:
                found.append((mark.partition, position))
        return found

    async def _drain(self, writer: RowWriter, writing: asyncio.Task[NoReturn]) -> None:
        """Let the rows that wait be written, if this process may still write them."""
        if self._lease.is_held and not writing.done():
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_S_MAX):
                    await writer.drained()

    def _forget_session(self) -> None:
        self._publisher = self._writer = None
        self.lag = 0

    async def _forget(self, events: Sequence[PendingEvent]) -> None:
        await self._store.forget_held([pending.event.message_id for pending in events])

    async def _follow(self, session: "_LeaderSession") -> None:
        """Follow the stream, through all its connections."""
        backoff = Backoff(PAUSE_S, PAUSE_S_MAX)
        pace = Pace(BATCH_INTERVAL_S)
        while True:
            try:
                async with EngineStream(
                    self._session,
                    self._engine_url,
                    session.next_sequence,
                    self.partition,
                    hello_s_max=self._settings.request_timeout_s,
                ) as stream:
                    if not session.continues_with(stream.hello):
                        continue
                    self._leader.fault = None
                    backoff.succeeded()
                    while True:
                        await stream.arrived()
                        await pace.begin(at_once=stream.waiting >= EVENTS_MAX)
                        await session.take(stream.take(EVENTS_MAX), stream.next_sequence)
                        self.trade_sequence = session.trade_sequence or self.trade_sequence
                        self.lag = stream.last_received - session.next_sequence + 1
            except StreamEndedError as error:
                self._leader.fault = str(error)
                log.warning("event stream ended, connecting again", error=str(error), next=session.next_sequence)
                await asyncio.sleep(backoff.failed())


class _LeaderSession:
    """One leader session: the place in the stream and the open orders."""

    def __init__(
        self,
        *,
        may_publish: Callable[[], Awaitable[None]],
        published_position: PublishedPosition,
        published: StreamPosition | None,
        published_earlier: Sequence[tuple[Partition, StreamPosition]],
        publisher: RetryingPublisher,
        writer: RowWriter,
        resumption: Resumption,
    ) -> None:
        self._may_publish = may_publish
        self._published_position = published_position
        self._published = published
        self._published_earlier = published_earlier
        self._publisher = publisher
        self._writer = writer
        rows_position = resumption.position
        self._epoch = None if rows_position is None else rows_position.epoch
        self._machine = OrderStateMachine(self._epoch or "", resumption.orders)
        self._taken = rows_position
        """The position after the events that were taken."""
        self._incomplete: list[EngineEvent] = []
        """The first events of a transfer whose other events have not arrived yet. No saved position passes them."""
        self.next_sequence = 1 if rows_position is None else rows_position.sequence + 1
        self.trade_sequence = 0
        self._written = list(resumption.earlier)
        """The events after the cursor that the rows include already."""
        self._published_before = self._published_before_in(self._epoch)
        """The events that earlier divisions published."""
        # The rows pass only events that are published, or held and stored with them.
        self._published_sequence = max(self._published_in(self._epoch), self.next_sequence - 1)

    def continues_with(self, hello: Hello) -> bool:
        """Whether this connection delivers the next event. If not, the caller connects again from `next_sequence`.

        Raises EngineHistoryError if this engine cannot deliver the next event at all.
        """
        # The connection begins at `next_sequence`, so it delivers these events again.
        self._incomplete = []
        if hello.epoch != self._epoch:
            if self._epoch is not None:
                log.warning("the engine has a new journal", epoch=hello.epoch, last_epoch=self._epoch)
            restart = self.next_sequence != 1
            self._epoch = hello.epoch
            self._machine = OrderStateMachine(hello.epoch, [])
            self._publisher.begin_again()
            self._published_sequence = self._published_in(hello.epoch)
            self._written = []
            self._published_before = self._published_before_in(hello.epoch)
            self.next_sequence = 1
            if restart:
                return False
        newest_known = max(
            self.next_sequence - 1,
            self._published_sequence,
            *(mark.sequence for mark in (*self._written, *self._published_before)),
        )
        if hello.last_seq < newest_known:
            raise EngineHistoryError(
                f"the engine's newest event is {hello.last_seq}, but {newest_known} was published before: "
                "its data directory is older than the platform's"
            )
        if hello.first_seq > self.next_sequence:
            raise EngineHistoryError(
                f"the engine's oldest event is {hello.first_seq}, but the next one needed is {self.next_sequence}: "
                "events were lost to its retention"
            )
        return True

    async def take(self, events: list[EngineEvent], next_sequence: int) -> None:
        """Publish the events before `next_sequence`, save the position and queue the rows.

        `events` are those of this partition. The events of an incomplete transfer wait for the next call. If a restart
        could come between them, nobody would know the whole transfer.
        """
        assert self._epoch is not None, "events come after a hello"
        events = self._incomplete + events
        whole = whole_transfers(events)
        events, self._incomplete = events[:whole], events[whole:]
        self.next_sequence = self._incomplete[0].seq if self._incomplete else next_sequence
        position = StreamPosition(self._epoch, self.next_sequence - 1)
        if position == self._taken:
            return
        self._taken = position
        pending: list[PendingEvent] = []
        orders: dict[str, TrackedOrder] = {}
        trades: list[TradeRow] = []
        for event in events:
            if _includes(self._written, event):
                continue
            translated = self._machine.apply(event)
            _note_faults(translated)
            if event.seq > self._published_sequence and not _includes(self._published_before, event):
                pending += _pending_of(translated, event.seq)
            for order in translated.orders:
                orders[order.order_id] = order
            trades += translated.trades
        began = tracing.begin()
        if pending:
            await self._publish(pending)
        if began:
            for order in orders.values():
                key = str(order.last_sequence)
                tracing.end(order.order_id, tracing.Step.PUBLISH, began, key=key, events=len(pending))
        await self._save(self._publishable(position))
        await self._writer.put(list(orders.values()), trades, position)
        if trades:
            self.trade_sequence = trades[-1].sequence
        TRANSLATOR_EVENTS.inc(len(events))

    async def _publish(self, pending: list[PendingEvent]) -> None:
        """Publish events, or hold them. Raises LeaseLostError if the lease is lost."""
        await self._publisher.publish(pending)

    def _publishable(self, position: StreamPosition) -> StreamPosition:
        """The furthest position that may be saved: it passes no event that neither the bus nor the disk has."""
        oldest = self._publisher.oldest_unstored
        return position if oldest is None or oldest > position.sequence else StreamPosition(position.epoch, oldest - 1)

    async def _save(self, position: StreamPosition) -> None:
        """Save the published position, and retry until that succeeds. Raises FencedError or LeaseLostError."""
        if position.sequence <= self._published_sequence:
            return
        backoff = Backoff(PAUSE_S, PAUSE_S_MAX)
        while True:
            await self._may_publish()
            try:
                await self._published_position.save(position)
            except KeyValueError as error:
                log.warning("published position not saved yet", error=str(error))
                await asyncio.sleep(backoff.failed())
            else:
                self._published = position
                self._published_sequence = position.sequence
                return

    def _published_before_in(self, epoch: str | None) -> list[PassedEvents]:
        return [
            PassedEvents(partition, position.sequence)
            for partition, position in self._published_earlier
            if position.epoch == epoch
        ]

    def _published_in(self, epoch: str | None) -> int:
        return self._published.sequence if self._published is not None and self._published.epoch == epoch else 0


def _includes(marks: list[PassedEvents], event: EngineEvent) -> bool:
    """Whether one of `marks` includes `event`. Events come in order, so this forgets marks that lie behind it."""
    if not marks:
        return False
    marks[:] = [mark for mark in marks if mark.sequence >= event.seq]
    return event.seq <= passed(marks, symbol_of(event))


def _pending_of(translated: TranslatedEvent, sequence: int) -> list[PendingEvent]:
    """The bus events of one engine event."""
    pending = []
    for publication in translated.publications:
        message, targets = publication.message, publication.targets
        payload = encode(message)
        if isinstance(message, OrderEvent):
            # The server itself publishes the bare subject (contracts/streams.py). A user's order events go to several
            # subjects, and the key keeps them in order.
            target, user_id = targets[-1], message.order.user_id
            outgoing = OutgoingEvent(target.subject, payload, target.message_id, key=user_id)
            pending.append(PendingEvent(outgoing, sequence))
            continue
        pending += [
            PendingEvent(OutgoingEvent(target.subject, payload, target.message_id), sequence) for target in targets
        ]
    return pending


def _note_faults(translated: TranslatedEvent) -> None:
    for fault in translated.faults:
        TRANSLATOR_FAULTS.labels(fault.kind).inc()
        log.error("engine event contradicts the open orders", kind=fault.kind, text=fault.text)
