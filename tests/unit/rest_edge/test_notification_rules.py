"""What a notification may hold, and the mail that it becomes."""

import msgspec
import pytest

from openspot.contracts.messages import SendNotification
from openspot.http.brand import Brand
from openspot.rest_edge.mail.texts import MailFacts, MailKind, compose, notification_detail
from openspot.rest_edge.notifications.preferences import event_of_kind, is_of_security
from openspot.rest_edge.notifications.rules import InvalidNotificationError, checked

GOOD = SendNotification("n-1", "ada", "margin.liquidation", "A title", "A text.\nIts second line.", 1_700_000_000_000)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": ""}, "id must be"),
        ({"id": "a b"}, "id must be"),
        ({"id": "x" * 201}, "id must be"),
        ({"user_id": "a.b"}, "userId must be"),
        ({"kind": "Margin!"}, "kind must be"),
        ({"title": " \n\t "}, "title must have"),
        ({"title": "x" * 201}, "title must have"),
        ({"text": "\x00"}, "text must have"),
        ({"text": "x" * 4001}, "text must have"),
        ({"timestamp": -1}, "timestamp must be"),
        ({"timestamp": 10**18}, "timestamp must be"),
    ],
)
def test_a_bad_notification_is_refused_by_field(change: dict[str, object], message: str) -> None:
    assert checked(GOOD) == GOOD
    with pytest.raises(InvalidNotificationError, match=message):
        checked(msgspec.structs.replace(GOOD, **change))


def test_a_title_becomes_one_line_so_that_it_adds_no_header_to_the_mail() -> None:
    event = checked(msgspec.structs.replace(GOOD, title="Hello\r\nBcc: eve@example.org", text="One\x07\nTwo"))
    mail = compose(
        MailKind.NOTIFICATION,
        "ada@example.org",
        MailFacts("my code", detail=notification_detail(event.title, event.text)),
        Brand(mail_signature="The Exchange"),
    )
    assert mail.subject == "Hello Bcc: eve@example.org"
    assert mail.text == "Your anti-phishing code: my code\n\nOne\nTwo\n\nThe Exchange\n"


def test_the_settings_name_a_kind_with_underscores() -> None:
    assert event_of_kind("margin.liquidation") == "margin_liquidation"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": ""}, "id must be 1 to 200 visible ASCII characters"),
        ({"user_id": ""}, "userId must be the id of a user"),
        ({"kind": ""}, "kind must be 1 to 64 small letters, digits, dots or underscores"),
        ({"timestamp": -1}, "timestamp must be milliseconds since 1970"),
        ({"timestamp": 253_402_300_800_000}, "timestamp must be milliseconds since 1970"),
        ({"title": ""}, "title must have 1 to 200 characters"),
        ({"title": "x" * 201}, "title must have 1 to 200 characters"),
        ({"text": ""}, "text must have 1 to 4000 characters"),
        ({"text": "x" * 4001}, "text must have 1 to 4000 characters"),
    ],
)
def test_the_reason_of_a_refusal_names_the_bounds(change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidNotificationError) as refused:
        checked(msgspec.structs.replace(GOOD, **change))
    assert str(refused.value) == message


def test_what_is_exactly_within_the_bounds_is_taken() -> None:
    for change in (
        {"id": "n" * 200, "kind": "k" * 64, "title": "x" * 200, "text": "x" * 4000, "timestamp": 253_402_300_799_999},
        {"id": "n", "kind": "k", "title": "x", "text": "x", "timestamp": 0},
    ):
        event = msgspec.structs.replace(GOOD, **change)
        assert checked(event) == event


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("security.lock", True),
        ("security.role", True),
        ("new.login", True),
        ("password.changed", True),
        ("mfa.changed", True),
        ("api_key.changed", True),
        ("withdrawal.requested", True),
        ("withdrawal.completed", False),
        ("order.filled", False),
        ("securities.traded", False),
    ],
)
def test_kinds_of_security_are_known_by_event_or_prefix(kind: str, expected: bool) -> None:
    assert is_of_security(kind) is expected
