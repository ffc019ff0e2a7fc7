"""Order books that are kept up to date from the WebSocket edge, by the steps of docs/guides/order-book.md."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from types import TracebackType
from typing import Self

import msgspec

from openspot.client.errors import OpenSpotError, StreamClosedError, StreamError, UnreachableError
from openspot.client.events import ChannelFault, Event, Push, Reconnected
from openspot.client.records import Level
from openspot.client.stream import CUT_OFF, Stream
from openspot.contracts.messages import OrderBookEvent
from openspot.domain.order_book import BookContradictionError, TextBook, TextSide
from openspot.kit.backoff import Backoff

RESUBSCRIBE_PAUSE_S, RESUBSCRIBE_PAUSE_S_MAX = 0.1, 30.0
SNAPSHOT_TIMEOUT_S = 10.0
"""A subscription is sent again if its snapshot does not come within this time."""


class LocalBook:
    """The book of one market as this process keeps it.

    `seq` is the number of the newest engine event in it, None while it waits for a snapshot. `timestamp` is the time of
    that event in milliseconds since 1970.
    """

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        self.seq: int | None = None
        self.timestamp = 0
        self.fault: StreamError | None = None
        """The reason if there is no book: the platform has no such market."""
        self.resynchronised = 0
        """How often a snapshot replaced the book, the first one included."""
        self._book = TextBook()

    def bids(self, depth: int | None = None) -> list[Level]:
        """The best `depth` bids, or all, best first."""
        return _levels(self._book.bids, depth)

    def asks(self, depth: int | None = None) -> list[Level]:
        """The best `depth` asks, or all, best first."""
        return _levels(self._book.asks, depth)

    @property
    def best_bid(self) -> Level | None:
        """The best bid, None if there is none."""
        return next(iter(self.bids(1)), None)

    @property
    def best_ask(self) -> Level | None:
        """The best ask, None if there is none."""
        return next(iter(self.asks(1)), None)

    def take(self, message: OrderBookEvent) -> None:
        """Take the next message of the channel. A book without a snapshot ignores updates.

        Raises BookContradictionError if the message does not continue the book; the book then waits for a snapshot.
        """
        if message.type == "snapshot":
            self._book.clear()
        elif self.seq is None:
            return
        elif message.prev_seq != self.seq:
            self.drop()
            raise BookContradictionError("an update was missed")
        try:
            self._book.apply(message.bids, message.asks, message.checksum)
        except BookContradictionError:
            self.drop()
            raise
        self.seq, self.timestamp = message.seq, message.timestamp
        if message.type == "snapshot":
            self.resynchronised += 1
            self.fault = None

    def drop(self) -> None:
        """Wait for a snapshot. The levels stay readable until it comes."""
        self.seq = None


class FollowedBook(LocalBook):
    """A book that a BookFeed keeps."""

    def __init__(self, symbol: str, feed: "BookFeed") -> None:
        super().__init__(symbol)
        self._feed = feed

    @property
    def is_stale(self) -> bool:
        """Whether the book may be out of date, because the connection is lost or the book waits for a snapshot."""
        return self.seq is None or not self._feed.is_current


class BookFeed:
    """Books of several markets, kept by one connection. Opened with `async with`; `feed["BTC-USD"]` is a book.

    `async for book in feed` yields a book that has changed since the feed yielded it last. So a slow reader skips
    changes and always reads the present book. After a gap or a wrong checksum the book is stale, and the feed
    subscribes again, after a pause that doubles with each failure. When the connection is lost, every book is stale
    until it is back.
    """

    def __init__(self, stream: Stream, books: Iterable[tuple[str, str]]) -> None:
        """`books` are pairs of symbol and channel."""
        self._stream = stream
        self._symbols = {channel: symbol for symbol, channel in books}
        self._channels = {symbol: channel for channel, symbol in self._symbols.items()}
        self._books = {symbol: FollowedBook(symbol, self) for symbol in self._channels}
        self._backoffs = {symbol: Backoff(RESUBSCRIBE_PAUSE_S, RESUBSCRIBE_PAUSE_S_MAX) for symbol in self._channels}
        self._repairs: dict[str, asyncio.Task[None]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._changed: dict[str, None] = {}
        self._news = asyncio.Condition()
        self._failure: OpenSpotError | None = None
        self._is_closed = False
        self._reconnects = 0
        self.resubscribed = 0
        """How often the feed subscribed again because a message did not continue a book."""

    def __getitem__(self, symbol: str) -> FollowedBook:
        """The book of a market. Raises KeyError for a market that this feed does not follow."""
        return self._books[symbol]

    @property
    def is_current(self) -> bool:
        """Whether the stream is connected, and the feed has read every Reconnected of it."""
        return self._stream.is_connected and self._reconnects == self._stream.reconnects

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the feed. Reading it then ends without an error."""
        self._is_closed = True
        tasks = [*self._repairs.values(), *([self._reading] if self._reading is not None else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._stream.close()
        await self._tell()

    async def ready(self) -> None:
        """Wait until no book is stale. Raises StreamError for an unknown market, and the error that ended the feed."""
        async with self._news:
            while any(book.is_stale for book in self._books.values()):
                self._check()
                for book in self._books.values():
                    if book.fault is not None:
                        raise book.fault
                await self._news.wait()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> FollowedBook:
        """A book that has changed or has a fault. Raises the error that ended the feed, unless `close` ended it."""
        async with self._news:
            while not self._changed:
                if self._is_closed:
                    raise StopAsyncIteration
                self._check()
                await self._news.wait()
            symbol = next(iter(self._changed))
            del self._changed[symbol]
            return self._books[symbol]

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._reading is None or self._is_closed:
            raise StreamClosedError(CUT_OFF, "the feed is not open")

    async def _read(self) -> None:
        try:
            async for event in self._stream:
                self._take(event)
                if self._changed or isinstance(event, Reconnected):
                    await self._tell()
        except OpenSpotError as error:
            self._failure = error
        finally:
            self._failure = self._failure or StreamClosedError(CUT_OFF, "the feed is not read any more")
            for book in self._books.values():
                book.drop()
            await self._tell()

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()

    def _take(self, event: Event) -> None:
        if isinstance(event, Reconnected):
            self._reconnects += 1
            for book in self._books.values():
                book.drop()
        elif isinstance(event, Push | ChannelFault):
            symbol = self._symbols.get(event.channel)
            if symbol is None:
                return
            book = self._books[symbol]
            if isinstance(event, ChannelFault):
                book.drop()
                book.fault = StreamError(event.code, event.message)
                self._changed[symbol] = None
            else:
                self._apply(book, event)

    def _apply(self, book: FollowedBook, event: Push) -> None:
        was_waiting = book.seq is None
        try:
            message = msgspec.convert(event.data, OrderBookEvent)
            book.take(message)
        except (msgspec.ValidationError, BookContradictionError):
            book.drop()
            self._repair(book)
            return
        if book.seq is None:
            return
        if not was_waiting:
            self._backoffs[book.symbol].succeeded()
        self._changed[book.symbol] = None

    def _repair(self, book: FollowedBook) -> None:
        if book.symbol not in self._repairs:
            self._repairs[book.symbol] = task = asyncio.create_task(self._resubscribe(book))
            task.add_done_callback(lambda _: self._repairs.pop(book.symbol, None))

    async def _resubscribe(self, book: FollowedBook) -> None:
        """Subscribe again until a snapshot has come."""
        while book.seq is None:
            await asyncio.sleep(self._backoffs[book.symbol].failed())
            if book.seq is not None:
                return
            self.resubscribed += 1
            with suppress(UnreachableError, StreamClosedError, StreamError, TimeoutError):
                async with asyncio.timeout(SNAPSHOT_TIMEOUT_S):
                    await self._stream.subscribe(self._channels[book.symbol])
                    async with self._news:
                        await self._news.wait_for(lambda: book.seq is not None)


def _levels(side: TextSide, depth: int | None) -> list[Level]:
    return [Level(Decimal(price), Decimal(quantity)) for price, quantity in side.top(depth).values()]
