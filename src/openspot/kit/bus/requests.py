"""Requests: one provider replies, or the caller gets an error that says whether the request may have been handled.

A provider that does not handle a request says so twice: as a refusal in the reply's JSON, for callers that do not read
headers, and in the standard NATS service headers. This module turns those headers into errors.
"""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import TypeVar, cast

import msgspec
import nats.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.contracts.subjects import INBOXES
from openspot.kit.bus.codec import UNREADABLE, decoder_of, encode, note_malformed
from openspot.kit.bus.connection import Connection
from openspot.kit.bus.errors import BusyError, HandlerFailedError, MalformedRequestError, NoAnswerError
from openspot.kit.log import get_logger
from openspot.kit.metrics import BUS_HANDLER_FAILURES
from openspot.kit.tasks import TaskSet

log = get_logger("bus")

REQUESTS_MAX = 8192
"""A provider works on at most this many requests of a subject at a time, and refuses further ones at once."""
_HEADER_LENGTH_MAX = 256

ERROR_CODE_HEADER = "Nats-Service-Error-Code"
ERROR_HEADER = "Nats-Service-Error"


class ServiceError(StrEnum):
    """Values of the header Nats-Service-Error-Code."""

    MALFORMED = "400"
    FAILED = "500"
    BUSY = "503"


_ERRORS = {ServiceError.MALFORMED: MalformedRequestError, ServiceError.BUSY: BusyError}

Request = TypeVar("Request")
Reply = TypeVar("Reply")
MakeRefusal = Callable[[Refusal], msgspec.Struct]


class Requests:
    """Sends and serves requests on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tasks: list[TaskSet] = []
        self._subscriptions: list[Subscription] = []

    async def request(self, subject: str, message: msgspec.Struct, reply_type: type[Reply], timeout_s: float) -> Reply:
        """Return the provider's reply. Raises RequestFailedError: see `kit.bus.errors` for its kinds."""
        reply = await self._connection.inbox.ask(subject, encode(message), timeout_s)
        if reply.headers:
            code = reply.headers.get(ERROR_CODE_HEADER)
            if code is not None:
                kind = _ERRORS.get(cast(ServiceError, code), HandlerFailedError)
                raise kind(f"{subject}: {reply.headers.get(ERROR_HEADER) or code}")
        try:
            return cast(Reply, decoder_of(reply_type).decode(reply.data))
        except UNREADABLE as error:
            raise NoAnswerError(f"unreadable answer to {subject}: {error}") from error

    async def serve(
        self,
        subject: str,
        queue: str,
        request_type: type[Request],
        handler: Callable[[Request], Awaitable[msgspec.Struct]],
        refusal: MakeRefusal,
    ) -> None:
        """Serve `subject` in the queue group `queue`. `refusal` makes the reply to a request that is not handled.

        If a handler raises, the exception is counted and logged, and the caller gets a refusal. The provider goes on.
        """
        tasks = TaskSet(REQUESTS_MAX)
        self._tasks.append(tasks)
        decoder = decoder_of(request_type)

        async def handle(message: Msg, request: Request) -> None:
            try:
                reply = await handler(request)
            except Exception:
                BUS_HANDLER_FAILURES.labels(subject).inc()
                log.exception("request failed", subject=subject)
                await refuse(message, ServiceError.FAILED, RefusalCode.FAILED, "internal error")
            else:
                await self._respond(message, encode(reply), None)

        async def refuse(message: Msg, error: ServiceError, code: RefusalCode, reason: str) -> None:
            headers = {ERROR_CODE_HEADER: error.value, ERROR_HEADER: reason[:_HEADER_LENGTH_MAX]}
            await self._respond(message, encode(refusal(Refusal(code, reason))), headers)

        async def take(message: Msg) -> None:
            if tasks.full:
                await refuse(message, ServiceError.BUSY, RefusalCode.BUSY, "too many requests are waiting")
                return
            try:
                request = decoder.decode(message.data)
            except UNREADABLE as error:
                note_malformed(subject, subject, message.data, error)
                await refuse(message, ServiceError.MALFORMED, RefusalCode.MALFORMED, f"malformed request: {error}")
                return
            tasks.start(handle(message, request))

        self._subscriptions.append(
            await self._connection.client.subscribe(subject, queue=queue, cb=take, pending_msgs_limit=REQUESTS_MAX)
        )

    async def stop(self) -> None:
        """Accept no more requests, and cancel the handlers that still run."""
        subscriptions, self._subscriptions = self._subscriptions, []
        if self._connection.is_connected:
            for subscription in subscriptions:
                await subscription.unsubscribe()
        for tasks in self._tasks:
            await tasks.cancel()

    async def _respond(self, message: Msg, payload: bytes, headers: dict[str, str] | None) -> None:
        if not message.reply.startswith(INBOXES):
            # A caller must not have us publish on a subject of its choice: we may publish where it may not.
            if message.reply:
                log.warning("reply to no inbox not sent", subject=message.subject, reply=message.reply)
            return
        try:
            await self._connection.client.publish(message.reply, payload, headers=headers)
        except (nats.errors.Error, OSError) as error:
            log.warning("reply not sent", subject=message.subject, error=repr(error))
