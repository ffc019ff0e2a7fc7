"""The bus: requests, events and durable consumers over NATS (design section 7).

- A request has one answer within a timeout. A handler's fault never ends the service: what cannot be read
  is counted, logged, and refused with the text that the provider gives.
- An event of a stream is published with a message id and acknowledged by the server before the caller goes
  on; a failing subject is held back by the circuit breaker.
- A durable consumer hands over batches and acknowledges them after the handler's own commit. What the
  handler raises on comes again later.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import msgspec
import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    KeyValueConfig,
    RePublish,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)

from openspot.contracts.streams import DUPLICATE_WINDOW_S, STREAMS, StreamDefinition
from openspot.kit.bus_connection import BusUnavailableError, check_connection, connect
from openspot.kit.circuit_breaker import CircuitBreaker, CircuitOpenError
from openspot.kit.log import get_logger
from openspot.kit.metrics import (
    BUS_BREAKER_OPEN,
    BUS_HANDLER_FAILURES,
    BUS_MALFORMED,
    BUS_PUBLISH_FAILURES,
)
from openspot.kit.pacing import Pace
from openspot.kit.settings import Settings
from openspot.kit.tasks import TaskSet

log = get_logger("bus")

Request = TypeVar("Request")
Reply = TypeVar("Reply")
Event = TypeVar("Event")

REQUESTS_MAX = 8192
"""Requests of one subject that a provider works on at a time; beyond it they are refused at once."""
MESSAGE_BYTES_MAX = 1_048_576
REDELIVERY_PAUSE_S = 1.0
CLOSE_TIMEOUT_S = 5.0
REDELIVERY_PAUSE_S_MAX = 30.0
UNACKNOWLEDGED_BATCHES_MAX = 4
"""Full batches of a durable consumer that are handed out and not acknowledged."""
_LOGGED_BYTES_MAX = 200

_encoder = msgspec.json.Encoder()
encode = _encoder.encode


class PublishError(Exception):
    """The server did not take an event."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """An event to publish: `message_id` makes a repeat within the duplicate window a no-op.

    `acknowledged=False` is for an event between two acknowledged ones of the same stream and batch: the server
    takes the messages of a connection in order, so it has this one when it has those. It saves the answer.
    """

    subject: str
    payload: bytes
    message_id: str
    acknowledged: bool = True


class Bus:
    """One connection to the bus. Made with `Bus.connect`, ended with `close`."""

    def __init__(self, client: Client, settings: Settings) -> None:
        self._client = client
        self._jetstream = client.jetstream(timeout=settings.request_timeout_s)
        self._settings = settings
        self._breaker = CircuitBreaker(settings.breaker_failures, settings.breaker_window_s, time.monotonic)
        self._decoders: dict[Any, msgspec.json.Decoder[Any]] = {}
        self._tasks: list[TaskSet] = []
        self._ack_prefix = client.new_inbox()
        self._ack_serial = 0
        self._ack_waiters: dict[str, asyncio.Future[Msg]] = {}

    @classmethod
    async def connect(cls, settings: Settings, name: str) -> "Bus":
        """Connect, waiting for the server for as long as it takes to come up: who cannot wait sets a bound.

        Raises BusUnavailableError if the server is there and refuses the connection.
        """
        client = await connect(settings, name)
        bus = cls(client, settings)
        await client.subscribe(f"{bus._ack_prefix}.*", cb=bus._take_acknowledgement)
        return bus

    async def close(self) -> None:
        """Stop taking requests, finish what was sent, close the connection."""
        for tasks in self._tasks:
            await tasks.cancel()
        try:
            if self._client.is_connected:
                async with asyncio.timeout(CLOSE_TIMEOUT_S):
                    await self._client.drain()
        except (nats.errors.Error, OSError, TimeoutError) as error:
            log.warning("bus connection closed before it was drained", error=repr(error))
        with suppress(nats.errors.Error, OSError):
            if not self._client.is_closed:
                await self._client.close()

    @property
    def is_connected(self) -> bool:
        """Whether the connection is up at this moment."""
        return bool(self._client.is_connected)

    async def check(self) -> None:
        """Raise BusUnavailableError unless the server answers within a second."""
        await check_connection(self._client)

    # Requests

    async def request(
        self, subject: str, message: msgspec.Struct, reply_type: type[Reply], timeout_s: float | None = None
    ) -> Reply:
        """Ask, and answer what the provider says.

        Raises BusUnavailableError if nobody answers in time, or answers what cannot be read.
        """
        wait_s = timeout_s if timeout_s is not None else self._settings.request_timeout_s
        try:
            reply = await self._client.request(subject, encode(message), timeout=wait_s)
        except nats.errors.NoRespondersError as error:
            raise BusUnavailableError(f"no provider of {subject}") from error
        except (nats.errors.Error, TimeoutError, OSError) as error:
            raise BusUnavailableError(f"no answer to {subject} within {wait_s} s") from error
        try:
            return cast(Reply, self._decoder(reply_type).decode(reply.data))
        except msgspec.MsgspecError as error:
            raise BusUnavailableError(f"unreadable answer to {subject}: {error}") from error

    async def serve(
        self,
        subject: str,
        queue: str,
        request_type: type[Request],
        handler: Callable[[Request], Awaitable[msgspec.Struct]],
        refusal: Callable[[str], msgspec.Struct],
    ) -> None:
        """Provide `subject` in `queue`; `refusal` makes the answer to a request that cannot be handled."""
        tasks = TaskSet(REQUESTS_MAX)
        self._tasks.append(tasks)
        decoder = self._decoder(request_type)

        async def handle(message: Msg, request: Request) -> None:
            try:
                reply = await handler(request)
            except Exception:
                BUS_HANDLER_FAILURES.labels(subject).inc()
                log.exception("request failed", subject=subject)
                reply = refusal("internal error")
            await self._respond(message, reply)

        async def take(message: Msg) -> None:
            if tasks.full:
                await self._respond(message, refusal("too many requests are waiting"))
                return
            try:
                request = decoder.decode(message.data)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                self._note_malformed(subject, message.data, error)
                await self._respond(message, refusal(f"malformed request: {error}"))
                return
            tasks.start(handle(message, request))

        await self._client.subscribe(subject, queue=queue, cb=take, pending_msgs_limit=REQUESTS_MAX)

    async def _respond(self, message: Msg, reply: msgspec.Struct) -> None:
        if not message.reply:
            return
        try:
            await self._client.publish(message.reply, encode(reply))
        except (nats.errors.Error, OSError) as error:
            log.warning("answer not sent", subject=message.subject, error=repr(error))

    # Events

    async def subscribe(
        self, subject: str, event_type: type[Event], handler: Callable[[str, Event], Awaitable[None]]
    ) -> Callable[[], Awaitable[None]]:
        """Hand every event that is published from now on to `handler(subject, event)`.

        Answers a function that ends the subscription. Nothing is kept for a time without connection.
        """
        decoder = self._decoder(event_type)

        async def take(message: Msg) -> None:
            try:
                event = decoder.decode(message.data)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                self._note_malformed(message.subject, message.data, error)
                return
            try:
                await handler(message.subject, event)
            except Exception:
                BUS_HANDLER_FAILURES.labels(subject).inc()
                log.exception("event handler failed", subject=message.subject)

        subscription = await self._client.subscribe(subject, cb=take)
        return subscription.unsubscribe

    async def publish(self, subject: str, message: msgspec.Struct, message_id: str) -> None:
        """Publish one event of a stream. Raises PublishError or CircuitOpenError."""
        await self.publish_many([Outgoing(subject, encode(message), message_id)])

    async def publish_many(self, events: Sequence[Outgoing]) -> None:
        """Publish events of streams in order and wait until the server has taken them all.

        Raises CircuitOpenError before anything is sent if a subject's breaker is open, PublishError if the
        server did not take one: the caller then repeats all, and message ids keep that from doubling them.
        """
        for event in events:
            try:
                self._breaker.check(event.subject)
            except CircuitOpenError:
                BUS_BREAKER_OPEN.labels(event.subject).inc()
                raise
        loop = asyncio.get_running_loop()
        waiting: list[tuple[str, str, asyncio.Future[Msg]]] = []
        connections = self._client.stats["reconnects"]
        try:
            for event in events:
                reply = ""
                if event.acknowledged:
                    self._ack_serial += 1
                    token = str(self._ack_serial)
                    future: asyncio.Future[Msg] = loop.create_future()
                    self._ack_waiters[token] = future
                    waiting.append((event.subject, token, future))
                    reply = f"{self._ack_prefix}.{token}"
                await self._client.publish(
                    event.subject, event.payload, reply=reply, headers={"Nats-Msg-Id": event.message_id}
                )
            if waiting:
                await asyncio.wait([future for *_, future in waiting], timeout=self._settings.request_timeout_s)
        except (nats.errors.Error, OSError) as error:
            raise self._publish_failure(event.subject, repr(error)) from error
        finally:
            for _, token, _ in waiting:
                self._ack_waiters.pop(token, None)
        for subject, _, future in waiting:
            if not future.done():
                raise self._publish_failure(subject, "no acknowledgement in time")
            message = future.result()
            if b'"error"' in message.data or not message.data:
                raise self._publish_failure(subject, message.data.decode("utf-8", "replace") or "no stream")
            self._breaker.succeeded(subject)
        if self._client.stats["reconnects"] != connections and len(waiting) < len(events):
            # An acknowledgement speaks for what came before it on the same connection alone.
            raise PublishError("the connection was made anew meanwhile: events between may be lost")

    def _publish_failure(self, subject: str, reason: str) -> PublishError:
        self._breaker.failed(subject)
        BUS_PUBLISH_FAILURES.labels(subject).inc()
        return PublishError(f"{subject}: {reason}")

    async def _take_acknowledgement(self, message: Msg) -> None:
        future = self._ack_waiters.get(message.subject.rpartition(".")[2])
        if future is not None and not future.done():
            future.set_result(message)

    async def announce(self, subject: str, message: msgspec.Struct) -> None:
        """Publish without acknowledgement: for news that nobody needs to have seen."""
        try:
            await self._client.publish(subject, encode(message))
        except (nats.errors.Error, OSError) as error:
            BUS_PUBLISH_FAILURES.labels(subject).inc()
            log.warning("announcement not sent", subject=subject, error=repr(error))

    # Streams and durable consumers

    async def ensure_streams(self, streams: Sequence[StreamDefinition] = STREAMS) -> None:
        """Create the streams, or bring existing ones up to date. Raises PublishError if the server refuses."""
        for stream in streams:
            config = StreamConfig(
                name=stream.name,
                subjects=list(stream.subjects),
                retention=RetentionPolicy.LIMITS,
                storage=StorageType.FILE,
                max_age=stream.age_s_max,
                duplicate_window=DUPLICATE_WINDOW_S,
                num_replicas=self._settings.bus_replicas,
                republish=RePublish(*stream.republish) if stream.republish else None,
            )
            try:
                try:
                    await self._jetstream.add_stream(config)
                except nats.js.errors.BadRequestError:
                    await self._jetstream.update_stream(config)
            except (nats.errors.Error, nats.js.errors.Error, OSError) as error:
                raise PublishError(f"stream {stream.name}: {error!r}") from error

    async def consume(
        self,
        stream: StreamDefinition,
        subject: str,
        durable: str,
        event_type: type[Event],
        handler: Callable[[list[Event]], Awaitable[Collection[int] | None]],
        *,
        batch_max: int,
        stop: asyncio.Event,
        acknowledge_wait_s: float = 30.0,
        interval_s: float = 0.0,
    ) -> None:
        """Hand events to `handler` in batches until `stop` is set; processes with one `durable` share them.

        A batch is what has arrived, at most `batch_max`. Batches begin at least `interval_s` apart unless they are
        full: the first event after a pause is handled at once, a flood in batches that are worth it. A batch is
        acknowledged after `handler` returned; if it raises, the batch comes again after a pause. A handler may
        answer the places in the batch of events that failed alone: these come again, each time after a longer
        pause. What cannot be read is counted, logged and dropped.
        """
        queue: asyncio.Queue[Msg] = asyncio.Queue()
        decoder = self._decoder(event_type)
        pace = Pace(interval_s)

        async def take(message: Msg) -> None:
            queue.put_nowait(message)

        # It delivers to a subject of its own name. With an inbox of the process that comes first, of two that begin
        # at the same moment one would listen to an inbox that gets nothing.
        delivery_subject = f"deliver.{durable}"
        await self._jetstream.add_consumer(
            stream.name,
            ConsumerConfig(
                durable_name=durable,
                deliver_group=durable,
                deliver_subject=delivery_subject,
                filter_subject=subject,
                ack_policy=AckPolicy.EXPLICIT,
                ack_wait=acknowledge_wait_s,
                max_deliver=-1,
                # The server hands out no more than this to all processes together: it bounds the queue above.
                max_ack_pending=batch_max * UNACKNOWLEDGED_BATCHES_MAX,
            ),
        )
        subscription = await self._client.subscribe(delivery_subject, queue=durable, cb=take)
        try:
            while not stop.is_set():
                try:
                    async with asyncio.timeout(0.5):
                        messages = [await queue.get()]
                except TimeoutError:
                    continue
                await pace.begin(at_once=queue.qsize() >= batch_max - 1)
                while len(messages) < batch_max and not queue.empty():
                    messages.append(queue.get_nowait())
                await self._handle_batch(subject, decoder, messages, handler)
        finally:
            if self._client.is_connected:
                await subscription.unsubscribe()

    async def _handle_batch(
        self,
        subject: str,
        decoder: msgspec.json.Decoder[Event],
        messages: list[Msg],
        handler: Callable[[list[Event]], Awaitable[Collection[int] | None]],
    ) -> None:
        events: list[Event] = []
        readable: list[Msg] = []
        for message in messages:
            try:
                events.append(decoder.decode(message.data))
                readable.append(message)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                self._note_malformed(message.subject, message.data, error)
                await self._settle(message.term)
        if not events:
            return
        try:
            failed = await handler(events) or ()
        except Exception:
            BUS_HANDLER_FAILURES.labels(subject).inc()
            log.exception("batch failed and will come again", subject=subject, events=len(events))
            for message in readable:
                await self._settle(lambda message=message: message.nak(delay=REDELIVERY_PAUSE_S))  # type: ignore[misc]
            return
        for place, message in enumerate(readable):
            if place in failed:
                pause_s = min(
                    REDELIVERY_PAUSE_S * 2 ** min(message.metadata.num_delivered - 1, 10), REDELIVERY_PAUSE_S_MAX
                )
                await self._settle(lambda message=message, pause_s=pause_s: message.nak(delay=pause_s))  # type: ignore[misc]
            else:
                await self._settle(message.ack)

    async def _settle(self, answer: Callable[[], Awaitable[None]]) -> None:
        # A lost acknowledgement only means that the message comes again: consumers are idempotent.
        try:
            await answer()
        except (nats.errors.Error, OSError) as error:
            log.warning("acknowledgement not sent", error=repr(error))

    async def key_value(self, bucket: str, ttl_s: float | None = None) -> Any:
        """The key-value bucket of that name, made if missing; `ttl_s` is how long an entry lives."""
        try:
            return await self._jetstream.key_value(bucket)
        except nats.js.errors.BucketNotFoundError:
            return await self._jetstream.create_key_value(
                KeyValueConfig(bucket=bucket, ttl=ttl_s, history=1, replicas=self._settings.bus_replicas)
            )

    def _decoder(self, message_type: type[Any]) -> msgspec.json.Decoder[Any]:
        decoder = self._decoders.get(message_type)
        if decoder is None:
            decoder = self._decoders[message_type] = msgspec.json.Decoder(message_type)
        return decoder

    def _note_malformed(self, subject: str, data: bytes, error: Exception) -> None:
        BUS_MALFORMED.labels(subject).inc()
        log.warning("malformed message dropped", subject=subject, error=str(error), data=data[:_LOGGED_BYTES_MAX])
