"""What is read of a request: its body, within bounds, its target, and the operation that it belongs to."""

import asyncio

import pytest
from starlette.types import Message

from openspot.domain.ids import ORDER_ID_TEXT
from openspot.http.context import (
    DISCARDED_BYTES_MAX,
    BodyLimits,
    IdempotentOperation,
    RequestContext,
    operation_of,
    request_ids,
)
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


async def test_the_rest_of_a_too_large_body_of_unknown_length_is_dropped_before_the_refusal() -> None:
    sent = [b"x" * 2048] * 3

    async def receive() -> Message:
        return {"type": "http.request", "body": sent.pop(), "more_body": bool(sent)}

    headers = [(b"transfer-encoding", b"chunked"), (b"content-type", b"application/json")]
    context = RequestContext("r1", {"path": "/", "headers": headers}, receive, BodyLimits(1024, 3600))
    context.read_head()
    with pytest.raises(HttpError) as refusal:
        await context.read_body()
    assert refusal.value.status_code == 413
    assert not sent, "a sender whose connection ends before its last byte may not see the refusal"


JSON = (b"content-type", b"application/json")
CHUNKED = (b"transfer-encoding", b"chunked")


def length(number: int) -> tuple[bytes, bytes]:
    return (b"content-length", b"%d" % number)


class Sender:
    """A client that sends these messages and then nothing more."""

    def __init__(self, *messages: Message) -> None:
        self.left = list(messages)

    async def receive(self) -> Message:
        if not self.left:
            await asyncio.Event().wait()
        return self.left.pop(0)


def part(body: bytes, *, more: bool = True) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


END: Message = {"type": "http.disconnect"}


def made(
    sender: Sender, *headers: tuple[bytes, bytes], bytes_max: int = 10, seconds_max: float = 3600.0
) -> RequestContext:
    scope = {"path": "/", "headers": list(headers)}
    context = RequestContext("r1", scope, sender.receive, BodyLimits(bytes_max, seconds_max))
    context.read_head()
    return context


@pytest.mark.parametrize(
    ("headers", "messages", "body"),
    [
        ([JSON, length(10)], [part(b"0123456789", more=False)], b"0123456789"),
        ([JSON, length(10)], [part(b"01234"), part(b"56789", more=False)], b"0123456789"),
        ([JSON, CHUNKED], [part(b"01234"), part(b"56789"), part(b"", more=False)], b"0123456789"),
        # ASGI lets a server leave out what is empty or false.
        ([JSON, CHUNKED], [{"type": "http.request", "more_body": True}, {"type": "http.request"}], b""),
        ([JSON, length(1)], [{"type": "http.request", "body": b"1"}], b"1"),
        ([(b"content-type", b" Application/JSON ; charset=utf-8"), length(1)], [part(b"1", more=False)], b"1"),
        # A length that is no number is unknown.
        ([JSON, (b"content-length", b"many")], [part(b"1", more=False)], b"1"),
    ],
)
async def test_a_whole_body_is_read_once(
    headers: list[tuple[bytes, bytes]], messages: list[Message], body: bytes
) -> None:
    sender = Sender(*messages)
    context = made(sender, *headers)
    assert context.has_body
    for _ in range(2):
        await context.read_body()
        assert (context.body, context.body_was_read, context.has_body, sender.left) == (body, True, False, [])


async def test_a_request_without_a_body_is_not_waited_for() -> None:
    context = made(Sender())
    assert not context.has_body
    await context.read_body()
    await context.read_raw_body()
    assert (context.body, context.body_was_read) == (b"", False)


CLOSE = {"Connection": "close"}


@pytest.mark.parametrize(
    ("headers", "messages", "left", "refusal"),
    [
        # One byte too many: announced, all at once, and in parts. The rest is read, and the connection ends.
        ([JSON, length(11)], [part(b"x" * 11, more=False)], 0,
         (413, "PAYLOAD_TOO_LARGE", "the body must be at most 10 bytes long", CLOSE)),
        ([JSON, CHUNKED], [part(b"x" * 11, more=False), END], 1,
         (413, "PAYLOAD_TOO_LARGE", "the body must be at most 10 bytes long", CLOSE)),
        ([JSON, CHUNKED], [{"type": "http.request", "body": b"x" * 11}, END], 1,
         (413, "PAYLOAD_TOO_LARGE", "the body must be at most 10 bytes long", CLOSE)),
        ([JSON, CHUNKED], [part(b"x" * 10), part(b"x"), {"type": "http.request"}, END], 1,
         (413, "PAYLOAD_TOO_LARGE", "the body must be at most 10 bytes long", CLOSE)),
        # Another content type is refused before a byte is read, unless the body is too large anyway.
        ([length(10)], [END], 1,
         (415, "UNSUPPORTED_MEDIA_TYPE", "the body must be JSON: Content-Type: application/json", None)),
        ([(b"content-type", b"text/json"), CHUNKED], [END], 1,
         (415, "UNSUPPORTED_MEDIA_TYPE", "the body must be JSON: Content-Type: application/json", None)),
        ([length(11)], [END], 0, (413, "PAYLOAD_TOO_LARGE", "the body must be at most 10 bytes long", CLOSE)),
        ([JSON, length(10)], [part(b"x"), END], 0,
         (400, "BAD_REQUEST", "the connection was closed before the body was complete", None)),
        ([JSON, length(10)], [END], 0,
         (400, "BAD_REQUEST", "the connection was closed before the body was complete", None)),
    ],
)  # fmt: skip
async def test_a_body_that_cannot_be_taken_is_refused_with_the_reason(
    headers: list[tuple[bytes, bytes]], messages: list[Message], left: int, refusal: tuple[object, ...]
) -> None:
    sender = Sender(*messages)
    context = made(sender, *headers)
    with pytest.raises(HttpError) as refused:
        await context.read_body()
    error = refused.value
    assert (error.status_code, error.code, error.message, error.headers) == refusal
    assert len(sender.left) == left
    assert (context.body, context.body_was_read) == (b"", False)


