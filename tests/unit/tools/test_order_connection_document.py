"""The AsyncAPI document of the order connection: its examples fit it, and the edge reads and sends what it says."""

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from openspot.http.inner_requests import InnerReply
from openspot.rest_edge.orders.connection_schemas import ACTIONS, read_message
from openspot.rest_edge.orders.connections import reply_frame

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
import order_connection_document as tool

MESSAGES = tool.document()["components"]["messages"]


def example_of(name: str) -> Any:
    """The example of a message."""
    [example] = MESSAGES[name]["examples"]
    return example["payload"]


@pytest.mark.parametrize("name", MESSAGES)
def test_every_example_fits_its_message_and_no_other(name: str) -> None:
    fitting = [
        other for other, message in MESSAGES.items()
        if jsonschema_rs.validator_for(message["payload"]).is_valid(example_of(name))
    ]  # fmt: skip
    assert fitting == [name]


def test_the_edge_reads_the_example_of_each_of_its_actions() -> None:
    assert {name for name in MESSAGES if name in ACTIONS} == set(ACTIONS)
    for name in ACTIONS:
        assert read_message(json.dumps(example_of(name))).action == name


def test_a_reply_has_the_headers_that_programs_need_and_fits_the_document() -> None:
    headers = [(b"retry-after", b"1"), (b"x-ratelimit-limit-short", b"10"), (b"x-frame-options", b"DENY")]
    reply = json.loads(reply_frame('a"b', InnerReply(429, headers, b'{"code":"x"}')))
    assert reply == {
        "type": "reply",
        "id": 'a"b',
        "status": 429,
        "headers": {"retry-after": "1", "x-ratelimit-limit-short": "10"},
        "body": {"code": "x"},
    }
    jsonschema_rs.validator_for(MESSAGES["reply"]["payload"]).validate(reply)
