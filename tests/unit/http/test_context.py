"""How much of a body is read."""

import pytest
from starlette.types import Message

from openspot.http.context import DISCARDED_BYTES_MAX, BodyLimits, RequestContext
from openspot.http.errors import HttpError


async def test_nothing_is_awaited_beyond_what_is_dropped_of_a_too_large_body() -> None:
    sent = [b"x" * (DISCARDED_BYTES_MAX // 2)] * 2

    async def receive() -> Message:
        assert sent, "the client waits for the refusal and sends no more"
        return {"type": "http.request", "body": sent.pop(), "more_body": True}

    headers = [(b"content-length", b"%d" % (2 * DISCARDED_BYTES_MAX)), (b"content-type", b"application/json")]
    context = RequestContext("r1", {"path": "/", "headers": headers}, receive, BodyLimits(1024, 3600))
    context.read_head()
    with pytest.raises(HttpError) as refusal:
        await context.read_body()
    assert refusal.value.status_code == 413
    assert not sent
