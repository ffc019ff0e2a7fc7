"""The bus of the simulation: what a NATS server keeps, and a process's connection to it, with the methods of `Bus`.

Streams never lose a message that they have stored. Everything else is lost now and then: a request or its reply, a
publish or its acknowledgement, a consumer's acknowledgement. Now and then the subjects of one user, or
`trades.executed`, reject messages for a while. A stream drops a repeated message id within its duplicate window, which
may end at any time. Durable consumers deliver at least once: late, out of order, several times, to any process.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any, NamedTuple, cast

import msgspec

from openspot.contracts.streams import STREAMS, StreamDefinition, stream_of
from openspot.kit.bus import (
    ConsumerState,
    Consumption,
    NoAnswerError,
    NotSentError,
    OutgoingEvent,
    PublishError,
    encode,
)
from openspot.kit.bus.connection import Connection
from openspot.kit.bus.consumer import Handler
from openspot.kit.bus.local_subjects import LocalSubjects, ask
from openspot.kit.bus.provider import MakeRefusal, Provider
from tests.simulation.key_value import Bucket, ReachedBucket
from tests.simulation.process import Place, Process, Weather

REACH = 12
"""A consumer gets its messages from among this many of the oldest unacknowledged ones."""
BATCH_MAX = 8
REQUEST_TIMEOUT_S = 5.0
LOSS = 0.01
"""The probability that a message is lost."""
REPAIR = 0.2
"""The probability, at each publish, that all deaf subjects take messages again."""


class StoredMessage(NamedTuple):
    """A message as a stream keeps it."""

    subject: str
    message_id: str
    payload: bytes


class Stream:
    """A stream."""

    def __init__(self, definition: StreamDefinition) -> None:
        self.definition = definition
        self.messages: list[StoredMessage] = []
        self._window: set[str] = set()

    def store(self, subject: str, message_id: str, payload: bytes) -> bool:
        """Store a message unless its id was stored within the window. Returns whether it was stored."""
        if message_id in self._window:
            return False
        self._window.add(message_id)
        self.messages.append(StoredMessage(subject, message_id, payload))
        return True

    def end_window(self) -> None:
        """Forget the message ids: the stream stores their repeats from now on."""
        self._window.clear()


class Listener(NamedTuple):
    """A process that provides, follows or consumes a subject."""

    process: Process
    decode: Callable[[bytes], Any]
    handle: Callable[..., Awaitable[Any]]


class Consumer:
    """A durable consumer of one subject of a stream."""

    def __init__(self, stream: Stream, subject: str) -> None:
        self.stream = stream
        self.subject = subject
        self.listeners: list[Listener] = []
        self._busy: set[str] = set()
        self._looked_at = 0
        self._unacknowledged: list[int] = []

    @property
    def places(self) -> list[int]:
        """The places of the messages that are not acknowledged, oldest first."""
        messages = self.stream.messages
        for place in range(self._looked_at, len(messages)):
            if messages[place].subject == self.subject:
                self._unacknowledged.append(place)
        self._looked_at = len(messages)
        return self._unacknowledged

    def deliver(self, weather: Weather, count: int) -> None:
        """Hand some messages to a process that is not handling any."""
        chance = weather.chance
        free = [listener for listener in self.listeners if listener.process.name not in self._busy]
        reachable = self.places[: max(REACH, count)]
        if not free or not reachable:
            return
        places = chance.sample(reachable, min(count, len(reachable)))
        if weather.strikes(0.2):
            places.append(chance.choice(places))
        listener = chance.choice(free)
        listener.process.start(self._hand_over(listener, places, weather))

    async def _hand_over(self, listener: Listener, places: list[int], weather: Weather) -> None:
        self._busy.add(listener.process.name)
        try:
            await listener.process.io(Place.REQUEST)
            events = [listener.decode(self.stream.messages[place].payload) for place in places]
            try:
                failed = await listener.handle(events) or ()
            except Exception:
                return
            await listener.process.io(Place.REQUEST)
            for index, place in enumerate(places):
                if index not in failed and place in self._unacknowledged and not weather.strikes(0.1):
                    self._unacknowledged.remove(place)
        finally:
            self._busy.discard(listener.process.name)


class BusServer:
    """What all processes share."""

    def __init__(self, weather: Weather) -> None:
        self.weather = weather
        self.streams = {definition.name: Stream(definition) for definition in STREAMS}
        self.consumers: dict[str, Consumer] = {}
        self.buckets: dict[str, Bucket] = {}
        self.stored: list[StoredMessage] = []
        """The messages of all streams, in the order in which they were stored."""
        self.deaf: dict[str, None] = {}
        """Last parts of subjects that take nothing for a while: of a user, or `executed`."""
        self._providers: dict[str, list[Listener]] = {}
        self._followers: dict[str, list[Listener]] = {}

    def store(self, subject: str, message_id: str, payload: bytes) -> None:
        """Store a message in its stream, and pass it to the present followers of its subject."""
        stream = stream_of(subject)
        assert stream is not None, f"no stream captures {subject}"
        is_new = self.streams[stream.name].store(subject, message_id, payload)
        if is_new:
            self.stored.append(self.streams[stream.name].messages[-1])
        for process, decode, handle in self._followers.get(subject, ()) if is_new else ():
            if process.is_alive and not self.weather.strikes(0.05):
                process.start(handle(subject, decode(payload)))  # type: ignore[arg-type]

    def announce(self, subject: str, message: msgspec.Struct) -> None:
        """Pass a message that no stream keeps to the followers of its subject, or of all its neighbours."""
        for pattern in (subject, f"{subject.rpartition('.')[0]}.*"):
            for process, decode, handle in self._followers.get(pattern, ()):
                if process.is_alive and not self.weather.strikes(0.05):
                    process.start(handle(subject, decode(encode(message))))  # type: ignore[arg-type]

    def provide(self, subject: str, listener: Listener) -> None:
        """Add a process that replies to requests for `subject`."""
        self._providers.setdefault(subject, []).append(listener)

    def follow(self, subject: str, listener: Listener) -> None:
        """Pass every message of a subject to a process from now on."""
        self._followers.setdefault(subject, []).append(listener)

    def provider(self, subject: str) -> Listener:
        """Return one of the providers of `subject`. Raises NotSentError if there is none."""
        there = [listener for listener in self._providers.get(subject, ()) if listener.process.is_alive]
        if not there:
            raise NotSentError(f"no provider of {subject}")
        return self.weather.chance.choice(there)

    def disconnect(self, process: Process) -> None:
        """Forget a process that is gone."""
        for listeners in (*self._providers.values(), *self._followers.values()):
            listeners[:] = [listener for listener in listeners if listener.process is not process]
        for consumer in self.consumers.values():
            consumer.listeners = [listener for listener in consumer.listeners if listener.process is not process]


class SimulatedBus:
    """One process's connection."""

    is_connected = True
    read_timeout_s = 2.0

    def __init__(self, server: BusServer, process: Process, local: LocalSubjects | None = None) -> None:
        """`local` holds what the services of the process ask each other, if it has several."""
        self._server = server
        self._process = process
        self._local = local

    async def request(
        self, subject: str, message: msgspec.Struct, reply_type: type[Any], timeout_s: float | None = None
    ) -> Any:
        """Ask the provider in the process, or any one of the others. Raises NotSentError or NoAnswerError."""
        provider = self._local.provider(subject) if self._local is not None else None
        if provider is not None:
            await self._process.io(Place.REQUEST)
            answer = await ask(provider, subject, encode(message), timeout_s or REQUEST_TIMEOUT_S)
            await self._process.io(Place.REQUEST)
            return msgspec.json.decode(answer.payload, type=reply_type)
        weather = self._server.weather
        reply: asyncio.Future[bytes] = weather.loop.create_future()

        async def answer(provider: Listener) -> None:
            handled = encode(await provider.handle(provider.decode(encode(message))))
            await provider.process.io(Place.REQUEST)
            if not reply.done() and not weather.strikes(LOSS):
                reply.set_result(handled)

        def arrive() -> None:
            provider = self._server.provider(subject)
            if not weather.strikes(LOSS):
                provider.process.start(answer(provider))

        try:
            async with asyncio.timeout(timeout_s or REQUEST_TIMEOUT_S):
                await self._process.act(Place.REQUEST, arrive)
                payload = await reply
        except TimeoutError as error:
            raise NoAnswerError(f"no answer to {subject}") from error
        return msgspec.json.decode(payload, type=reply_type)

    async def serve(
        self, subject: str, queue: str, request_type: type[Any], handler: Callable[..., Any], refusal: MakeRefusal
    ) -> None:
        """Provide `subject`."""
        if self._local is not None:
            self._local.open(subject, Provider(subject, request_type, handler, refusal), cast(Connection, self))
        self._server.provide(subject, Listener(self._process, _decoder(cast(Hashable, request_type)), handler))

    async def subscribe(self, subject: str, event_type: type[Any], handler: Callable[..., Any]) -> None:
        """Follow `subject` from now on."""
        self._server.follow(subject, Listener(self._process, _decoder(cast(Hashable, event_type)), handler))

    async def publish(self, subject: str, message: msgspec.Struct, message_id: str) -> None:
        """Publish one event of a stream. Raises PublishError."""
        await self.publish_many([OutgoingEvent(subject, encode(message), message_id)])

    async def publish_many(self, events: Sequence[OutgoingEvent]) -> None:
        """Publish in order. Raises PublishError with those that were lost, unacknowledged or of a deaf subject."""
        server, weather = self._server, self._server.weather
        if events and weather.strikes(LOSS):
            server.deaf[_last_part(weather.chance.choice(events).subject)] = None
        # A subject stays deaf for the whole batch, or an event could overtake an earlier one of its key.
        left = [event for event in events if _last_part(event.subject) in server.deaf]
        for place, event in enumerate(events):
            if weather.strikes(LOSS / 4):
                lost = events[place:]
                raise PublishError("the connection was lost", [one for one in events if one in left or one in lost])
            if event in left:
                continue
            store = functools.partial(server.store, event.subject, event.message_id, event.payload)
            await self._process.act(Place.PUBLISH, store)
        if weather.is_calm or weather.strikes(REPAIR):
            server.deaf.clear()
        if weather.strikes(2 * LOSS):
            raise PublishError("no acknowledgement in time", events)
        if left:
            raise PublishError("subjects take nothing", left)

    async def announce(self, subject: str, message: msgspec.Struct) -> None:
        """Tell the present followers, of whom some do not hear it."""
        self._server.announce(subject, message)

    def register(self, consumer: Any) -> None:
        """Nobody asks for the health of a consumer here."""

    async def consume(self, consumption: Consumption[Any], handler: Handler[Any], stop: asyncio.Event) -> None:
        """Consume until `stop` is set. The simulation decides when to deliver."""
        durable = consumption.durable
        consumer = self._server.consumers.get(durable)
        if consumer is None:
            stream = self._server.streams[consumption.stream.name]
            consumer = self._server.consumers[durable] = Consumer(stream, consumption.subject)
        decode = _decoder(cast(Hashable, consumption.event_type))
        consumer.listeners.append(Listener(self._process, decode, handler))
        await stop.wait()

    async def consumer_state(self, stream: str, durable: str) -> ConsumerState:
        """The server never loses a consumer here."""
        return ConsumerState(0, 0, 0)

    def key_value(self, bucket: str, value_type: type[Any], life_s: float | None = None) -> ReachedBucket:
        """The bucket of that name, as this process reaches it."""
        found = self._server.buckets.setdefault(bucket, Bucket(self._server.weather.loop.time, life_s))
        return found.reached_by(self._process)


def _last_part(subject: str) -> str:
    return subject.rpartition(".")[2]


@functools.cache
def _decoder(message_type: Any) -> Callable[[bytes], Any]:
    return msgspec.json.Decoder(message_type).decode
