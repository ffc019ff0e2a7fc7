"""The translator: follows the engine's events, publishes what they mean, has the rows written (Document A 6.4).

One router at a time does this, the holder of the lease. A batch of events goes through three places in this
order: the bus (acknowledged), the published position, the queue of the row writer. So the rows are never
ahead of what is published, and whoever begins anew finds the open orders at the rows' cursor, follows from
there, and publishes only what is beyond the published position. What was published twice, because a process
died between the acknowledgement and the position, has the same message ids.

An engine with a new journal (another epoch) is followed from its first event. An engine that is behind what
was published, or that no longer has the next event, is not followed: an operator has to look at it.
"""

import asyncio
import time
from contextlib import suppress
from dataclasses import replace

import aiohttp
import nats.errors

from openspot.contracts.engine_events import EngineEvent, Hello
from openspot.contracts.messages import OrderEvent
from openspot.kit.bus import Bus, Outgoing, PublishError, encode
from openspot.kit.circuit_breaker import CircuitOpenError
from openspot.kit.log import get_logger
from openspot.kit.pacing import Pace
from openspot.kit.settings import Settings
from openspot.kit.tasks import end_tasks
from openspot.router.engine_stream import EngineStream, StreamEndedError
from openspot.router.lease import LEASE_BUCKET, POSITION_BUCKET, Lease, PublishedPosition
from openspot.router.metrics import (
    TRADE_SEQUENCE,
    TRANSLATOR_EVENTS,
    TRANSLATOR_FAULTS,
    TRANSLATOR_LAG,
    TRANSLATOR_LEADS,
)
from openspot.router.row_writer import RowWriter
from openspot.router.schemas import Position, TrackedOrder, TradeRow
from openspot.router.store import Store
from openspot.router.translation import Projection, Translation

log = get_logger("translator")

EVENTS_MAX = 256
"""Events in one batch: few enough that a batch is acknowledged well within the life of the lease."""
BATCH_INTERVAL_S = 0.02
"""Least time between two batches: each is published, acknowledged and noted as a whole."""
PAUSE_S = 0.1
PAUSE_S_MAX = 2.0
DRAIN_S_MAX = 3.0
STAND_BACK_S = 1.0
_BUS_ERRORS = (nats.errors.Error, TimeoutError, OSError)


class EngineHistoryError(Exception):
    """The engine's events do not continue what was published before."""


class Translator:
    """Waits for the lease, and translates while it has it. `run` does the work."""

    def __init__(
        self, *, settings: Settings, bus: Bus, store: Store, session: aiohttp.ClientSession, engine_url: str
    ) -> None:
        self._settings = settings
        self._bus = bus
        self._store = store
        self._session = session
        self._engine_url = engine_url
        self._fault: str | None = None
        self.leads = False

    async def check(self) -> None:
        """Raise EngineHistoryError, with the reason, while this process should translate and cannot."""
        if self._fault is not None:
            raise EngineHistoryError(self._fault)

    async def run(self) -> None:
        """Translate, whenever the lease is ours, until cancelled."""
        lease = Lease(
            await self._bus.key_value(LEASE_BUCKET, self._settings.translator_lease_s),
            self._settings.translator_lease_s,
            time.monotonic,
        )
        position = PublishedPosition(await self._bus.key_value(POSITION_BUCKET))
        while True:
            await self._acquire(lease)
            log.info("translating")
            self.leads = True
            TRANSLATOR_LEADS.set(1)
            try:
                await self._lead(lease, position)
            except Exception as error:
                self._fault = str(error) or repr(error)
                log.error("translation interrupted", error=repr(error))
            finally:
                self.leads = False
                TRANSLATOR_LEADS.set(0)
                await lease.release()
            # Another router may do better: this one stands back for a moment.
            await asyncio.sleep(STAND_BACK_S)

    async def _acquire(self, lease: Lease) -> None:
        acquiring = asyncio.create_task(lease.acquire())
        try:
            done, _ = await asyncio.wait({acquiring}, timeout=self._settings.translator_lease_s)
            if not done:
                # Another router translates: what stood in our way is no longer our matter.
                self._fault = None
            await acquiring
        finally:
            await end_tasks(acquiring)

    async def _lead(self, lease: Lease, position: PublishedPosition) -> None:
        """Translate until the lease is lost or something else stands in the way, which is raised."""
        rows_position, orders = await self._store.open_orders()
        writer = RowWriter(self._store, rows_position, self._settings.row_queue_max)
        following = _Following(
            self._bus,
            lease,
            position,
            await position.load(),
            writer,
            rows_position,
            orders,
            # The message between two acknowledged ones is there as well, unless another server took over between them.
            acknowledge_all=self._settings.bus_replicas > 1,
        )
        keeping = asyncio.create_task(lease.keep())
        writing = asyncio.create_task(writer.run())
        follow = asyncio.create_task(self._follow(following))
        try:
            done, _ = await asyncio.wait({keeping, writing, follow}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await end_tasks(follow)
            if lease.is_held and not writing.done():
                with suppress(TimeoutError):
                    await asyncio.wait_for(writer.drained(), DRAIN_S_MAX)
            await end_tasks(writing, keeping)

    async def _follow(self, following: "_Following") -> None:
        """Follow the stream through all its connections."""
        pause_s = PAUSE_S
        pace = Pace(BATCH_INTERVAL_S)
        while True:
            try:
                async with EngineStream(self._session, self._engine_url, following.next_sequence) as stream:
                    if not following.continues_with(stream.hello):
                        continue
                    self._fault = None
                    pause_s = PAUSE_S
                    while True:
                        await stream.arrived()
                        await pace.begin(at_once=stream.waiting >= EVENTS_MAX)
                        await following.take(stream.take(EVENTS_MAX))
                        TRANSLATOR_LAG.set(stream.last_received - following.next_sequence + 1)
            except StreamEndedError as error:
                self._fault = str(error)
                log.warning("event stream ended, connecting again", error=str(error), next=following.next_sequence)
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, PAUSE_S_MAX)


