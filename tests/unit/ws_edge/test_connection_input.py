"""What one client may send, byte by byte: the bounds of the handshake, slices, rates, parts, and what is dropped."""

import asyncio
from typing import Any

import msgspec

from tests.unit.ws_edge.scripted_connection import (
    CLIENTS_PING,
    CLIENTS_PONG,
    EOF,
    HANDSHAKE,
    PONG,
    Served,
    client_text,
    closing,
)

EMPTY_TEXT = client_text(b"")


async def messages(client: Served) -> list[Any]:
    """The messages that have come and were not read yet."""
    read = []
    while True:
        try:
            async with asyncio.timeout(0):
                read.append(await client.edge.recv())
        except TimeoutError:
            return read


def send(client: Served, data: bytes, *, slices: int = 1) -> None:
    """The client sends data that is parsed in so many slices. Between two of them the others have their turns."""
    client.edge.data_received(data)
    for _ in range(slices):
        client.loop.advance(0.001)


async def test_a_handshake_of_65536_bytes_is_read_and_a_longer_one_refused() -> None:
    line = b"GET / HTTP/1.1\r\n"
    longest = line + (b"X: " + b"x" * 1000 + b"\r\n") * 66
    for size, refused in ((65_536, False), (65_537, True)):
        client = Served()
        client.edge.data_received(longest[:40_000])
        client.edge.data_received(longest[40_000:size])
        if not refused:
            assert (client.socket.take(), client.socket.ended) == ([], "")
            continue
        (answer,) = client.socket.take()
        head, body = answer.split(b"\r\n\r\n")
        assert head == (
            b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\n"
            b"content-length: %d\r\nconnection: close" % len(body)
        )
        assert msgspec.json.decode(body)["message"] == "a request head has at most 65536 bytes and 100 headers"
        assert client.socket.ended == "closed"


async def test_the_bytes_of_a_handshake_do_not_count_when_it_is_complete() -> None:
    client = Served(messages_max=10_000).shake_hands()
    for _ in range(300):
        send(client, client_text(b"x" * 248))
        await messages(client)
    assert (client.socket.take(), client.socket.ended) == ([], "")


async def test_the_parts_of_a_handshake_are_one_request() -> None:
    client = Served()
    for begin in range(0, len(HANDSHAKE), 10):
        assert client.edge.request is None
        client.edge.data_received(HANDSHAKE[begin : begin + 10])
    assert client.edge.request is not None
    assert client.edge.request.path == "/"


async def test_256_bytes_are_parsed_at_once_and_more_of_them_in_turns_of_256() -> None:
    client = Served().shake_hands()
    two, three = client_text(b"x" * 120) + client_text(b"y" * 124), client_text(b"z" * 125) + client_text(b"w" * 120)
    assert (len(two), len(three)) == (256, 257)
    client.edge.data_received(two)
    assert (await messages(client), client.socket.reads) == (["x" * 120, "y" * 124], True)
    client.edge.data_received(three)
    # What comes while something waits is parsed behind it, and does not take a second turn.
    client.edge.data_received(client_text(b"last"))
    assert (await messages(client), client.socket.reads, client.loop.timers) == ([], False, [0.0])
    client.loop.advance(0)
    assert (await messages(client), client.socket.reads, len(client.loop.timers)) == (["z" * 125], False, 1)
    client.loop.advance(0.001)
    assert (await messages(client), client.socket.reads, client.loop.timers) == (["w" * 120, "last"], True, [])
    client.edge.data_received(client_text(b"more"))
    assert await messages(client) == ["more"]
    # It takes turns again when it sends much again.
    send(client, three, slices=2)
    assert (await messages(client), client.socket.reads) == (["z" * 125, "w" * 120], True)


async def test_no_more_is_read_than_four_messages_that_wait_for_their_replies_and_a_slice() -> None:
    client = Served().shake_hands()
    eight = b"".join(client_text(str(number).encode() * 94) for number in range(8))
    assert len(eight) == 800
    client.edge.data_received(eight[:500])
    client.edge.data_received(eight[500:])
    for _ in range(9):
        client.loop.advance(0.001)
    # Two slices have the first five messages. One more than four may wait, and nothing more is parsed.
    assert (client.socket.reads, client.loop.timers, len(client.edge._received)) == (False, [], 288)
    assert await client.edge.recv() == "0" * 94
    client.loop.advance(0.001)
    assert len(client.edge._received) == 288
    for number in range(1, 4):
        assert await client.edge.recv() == str(number) * 94
    # One waits: there is room again.
    assert len(client.loop.timers) == 1
    client.loop.advance(0.001)
    client.loop.advance(0.001)
    assert (await messages(client), client.socket.reads) == ([str(n) * 94 for n in range(4, 8)], True)


async def test_small_messages_are_read_again_when_those_before_have_their_replies() -> None:
    client = Served().shake_hands()
    for number in range(5):
        client.edge.data_received(client_text(str(number).encode()))
    assert client.socket.reads is False
    for _ in range(4):
        await client.edge.recv()
    assert client.socket.reads is True
    assert client.loop.timers == []


