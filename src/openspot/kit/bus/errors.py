"""The errors of the bus. Every error that this package raises to its callers is a BusError.

The error of a failed request says whether the provider may have handled it anyway:

| Error | Was it handled? |
|---|---|
| NotSentError | no: there was no connection, no provider, or the request was too large |
| BusyError, MalformedRequestError | no: the provider turned it down |
| NoAnswerError, HandlerFailedError | unknown |
"""

from collections.abc import Sequence
from typing import ClassVar

from openspot.kit.bus.outgoing import OutgoingEvent


class BusError(Exception):
    """An operation on the bus failed."""


class BusUnavailableError(BusError):
    """The server refuses the connection, or does not answer on it."""


class RequestFailedError(BusError):
    """A request failed. `may_have_happened` says whether a provider may have handled it anyway."""

    may_have_happened: ClassVar[bool]


class NotSentError(RequestFailedError):
    """The request reached nobody."""

    may_have_happened = False


class BusyError(RequestFailedError):
    """The provider was handling too many requests and refused this one."""

    may_have_happened = False


class MalformedRequestError(RequestFailedError):
    """The provider could not read the request and did not handle it."""

    may_have_happened = False


class NoAnswerError(RequestFailedError):
    """The request was sent, but no reply came in time, or the reply cannot be read."""

    may_have_happened = True


class HandlerFailedError(RequestFailedError):
    """The provider failed while it handled the request."""

    may_have_happened = True


class PublishError(BusError):
    """Some events may not be stored. The server has stored all other events of the same call.

    `unpublished` holds the events that may not be stored, in the order of the call. The caller may publish them again:
    because of their message ids the server stores none twice.
    """

    def __init__(self, message: str, unpublished: Sequence[OutgoingEvent] = ()) -> None:
        super().__init__(message)
        self.unpublished = tuple(unpublished)


class CircuitOpenError(PublishError):
    """The circuit breaker of a subject is open, so the event was not sent (fact A7-14)."""

    def __init__(self, subject: str, unpublished: Sequence[OutgoingEvent] = ()) -> None:
        super().__init__(f"circuit breaker open for subject: {subject}", unpublished)
        self.subject = subject


class BusStreamError(BusError):
    """The server refused to create or change a stream, or did not report its state."""


class ConsumerError(BusError):
    """A durable consumer cannot be created, has stopped, or could not handle its newest batch."""


class KeyValueError(BusError):
    """A bucket cannot be read or written now. A write may have happened anyway."""


class WrongRevisionError(KeyValueError):
    """The key is not at the expected revision: somebody else has written it. Nothing was changed."""
