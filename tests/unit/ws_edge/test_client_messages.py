"""Client messages: what is understood, and what is refused with which words."""

import pytest

from openspot.ws_edge.hub import RecentKeys
from openspot.ws_edge.schemas import Action, ClientMessage, ClientMessageError, ErrorCode, parse_client_message


@pytest.mark.spec("B4.2-01")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"action":"ping"}', ClientMessage(Action.PING, "", None)),
        ('{"action":"ping","channel":null,"id":7}', ClientMessage(Action.PING, "", 7)),
        ('{"action":"subscribe","channel":"ticker:BTC-USD"}', ClientMessage(Action.SUBSCRIBE, "ticker:BTC-USD", None)),
        (
            '{"id":"a","channel":"ticker:BTC-USD","action":"unsubscribe","more":[1]}',
            ClientMessage(Action.UNSUBSCRIBE, "ticker:BTC-USD", "a"),
        ),
    ],
)
def test_a_client_message_is_an_action_and_perhaps_a_channel_and_an_id(text: str, message: ClientMessage) -> None:
    assert parse_client_message(text) == message


@pytest.mark.spec("B4.2-06")
@pytest.mark.parametrize(
    ("data", "code", "words", "message_id"),
    [
        ("", ErrorCode.MALFORMED_MESSAGE, "not valid JSON", None),
        ("{", ErrorCode.MALFORMED_MESSAGE, "not valid JSON", None),
        ("[" * 100_000, ErrorCode.MALFORMED_MESSAGE, "not valid JSON", None),
        ('{"action":"ping"} x', ErrorCode.MALFORMED_MESSAGE, "not valid JSON", None),
        (b'{"action":"ping"}', ErrorCode.MALFORMED_MESSAGE, "not binary", None),
        ("[]", ErrorCode.MALFORMED_MESSAGE, "must be an object", None),
        ("null", ErrorCode.MALFORMED_MESSAGE, "must be an object", None),
        ('"ping"', ErrorCode.MALFORMED_MESSAGE, "must be an object", None),
        ("{}", ErrorCode.UNKNOWN_ACTION, "action must be one of subscribe, unsubscribe, ping", None),
        ('{"action":"PING","id":1}', ErrorCode.UNKNOWN_ACTION, "action must be one of", 1),
        ('{"action":{"a":1},"id":"x"}', ErrorCode.UNKNOWN_ACTION, "action must be one of", "x"),
        ('{"action":["ping"]}', ErrorCode.UNKNOWN_ACTION, "action must be one of", None),
        ('{"action":"subscribe","id":2}', ErrorCode.CHANNEL_REQUIRED, "channel is required to subscribe", 2),
        ('{"action":"unsubscribe","channel":""}', ErrorCode.CHANNEL_REQUIRED, "channel is required", None),
        ('{"action":"subscribe","channel":5,"id":3}', ErrorCode.UNKNOWN_CHANNEL, "channel must be a text", 3),
        (f'{{"action":"subscribe","channel":"{"x" * 65}"}}', ErrorCode.UNKNOWN_CHANNEL, "at most 64", None),
        ('{"action":"ping","id":1.5}', ErrorCode.MALFORMED_MESSAGE, "id must be", None),
        ('{"action":"ping","id":{}}', ErrorCode.MALFORMED_MESSAGE, "id must be", None),
        ('{"action":"ping","id":true}', ErrorCode.MALFORMED_MESSAGE, "id must be", None),
        ('{"action":"ping","id":99999999999999999999}', ErrorCode.MALFORMED_MESSAGE, "id must be", None),
        (f'{{"action":"ping","id":"{"x" * 65}"}}', ErrorCode.MALFORMED_MESSAGE, "id must be", None),
    ],
)
def test_anything_else_is_refused_by_field_and_reason(
    data: str | bytes, code: ErrorCode, words: str, message_id: str | int | None
) -> None:
    with pytest.raises(ClientMessageError, match=words) as refusal:
        parse_client_message(data)
    assert refusal.value.code is code
    assert refusal.value.message_id == message_id


def test_recent_keys_tell_a_repeat_until_they_are_too_old() -> None:
    recent = RecentKeys(2)
    assert recent.add(("a", "order.created", 1))
    assert not recent.add(("a", "order.created", 1))
    assert recent.add(("a", "order.updated", 2))
    assert not recent.add(("a", "order.created", 1))
    assert recent.add(("b", "order.created", 3))
    assert recent.add(("a", "order.created", 1))