async def test_a_socket_that_is_closing_is_not_read_and_its_input_is_dropped() -> None:
    client = Served().shake_hands()
    client.edge.data_received(client_text(b"x") * 100)
    client.socket.close()
    client.edge.data_received(client_text(b"y") * 100)
    client.loop.advance(1.0)
    assert (len(client.edge._received), await messages(client), client.loop.timers) == (0, [], [])


async def test_a_client_may_send_so_many_messages_at_once_and_then_one_for_each_tenth_of_the_time() -> None:
    client = Served(messages_max=10).shake_hands()
    client.loop.now = 5000.25
    assert [client.edge.note_message() for _ in range(10)] == [True] * 10
    client.loop.advance(1.0)
    assert client.edge.note_message() is True
    client.loop.advance(0.75)
    assert client.written == []
    assert client.edge.note_message() is False
    assert client.written == [closing(1008, "more than 10 messages in 10 s"), EOF]
    assert client.floods == ["198.51.100.7"]


async def test_pings_pongs_and_parts_count_as_messages() -> None:
    for frames in ([CLIENTS_PING] * 4, [CLIENTS_PONG] * 4, [client_text(b"x", fin=False)] + 3 * [b"\x00\x80\0\0\0\0"]):
        client = Served(messages_max=3).shake_hands()
        for frame in frames[:3]:
            client.edge.data_received(frame)
        assert closing(1008, "more than 3 messages in 10 s") not in client.written
        client.edge.data_received(frames[3])
        assert client.written[-2:] == [closing(1008, "more than 3 messages in 10 s"), EOF]


async def test_the_rate_of_pings_is_measured_by_the_time_when_they_came() -> None:
    client = Served(messages_max=2).shake_hands()
    for _ in range(10):
        client.edge.data_received(CLIENTS_PING)
        client.loop.advance(5.0)
    assert client.written == [PONG] * 10
    # A message that ends counts when the session takes it from the queue.
    client.edge.data_received(EMPTY_TEXT * 5)
    assert client.written == []


async def test_a_message_may_come_in_257_parts() -> None:
    client = Served().shake_hands()

    def part(*, is_first: bool = False, fin: bool = False) -> bytes:
        return client_text(b"x", fin=fin, is_first=is_first)

    for _ in range(2):
        client.edge.data_received(part(is_first=True))
        reading = asyncio.create_task(client.edge.recv())
        for number in range(255):
            await asyncio.sleep(0)
            client.edge.data_received(part())
            # A pong between the parts is no part.
            if not number % 100:
                client.edge.data_received(CLIENTS_PONG)
        assert client.written == []
        await asyncio.sleep(0)
        client.edge.data_received(part(fin=True))
        assert await reading == "x" * 257
    client.edge.data_received(part(is_first=True))
    for _ in range(255):
        client.edge.data_received(part())
    assert client.written == []
    client.edge.data_received(part())
    assert client.written == [closing(1009, "more than 256 parts of a message"), EOF]
    assert client.floods == ["198.51.100.7"]


async def test_what_comes_after_a_flood_is_read_and_dropped() -> None:
    client = Served(messages_max=1).shake_hands()
    client.edge.data_received(CLIENTS_PING * 50)
    client.loop.advance(0.001)
    assert client.written == [PONG, PONG, *[PONG] * 40, closing(1008, "more than 1 messages in 10 s"), EOF]
    # The rest waited for its turn, and is gone.
    assert (client.socket.reads, len(client.edge._received)) == (True, 0)
    client.edge.data_received(CLIENTS_PING * 500)
    assert (client.socket.reads, len(client.edge._received), client.written) == (True, 0, [])
    client.edge.data_received(client_text(b"x"))
    assert (await messages(client), client.floods) == ([], ["198.51.100.7"])


async def test_a_frame_that_breaks_the_protocol_counts_as_a_flood_once() -> None:
    client = Served().shake_hands()
    client.edge.data_received(b"\xff\x80\0\0\0\0")
    (close, end) = client.written
    assert (close[:4], end) == (b"\x88" + bytes([len(close) - 2]) + (1002).to_bytes(2), EOF)
    assert client.floods == ["198.51.100.7"]
    client.edge.data_received(b"\xff\x80\0\0\0\0" * 100)
    assert (client.written, client.floods, client.socket.reads) == ([], ["198.51.100.7"], True)


async def test_a_client_that_does_not_take_its_pongs_is_cut_off_above_4_mebibytes() -> None:
    client = Served().shake_hands()
    client.socket.buffered = 4_194_304
    client.edge.data_received(CLIENTS_PING)
    assert client.socket.ended == ""
    client.socket.buffered = 4_194_305
    client.edge.data_received(CLIENTS_PING)
    assert client.socket.ended == "aborted"
