"""Replies to this connection's messages. One subscription receives all; the subject tells which it is.

Providers may publish to the inboxes of their callers, so the subject of a reply cannot be guessed: whoever has not
received the request cannot answer it.
"""

import asyncio
import secrets

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from openspot.kit.bus.errors import NoAnswerError, NotSentError
from openspot.kit.tasks import result_within

NO_RESPONDERS = "503"
"""The server's status for a message that nobody listens to."""
_STATUS = "Status"
_TOKEN_BYTES = 8


def status_of(message: Msg) -> str | None:
    """The status that the server itself set; None for a message from a client."""
    return message.headers.get(_STATUS) if message.headers else None


class ReplyInbox:
    """Gives each reply to its waiting caller, and drops a reply that nobody waits for."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._prefix = ""
        self._serial = 0
        self._waiting: dict[str, asyncio.Future[Msg]] = {}

    async def open(self) -> None:
        """Start to listen. The client must be connected, because only then does it know the prefix of its inboxes."""
        self._prefix = self._client.new_inbox()
        await self._client.subscribe(f"{self._prefix}.*", cb=self._take)

    def expect(self) -> tuple[str, asyncio.Future[Msg]]:
        """A new subject for a reply, and the reply's future. The caller calls `forget` when it stops waiting."""
        self._serial += 1
        subject = f"{self._prefix}.{self._serial}-{secrets.token_hex(_TOKEN_BYTES)}"
        future = self._waiting[subject] = asyncio.get_running_loop().create_future()
        return subject, future

    def forget(self, subject: str) -> None:
        """No longer expect a reply on `subject`."""
        self._waiting.pop(subject, None)

    async def ask(self, subject: str, payload: bytes, timeout_s: float) -> Msg:
        """Send a request and return the reply. Raises NotSentError or NoAnswerError."""
        if not self._client.is_connected:
            raise NotSentError(f"{subject}: not connected to the bus")
        reply_subject, reply = self.expect()
        try:
            try:
                await self._client.publish(subject, payload, reply=reply_subject)
            except nats.errors.Error as error:
                # The client library checks a message before it sends any of it.
                raise NotSentError(f"{subject}: {error}") from error
            message = await result_within(reply, timeout_s)
        except TimeoutError as error:
            raise NoAnswerError(f"no answer to {subject} within {timeout_s} s") from error
        finally:
            self.forget(reply_subject)
        if status_of(message) == NO_RESPONDERS:
            raise NotSentError(f"no provider of {subject}")
        return message

    async def _take(self, message: Msg) -> None:
        reply = self._waiting.get(message.subject)
        if reply is not None and not reply.done():
            reply.set_result(message)
