"""A client that keeps an order book by the steps of docs/guides/order-book.md, and by nothing else."""

import asyncio
import json
import random
import zlib
from contextlib import suppress
from decimal import Decimal
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from tests.support.reference_book import Sides

PAUSE_S, PAUSE_S_MAX = 0.02, 1.0


class GuideClient:
    """One channel's book. `run` keeps it until cancelled; `cut` ends the connection as a fault would."""

    def __init__(self, url: str, channel: str) -> None:
        self._url = url
        self.channel = channel
        self._socket: ClientConnection | None = None
        self._sides: tuple[dict[str, str], dict[str, str]] = ({}, {})
        self.sequence: int | None = None
        self.connections = 0
        self.snapshots = 0
        self.updates = 0
        self.resubscribed = 0
        """How often step 7 was taken, the times of `lose_the_book` among them."""
        self.lost = 0
        self.history: dict[int, Sides] = {}
        """The book at each sequence that it had."""

    async def run(self) -> None:
        """Steps 1 and 8."""
        pause_s = PAUSE_S
        while True:
            with suppress(WebSocketException, OSError):
                async with connect(self._url, compression=None, max_size=None) as self._socket:
                    self.connections += 1
                    self.sequence = None
                    await self._subscribe(self._socket)
                    async for text in self._socket:
                        pause_s = PAUSE_S
                        message = json.loads(text)
                        assert message["type"] != "error", message
                        if message.get("channel") == self.channel and "data" in message:
                            await self._take(self._socket, message["data"])
            await asyncio.sleep(random.uniform(0, pause_s))
            pause_s = min(2 * pause_s, PAUSE_S_MAX)

    def cut(self) -> None:
        """Lose the connection."""
        if self._socket is not None:
            self._socket.transport.abort()

    async def lose_the_book(self) -> None:
        """Step 7, as if a message had been lost in this program."""
        if self._socket is not None:
            self.lost += 1
            with suppress(ConnectionClosed):
                await self._repair(self._socket)

    @property
    def book(self) -> Sides:
        """Bids and asks, best first."""
        bids, asks = self._sides
        return (
            sorted(bids.items(), key=lambda level: Decimal(level[0]), reverse=True),
            sorted(asks.items(), key=lambda level: Decimal(level[0])),
        )

    async def _subscribe(self, socket: ClientConnection) -> None:
        await socket.send(json.dumps({"action": "subscribe", "channel": self.channel}))

    async def _take(self, socket: ClientConnection, data: dict[str, Any]) -> None:
        if data["type"] == "snapshot":
            self._sides = ({}, {})
            self.snapshots += 1
        elif self.sequence is None:
            return
        elif data["prevSeq"] != self.sequence:
            await self._repair(socket)
            return
        else:
            self.updates += 1
        for side, levels in zip(self._sides, (data["bids"], data["asks"]), strict=True):
            for price, quantity in levels:
                if quantity == "0":
                    side.pop(price)
                else:
                    side[price] = quantity
        self.sequence = data["seq"]
        book = self.book
        if _checksum(book) != data["checksum"]:
            await self._repair(socket)
            return
        known = self.history.setdefault(data["seq"], book)
        assert known == book, f"{self.channel} has two books at {data['seq']}"

    async def _repair(self, socket: ClientConnection) -> None:
        self.resubscribed += 1
        self.sequence = None
        await self._subscribe(socket)


def _checksum(book: Sides) -> int:
    bids, asks = book
    texts = []
    for place in range(10):
        texts += [":".join(side[place]) for side in (bids, asks) if place < len(side)]
    return zlib.crc32(":".join(texts).encode())


async def ended(*tasks: asyncio.Task[None]) -> None:
    """Cancel the clients' tasks. Raises what one of them failed with."""
    for task in tasks:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError):
            raise outcome