class _Following:
    """One holding of the lease: where we are in the stream, and what the next events lead to."""

    def __init__(
        self,
        bus: Bus,
        lease: Lease,
        published_position: PublishedPosition,
        published: Position | None,
        writer: RowWriter,
        rows_position: Position | None,
        orders: list[TrackedOrder],
        *,
        acknowledge_all: bool,
    ) -> None:
        self._bus = bus
        self._acknowledge_all = acknowledge_all
        self._lease = lease
        self._published_position = published_position
        self._published = published
        self._writer = writer
        self._epoch = None if rows_position is None else rows_position.epoch
        self._projection = Projection(self._epoch or "", orders)
        self._published_sequence = self._published_in(self._epoch)
        self.next_sequence = 1 if rows_position is None else rows_position.sequence + 1

    def continues_with(self, hello: Hello) -> bool:
        """Whether this connection gives the next event; if not, another one from `next_sequence` will.

        Raises EngineHistoryError if no connection to this engine can.
        """
        if hello.epoch != self._epoch:
            if self._epoch is not None:
                log.warning("the engine has a new journal", epoch=hello.epoch, last_epoch=self._epoch)
            restart = self.next_sequence != 1
            self._epoch = hello.epoch
            self._projection = Projection(hello.epoch, [])
            self._published_sequence = self._published_in(hello.epoch)
            self.next_sequence = 1
            if restart:
                return False
        newest_known = max(self.next_sequence - 1, self._published_sequence)
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

    async def take(self, events: list[EngineEvent]) -> None:
        """Publish the events, note that, and queue the rows. Raises StreamEndedError at a gap."""
        assert self._epoch is not None, "events come after a hello"
        outgoing: list[Outgoing] = []
        orders: dict[str, TrackedOrder] = {}
        trades: list[TradeRow] = []
        for event in events:
            if event.seq != self.next_sequence:
                raise StreamEndedError(f"event {event.seq} came where {self.next_sequence} was due")
            translation = self._projection.apply(event)
            self.next_sequence += 1
            _note_faults(translation)
            if event.seq > self._published_sequence:
                outgoing += _outgoing_of(translation, acknowledge_all=self._acknowledge_all)
            for order in translation.orders:
                orders[order.order_id] = order
            trades += translation.trades
        position = Position(self._epoch, self.next_sequence - 1)
        if outgoing:
            await self._publish(_with_acknowledgements(outgoing))
        if position.sequence > self._published_sequence:
            await self._save(position)
        await self._writer.put(list(orders.values()), trades, position)
        if trades:
            TRADE_SEQUENCE.set(trades[-1].sequence)
        TRANSLATOR_EVENTS.inc(len(events))

    async def _publish(self, outgoing: list[Outgoing]) -> None:
        """Publish all, as often as it takes. Raises LeaseLostError when that is no longer ours to do."""
        pause_s = PAUSE_S
        while True:
            await self._connected()
            try:
                await self._bus.publish_many(outgoing)
            except (PublishError, CircuitOpenError) as error:
                log.warning("events not published yet", error=str(error), events=len(outgoing))
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, PAUSE_S_MAX)
            else:
                return

    async def _save(self, position: Position) -> None:
        pause_s = PAUSE_S
        while True:
            await self._connected()
            try:
                await self._published_position.save(position)
            except _BUS_ERRORS as error:
                log.warning("published position not saved yet", error=repr(error))
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, PAUSE_S_MAX)
            else:
                self._published = position
                self._published_sequence = position.sequence
                return

    async def _connected(self) -> None:
        """Wait for the connection: a publish without one would only count against the circuit breaker."""
        self._lease.check()
        while not self._bus.is_connected:
            await asyncio.sleep(PAUSE_S)
            self._lease.check()

    def _published_in(self, epoch: str | None) -> int:
        return self._published.sequence if self._published is not None and self._published.epoch == epoch else 0


def _outgoing_of(translation: Translation, *, acknowledge_all: bool) -> list[Outgoing]:
    outgoing = []
    for names, message_ids, message in translation.publications:
        payload = encode(message)
        if isinstance(message, OrderEvent):
            # The stream publishes the bare form itself (contracts/streams.py).
            outgoing.append(Outgoing(names[-1], payload, message_ids[-1], acknowledged=acknowledge_all))
            continue
        outgoing += [Outgoing(name, payload, key) for name, key in zip(names, message_ids, strict=True)]
    return outgoing


def _with_acknowledgements(outgoing: list[Outgoing]) -> list[Outgoing]:
    """The batch, its first and its last order event acknowledged: the server then has those between as well."""
    unacknowledged = [index for index, event in enumerate(outgoing) if not event.acknowledged]
    for index in {*unacknowledged[:1], *unacknowledged[-1:]}:
        outgoing[index] = replace(outgoing[index], acknowledged=True)
    return outgoing


def _note_faults(translation: Translation) -> None:
    for kind, text in translation.faults:
        TRANSLATOR_FAULTS.labels(kind).inc()
        log.error("engine event contradicts", kind=kind, text=text)
