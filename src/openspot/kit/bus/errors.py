"""What can go wrong on the bus. Every error that a caller of this package meets is a BusError.

A request that fails says whether it may have been done all the same:

| Error | Was it done? |
|---|---|
| NotSentError | no: there was no connection, no provider, or the request was too large |
| BusyError, MalformedRequestError | no: the provider turned it down |
| NoAnswerError, HandlerFailedError | unknown |
"""

from collections.abc import Sequence
from typing import ClassVar

from openspot.kit.bus.outgoing import Outgoing


class BusError(Exception):
    """The bus did not do what it was asked for."""


class BusUnavailableError(BusError):
    """The server refuses the connection, or does not answer on it."""


class RequestFailedError(BusError):
    """A request got no reply of its provider. `may_have_happened` says whether the provider may have handled it."""

    may_have_happened: ClassVar[bool]


class NotSentError(RequestFailedError):
    """The request surely reached nobody."""

    may_have_happened = False


class BusyError(RequestFailedError):
    """The provider had too much to do and did not handle the request."""

    may_have_happened = False


class MalformedRequestError(RequestFailedError):
    """The provider could not read the request and did not handle it."""

    may_have_happened = False


class NoAnswerError(RequestFailedError):
    """The request was sent. No reply came in time, or one that cannot be read."""

    may_have_happened = True


class HandlerFailedError(RequestFailedError):
    """The provider failed while it handled the request."""

    may_have_happened = True


class PublishError(BusError):
    """Events were not surely taken. All others of the same call were.

    `unpublished` are those events, in the order in which they were given. The caller may publish them again: message
    ids keep them from being stored twice.
    """

    def __init__(self, message: str, unpublished: Sequence[Outgoing] = ()) -> None:
        super().__init__(message)
        self.unpublished = tuple(unpublished)


class CircuitOpenError(PublishError):
    """The circuit breaker of a subject is open: nothing was tried (Document A 7)."""

    def __init__(self, subject: str, unpublished: Sequence[Outgoing] = ()) -> None:
        super().__init__(f"circuit breaker open for subject: {subject}", unpublished)
        self.subject = subject


class StreamError(BusError):
    """The server refused to make or change a stream, or did not say how it stands."""


class ConsumerError(BusError):
    """A durable consumer does not consume."""


class KeyValueError(BusError):
    """A bucket cannot be read or written now. A write may have been done all the same."""


class WrongRevisionError(KeyValueError):
    """The key is not at the expected revision: somebody else has written it. Nothing was changed."""
