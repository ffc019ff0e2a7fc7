"""Core subscriptions. They receive the events from now on, and miss those published while the connection is down."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from nats.aio.msg import Msg

from openspot.kit.bus.codec import UNREADABLE, decoder_of, note_malformed
from openspot.kit.bus.connection import Connection
from openspot.kit.log import get_logger
from openspot.kit.metrics import BUS_HANDLER_FAILURES

log = get_logger("bus")

PENDING_MESSAGES_MAX = 65_536
PENDING_BYTES_MAX = 64 * 1024 * 1024
"""Bytes that may wait for the handler of one subscription. Beyond it the client library drops events: a gap."""

Event = TypeVar("Event")
Unsubscribe = Callable[[], Awaitable[None]]


class MalformedEventError(Exception):
    """A handler of raw events cannot use a payload. The message says why."""


class Subscriptions:
    """Follows subjects on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def subscribe(
        self, subject: str, event_type: type[Event], handler: Callable[[str, Event], Awaitable[None]]
    ) -> Unsubscribe:
        """Call `handler(subject, event)` for each event, one by one. Returns a function that ends the subscription.

        An event is counted, logged and dropped if it cannot be read or if its handler raises.
        """
        decoder = decoder_of(event_type)

        async def take(message: Msg) -> None:
            try:
                event = decoder.decode(message.data)
            except UNREADABLE as error:
                note_malformed(subject, message.subject, message.data, error)
                return
            try:
                await handler(message.subject, event)
            except Exception:
                BUS_HANDLER_FAILURES.labels(subject).inc()
                log.exception("event handler failed", subject=message.subject)

        return await self._subscribe(subject, take)

    async def listen(self, subject: str, handler: Callable[[str, bytes], None]) -> Unsubscribe:
        """Call `handler(subject, payload)` for each event as it comes. Returns a function that ends the subscription.

        If the handler raises MalformedEventError, the event is dropped. Any other exception is reported as a gap,
        because the handler has missed an event.
        """

        async def take(message: Msg) -> None:
            try:
                handler(message.subject, message.data)
            except MalformedEventError as error:
                note_malformed(subject, message.subject, message.data, error)
            except Exception:
                BUS_HANDLER_FAILURES.labels(subject).inc()
                log.exception("event handler failed", subject=message.subject)
                self._connection.note_gap("an event could not be handled")

        return await self._subscribe(subject, take)

    async def _subscribe(self, subject: str, take: Callable[[Msg], Awaitable[None]]) -> Unsubscribe:
        subscription = await self._connection.client.subscribe(
            subject, cb=take, pending_msgs_limit=PENDING_MESSAGES_MAX, pending_bytes_limit=PENDING_BYTES_MAX
        )

        async def unsubscribe() -> None:
            await subscription.unsubscribe()

        return unsubscribe
