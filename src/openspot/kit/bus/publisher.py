"""Publishing to streams: in batches, acknowledged by the server, each subject behind its circuit breaker.

A failing subject holds back only its own events and those that must not overtake them. The other events of a batch are
published.

Of a batch, a single server acknowledges each event that is not news, and of each stream of news
(`StreamDefinition.is_news`) only the first and the last event. It handles the messages of one connection in order, so
it has the events between these two as well.

A stream that is not news is synced to disk for each event. So many events of a subject of such a stream go as one
atomic batch: the server syncs them together, and acknowledges the last one (docs/adr/0115). A batch that the server
refuses, for example because it has one of the events already, is sent again event by event.

A stream of news may acknowledge an event shortly before it is on disk. So the publisher remembers the newest events of
such streams and publishes them again after a reconnect. A server that was killed may have lost the last of them; any
other server drops them as repeats.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

import msgspec
import nats.errors
from nats.aio.msg import Msg

from openspot.contracts.streams import StreamDefinition, stream_of
from openspot.kit.bus.circuit_breaker import CircuitBreaker
from openspot.kit.bus.codec import UNREADABLE, encode
from openspot.kit.bus.connection import Connection
from openspot.kit.bus.errors import CircuitOpenError, PublishError
from openspot.kit.bus.inbox import NO_RESPONDERS, status_of
from openspot.kit.bus.outgoing import OutgoingEvent
from openspot.kit.log import get_logger
from openspot.kit.metrics import BUS_BREAKER_OPEN, BUS_PUBLISH_FAILURES

log = get_logger("bus")

NEWS_KEPT_S = 2.0
"""News are remembered for this long. A server has them on disk sooner: a hundredth of this was measured."""
NEWS_KEPT_MAX = 20_000
ATOMIC_MIN = 24
"""From so many events of one subject on they go as one batch. One of 16 costs as much as its events do singly."""
ATOMIC_MAX = 1000
"""The server takes no larger batch."""
_MESSAGE_ID_HEADER = "Nats-Msg-Id"
_BATCH_HEADER, _PLACE_HEADER, _COMMIT_HEADER = "Nats-Batch-Id", "Nats-Batch-Sequence", "Nats-Batch-Commit"
_BATCHES_DISABLED = 10174
"""The server's error code for a stream that takes no batches."""

# Errors that concern one message; all others concern the connection.
_ERRORS_OF_A_MESSAGE = (nats.errors.MaxPayloadError, nats.errors.BadSubjectError, nats.errors.BadHeaderError)


class _AckError(msgspec.Struct):
    """Why the server did not store a message."""

    code: int = 0
    err_code: int = 0
    description: str = ""


class _PublishAck(msgspec.Struct):
    """The server's acknowledgement of a message (JetStream's PubAck)."""

    stream: str = ""
    seq: int = 0
    duplicate: bool = False
    error: _AckError | None = None
    batch: str = ""
    count: int = 0


_decode_ack = msgspec.json.Decoder(_PublishAck).decode


class _AtomicBatch:
    """Events of one subject that the server stores together. The last one asks for it. Their places are counted."""

    __slots__ = ("id", "places")

    def __init__(self, id_: str, places: Sequence[int]) -> None:
        self.id = id_
        self.places = {place: number for number, place in enumerate(places, 1)}

    def headers(self, place: int) -> dict[str, str]:
        """What makes the event at `place` a part of the batch."""
        headers = {_BATCH_HEADER: self.id, _PLACE_HEADER: str(self.places[place])}
        return headers if self.places[place] < len(self.places) else headers | {_COMMIT_HEADER: "1"}


class _Sent:
    """An event that was sent and will be acknowledged, with its whole batch if it is the last one of a batch."""

    __slots__ = ("batch", "event", "future", "place", "reply_subject")

    def __init__(
        self,
        place: int,
        event: OutgoingEvent,
        reply_subject: str,
        future: asyncio.Future[Msg],
        batch: _AtomicBatch | None,
    ) -> None:
        self.place = place
        self.event = event
        self.reply_subject = reply_subject
        self.future = future
        self.batch = batch

    @property
    def places(self) -> Collection[int]:
        """The places of the events that the acknowledgement is about."""
        return (self.place,) if self.batch is None else self.batch.places.keys()


