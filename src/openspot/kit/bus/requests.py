"""Requests: one provider replies, or the caller gets an error that says whether the request may have been handled.

A refusal is in the reply's JSON, for callers that do not read headers, and in the standard NATS service headers. This
module turns those headers into errors.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import msgspec
import nats.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from openspot.contracts.subjects import INBOXES
from openspot.kit.bus.codec import UNREADABLE, decoder_of, encode
from openspot.kit.bus.connection import Connection
from openspot.kit.bus.errors import BusyError, HandlerFailedError, MalformedRequestError, NoAnswerError, NotSentError
from openspot.kit.bus.local_subjects import LocalSubjects, ask
from openspot.kit.bus.provider import REQUESTS_MAX, Answer, MakeRefusal, Provider, ServiceError
from openspot.kit.log import get_logger

log = get_logger("bus")

ERROR_CODE_HEADER = "Nats-Service-Error-Code"
ERROR_HEADER = "Nats-Service-Error"

_ERRORS = {ServiceError.MALFORMED: MalformedRequestError, ServiceError.BUSY: BusyError}

Request = TypeVar("Request")
Reply = TypeVar("Reply")


class Requests:
    """Sends and serves requests on one connection, and within the process those of `local`."""

    def __init__(self, connection: Connection, local: LocalSubjects | None = None) -> None:
        self._connection = connection
        self._local = local
        self._providers: list[Provider] = []
        self._subscriptions: list[Subscription] = []

    async def request(self, subject: str, message: msgspec.Struct, reply_type: type[Reply], timeout_s: float) -> Reply:
        """Return the provider's reply. Raises RequestFailedError: see `kit.bus.errors` for its kinds."""
        answer = await self._answer(subject, encode(message), timeout_s)
        if answer.error:
            kind = _ERRORS.get(cast(ServiceError, answer.error), HandlerFailedError)
            raise kind(f"{subject}: {answer.reason or answer.error}")
        try:
            return cast(Reply, decoder_of(reply_type).decode(answer.payload))
        except UNREADABLE as error:
            raise NoAnswerError(f"unreadable answer to {subject}: {error}") from error

    async def _answer(self, subject: str, payload: bytes, timeout_s: float) -> Answer:
        provider = self._local.provider(subject) if self._local is not None else None
        if provider is not None:
            if not self._connection.is_connected:
                raise NotSentError(f"{subject}: not connected to the bus")
            return await ask(provider, subject, payload, timeout_s)
        reply = await self._connection.inbox.ask(subject, payload, timeout_s)
        headers = reply.headers or {}
        return Answer(reply.data, headers.get(ERROR_CODE_HEADER) or "", headers.get(ERROR_HEADER) or "")

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
        provider = Provider(subject, request_type, handler, refusal)

        async def take(message: Msg) -> None:
            async def respond(answer: Answer) -> None:
                await self._respond(message, answer)

            await provider.take(message.data, respond)

        if self._local is not None:
            self._local.open(subject, provider, self._connection)
        self._providers.append(provider)
        self._subscriptions.append(
            await self._connection.client.subscribe(subject, queue=queue, cb=take, pending_msgs_limit=REQUESTS_MAX)
        )

    async def stop(self) -> None:
        """Accept no more requests, and cancel the handlers that still run."""
        if self._local is not None:
            for provider in self._providers:
                self._local.close(provider)
        subscriptions, self._subscriptions = self._subscriptions, []
        if self._connection.is_connected:
            for subscription in subscriptions:
                await subscription.unsubscribe()
        for provider in self._providers:
            await provider.stop()

    async def _respond(self, message: Msg, answer: Answer) -> None:
        if not message.reply.startswith(INBOXES):
            # A caller must not have us publish on a subject of its choice: we may publish where it may not.
            if message.reply:
                log.warning("reply to no inbox not sent", subject=message.subject, reply=message.reply)
            return
        headers = None
        if answer.error:
            headers = {ERROR_CODE_HEADER: answer.error, ERROR_HEADER: answer.reason}
        try:
            await self._connection.client.publish(message.reply, answer.payload, headers=headers)
        except (nats.errors.Error, OSError) as error:
            log.warning("reply not sent", subject=message.subject, error=repr(error))
