"""One client of the simulated venue: its subscriptions, the frames that wait for it, and the reasons to cut it off."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from aiohttp import WSMsgType, web

from openspot.kit.tasks import end_tasks
from openspot.venue_simulator.faults import FaultInjector, Faults
from openspot.venue_simulator.streams import REQUESTS_PER_S_MAX, RequestError, carry_out, error_reply

FRAMES_WAITING_MAX = 4096
"""At most this many frames wait for one client. A client further behind is cut off, as on the real venue."""
PING_INTERVAL_S = 20.0
PONG_TIMEOUT_S = 60.0
ENDED = (WSMsgType.CLOSED, WSMsgType.CLOSING, WSMsgType.ERROR)
SILENCE_POLL_S = 0.05
POLICY_VIOLATION = 1008
GOING_AWAY = 1001


class ClientConnection:
    """A WebSocket connection. With `wraps` each message names its stream."""

    def __init__(
        self,
        socket: web.WebSocketResponse,
        request: web.Request,
        streams: set[str],
        *,
        wraps: bool,
        injector: FaultInjector,
        faults: Callable[[], Faults],
    ) -> None:
        self.streams = streams
        self.wraps = wraps
        self._socket = socket
        self._request = request
        self._injector = injector
        self._faults = faults
        self._frames: asyncio.Queue[bytes] = asyncio.Queue(FRAMES_WAITING_MAX)
        self._messages = 0
        self._last_pong = time.monotonic()

    def offer(self, frame: bytes) -> None:
        """Queue a message; cut the client off if too many wait."""
        for part in self._with_faults(frame):
            try:
                self._frames.put_nowait(part)
            except asyncio.QueueFull:
                self.cut()
                return

    async def put(self, frame: bytes) -> None:
        """Queue a message, and wait for room if needed; cut the client off if it does not read in time."""
        for part in self._with_faults(frame):
            if self._frames.full():
                try:
                    async with asyncio.timeout(PONG_TIMEOUT_S):
                        await self._frames.put(part)
                except TimeoutError:
                    self.cut()
                    return
            else:
                self._frames.put_nowait(part)

    def _with_faults(self, frame: bytes) -> list[bytes]:
        faults = self._faults()
        if faults.is_silent:
            return []
        self._messages += 1
        if 0 < faults.disconnect_after <= self._messages:
            self.cut()
            return []
        return self._injector.frames(faults, frame)

    def cut(self) -> None:
        """End the connection at once, without a close frame."""
        if self._request.transport is not None:
            self._request.transport.abort()

    async def close(self) -> None:
        """Send a close frame and end the connection."""
        await self._socket.close(code=GOING_AWAY)

    async def serve(self) -> None:
        """Serve the client until its connection ends."""
        tasks = [asyncio.create_task(self._send()), asyncio.create_task(self._ping())]
        requests: deque[float] = deque(maxlen=REQUESTS_PER_S_MAX)
        try:
            # The socket must not answer a close frame by itself: a silent venue does not.
            while (message := await self._socket.receive()).type not in ENDED:
                if message.type is WSMsgType.PONG:
                    self._last_pong = time.monotonic()
                elif message.type is WSMsgType.CLOSE:
                    await self._silence()
                    await self._socket.close()
                elif self._faults().is_silent:
                    continue
                elif message.type is WSMsgType.PING:
                    await self._socket.pong(message.data)
                elif message.type is WSMsgType.TEXT:
                    now = time.monotonic()
                    if len(requests) == REQUESTS_PER_S_MAX and now - requests[0] < 1:
                        await self._socket.close(code=POLICY_VIOLATION, message=b"Too many requests")
                        return
                    requests.append(now)
                    self._reply(message.data)
        finally:
            await end_tasks(*tasks)

    async def _silence(self) -> None:
        """Wait while the venue is silent and the client keeps the connection open."""
        while self._faults().is_silent and self._request.transport is not None:
            await asyncio.sleep(SILENCE_POLL_S)

    def _reply(self, text: str) -> None:
        try:
            reply = carry_out(text, self.streams)
        except RequestError as error:
            reply = error_reply(error)
        try:
            self._frames.put_nowait(reply)
        except asyncio.QueueFull:
            self.cut()

    async def _send(self) -> None:
        try:
            while True:
                frame = await self._frames.get()
                if pause_s := self._faults().pause_s:
                    await asyncio.sleep(pause_s)
                if not self._faults().is_silent:
                    await self._send_frame(frame)
        except ConnectionError:
            self.cut()

    async def _send_frame(self, frame: bytes) -> None:
        try:
            await self._socket.send_str(frame.decode())
        except UnicodeDecodeError:
            # Garbage that is not text is sent as a binary frame.
            await self._socket.send_bytes(frame)

    async def _ping(self) -> None:
        try:
            while True:
                await asyncio.sleep(PING_INTERVAL_S)
                if time.monotonic() - self._last_pong > PONG_TIMEOUT_S:
                    self.cut()
                elif not self._faults().is_silent:
                    await self._socket.ping()
        except ConnectionError:
            self.cut()
