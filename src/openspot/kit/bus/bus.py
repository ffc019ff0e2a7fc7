"""The bus as services see it: one connection and every operation on it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec

from openspot.contracts.streams import STREAMS, StreamDefinition
from openspot.kit.bus.circuit_breaker import CircuitBreaker
from openspot.kit.bus.connection import Connection, OnGap
from openspot.kit.bus.consumer import Consumption, Deliveries, DurableConsumer, Handler
from openspot.kit.bus.key_value import KeyValueBucket
from openspot.kit.bus.local_subjects import LocalSubjects
from openspot.kit.bus.outgoing import OutgoingEvent
from openspot.kit.bus.preparation import BusNeeds, Preparation, Prepared
from openspot.kit.bus.provider import MakeRefusal
from openspot.kit.bus.publisher import Publisher
from openspot.kit.bus.requests import Requests
from openspot.kit.bus.streams import ConsumerState, Streams
from openspot.kit.bus.subscriptions import Subscriptions, Unsubscribe
from openspot.kit.health import Check
from openspot.kit.settings import Settings
from openspot.kit.tasks import TaskSet

Request = TypeVar("Request")
Reply = TypeVar("Reply")
Event = TypeVar("Event")
Value = TypeVar("Value")


class Bus:
    """A connection to the bus. `Bus.connect` opens it, `close` ends it."""

    def __init__(self, connection: Connection, local: LocalSubjects | None = None) -> None:
        settings = connection.settings
        self.connection = connection
        """Only the modules of this package use it. Services use the methods below."""
        self._timeout_s = settings.request_timeout_s
        self._requests = Requests(connection, local)
        self._subscriptions = Subscriptions(connection)
        self._streams = Streams(connection)
        breaker = CircuitBreaker(settings.breaker_failures, settings.breaker_window_s, time.monotonic)
        self._publisher = Publisher(connection, breaker, time.monotonic)
        self._background = TaskSet(1)
        self._consumers: dict[str, DurableConsumer[Any]] = {}
        connection.on_reconnect(self._repeat_news)

    @classmethod
    async def connect(
        cls, settings: Settings, name: str, on_gap: OnGap | None = None, *, local: LocalSubjects | None = None
    ) -> "Bus":
        """Connect as `name`. Waits without limit for a server that is not up yet; a caller may set a timeout.

        Raises BusUnavailableError if the server refuses the connection. Calls `on_gap` with a reason whenever `listen`
        and `subscribe` may have missed events. Services that share a process, and share `local`, handle each other's
        requests without the bus.
        """
        return cls(await Connection.open(settings, name, on_gap), local)

    async def stop_serving(self) -> None:
        """Accept no more requests, and cancel those under way. The connection stays open."""
        await self._requests.stop()

    async def close(self) -> None:
        """Accept no more requests, send pending messages, and close the connection."""
        await self.stop_serving()
        await self._background.cancel()
        await self.connection.close()

    @property
    def read_timeout_s(self) -> float:
        """A request that only reads fails after this many seconds; `request` must be told so."""
        return self.connection.settings.read_timeout_s

    @property
    def nested_timeout_s(self) -> float:
        """A request whose handler sends requests itself fails after this many seconds; `request` must be told so."""
        return self.connection.settings.nested_timeout_s

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        return self.connection.is_connected

    async def check(self) -> None:
        """Raise BusUnavailableError unless the server answers within half of a check's time."""
        await self.connection.check()

    async def storage(self) -> tuple[int, int]:
        """(the bytes on disk that this account's streams take, their limit or 0 if there is none).

        Raises BusUnavailableError without JetStream, or if this user may not ask.
        """
        return await self.connection.storage()

    # Requests

    async def request(
        self, subject: str, message: msgspec.Struct, reply_type: type[Reply], timeout_s: float | None = None
    ) -> Reply:
        """Send a request and return a provider's reply. Waits `timeout_s`, by default 5 s (a setting).

        Raises RequestFailedError. After NotSentError, BusyError and MalformedRequestError the request was not handled;
        after NoAnswerError and HandlerFailedError it may have been. A provider in this process is asked directly.
        """
        wait_s = self._timeout_s if timeout_s is None else timeout_s
        return await self._requests.request(subject, message, reply_type, wait_s)

    async def serve(
        self,
        subject: str,
        queue: str,
        request_type: type[Request],
        handler: Callable[[Request], Awaitable[msgspec.Struct]],
        refusal: MakeRefusal,
    ) -> None:
        """Serve `subject` in the queue group `queue`. `refusal` makes the reply to a request that is not handled."""
        await self._requests.serve(subject, queue, request_type, handler, refusal)

    # Core subscriptions

    async def subscribe(
        self, subject: str, event_type: type[Event], handler: Callable[[str, Event], Awaitable[None]]
    ) -> Unsubscribe:
        """Call `handler(subject, event)` for every event from now on. Returns a function that ends the subscription."""
        return await self._subscriptions.subscribe(subject, event_type, handler)

    async def listen(self, subject: str, handler: Callable[[str, bytes], None]) -> Unsubscribe:
        """Call `handler(subject, payload)` for every event from now on, as soon as it arrives. The payload is raw.

        `handler` raises MalformedEventError for a payload that it cannot use.
        """
        return await self._subscriptions.listen(subject, handler)

    # Streams

    async def ensure_streams(self, streams: Sequence[StreamDefinition] = STREAMS) -> None:
        """Create the streams, or update existing ones. Raises BusStreamError if the server refuses.

        Does nothing if somebody else makes the streams (setting `nats_api_prefix`).
        """
        await self._streams.ensure(streams)

    async def prepare(self, needs: BusNeeds) -> Prepared:
        """Make the streams, durable consumers and buckets, or update them. Raises BusStreamError."""
        return await Preparation(self.connection, self._streams).prepare(needs)

    async def is_prepared(self, needs: BusNeeds) -> bool:
        """Whether everything is there. Raises BusStreamError if the server does not answer."""
        return await Preparation(self.connection, self._streams).is_prepared(needs)

    def on_reconnect(self, callback: Callable[[], None]) -> None:
        """Call `callback` each time the connection is restored."""
        self.connection.on_reconnect(callback)

    async def publish(self, subject: str, message: msgspec.Struct, message_id: str) -> None:
        """Publish one event and wait until the server has stored it. Raises PublishError or CircuitOpenError."""
        await self._publisher.publish(subject, message, message_id)

    async def publish_many(self, events: Sequence[OutgoingEvent]) -> None:
        """Publish events in their order and wait until the server has stored them.

        Raises PublishError, which names the events that may not be stored. The server has stored all others.
        """
        await self._publisher.publish_many(events)

    async def announce(self, subject: str, message: msgspec.Struct) -> None:
        """Publish an event that may get lost: do not wait for an acknowledgement."""
        await self._publisher.announce(subject, message)

    async def consume(self, consumption: Consumption[Event], handler: Handler[Event], stop: asyncio.Event) -> None:
        """Consume until `stop` is set. Services use a DurableConsumer instead, which restarts after a fault.

        Creates the stream if the server has lost it. Raises BusStreamError or ConsumerError.
        """
        await Deliveries(self.connection, self._streams, consumption, handler).run(stop)

    def register(self, consumer: DurableConsumer[Any]) -> None:
        """Show the health of `consumer`. Each DurableConsumer calls this when it is created."""
        self._consumers[consumer.durable] = consumer

    def consumer_checks(self) -> dict[str, Check]:
        """The health check of every durable consumer of this bus, by durable name."""
        return {durable: consumer.check_health for durable, consumer in self._consumers.items()}

    async def newest(self, stream: str, subject: str) -> int:
        """The stream sequence of the newest message of `subject`, 0 if there is none. Raises BusStreamError."""
        return await self._streams.newest(stream, subject)

    async def consumer_state(self, stream: str, durable: str) -> ConsumerState | None:
        """The progress of a durable consumer; None if it does not exist. Raises BusStreamError."""
        return await self._streams.consumer(stream, durable)

    # Buckets

    def key_value(self, bucket: str, value_type: type[Value], life_s: float | None = None) -> KeyValueBucket[Value]:
        """The key-value bucket of that name, created at first use. Entries expire after `life_s` seconds, if given."""
        return KeyValueBucket(self.connection, bucket, value_type, life_s)

    def _repeat_news(self) -> None:
        if not self._background.full:
            self._background.start(self._publisher.repeat_news())
