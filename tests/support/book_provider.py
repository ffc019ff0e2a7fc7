"""An order book whose market data the test plays, and a client's look at what the edge makes of it."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import GetBook, GetBookReply, OrderBookEvent
from openspot.contracts.messages.market_data import Level
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.kit.bus import Bus, encode
from tests.support.websocket_edge import Publish, ask, receive

SYMBOL = "BTC-USD"
CHANNEL = f"orderbook:{SYMBOL}"
SUBJECT = f"marketdata.orderbook.{SYMBOL}"


class BookProvider:
    """A book of bids, one level at each whole price; what market data would publish and reply."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self.seq = 10
        self.bids: dict[int, str] = {100: "1", 99: "2", 98: "3"}
        self.requests = 0
        self.refusal: Refusal | None = None
        self.released = asyncio.Event()
        """Replies wait for it."""
        self.released.set()

    async def reply(self, request: GetBook) -> GetBookReply:
        """The reply to `marketdata.books.get`."""
        if request != GetBook(SYMBOL):
            return GetBookReply.refused(Refusal(RefusalCode.NOT_FOUND, "no such market"))
        self.requests += 1
        book = self.book("snapshot", None, self.levels)
        await self.released.wait()
        return GetBookReply(book) if self.refusal is None else GetBookReply.refused(self.refusal)

    @property
    def levels(self) -> list[Level]:
        """The bids, best first."""
        return [(str(price), self.bids[price]) for price in sorted(self.bids, reverse=True)]

    def book(self, kind: Any, prev_seq: int | None, bids: list[Level]) -> OrderBookEvent:
        """A message with these bids and the checksum of the book."""
        text = ":".join(":".join(level) for level in self.levels[:10])
        return OrderBookEvent(SYMBOL, kind, self.seq, prev_seq, self.seq, bids, [], zlib.crc32(text.encode()))

    def change(self, price: int, quantity: str) -> OrderBookEvent:
        """The next update, not yet published."""
        if quantity == "0":
            del self.bids[price]
        else:
            self.bids[price] = quantity
        before, self.seq = self.seq, self.seq + 3
        return self.book("update", before, [(str(price), quantity)])

    async def publish(self, event: OrderBookEvent) -> None:
        """Publish a message."""
        await self._publish(SUBJECT, encode(event))


@pytest.fixture
async def provider(bus: Bus, publish: Publish) -> AsyncIterator[BookProvider]:
    """Replies to requests for its book."""
    made = BookProvider(publish)
    await bus.serve(subjects.MARKETDATA_BOOKS_GET, "market-data", GetBook, made.reply, GetBookReply.refused)
    await bus.check()
    yield made
    made.released.set()


def book_of(push: dict[str, Any]) -> tuple[str, int, int | None, list[list[str]]]:
    """(type, seq, prevSeq, bids) of a push; both types and both sequences are the same."""
    book = push["data"]
    assert (push["type"], push["seq"]) == (book["type"], book["seq"])
    return book["type"], book["seq"], book["prevSeq"], book["bids"]


async def subscribe_to_book(client: Any, channel: str = CHANNEL) -> dict[str, Any]:
    """Subscribe and return the snapshot."""
    assert await ask(client, action="subscribe", channel=channel) == {"type": "subscribed", "channel": channel}
    return await receive(client)
