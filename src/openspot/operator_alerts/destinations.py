"""Where alerts go: mail addresses and one webhook. Each takes a batch, or a try."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol

import msgspec

from openspot.http.operator_alerts import Severity
from openspot.kit.mail.message import BadMailError, Mail, message_of
from openspot.kit.mail.transports import MailRefusedError, MailTransport, MailUnavailableError
from openspot.operator_alerts.book import OVER, AlertMessage
from openspot.operator_alerts.outbox import Batch
from openspot.operator_alerts.webhook import Webhook, WebhookError
from openspot.operator_alerts.webhook_url import shown_url


class NotDeliveredError(Exception):
    """A batch was not taken. The message says why; `is_final` that another attempt is useless."""

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


class Destination(Protocol):
    """Takes batches of messages. `name` says where they go, in words that operators may see."""

    name: str

    async def send(self, batch: Batch, now: float) -> None:
        """Hand a batch over. Raises NotDeliveredError."""


class MailDestination:
    """One mail address."""

    def __init__(self, address: str, transport: MailTransport, sender: str, exchange: str) -> None:
        """`exchange` is the name of the exchange, for the subject."""
        self.name = f"mail {address}"
        self._address = address
        self._transport = transport
        self._sender = sender
        self._exchange = exchange

    async def send(self, batch: Batch, now: float) -> None:
        """Mail the batch. Its Message-ID is that of the batch, so that a mail that comes twice can be known."""
        domain = self._sender.rpartition("@")[2].rstrip("> ")
        mail = Mail(self._address, subject_of(batch.messages, self._exchange), text_of(batch))
        try:
            await self._transport.send(
                message_of(mail, self._sender, f"<alert.{batch.id}@{domain}>", datetime.fromtimestamp(now, UTC))
            )
        except (BadMailError, MailRefusedError) as error:
            raise NotDeliveredError(str(error), is_final=True) from error
        except MailUnavailableError as error:
            raise NotDeliveredError(str(error)) from error


class WebhookDestination:
    """The webhook."""

    def __init__(self, webhook: Webhook, url: str) -> None:
        self.name = f"webhook {shown_url(url)}"
        self._webhook = webhook

    async def send(self, batch: Batch, now: float) -> None:
        """Call the webhook with the batch. Each attempt is signed anew, under the same id."""
        body = msgspec.json.encode({"id": batch.id, "messages": batch.messages, "leftOut": batch.left_out})
        try:
            await self._webhook.call(batch.id, body, round(now))
        except WebhookError as error:
            raise NotDeliveredError(str(error), is_final=error.is_final) from error


def subject_of(messages: Sequence[AlertMessage], exchange: str) -> str:
    """The subject of a mail: the most urgent message, and how many more there are."""
    first = min(messages, key=lambda each: (each.event == OVER, each.severity is not Severity.PAGE))
    more = f" and {len(messages) - 1} more" if len(messages) > 1 else ""
    event = "" if first.event == "raised" else f" ({_EVENTS.get(first.event, first.event)})"
    return f"[{exchange} {first.severity}] {first.title}{event}{more}"


_EVENTS = {"grew": "and more", "repeated": "lasts", "over": "is over", "test": "a test"}


def text_of(batch: Batch) -> str:
    """The text of a mail."""
    parts = [_paragraph(message) for message in batch.messages]
    if batch.left_out:
        parts.append(f"{batch.left_out} earlier messages could not be sent and are left out.")
    return "\n\n".join(parts) + "\n"


def _paragraph(message: AlertMessage) -> str:
    event = {
        "raised": "It begins",
        "grew": "It concerns more than before",
        "repeated": "It lasts",
        "over": "It is over",
        "test": "This is a test: nothing is wrong",
    }[message.event]
    lines = [f"{message.title} ({message.severity})", f"{event}: {message.text}"]
    if message.event not in (OVER, "test"):
        lines.append(f"First: {message.action}")
    lines.append(f"Since {_time(message.since)}, told at {_time(message.at)}")
    return "\n".join(lines)


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
