"""The provider of one subject: it takes requests as bytes, from the bus or from this process, and replies in bytes.

A provider that does not handle a request says so twice: as a refusal in the reply's JSON, and as an error of the reply.
"""

import contextvars
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.kit.bus.codec import UNREADABLE, decoder_of, encode, note_malformed
from openspot.kit.log import get_logger
from openspot.kit.metrics import BUS_HANDLER_FAILURES
from openspot.kit.tasks import TaskSet

log = get_logger("bus")

REQUESTS_MAX = 8192
"""A provider works on at most this many requests of a subject at a time, and refuses further ones at once."""
_REASON_LENGTH_MAX = 256
"""The reason goes into a header as well."""


class ServiceError(StrEnum):
    """Why a provider did not handle a request: values of the header Nats-Service-Error-Code."""

    MALFORMED = "400"
    FAILED = "500"
    BUSY = "503"


class Answer(NamedTuple):
    """A reply, encoded. If `error` is not empty, the request was not handled, for this `reason`."""

    payload: bytes
    error: str = ""
    reason: str = ""


MakeRefusal = Callable[[Refusal], msgspec.Struct]
Respond = Callable[[Answer], Awaitable[None]]
"""Passes an answer to the caller. It does not raise."""


class Provider:
    """Serves one subject. Every request is a task of its own, in the context in which the provider was made."""

    def __init__(
        self,
        subject: str,
        request_type: type[Any],
        handler: Callable[[Any], Awaitable[msgspec.Struct]],
        refusal: MakeRefusal,
    ) -> None:
        """`refusal` makes the reply to a request that is not handled."""
        self._subject = subject
        self._decoder = decoder_of(request_type)
        self._handler = handler
        self._refusal = refusal
        self._tasks = TaskSet(REQUESTS_MAX)
        self._context = contextvars.copy_context()

    async def take(self, payload: bytes, respond: Respond) -> None:
        """Begin to work on a request, or refuse it at once. `respond` gets the answer, sooner or later.

        If the handler raises, the exception is counted and logged, and the caller gets a refusal.
        """
        if self._tasks.full:
            await respond(self._refused(ServiceError.BUSY, RefusalCode.BUSY, "too many requests are waiting"))
            return
        try:
            request = self._decoder.decode(payload)
        except UNREADABLE as error:
            note_malformed(self._subject, self._subject, payload, error)
            reason = f"malformed request: {error}"
            await respond(self._refused(ServiceError.MALFORMED, RefusalCode.MALFORMED, reason))
            return
        self._tasks.start(self._handle(request, respond), self._context.copy())

    async def stop(self) -> None:
        """Cancel the handlers that still run. Their callers get no answer."""
        await self._tasks.cancel()

    async def _handle(self, request: Any, respond: Respond) -> None:
        try:
            answer = Answer(encode(await self._handler(request)))
        except Exception:
            BUS_HANDLER_FAILURES.labels(self._subject).inc()
            log.exception("request failed", subject=self._subject)
            answer = self._refused(ServiceError.FAILED, RefusalCode.FAILED, "internal error")
        await respond(answer)

    def _refused(self, error: ServiceError, code: RefusalCode, reason: str) -> Answer:
        return Answer(encode(self._refusal(Refusal(code, reason))), error.value, reason[:_REASON_LENGTH_MAX])
