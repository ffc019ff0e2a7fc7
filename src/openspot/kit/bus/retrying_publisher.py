"""A publisher that holds the events that the bus does not accept, and retries them in the background.

A failing subject holds back only the events that must come after it. Events of one key keep their order: while one is
held, later ones are held behind it. The key is the subject, unless the event has a wider one, for example the user
whose events must not overtake each other. The number of held events is bounded; at the bound, `publish` waits.

Each stream has a lane. While the lane holds an event, later events of that stream join it. A background task of its own
publishes each lane, so a slow or dead stream does not delay the others.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from openspot.contracts.streams import stream_of
from openspot.kit.backoff import Backoff
from openspot.kit.bus.errors import PublishError
from openspot.kit.bus.outgoing import OutgoingEvent
from openspot.kit.log import get_logger
from openspot.kit.tasks import TaskSet

log = get_logger("bus")

CHUNK_MAX = 256
"""At most this many held events are published together."""
CHUNK_OF_A_KEY_MAX = 32
RETRY_S, RETRY_S_MAX = 0.1, 2.0
_LANES_MAX = 1000


class PendingEvent:
    """An event to publish. `sequence` is the caller's own number for this event.

    `is_stored` says that the caller has stored the event on disk, where it survives this process.
    """

    __slots__ = ("event", "is_published", "is_stored", "sequence")

    def __init__(self, event: OutgoingEvent, sequence: int = 0, *, is_stored: bool = False) -> None:
        self.event = event
        self.sequence = sequence
        self.is_stored = is_stored
        self.is_published = False


class PublishingBus(Protocol):
    """What a RetryingPublisher needs of a bus."""

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""

    async def publish_many(self, events: Sequence[OutgoingEvent]) -> None:
        """Publish events in their order. Raises PublishError, which names those that may not be stored."""


class RetryingPublisher:
    """Publishes in order on one bus. Only one task at a time may call `publish`.

    The publisher awaits `ready` before each attempt: it returns when there is a connection, and raises if this process
    may no longer publish. `forget` deletes stored events after they are published; if it raises, it is called again.
    """

    def __init__(
        self,
        bus: PublishingBus,
        *,
        held_max: int,
        ready: Callable[[], Awaitable[None]],
        forget: Callable[[Sequence[PendingEvent]], Awaitable[None]] | None = None,
    ) -> None:
        self._bus = bus
        self._held_max = held_max
        self._ready = ready
        self._forget = forget
        self._lanes: dict[str, _Lane] = {}
        self._tasks = TaskSet(_LANES_MAX)
        self._room = asyncio.Event()
        self._failure: Exception | None = None

    @property
    def held(self) -> int:
        """How many events wait to be published."""
        return sum(lane.count for lane in self._lanes.values())

    def restore(self, events: Sequence[PendingEvent]) -> None:
        """Begin with events that an earlier process held, in their order."""
        self._hold(events)

    async def publish(self, events: Sequence[PendingEvent]) -> None:
        """Return when every event is published or held. Waits while too many are held. Raises what `ready` raises."""
        while self.held >= self._held_max and self._failure is None:
            log.error("too many events are held: publishing waits", held=self.held)
            self._room.clear()
            await self._room.wait()
        if self._failure is not None:
            raise self._failure
        direct = list(events)
        if self._lanes:
            self._hold([pending for pending in events if _stream_name(pending) in self._lanes])
            direct = [pending for pending in events if _stream_name(pending) not in self._lanes]
        backoff = Backoff(RETRY_S, RETRY_S_MAX)
        while direct:
            await self._ready()
            try:
                await self._bus.publish_many([pending.event for pending in direct])
            except PublishError as error:
                log.warning("events not published yet", error=str(error), events=len(error.unpublished))
                direct = _among(direct, error.unpublished)
                if self._bus.is_connected:
                    break
                # The connection is down, so no other event could be published either.
                await asyncio.sleep(backoff.failed())
            else:
                return
        self._hold(direct)

    def unstored(self, until: int) -> list[PendingEvent]:
        """The held events up to the caller's sequence `until` that are not on disk."""
        return [
            pending
            for lane in self._lanes.values()
            for pending in lane.events()
            if not pending.is_stored and pending.sequence <= until
        ]

    @property
    def oldest_unstored(self) -> int | None:
        """The least sequence of a held event that is not on disk."""
        return min(
            (pending.sequence for lane in self._lanes.values() for pending in lane.events() if not pending.is_stored),
            default=None,
        )

    def note_stored(self, events: Sequence[PendingEvent]) -> None:
        """Note that these events are on disk now. Calls `forget` with those that were published meanwhile."""
        for pending in events:
            pending.is_stored = True
            if pending.is_published:
                self._lane_of(pending).to_forget.append(pending)

    def begin_again(self) -> None:
        """Set the sequences of all held events to 0, because the caller starts to count again."""
        for lane in self._lanes.values():
            for pending in lane.events():
                pending.sequence = 0

    async def close(self) -> None:
        """Stop publishing. Held events that are not on disk are lost."""
        await self._tasks.cancel()

    def _hold(self, events: Sequence[PendingEvent]) -> None:
        for pending in events:
            self._lane_of(pending).add(pending)

    def _lane_of(self, pending: PendingEvent) -> "_Lane":
        name = _stream_name(pending)
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = _Lane()
            self._tasks.start(self._work_off(name, lane))
        return lane

    async def _work_off(self, name: str, lane: "_Lane") -> None:
        """Publish the events of a lane until it is empty."""
        backoff = Backoff(RETRY_S, RETRY_S_MAX)
        try:
            while lane.count or lane.to_forget:
                published = await self._publish_some(lane) if lane.count else 0
                forgotten = await self._forget_some(lane) if lane.to_forget else 0
                self._room.set()
                if published or forgotten:
                    backoff.succeeded()
                elif lane.count or lane.to_forget:
                    await asyncio.sleep(backoff.failed())
            del self._lanes[name]
        except Exception as error:
            # `publish` raises this error, so that the caller does not go on without this lane.
            self._failure = error
            self._room.set()

    async def _publish_some(self, lane: "_Lane") -> int:
        """Publish some events of a lane, and return how many the bus stored."""
        await self._ready()
        chunk = lane.next_chunk()
        left: list[PendingEvent] = []
        try:
            await self._bus.publish_many([pending.event for pending in chunk])
        except PublishError as error:
            log.warning("held events not published yet", error=str(error), held=lane.count)
            left = _among(chunk, error.unpublished)
        lane.note_outcome(chunk, left)
        return len(chunk) - len(left)

    async def _forget_some(self, lane: "_Lane") -> int:
        assert self._forget is not None, "only a caller that stores events has some to forget"
        events = list(lane.to_forget)
        try:
            await self._forget(events)
        except Exception as error:
            log.warning("published events not forgotten yet", error=repr(error), events=len(events))
            return 0
        del lane.to_forget[: len(events)]
        return len(events)


