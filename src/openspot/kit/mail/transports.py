"""Transports of mails: SMTP, or for development a file in the data directory."""

import asyncio
import json
import os
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Protocol

import aiosmtplib

from openspot.kit.connection_faults import connection_fault
from openspot.kit.log import get_logger
from openspot.kit.mail.settings import MailServerSettings

log = get_logger("mail")

SMTP_TIMEOUT_S = 20.0
MAILBOX_NAME = "mailbox.jsonl"
MAILBOX_BYTES_MAX = 4_194_304
"""A longer mailbox is renamed to `mailbox.jsonl.1`, which replaces the previous one."""


class MailRefusedError(Exception):
    """The mail server will never take this mail, so another attempt is useless."""


class MailUnavailableError(Exception):
    """The mail could not be handed over now."""


class MailTransport(Protocol):
    """Hands mails over."""

    async def send(self, message: EmailMessage) -> None:
        """Hand `message` over. Raises MailRefusedError, MailUnavailableError."""


class SmtpTransport:
    """Sends by SMTP, one connection a mail."""

    def __init__(self, settings: MailServerSettings) -> None:
        self._settings = settings

    async def send(self, message: EmailMessage) -> None:
        """Hand `message` over. Raises MailRefusedError, MailUnavailableError."""
        settings = self._settings
        try:
            await aiosmtplib.send(
                message,
                hostname=settings.smtp_host,
                port=settings.smtp_port,
                username=settings.smtp_user or None,
                password=settings.smtp_password or None,
                use_tls=settings.smtp_security == "tls",
                start_tls=settings.smtp_security == "starttls",
                timeout=SMTP_TIMEOUT_S,
            )
        except aiosmtplib.SMTPRecipientsRefused as error:
            if all(refusal.code >= 500 for refusal in error.recipients):
                raise MailRefusedError(f"{self._server} refuses the recipient: {_codes(error)}") from error
            raise MailUnavailableError(f"{self._server} does not take the recipient now: {_codes(error)}") from error
        except aiosmtplib.SMTPAuthenticationError as error:
            raise MailUnavailableError(f"{self._server} refuses user and password: {error.code}") from error
        except aiosmtplib.SMTPSenderRefused as error:
            raise MailUnavailableError(f"{self._server} refuses the sender: {error.code}") from error
        except aiosmtplib.SMTPResponseException as error:
            raise MailUnavailableError(f"{self._server} answered {error.code}") from error
        except (aiosmtplib.SMTPException, OSError) as error:
            # The text of some errors quotes the mail. That of a missing extension is the library's own.
            is_offered = "STARTTLS extension not supported" not in str(error)
            fault = connection_fault(error) if is_offered else "it does not offer STARTTLS"
            raise MailUnavailableError(f"{self._server}: {fault}") from error

    @property
    def _server(self) -> str:
        return f"{self._settings.smtp_host}:{self._settings.smtp_port}"


def _codes(error: aiosmtplib.SMTPRecipientsRefused) -> str:
    return ", ".join(sorted({str(refusal.code) for refusal in error.recipients}))


@dataclass(frozen=True, slots=True)
class StoredMail:
    """A mail of the development mailbox."""

    sent_at: str
    recipient: str
    subject: str
    text: str


class MailboxTransport:
    """Appends mails to a file that only its owner can read, and logs each one without its text."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / MAILBOX_NAME

    async def send(self, message: EmailMessage) -> None:
        """Append `message` to the file. Raises MailUnavailableError."""
        line = json.dumps(
            {
                "sent_at": parsedate_to_datetime(message["Date"]).isoformat(),
                "recipient": str(message["To"]),
                "subject": str(message["Subject"]),
                "text": message.get_content().replace("\r\n", "\n"),
            }
        )
        try:
            await asyncio.to_thread(self._append, line.encode() + b"\n")
        except OSError as error:
            raise MailUnavailableError(f"the mailbox cannot be written: {error}") from error
        # The log leaves out recipient and text, because more people read it than the mailbox.
        log.info("mail in the development mailbox: openspot mailbox shows it", subject=str(message["Subject"]))

    def _append(self, line: bytes) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._path.exists() and self._path.stat().st_size > MAILBOX_BYTES_MAX:
            self._path.replace(self._path.with_name(f"{MAILBOX_NAME}.1"))
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


def read_mailbox(data_dir: Path) -> list[StoredMail]:
    """The mails of the development mailbox, oldest first. Raises OSError, ValueError if it is damaged."""
    path = data_dir / MAILBOX_NAME
    if not path.exists():
        return []
    return [StoredMail(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def make_transport(settings: MailServerSettings) -> MailTransport:
    """SMTP if a server is set, otherwise the development mailbox."""
    return SmtpTransport(settings) if settings.smtp_host else MailboxTransport(settings.data_dir)
