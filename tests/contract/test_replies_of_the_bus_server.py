"""What the NATS server itself says is no message of ours.

A user of the bus can have the server send its replies to any subject that somebody hears
(docs/adr/0030-the-supervisor-prepares-the-bus.md), so nobody may take such a reply for an event or for a request that
changes something.
"""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

import msgspec
import pytest

from openspot.contracts import messages
from openspot.contracts.messages import Message

OF_THE_SERVER = {
    "a confirmed publication": b'{"stream":"TRADES","seq":1,"duplicate":true}',
    "a refused publication": b'{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 3"}}',
    "a message of a bucket": b'{"type":"io.nats.jetstream.api.v1.stream_msg_get_response","message":'
    b'{"subject":"$KV.b.k","seq":1,"data":"e30=","time":"2026-01-01T00:00:00Z"}}',
    "the progress of a consumer": b'{"type":"io.nats.jetstream.api.v1.consumer_info_response","stream_name":"TRADES",'
    b'"name":"positions","created":"2026-01-01T00:00:00Z","config":{},"delivered":{"stream_seq":1}}',
    "an acknowledgement that is confirmed": b"",
}
ONLY_READ = {"BestQuantities", "GetFairPrices", "GetPlans", "GetReserves", "GetTickers", "PhaseFigures"}
"""Requests without a field that must be there, and what tickers have in common. They change nothing."""


def taken() -> Iterator[type[Message]]:
    """Every message that a process takes without having asked for it."""
    for module in iter_modules(messages.__path__):
        for name, kind in vars(import_module(f"{messages.__name__}.{module.name}")).items():
            is_message = isinstance(kind, type) and issubclass(kind, Message) and kind is not Message
            if is_message and not name.endswith("Reply"):
                yield kind


@pytest.mark.parametrize("said", OF_THE_SERVER)
def test_nobody_takes_a_reply_of_the_server_for_an_event_or_a_change(said: str) -> None:
    readable = set()
    for kind in taken():
        try:
            msgspec.json.decode(OF_THE_SERVER[said], type=kind)
        except msgspec.MsgspecError:
            continue
        readable.add(kind.__name__)
    assert readable <= ONLY_READ


def test_the_messages_are_found() -> None:
    assert {"DepositConfirmed", "LedgerPosting", "SubmitOrder", "ExecutedTrade"} <= {kind.__name__ for kind in taken()}
