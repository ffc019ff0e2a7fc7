"""What a consumer of the event stream is told when it cannot be served."""

import asyncio
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from starlette.datastructures import QueryParams

from openspot.engine.stream.event_store import EventStoreError
from openspot.engine.transport.event_stream import CONSUMERS_MAX, EventStream
from openspot.engine_client.administrators import EngineSilentError
from openspot.engine_client.operators import OperatorSessions
from openspot.http.api_keys.networks import AllowedNetworks
from openspot.http.context import BodyLimits, RequestContext
from openspot.http.errors import HttpError
from tests.support.edge_operators import ENGINE_TOKEN


class Events:
    """Events 5 to 9, none of them in memory, and a store whose file is damaged or has lost them."""

    first_sequence, last_sequence = 5, 9

    def __init__(self, is_damaged: bool) -> None:
        self.is_damaged = is_damaged

    def index_of(self, _sequence: int) -> None:
        """Nothing is in memory."""

    async def read(self, sequence: int) -> None:
        if self.is_damaged:
            raise EventStoreError(f"the checksum of event {sequence} is wrong")


class Consumer:
    """A connection, and what it is sent."""

    def __init__(self, query: str) -> None:
        self.query_params = QueryParams(query)
        self.sent: list[Any] = []
        self.closed: tuple[int, str] | None = None

    async def accept(self) -> None:
        """Begin."""

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(msgspec.json.decode(message["text"]))

    async def close(self, code: int, reason: str) -> None:
        self.closed = (code, reason)

    async def receive(self) -> dict[str, str]:
        await asyncio.Event().wait()
        raise AssertionError("nothing comes")


def stream(*, is_damaged: bool) -> EventStream:
    engine: Any = SimpleNamespace(events=Events(is_damaged), renderer=None, epoch=3)
    return EventStream(engine)


@pytest.mark.parametrize(
    ("query", "is_damaged", "code", "said"),
    [
        ("fromSeq=6", True, "EVENTS_DAMAGED", "the checksum of event 6 is wrong"),
        ("fromSeq=6", False, "SEQUENCE_NOT_RETAINED", "event 6 is no longer retained; the oldest is 5"),
        ("fromSeq=11", False, "SEQUENCE_AHEAD", "fromSeq 11 is ahead of the newest event 9"),
    ],
)
async def test_a_stream_that_cannot_go_on_says_why_and_ends(query: str, is_damaged: bool, code: str, said: str) -> None:
    consumer: Any = Consumer(query)
    await stream(is_damaged=is_damaged).serve(consumer)
    assert consumer.sent[1] == {"type": "error", "code": code, "message": said}
    assert consumer.closed == (1008, code)


async def test_one_consumer_too_many_is_refused_before_it_is_accepted() -> None:
    served = stream(is_damaged=False)
    served._consumers = CONSUMERS_MAX
    consumer: Any = Consumer("")
    with pytest.raises(HttpError) as refused:
        await served.serve(consumer)
    assert (refused.value.status_code, refused.value.code) == (503, "TOO_MANY_CONSUMERS")
    assert refused.value.message == f"at most {CONSUMERS_MAX} consumers"
    assert consumer.sent == []


class Silent:
    """An engine that does not answer."""

    async def find(self, _token: str) -> None:
        raise EngineSilentError("the engine does not respond")


async def test_while_the_engine_is_silent_no_session_of_an_administrator_is_known() -> None:
    silent: Any = Silent()
    nothing: Any = None
    headers = [(b"authorization", f"Bearer {ENGINE_TOKEN}".encode())]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers, "client": None}
    context = RequestContext("r", scope, nothing, BodyLimits(1, 1))
    context.read_head()
    with pytest.raises(HttpError) as refused:
        await OperatorSessions(nothing, nothing, silent, AllowedNetworks(())).identify(context)
    assert (refused.value.status_code, refused.value.code) == (503, "ENGINE_UNAVAILABLE")
    assert refused.value.message == "the engine does not respond, so the session cannot be checked"
