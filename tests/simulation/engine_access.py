"""The engine as a router of the simulation reaches it: the real client and stream reader, without a network."""

import asyncio
import re
from typing import cast

import aiohttp
import msgspec

from openspot.contracts.engine_events import EngineEvent, Hello, StreamEntry, symbol_of
from openspot.domain.partition import Partition
from openspot.engine.stream.partition_filter import PartitionFilter
from openspot.engine_client.commands import EngineCommands
from openspot.kit.frames import FrameClient, NoReplyError, NotConnectedError
from tests.simulation.engine import EPOCH, EngineGoneError, SimulatedEngine
from tests.simulation.process import Place, Process, Weather

FRAME_MAX = 20
"""Events in one message of the stream."""
FRAME_LATE = 0.3
"""The probability that a message of the stream is late, so that a batch of the translator ends before it."""
FRAME_DELAY_S = 0.03
"""Longer than the time between two batches of the translator."""


class _Frames:
    """A connection to the engine. Each request goes to its present life."""

    def __init__(self, engine: SimulatedEngine, process: Process, weather: Weather) -> None:
        self._engine = engine
        self._process = process
        self._weather = weather

    async def request(self, name: str, message: bytes, timeout_s: float, connect_timeout_s: float) -> bytes:
        """The reply, unless the engine dies meanwhile or the reply is lost. Raises the errors of a FrameClient."""
        await self._process.act(Place.ENGINE, lambda: None)
        if not self._engine.is_up:
            raise NotConnectedError(f"no connection within {connect_timeout_s} s")
        try:
            async with asyncio.timeout(timeout_s):
                reply = await self._engine.methods.answer(name, message)
                await self._process.act(Place.ENGINE, lambda: None)
        except (EngineGoneError, TimeoutError) as error:
            raise NoReplyError(repr(error)) from error
        if self._weather.strikes(0.01):
            raise NoReplyError("the reply was lost")
        return reply

    async def close(self) -> None:
        """Do nothing: there is no real connection."""


class SimulatedEngineClient(EngineCommands):
    """The real client, with its messages, on a connection that the simulation makes."""

    def __init__(self, engine: SimulatedEngine, process: Process, weather: Weather) -> None:
        self._place_timeout_s = self._query_timeout_s = 2.0
        self._frames = cast(FrameClient, _Frames(engine, process, weather))


class SimulatedSession:
    """The part of an HTTP session that an EngineStream uses."""

    def __init__(self, engine: SimulatedEngine, process: Process, weather: Weather) -> None:
        self._parts = engine, process, weather

    async def ws_connect(self, url: str, **_: object) -> "_Socket":
        """Connect to `/ws/events`."""
        engine, process, _weather = self._parts
        await process.io(Place.ENGINE)
        if not engine.is_up:
            raise aiohttp.ClientConnectionError("no engine")
        found = re.search(r"fromSeq=(\d+)&batch=true(?:&partition=(\d+)&partitions=(\d+))?$", url)
        assert found is not None, "a router asks for a sequence"
        number, count = int(found[2] or 0), int(found[3] or 1)
        selection = PartitionFilter(Partition(number, count), asyncio.get_running_loop().time) if count > 1 else None
        return _Socket(*self._parts, int(found[1]), selection)


class _Socket:
    def __init__(
        self,
        engine: SimulatedEngine,
        process: Process,
        weather: Weather,
        from_sequence: int,
        selection: PartitionFilter | None,
    ) -> None:
        self._engine = engine
        self._process = process
        self._weather = weather
        self._life = engine.lives
        self._next = from_sequence
        self._selection = selection
        self._greeted = False

    async def receive(self, _: float | None = None) -> aiohttp.WSMessage:
        """Return the hello, then events as they come, until the engine dies or the connection is lost."""
        await self._process.io(Place.ENGINE)
        if not self._greeted:
            self._greeted = True
            return _text([msgspec.json.encode(Hello(EPOCH, 1, len(self._engine.messages)))])
        while True:
            if self._life != self._engine.lives or not self._engine.is_up or self._weather.strikes(0.01):
                return aiohttp.WSMessage(aiohttp.WSMsgType.CLOSED, None, None)
            count = 1 + self._weather.chance.randrange(FRAME_MAX)
            messages = self._engine.messages[self._next - 1 : self._next - 1 + count]
            if messages:
                self._next += len(messages)
                messages = self._selected(messages)
            elif self._selection is not None:
                messages = await self._rest(self._selection)
            if messages:
                if self._weather.strikes(FRAME_LATE):
                    # What came before is translated meanwhile.
                    await asyncio.sleep(FRAME_DELAY_S)
                return _text(messages)
            if self._next > len(self._engine.messages) and (self._selection is None or self._selection.pause_s is None):
                await self._engine.changed.wait()

    def _selected(self, messages: list[bytes]) -> list[bytes]:
        """The events of the partition, as the engine selects them."""
        if self._selection is None:
            return messages
        events = msgspec.json.Decoder(list[StreamEntry]).decode(b"[" + b",".join(messages) + b"]")
        symbols = [symbol_of(cast(EngineEvent, event)) for event in events]
        return self._selection.select(self._next - len(messages), symbols, messages)

    async def _rest(self, selection: PartitionFilter) -> list[bytes]:
        """What the engine says while no events come: which ones it left out."""
        pause_s = selection.pause_s
        if pause_s is None:
            return []
        try:
            async with asyncio.timeout(pause_s):
                await self._engine.changed.wait()
        except TimeoutError:
            return selection.rest()
        return []

    async def close(self) -> None:
        """Do nothing: there is no real connection."""


def _text(messages: list[bytes]) -> aiohttp.WSMessage:
    return aiohttp.WSMessage(aiohttp.WSMsgType.TEXT, b"[" + b",".join(messages) + b"]", None)
