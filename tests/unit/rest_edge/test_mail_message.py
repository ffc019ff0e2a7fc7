"""Mails as text and bytes: what they say, and what must not get into a header."""

from datetime import UTC, datetime

import pytest

from openspot.http.brand import Brand
from openspot.kit.mail.message import BadMailError, Mail, message_of
from openspot.rest_edge.mail.texts import MailFacts, MailKind, compose

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("recipient", "subject", "part"),
    [
        ("ada@example.org\r\nBcc: eve@example.org", "Hello", "recipient"),
        ("ada@example.org\nX: y", "Hello", "recipient"),
        ("ada@example.org, eve@example.org", "Hello", "recipient"),
        ("Ada <ada@example.org>", "Hello", "recipient"),
        ("", "Hello", "recipient"),
        ("ada@example.org", "Hello\r\nBcc: eve@example.org", "subject"),
        ("ada@example.org", "Hello\u2028there", "subject"),
        ("ada@example.org", "Hello\x00", "subject"),
    ],
)
def test_what_would_inject_a_header_is_refused(recipient: str, subject: str, part: str) -> None:
    with pytest.raises(BadMailError, match=part):
        message_of(Mail(recipient, subject, "text"), "OpenSpot <no-reply@example.org>", "<1@example.org>", NOW)


def test_a_mail_shows_its_token_as_text_or_in_a_link() -> None:
    bare = compose(MailKind.RESET_PASSWORD, "ada@example.org", MailFacts(token="abc"), Brand())
    assert "Token: abc" in bare.text
    linked = compose(
        MailKind.RESET_PASSWORD, "ada@example.org", MailFacts(token="abc", link_base="https://x.org/"), Brand()
    )
    # Behind `#`, so that no server and no proxy ever sees it.
    assert "https://x.org/reset-password#token=abc" in linked.text
    assert "Token:" not in linked.text
