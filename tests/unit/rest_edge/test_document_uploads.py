"""Uploads of documents are held in memory within bounds, whatever their senders do."""

import asyncio

import pytest
from starlette.types import Message

from openspot.http.context import BodyLimits, RequestContext
from openspot.http.errors import HttpError
from openspot.rest_edge.funds.documents import receiving
from openspot.rest_edge.funds.documents.receiving import FULL_DOCUMENTS_MAX, Uploads

BYTES_MAX = 1000


class Sender:
    """A client whose body comes in the pieces that the test sends; None ends the connection."""

    def __init__(self, length: int | None = None) -> None:
        self.pieces: asyncio.Queue[tuple[bytes, bool] | None] = asyncio.Queue()
        header = (b"transfer-encoding", b"chunked") if length is None else (b"content-length", b"%d" % length)
        self.context = RequestContext("r1", {"path": "/", "headers": [header]}, self._receive, BodyLimits(10, 1))
        self.context.read_head()

    def send(self, piece: bytes, *, is_last: bool = False) -> None:
        self.pieces.put_nowait((piece, is_last))

    async def _receive(self) -> Message:
        piece = await self.pieces.get()
        if piece is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece[0], "more_body": not piece[1]}


async def received(uploads: Uploads, user_id: str, sender: Sender) -> bytes:
    async with uploads.received(user_id, sender.context) as content:
        return content


async def refusal(uploads: Uploads, user_id: str, sender: Sender) -> tuple[int, str]:
    with pytest.raises(HttpError) as refused:
        await received(uploads, user_id, sender)
    return refused.value.status_code, refused.value.code


def whole(content: bytes) -> Sender:
    sender = Sender()
    sender.send(content[:1])
    sender.send(content[1:], is_last=True)
    return sender


async def test_all_uploads_together_stay_within_the_bound_and_each_place_is_given_back() -> None:
    uploads = Uploads(BYTES_MAX)
    open_ones = [Sender() for _ in range(FULL_DOCUMENTS_MAX)]
    running = [asyncio.create_task(received(uploads, f"u{n}", sender)) for n, sender in enumerate(open_ones)]
    for sender in open_ones:
        sender.send(b"x" * BYTES_MAX)
    while not all(sender.pieces.empty() for sender in open_ones):
        await asyncio.sleep(0)
    assert await refusal(uploads, "late", whole(b"ab")) == (503, "KYC_UPLOADS_BUSY")
    assert await refusal(uploads, "u0", whole(b"ab")) == (409, "KYC_UPLOAD_IN_PROGRESS")
    open_ones[0].pieces.put_nowait(None)
    with pytest.raises(HttpError, match="closed before the body was complete"):
        await running[0]
    assert await received(uploads, "u0", whole(b"ab")) == b"ab"
    for sender in open_ones[1:]:
        sender.send(b"", is_last=True)
    assert [len(content) for content in await asyncio.gather(*running[1:])] == [BYTES_MAX] * 7
    assert await received(uploads, "late", whole(b"x" * BYTES_MAX)) == b"x" * BYTES_MAX


async def test_a_body_of_the_bound_passes_and_one_byte_more_does_not() -> None:
    uploads = Uploads(BYTES_MAX)
    assert len(await received(uploads, "u1", whole(b"x" * BYTES_MAX))) == BYTES_MAX
    assert await refusal(uploads, "u1", whole(b"x" * (BYTES_MAX + 1))) == (413, "PAYLOAD_TOO_LARGE")
    announced = Sender(BYTES_MAX + 1)
    announced.send(b"x", is_last=True)
    assert await refusal(uploads, "u1", announced) == (413, "PAYLOAD_TOO_LARGE")
    assert await received(uploads, "u1", Sender(0)) == b""


async def test_a_sender_that_pauses_or_takes_too_long_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "BODY_PAUSE_S_MAX", 0.01)
    assert await refusal(Uploads(BYTES_MAX), "u1", Sender()) == (408, "BODY_TIMEOUT")
    monkeypatch.setattr(receiving, "BODY_PAUSE_S_MAX", 60.0)
    monkeypatch.setattr(receiving, "BODY_S_MAX", 0.01)
    sender = Sender()
    sender.send(b"x")
    assert await refusal(Uploads(BYTES_MAX), "u1", sender) == (408, "BODY_TIMEOUT")
