"""The development mailbox, as a test reads it."""

import re
from pathlib import Path

from openspot.kit.mail.transports import StoredMail, read_mailbox
from tests.support.waiting import eventually


async def mail_to(data_dir: Path, recipient: str, subject: str, number: int = 1) -> StoredMail:
    """The mail with that subject to that address; with `number` the second, third … one. Waits for it."""

    async def found() -> StoredMail | None:
        mails = [mail for mail in read_mailbox(data_dir) if (mail.recipient, mail.subject) == (recipient, subject)]
        return mails[number - 1] if len(mails) >= number else None

    mail = await eventually(found, 20)
    assert mail is not None
    return mail


def token_of(mail: StoredMail) -> str:
    """The token that a mail carries."""
    match = re.search(r"^Token: (\S+)$", mail.text, re.MULTILINE)
    assert match is not None, mail.text
    return match[1]
