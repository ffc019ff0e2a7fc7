"""The rules for the content of a notification. Pure."""

import re

import msgspec

from openspot.contracts.messages import SendNotification
from openspot.domain.ids import PARTICIPANT_ID_TEXT

TITLE_LENGTH_MAX = 200
TEXT_LENGTH_MAX = 4_000
TIMESTAMP_MAX = 253_402_300_799_999
"""The end of the year 9999, in milliseconds since 1970."""
_ID = re.compile(r"[!-~]{1,200}")
_KIND = re.compile(r"[a-z0-9_.]{1,64}")


class InvalidNotificationError(ValueError):
    """A notification is not valid. The message names the field and the reason."""


def checked(event: SendNotification) -> SendNotification:
    """Return the notification, its title on one line without control characters. Raises InvalidNotificationError."""
    if not _ID.fullmatch(event.id):
        raise InvalidNotificationError("id must be 1 to 200 visible ASCII characters")
    if not PARTICIPANT_ID_TEXT.fullmatch(event.user_id):
        raise InvalidNotificationError("userId must be the id of a user")
    if not _KIND.fullmatch(event.kind):
        raise InvalidNotificationError("kind must be 1 to 64 small letters, digits, dots or underscores")
    if not 0 <= event.timestamp <= TIMESTAMP_MAX:
        raise InvalidNotificationError("timestamp must be milliseconds since 1970")
    title, text = _printable(" ".join(event.title.split())), _printable(event.text.strip())
    if not 1 <= len(title) <= TITLE_LENGTH_MAX:
        raise InvalidNotificationError(f"title must have 1 to {TITLE_LENGTH_MAX} characters")
    if not 1 <= len(text) <= TEXT_LENGTH_MAX:
        raise InvalidNotificationError(f"text must have 1 to {TEXT_LENGTH_MAX} characters")
    return msgspec.structs.replace(event, title=title, text=text)


def _printable(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable() or letter == "\n")
