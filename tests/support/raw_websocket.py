"""A WebSocket client that sends any bytes, for what no library would send."""

import asyncio
import struct
from contextlib import suppress

from openspot.kit.settings import Settings
from tests.support.waiting import stretched

HANDSHAKE = (
    b"GET %b HTTP/1.1\r\nHost: edge\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n%b\r\n"
)
TEXT, BINARY, CONTINUATION, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10
RECEIVE_S_MAX = stretched(60.0)


def frame(
    opcode: int, payload: bytes = b"", *, fin: bool = True, reserved: int = 0, masked: bool = True, length: int = -1
) -> bytes:
    """A client's frame; the mask is zero. `length` is the announced length if it is not the payload's."""
    announced = len(payload) if length < 0 else length
    head = bytes((fin << 7 | reserved | opcode,))
    mask_bit = masked << 7
    if announced < 126:
        head += bytes((mask_bit | announced,))
    elif announced < 1 << 16:
        head += bytes((mask_bit | 126,)) + struct.pack("!H", announced)
    else:
        head += bytes((mask_bit | 127,)) + struct.pack("!Q", announced)
    return head + (b"\0\0\0\0" if masked else b"") + payload


class RawClient:
    """An open connection. Made with `RawClient.open`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
        self.reader = reader
        self.writer = writer
        self.head = head
        """The head of the reply to the handshake."""

    @classmethod
    async def open(
        cls, edge: Settings, headers: bytes = b"", local_host: str | None = None, *, path: bytes = b"/", port: int = 0
    ) -> "RawClient":
        """Connect to the WebSocket edge, or to another port, and send the handshake.

        Raises OSError or IncompleteReadError if the edge closes instead.
        """
        local_address = None if local_host is None else (local_host, 0)
        reader, writer = await asyncio.open_connection(edge.host, port or edge.ws_port, local_addr=local_address)
        writer.write(HANDSHAKE % (path, headers))
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), RECEIVE_S_MAX)
        except BaseException:
            writer.close()
            raise
        return cls(reader, writer, head)

    @property
    def is_accepted(self) -> bool:
        """Whether the edge upgraded the connection."""
        return self.head.startswith(b"HTTP/1.1 101 ")

    def send(self, data: bytes) -> None:
        """Send bytes, without waiting."""
        self.writer.write(data)

    async def close_code(self) -> int:
        """Skip messages until the edge's close frame, and return its code; 0 if the connection ends without one."""
        try:
            while True:
                opcode, payload = await asyncio.wait_for(self.frame(), RECEIVE_S_MAX)
                if opcode == CLOSE:
                    return int.from_bytes(payload[:2])
        except (asyncio.IncompleteReadError, ConnectionError):
            return 0

    async def frame(self) -> tuple[int, bytes]:
        """The opcode and the payload of the next frame. Raises IncompleteReadError after the end."""
        first, length = await self.reader.readexactly(2)
        if length == 126:
            (length,) = struct.unpack("!H", await self.reader.readexactly(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", await self.reader.readexactly(8))
        return first & 15, await self.reader.readexactly(length)

    def abort(self) -> None:
        """Vanish."""
        self.writer.transport.abort()

    async def close(self) -> None:
        """End the connection."""
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


class Crowd:
    """Many connections from one address, each held for as long as the edge lets it."""

    UNDER_WAY_MAX = 100

    def __init__(self, edge: Settings, local_host: str) -> None:
        self._edge = edge
        self._local_host = local_host
        self._members: list[_Member] = []

    async def gather(self, count: int) -> None:
        """Open this many, one batch after the other. Each is upgraded, refused or cut before the next batch."""
        loop = asyncio.get_running_loop()
        for begin in range(0, count, self.UNDER_WAY_MAX):
            batch = [_Member() for _ in range(min(self.UNDER_WAY_MAX, count - begin))]
            self._members += batch
            await asyncio.gather(
                *(
                    loop.create_connection(
                        lambda member=member: member,
                        self._edge.host,
                        self._edge.ws_port,
                        local_addr=(self._local_host, 0),
                    )
                    for member in batch
                ),
                return_exceptions=True,
            )
            for member in batch:
                if member.transport is not None:
                    await asyncio.wait_for(member.replied, RECEIVE_S_MAX)

    def replies(self, status: int) -> int:
        """How many connections got this HTTP status."""
        return sum(member.head.startswith(b"HTTP/1.1 %d " % status) for member in self._members)

    @property
    def cut(self) -> int:
        """How many connections were ended without a reply."""
        return sum(not member.head for member in self._members)

    def disperse(self) -> None:
        """End all connections at once."""
        for member in self._members:
            if member.transport is not None:
                member.transport.abort()


class _Member(asyncio.Protocol):
    """One connection of a crowd. `replied` is done when a reply or the end of the connection has come."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.head = b""
        self.replied = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(HANDSHAKE % (b"/", b""))

    def data_received(self, data: bytes) -> None:
        if not self.replied.done():
            self.head = data
            self.replied.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.replied.done():
            self.replied.set_result(None)
