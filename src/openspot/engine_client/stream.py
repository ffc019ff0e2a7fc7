"""One connection to the engine's event stream `/ws/events` (facts A6.4-01 to A6.4-05).

A task reads and decodes events into a bounded buffer. While the buffer is full, it reads nothing, and the engine's
side of the connection fills up. After the connection ends, callers still get the buffered events, then
StreamEndedError.

A connection may ask for one partition of the events. Then the engine says which events it leaves out, so that the
consumer knows how far it has come.
"""

import asyncio
from collections import deque
from types import TracebackType
from typing import Any, Literal

import aiohttp
import msgspec

from openspot.contracts.engine_events import EngineEvent, Hello, SkippedEvents, StreamEntry, StreamMessage
from openspot.domain.partition import WHOLE, Partition

BUFFERED_MAX = 4096
"""While at least this many events are buffered, no message is read."""
HEARTBEAT_S = 30.0
_MESSAGE_BYTES_MAX = 64 * 1024 * 1024


class _Refused(StreamMessage, tag="error", frozen=True):
    """The engine's last message if it cannot serve the requested events."""

    code: str
    message: str


_Entry = StreamEntry | _Refused


class StreamEndedError(Exception):
    """The connection has ended; the message says why. A new one can resume after the last event taken."""


class EngineStream:
    """A connection, used as `async with EngineStream(...) as stream`. `hello` tells which events are available.

    `next_sequence` is the event after those that were taken. The events before it that were not taken belong to other
    partitions. The engine has `hello_s_max` seconds for its hello.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        engine_url: str,
        from_sequence: int,
        partition: Partition = WHOLE,
        *,
        hello_s_max: float,
    ) -> None:
        self._session = session
        self._hello_s_max = hello_s_max
        self._url = f"{engine_url}/ws/events?fromSeq={from_sequence}&batch=true"
        if partition.total > 1:
            self._url += f"&partition={partition.number}&partitions={partition.total}"
        self._socket: aiohttp.ClientWebSocketResponse[Literal[False]] | None = None
        self._decoder: msgspec.json.Decoder[list[_Entry]] = msgspec.json.Decoder(list[_Entry])
        self._buffer: deque[EngineEvent | SkippedEvents] = deque()
        self._arrived = asyncio.Event()
        self._space = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self._end: str | None = None
        self.hello = Hello("", 0, 0)
        self.last_received = 0
        self.next_sequence = from_sequence

    async def __aenter__(self) -> "EngineStream":
        """Connect and read the hello. Raises StreamEndedError if there is no stream to read."""
        try:
            # The session's own timeout is for requests; a stream has no end.
            self._socket = await self._session.ws_connect(
                self._url,
                heartbeat=HEARTBEAT_S,
                max_msg_size=_MESSAGE_BYTES_MAX,
                compress=0,
                decode_text=False,
            )
            message = await self._socket.receive(self._hello_s_max)
            entries = self._decoded(message.type, message.data)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            await self._close()
            raise StreamEndedError(f"no event stream: {error!r}") from error
        except StreamEndedError:
            await self._close()
            raise
        if len(entries) != 1 or not isinstance(entries[0], Hello):
            await self._close()
            raise StreamEndedError("the event stream does not begin with a hello")
        self.hello = entries[0]
        self.last_received = self.hello.last_seq
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        await self._close()

    @property
    def waiting(self) -> int:
        """How many events, and notes of skipped ones, have arrived but have not been taken."""
        return len(self._buffer)

    async def arrived(self) -> None:
        """Wait until there is something to take. Raises StreamEndedError after the end and the last event."""
        while not self._buffer:
            if self._end is not None:
                raise StreamEndedError(self._end)
            self._arrived.clear()
            await self._arrived.wait()

    def take(self, events_max: int) -> list[EngineEvent]:
        """Remove and return the oldest events that have arrived, at most `events_max`.

        Returns fewer or none if events of other partitions were skipped. Raises StreamEndedError at a gap.
        """
        events: list[EngineEvent] = []
        for _ in range(min(events_max, len(self._buffer))):
            entry = self._buffer.popleft()
            if isinstance(entry, SkippedEvents):
                first, last = entry.first_seq, entry.last_seq
            else:
                first = last = entry.seq
                events.append(entry)
            if first != self.next_sequence:
                raise StreamEndedError(f"event {first} came where {self.next_sequence} was due")
            self.next_sequence = last + 1
        self._space.set()
        return events

    async def _read(self) -> None:
        assert self._socket is not None, "reading begins after the connection"
        try:
            while True:
                if len(self._buffer) >= BUFFERED_MAX:
                    self._space.clear()
                    await self._space.wait()
                message = await self._socket.receive()
                for entry in self._decoded(message.type, message.data):
                    if isinstance(entry, Hello | _Refused):
                        raise StreamEndedError(f"the engine ends the event stream: {entry}")
                    self._buffer.append(entry)
                if self._buffer:
                    newest = self._buffer[-1]
                    sequence = newest.last_seq if isinstance(newest, SkippedEvents) else newest.seq
                    self.last_received = max(self.last_received, sequence)
                    self._arrived.set()
        except (StreamEndedError, aiohttp.ClientError, OSError) as error:
            self._end = str(error) or repr(error)
            self._arrived.set()

    def _decoded(self, kind: aiohttp.WSMsgType, data: Any) -> list[_Entry]:
        if kind not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            raise StreamEndedError(f"the engine ended the event stream: {kind.name} {data!r}")
        try:
            return self._decoder.decode(data)
        except msgspec.MsgspecError as error:
            raise StreamEndedError(f"unreadable events: {error}") from error

    async def _close(self) -> None:
        if self._socket is not None:
            await self._socket.close()
