"""Frames that break RFC 6455, or bounds of the edge: the connection is closed with the code that says why."""

import struct

import pytest
from websockets.asyncio.client import connect

from openspot.kit.settings import Settings
from openspot.ws_edge.metrics import CONNECTIONS
from tests.support.raw_websocket import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, RawClient, frame
from tests.support.waiting import eventually
from tests.support.websocket_edge import nothing_but_a_pong, open_client, receive, running_edge

COMPRESSED = 0b0100_0000
BOMB = b"\xed\xc1\x01\x01\x00\x00\x00\x80\x90\xfe\xaf\xee\x08\x0a" + b"\x00" * 64
"""The beginning of a deflate stream that would grow."""

BROKEN = {
    "not masked": (frame(TEXT, b"{}", masked=False), 1002),
    "compressed without an agreement": (frame(TEXT, BOMB, reserved=COMPRESSED), 1002),
    "other reserved bits": (frame(TEXT, b"{}", reserved=0b0011_0000), 1002),
    "unknown opcode": (frame(3, b"{}"), 1002),
    "unknown control opcode": (frame(11), 1002),
    "fragmented ping": (frame(PING, b"", fin=False), 1002),
    "long ping": (frame(PING, b"x" * 126), 1002),
    "continuation of nothing": (frame(CONTINUATION, b"{}"), 1002),
    "message within a message": (frame(TEXT, b"{", fin=False) + frame(TEXT, b"}"), 1002),
    "text that is not UTF-8": (frame(TEXT, b'{"action":"\xff"}'), 1007),
    "fragments that are not UTF-8": (frame(TEXT, b"\xe2\x82", fin=False) + frame(CONTINUATION, b"x"), 1007),
    "surrogate": (frame(TEXT, b"\xed\xa0\x80"), 1007),
    "announced size of 2 ** 62": (frame(TEXT, length=1 << 62), 1009),
    "announced size beyond 63 bits": (frame(TEXT, length=(1 << 64) - 1), 1009),
    "large binary message": (frame(BINARY, b"x" * 16_385), 1009),
    "many small fragments": (frame(TEXT, b"x", fin=False) + frame(CONTINUATION, b"x", fin=False) * 16_384, 1009),
    "endless empty fragments": (frame(TEXT, b"", fin=False) + frame(CONTINUATION, fin=False) * 10_000, 1009),
    "close with half a code": (frame(CLOSE, b"\x03"), 1002),
    "close code 1005": (frame(CLOSE, struct.pack("!H", 1005)), 1002),
    "close code 999": (frame(CLOSE, struct.pack("!H", 999)), 1002),
    "close code 5000": (frame(CLOSE, struct.pack("!H", 5000)), 1002),
    "close reason that is not UTF-8": (frame(CLOSE, struct.pack("!H", 1000) + b"\xff"), 1007),
}


@pytest.mark.spec("B4.2-06", "A8-08")
async def test_a_broken_frame_closes_its_connection_with_its_code_and_no_other(edge: Settings) -> None:
    before = CONNECTIONS._value.get()
    async with open_client(edge) as other:
        for name, (data, code) in BROKEN.items():
            client = await RawClient.open(edge)
            assert client.is_accepted
            client.send(data)
            assert await client.close_code() == code, name
            await client.close()
            await nothing_but_a_pong(other)
    await eventually(lambda: CONNECTIONS._value.get() == before)


async def test_compression_is_never_agreed_on(edge: Settings) -> None:
    async with connect(f"{edge.ws_url}/", compression="deflate") as client:
        assert client.protocol.extensions == []
        await nothing_but_a_pong(client)
    raw = await RawClient.open(edge, b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=15\r\n")
    assert raw.is_accepted
    assert b"extensions" not in raw.head.lower()
    raw.abort()


@pytest.mark.parametrize("opcode", [PING, PONG])
async def test_a_flood_of_control_frames_is_closed_with_1008(settings: Settings, opcode: int) -> None:
    async with running_edge(settings.model_copy(update={"ws_messages_max": 100})) as edge:
        moderate = await RawClient.open(edge)
        moderate.send(frame(opcode) * 100 + frame(CLOSE, struct.pack("!H", 1000)))
        assert await moderate.close_code() == 1000
        await moderate.close()
        flooding = await RawClient.open(edge)
        flooding.send(frame(opcode) * 101)
        assert await flooding.close_code() == 1008
        await flooding.close()
        async with open_client(edge) as other:
            await nothing_but_a_pong(other)


async def test_a_message_in_fragments_with_pings_between_them_is_understood(edge: Settings) -> None:
    async with open_client(edge) as client:
        await client.send(['{"action"', ":", '"ping"', "}"])
        assert (await receive(client))["type"] == "pong"
    raw = await RawClient.open(edge)
    raw.send(frame(TEXT, b'{"action":', fin=False) + frame(PING, b"between") + frame(CONTINUATION, b'"ping"}'))
    answers = [await raw.frame(), await raw.frame()]
    assert answers[0] == (PONG, b"between")
    assert answers[1][0] == TEXT
    assert b'"type":"pong"' in answers[1][1]
    raw.abort()
