"""A mail as text, and as the bytes that go out. Pure."""

from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr


class BadMailError(ValueError):
    """A part of a mail must not go into a header, for example because it contains a line break."""


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail to one user."""

    recipient: str
    subject: str
    text: str


def message_of(mail: Mail, sender: str, message_id: str, date: datetime) -> EmailMessage:
    """Make the message. Raises BadMailError for a line break in a header, or a recipient that is no plain address."""
    for name, value in (("recipient", mail.recipient), ("subject", mail.subject), ("sender", sender)):
        if any(not letter.isprintable() for letter in value):
            raise BadMailError(f"the {name} of a mail must be one printable line")
    if "@" not in mail.recipient or parseaddr(mail.recipient) != ("", mail.recipient) or "," in mail.recipient:
        raise BadMailError("the recipient of a mail must be one plain address")
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    message["To"] = mail.recipient
    message["Subject"] = mail.subject
    message["Date"] = format_datetime(date)
    message["Message-ID"] = message_id
    # This keeps out-of-office replies away (RFC 3834).
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    return message