class Publisher:
    """Publishes on one connection. `monotonic` returns the monotonic clock's seconds."""

    def __init__(self, connection: Connection, breaker: CircuitBreaker, monotonic: Callable[[], float]) -> None:
        self._connection = connection
        self._breaker = breaker
        self._monotonic = monotonic
        self._timeout_s = connection.settings.request_timeout_s
        # Between two acknowledgements of a stream with replicas, another server may have become its leader.
        self._acknowledge_each = connection.settings.bus_replicas > 1
        self._news: deque[tuple[float, OutgoingEvent]] = deque()
        self._news_reconnects = connection.reconnects
        self._batch_prefix, self._batches = secrets.token_hex(4), 0
        self._takes_batches = not self._acknowledge_each

    async def publish(self, subject: str, message: msgspec.Struct, message_id: str) -> None:
        """Publish one event and wait until the server has stored it. Raises PublishError or CircuitOpenError."""
        await self.publish_many([OutgoingEvent(subject, encode(message), message_id)])

    async def publish_many(self, events: Sequence[OutgoingEvent]) -> None:
        """Publish events in their order and wait until the server has stored them.

        Raises PublishError if some may not be stored; its `unpublished` holds them, and the server has stored all
        others. Events of one subject keep their order if the caller publishes the unpublished ones again before newer
        ones of that subject.
        """
        if not self._connection.is_connected:
            # No subject caused this failure, so no breaker counts it.
            raise PublishError("not connected to the bus", events)
        streams = [stream_of(event.subject) for event in events]
        failures = self._refused_by_breaker(events)
        reconnects = self._connection.reconnects
        repeated = await self._send_lost_news()
        sent = await self._send(events, streams, failures, self._atomic_batches(events, streams, failures))
        refused = await self._await_acknowledgements(sent, failures)
        if refused:
            singly = await self._send(events, streams, failures, only=refused)
            await self._await_acknowledgements(singly, failures)
        is_same_connection = self._connection.reconnects == reconnects
        _judge_unacknowledged(events, streams, sent, failures, is_same_connection=is_same_connection)
        await self._await_acknowledgements(repeated, {})
        self._keep_news(events, streams, failures)
        if not is_same_connection:
            # The server may also have lost events that it acknowledged on the old connection.
            self._news_reconnects = reconnects
        if failures:
            raise _combined(events, failures)

    async def announce(self, subject: str, message: msgspec.Struct) -> None:
        """Publish an event that may get lost: do not wait for an acknowledgement."""
        try:
            await self._connection.client.publish(subject, encode(message))
        except (nats.errors.Error, OSError) as error:
            BUS_PUBLISH_FAILURES.labels(subject).inc()
            log.warning("announcement not sent", subject=subject, error=repr(error))

    def _refused_by_breaker(self, events: Sequence[OutgoingEvent]) -> dict[int, PublishError]:
        """The events that must not be sent, by place: their subject's breaker is open, or they would overtake one."""
        refused: dict[str, CircuitOpenError] = {}
        for subject in dict.fromkeys(event.subject for event in events):
            try:
                self._breaker.check(subject)
            except CircuitOpenError as error:
                BUS_BREAKER_OPEN.labels(subject).inc()
                refused[subject] = error
        if not refused:
            return {}
        failures: dict[int, PublishError] = {}
        held_back: dict[str, CircuitOpenError] = {}
        for place, event in enumerate(events):
            reason = refused.get(event.subject) or held_back.get(event.order_key)
            if reason is not None:
                failures[place] = held_back[event.order_key] = reason
        return failures

    def _atomic_batches(
        self,
        events: Sequence[OutgoingEvent],
        streams: Sequence[StreamDefinition | None],
        failures: dict[int, PublishError],
    ) -> dict[int, _AtomicBatch]:
        """The batches of these events, by the places of their events.

        A batch is stored when its last event comes, so an event that keeps its order to other subjects is in none.
        """
        if not self._takes_batches or len(events) < ATOMIC_MIN:
            return {}
        of_subject: dict[str, list[int]] = {}
        for place, (event, stream) in enumerate(zip(events, streams, strict=True)):
            if stream is not None and not stream.is_news and not event.key and place not in failures:
                of_subject.setdefault(event.subject, []).append(place)
        batches: dict[int, _AtomicBatch] = {}
        for places in of_subject.values():
            if ATOMIC_MIN <= len(places) <= ATOMIC_MAX:
                self._batches += 1
                batches |= dict.fromkeys(places, _AtomicBatch(f"{self._batch_prefix}{self._batches:x}", places))
        return batches

    async def _send(
        self,
        events: Sequence[OutgoingEvent],
        streams: Sequence[StreamDefinition | None],
        failures: dict[int, PublishError],
        batches: Mapping[int, _AtomicBatch] = MappingProxyType({}),
        only: Collection[int] | None = None,
    ) -> list[_Sent]:
        """Send the events that are not in `failures`, and add those that cannot be sent. `only` names some places."""
        places = [place for place in (range(len(events)) if only is None else only) if place not in failures]
        acknowledged = set(places) if self._acknowledge_each else _to_acknowledge(streams, places)
        sent: list[_Sent] = []
        for index, place in enumerate(places):
            event, batch = events[place], batches.get(place)
            reply_subject, headers = "", {_MESSAGE_ID_HEADER: event.message_id}
            if batch is not None:
                headers |= batch.headers(place)
            if place in acknowledged and (batch is None or _COMMIT_HEADER in headers):
                reply_subject, future = self._connection.inbox.expect()
                sent.append(_Sent(place, event, reply_subject, future, batch))
            try:
                await self._connection.client.publish(
                    event.subject,
                    event.payload,
                    reply=reply_subject,
                    headers=headers,
                )
            except _ERRORS_OF_A_MESSAGE as error:
                failures[place] = self._failure(event.subject, repr(error))
            except (nats.errors.Error, OSError) as error:
                # The rest is not sent. No subject caused this failure.
                for left in places[index:]:
                    failures[left] = PublishError(f"{events[left].subject}: {error!r}")
                break
        return sent

    async def _await_acknowledgements(self, sent: Sequence[_Sent], failures: dict[int, PublishError]) -> list[int]:
        """Wait for the acknowledgements, and add the events without one to `failures`.

        Returns the places of the batches that the server has refused, or that were not sent as a whole.
        """
        try:
            waiting = [one.future for one in sent if failures.keys().isdisjoint(one.places)]
            if waiting:
                await asyncio.wait(waiting, timeout=self._timeout_s)
        finally:
            for one in sent:
                self._connection.inbox.forget(one.reply_subject)
        refused: list[int] = []
        for one in sent:
            if one.batch is not None and (not failures.keys().isdisjoint(one.places) or self._is_refused(one)):
                refused += one.places
                continue
            if one.place in failures:
                continue
            reason = _refusal(one.future.result()) if one.future.done() else "no acknowledgement in time"
            if reason is None:
                self._breaker.succeeded(one.event.subject)
            else:
                failures |= dict.fromkeys(one.places, self._failure(one.event.subject, reason))
        return sorted(refused)

    def _is_refused(self, sent: _Sent) -> bool:
        """Whether the server has answered that it has not stored a batch. No answer may mean either."""
        if sent.batch is None or not sent.future.done():
            return False
        try:
            ack = _decode_ack(sent.future.result().data)
        except UNREADABLE:
            return True
        if (ack.batch, ack.count) == (sent.batch.id, len(sent.places)):
            return False
        # A server before 2.12 takes the events of a batch for single ones, and acknowledges the last alone.
        if ack.error is None or ack.error.err_code == _BATCHES_DISABLED:
            self._takes_batches = False
        return True

    # News

    async def repeat_news(self) -> None:
        """Publish again the news that a killed server may have lost. The bus calls this after a reconnect."""
        await self._await_acknowledgements(await self._send_lost_news(), {})

    async def _send_lost_news(self) -> list[_Sent]:
        """Send the newest news again, once after each reconnect."""
        reconnects = self._connection.reconnects
        if reconnects == self._news_reconnects:
            return []
        self._news_reconnects = reconnects
        events = [event for _, event in self._news]
        if not events:
            return []
        log.info("news published again after a reconnect", events=len(events))
        return await self._send(events, [stream_of(event.subject) for event in events], {})

    def _keep_news(
        self,
        events: Sequence[OutgoingEvent],
        streams: Sequence[StreamDefinition | None],
        failures: dict[int, PublishError],
    ) -> None:
        now = self._monotonic()
        for place, (event, stream) in enumerate(zip(events, streams, strict=True)):
            if stream is not None and stream.is_news and place not in failures:
                self._news.append((now, event))
        while self._news and (now - self._news[0][0] > NEWS_KEPT_S or len(self._news) > NEWS_KEPT_MAX):
            self._news.popleft()

    def _failure(self, subject: str, reason: str) -> PublishError:
        self._breaker.failed(subject)
        BUS_PUBLISH_FAILURES.labels(subject).inc()
        return PublishError(f"{subject}: {reason}")


