"""Publishing to streams: in batches, acknowledged by the server, each subject behind its circuit breaker.

A failing subject holds back only its own events and those that must not overtake them. The other events of a batch are
published.

Of a batch, a single server acknowledges each event that is not news, and of each stream of news
(`StreamDefinition.is_news`) only the first and the last event. It handles the messages of one connection in order, so
it has the events between these two as well.

A stream of news may acknowledge an event shortly before it is on disk. So the publisher remembers the newest events of
such streams and publishes them again after a reconnect. A server that was killed may have lost the last of them; any
other server drops them as repeats.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

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
_MESSAGE_ID_HEADER = "Nats-Msg-Id"

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


_decode_ack = msgspec.json.Decoder(_PublishAck).decode


class _Sent:
    """An event that was sent and will be acknowledged."""

    __slots__ = ("event", "future", "place", "reply_subject")

    def __init__(self, place: int, event: OutgoingEvent, reply_subject: str, future: asyncio.Future[Msg]) -> None:
        self.place = place
        self.event = event
        self.reply_subject = reply_subject
        self.future = future


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
        sent = await self._send(events, streams, failures)
        await self._await_acknowledgements(sent, failures)
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

    async def _send(
        self,
        events: Sequence[OutgoingEvent],
        streams: Sequence[StreamDefinition | None],
        failures: dict[int, PublishError],
    ) -> list[_Sent]:
        """Send the events that are not in `failures`, and add those that cannot be sent."""
        places = [place for place in range(len(events)) if place not in failures]
        acknowledged = set(places) if self._acknowledge_each else _to_acknowledge(streams, places)
        sent: list[_Sent] = []
        for index, place in enumerate(places):
            event = events[place]
            reply_subject = ""
            if place in acknowledged:
                reply_subject, future = self._connection.inbox.expect()
                sent.append(_Sent(place, event, reply_subject, future))
            try:
                await self._connection.client.publish(
                    event.subject,
                    event.payload,
                    reply=reply_subject,
                    headers={_MESSAGE_ID_HEADER: event.message_id},
                )
            except _ERRORS_OF_A_MESSAGE as error:
                failures[place] = self._failure(event.subject, repr(error))
            except (nats.errors.Error, OSError) as error:
                # The rest is not sent. No subject caused this failure.
                for left in places[index:]:
                    failures[left] = PublishError(f"{events[left].subject}: {error!r}")
                break
        return sent

    async def _await_acknowledgements(self, sent: Sequence[_Sent], failures: dict[int, PublishError]) -> None:
        """Wait for the acknowledgements, and add the events without one to `failures`."""
        try:
            waiting = [one.future for one in sent if one.place not in failures]
            if waiting:
                await asyncio.wait(waiting, timeout=self._timeout_s)
        finally:
            for one in sent:
                self._connection.inbox.forget(one.reply_subject)
        for one in sent:
            if one.place in failures:
                continue
            reason = _refusal(one.future.result()) if one.future.done() else "no acknowledgement in time"
            if reason is None:
                self._breaker.succeeded(one.event.subject)
            else:
                failures[one.place] = self._failure(one.event.subject, reason)

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
    asked = {one.place for one in sent}
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