async def test_a_body_that_does_not_come_is_not_waited_for_longer_than_the_bound() -> None:
    late = made(Sender(part(b"x")), JSON, length(10), seconds_max=0.001)
    with pytest.raises(HttpError) as refused:
        await late.read_body()
    error = refused.value
    assert (error.status_code, error.code, error.message, error.headers) == (
        408, "BODY_TIMEOUT", "the body did not arrive in time", CLOSE,
    )  # fmt: skip
    # What is too large is dropped for as long, and then refused as too large.
    for headers in ((JSON, length(11)), (JSON, CHUNKED)):
        large = made(Sender(part(b"x" * 11)), *headers, seconds_max=0.001)
        with pytest.raises(HttpError) as refused:
            await large.read_body()
        assert refused.value.status_code == 413


async def test_a_raw_body_has_any_content_type_and_twice_the_length() -> None:
    context = made(Sender(part(b"x" * 20, more=False)), (b"content-type", b"text/plain"), length(20))
    await context.read_raw_body()
    assert context.body == b"x" * 20
    with pytest.raises(HttpError) as refused:
        await made(Sender(part(b"x" * 21, more=False)), length(21)).read_raw_body()
    assert refused.value.message == "the body must be at most 20 bytes long"


async def test_what_is_dropped_of_a_too_large_body_is_bounded_to_the_byte() -> None:
    for size, is_read in ((DISCARDED_BYTES_MAX - 1, True), (DISCARDED_BYTES_MAX, False)):
        sender = Sender(part(b"x" * size), part(b""), END)
        with pytest.raises(HttpError):
            await made(sender, JSON, length(11)).read_body()
        assert (sender.left == []) is is_read, size


def test_a_request_without_a_key_is_an_operation_of_its_own() -> None:
    context = made(Sender())
    operations = [operation_of(context) for _ in range(2)]
    for operation in operations:
        assert ORDER_ID_TEXT.fullmatch(operation.operation_id)
        assert operation.is_resumed is False
    assert operations[0] != operations[1]
    context.operation = IdempotentOperation("known", is_resumed=True)
    assert operation_of(context) == IdempotentOperation("known", True)


def test_ids_of_requests_count_in_base_16() -> None:
    next_id = request_ids("a1")
    assert [next_id() for _ in range(17)][::8] == ["a1-1", "a1-9", "a1-11"]


def test_the_target_is_the_path_and_the_query_as_they_were_sent() -> None:
    async def nothing() -> Message:
        raise AssertionError("nothing is read")

    def target(**scope: object) -> bytes:
        shown = {"path": "/a b", "query_string": b"", "headers": []} | scope
        return RequestContext("r1", shown, nothing, BodyLimits(1, 1.0)).target

    assert target(raw_path=b"/a%20b", query_string=b"q=%C3%A9") == b"/a%20b?q=%C3%A9"
    assert target(raw_path=b"/a%20b") == b"/a%20b"
    assert target(query_string=b"?") == b"/a b??"


def test_a_request_is_nobodys_and_unread_before_its_head_is_read() -> None:
    scope = {"type": "http", "method": "PUT", "path": "/a", "client": ("203.0.113.7", 5), "headers": []}
    context = RequestContext("r1", scope, Sender().receive, BodyLimits(10, 1.0))
    shown = {
        name: getattr(context, name)
        for name in (
            "request_id", "method", "path", "address", "identity", "refusal", "body", "body_was_read", "status",
            "headers", "authorization", "content_type", "takes_body", "operation", "has_body",
        )
    }  # fmt: skip
    assert shown == {
        "request_id": "r1", "method": "PUT", "path": "/a", "address": "203.0.113.7", "identity": None, "refusal": "",
        "body": b"", "body_was_read": False, "status": 0, "headers": [(b"x-request-id", b"r1")], "authorization": None,
        "content_type": b"", "takes_body": False, "operation": None, "has_body": False,
    }  # fmt: skip


def test_a_websocket_has_the_method_get_and_a_unix_socket_no_address() -> None:
    context = made(Sender())
    assert (context.method, context.address) == ("GET", "")
    context = RequestContext("r", {"path": "/", "client": None}, Sender().receive, BodyLimits(1, 1.0))
    assert context.address == ""