def _to_acknowledge(streams: Sequence[StreamDefinition | None], places: Sequence[int]) -> set[int]:
    """The places of the events that the server has to acknowledge."""
    acknowledged: set[int] = set()
    last_of_stream: dict[str, int] = {}
    for place in places:
        stream = streams[place]
        if stream is None or not stream.is_news:
            acknowledged.add(place)
            continue
        if stream.name not in last_of_stream:
            acknowledged.add(place)
        last_of_stream[stream.name] = place
    acknowledged.update(last_of_stream.values())
    return acknowledged


def _judge_unacknowledged(
    events: Sequence[OutgoingEvent],
    streams: Sequence[StreamDefinition | None],
    sent: Sequence[_Sent],
    failures: dict[int, PublishError],
    *,
    is_same_connection: bool,
) -> None:
    """Of the events that were sent without an acknowledgement, add those that may not be stored to `failures`.

    The server has stored such an event if two conditions hold: it has stored the acknowledged events before and after
    it in its stream, and the connection is still the same.
    """
    asked = {place for one in sent for place in one.places}
    is_stored: dict[str, bool] = {}
    between: dict[str, list[int]] = {}
    doubtful: list[int] = []
    for place, stream in enumerate(streams):
        if stream is None:
            continue
        if place in asked:
            stored = place not in failures
            places = between.pop(stream.name, [])
            if not (stored and is_stored.get(stream.name, False) and is_same_connection):
                doubtful += places
            is_stored[stream.name] = stored
        elif place not in failures:
            between.setdefault(stream.name, []).append(place)
    for places in between.values():
        doubtful += places
    for place in doubtful:
        failures[place] = PublishError(f"{events[place].subject}: not surely stored")


def _refusal(message: Msg) -> str | None:
    """Why the server did not store a message; None if it did."""
    if status_of(message) == NO_RESPONDERS:
        return "no stream captures this subject"
    try:
        ack = _decode_ack(message.data)
    except UNREADABLE as error:
        return f"unreadable acknowledgement: {error}"
    if ack.error is not None:
        return f"{ack.error.description} (error {ack.error.err_code or ack.error.code})"
    return None if ack.stream else "the acknowledgement names no stream"


def _combined(events: Sequence[OutgoingEvent], failures: dict[int, PublishError]) -> PublishError:
    """One error for all failures of a batch."""
    unpublished = [events[place] for place in sorted(failures)]
    first = failures[min(failures)]
    if all(isinstance(error, CircuitOpenError) for error in failures.values()):
        return CircuitOpenError(unpublished[0].subject, unpublished)
    message = str(first) if len(failures) == 1 else f"{len(failures)} of {len(events)} events, the first: {first}"
    return PublishError(message, unpublished)