class _Lane:
    """The held events of one stream, in order for each key."""

    def __init__(self) -> None:
        self._queues: OrderedDict[str, deque[PendingEvent]] = OrderedDict()
        self.count = 0
        self.to_forget: list[PendingEvent] = []

    def add(self, pending: PendingEvent) -> None:
        """Hold an event behind those of its key."""
        self._queues.setdefault(pending.event.order_key, deque()).append(pending)
        self.count += 1

    def events(self) -> list[PendingEvent]:
        """Everything that is held."""
        return [pending for queue in self._queues.values() for pending in queue]

    def next_chunk(self) -> list[PendingEvent]:
        """The oldest events of the next keys. It takes a few of each, so that no key keeps the others waiting."""
        chunk: list[PendingEvent] = []
        for queue in self._queues.values():
            room = min(CHUNK_OF_A_KEY_MAX, CHUNK_MAX - len(chunk))
            chunk += list(queue)[:room]
            if len(chunk) >= CHUNK_MAX:
                break
        return chunk

    def note_outcome(self, chunk: Sequence[PendingEvent], left: Sequence[PendingEvent]) -> None:
        """Drop the published events. A key that still has events moves to the end of the queue."""
        kept = {id(pending) for pending in left}
        for pending in chunk:
            if id(pending) in kept:
                continue
            pending.is_published = True
            self.count -= 1
            if pending.is_stored:
                self.to_forget.append(pending)
        for key in dict.fromkeys(pending.event.order_key for pending in chunk):
            queue = deque(pending for pending in self._queues[key] if not pending.is_published)
            if queue:
                self._queues[key] = queue
                self._queues.move_to_end(key)
            else:
                del self._queues[key]


def _among(pending: Sequence[PendingEvent], events: Sequence[OutgoingEvent]) -> list[PendingEvent]:
    """The items of `pending` whose events are in `events`."""
    wanted = {id(event) for event in events}
    return [one for one in pending if id(one.event) in wanted]


def _stream_name(pending: PendingEvent) -> str:
    stream = stream_of(pending.event.subject)
    return pending.event.subject if stream is None else stream.name
