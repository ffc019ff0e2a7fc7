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

DOCUMENT = tool.document()
MESSAGES = DOCUMENT["components"]["messages"]
REFUSED = {
    "statusCode": 429, "error": "Too Many Requests", "code": "RATE_LIMITED", "message": "later", "requestId": "k3-1f",
}  # fmt: skip


def validator_of(name: str) -> jsonschema_rs.Validator:
    """What says whether something is this message. Schemas of bodies stand in the document once."""
    return jsonschema_rs.validator_for(MESSAGES[name]["payload"] | {"components": DOCUMENT["components"]})


def example_of(name: str) -> Any:
    """The example of a message."""
    [example] = MESSAGES[name]["examples"]
    return example["payload"]


@pytest.mark.parametrize("name", MESSAGES)
def test_every_example_fits_its_message_and_no_other(name: str) -> None:
    assert [other for other in MESSAGES if validator_of(other).is_valid(example_of(name))] == [name]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("placeOrder", {"displayQuantity": 0}),
        ("placeOrder", {"side": "hold"}),
        ("replaceOrder", {"postOnlyMode": "jump"}),
        ("cancelAllAfter", {"timeoutSeconds": "soon"}),
    ],
)
def test_a_body_that_the_route_refuses_is_not_in_the_document(name: str, body: dict[str, Any]) -> None:
    example = example_of(name)
    assert not validator_of(name).is_valid(example | {"body": example["body"] | body})


def test_the_edge_reads_the_example_of_each_of_its_actions() -> None:
    assert {name for name in MESSAGES if name in ACTIONS} == set(ACTIONS)
    for name in ACTIONS:
        assert read_message(json.dumps(example_of(name))).action == name


def test_a_reply_has_the_headers_that_programs_need_and_fits_the_document() -> None:
    headers = [(b"retry-after", b"1"), (b"x-ratelimit-limit-short", b"10"), (b"x-frame-options", b"DENY")]
    reply = json.loads(reply_frame('a"b', InnerReply(429, headers, json.dumps(REFUSED).encode())))
    assert reply == {
        "type": "reply",
        "id": 'a"b',
        "status": 429,
        "headers": {"retry-after": "1", "x-ratelimit-limit-short": "10"},
        "body": REFUSED,
    }
    validator_of("reply").validate(reply)
