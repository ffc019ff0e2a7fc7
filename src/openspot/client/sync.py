"""The client for scripts without asyncio.

    with SyncClient() as client:
        client.login("me@example.org", "password")
        order = client.place_order("BTC-USD", "buy", quantity="0.1", price="25000")
        with client.stream("trades:BTC-USD") as stream:
            for event in stream:
                ...

Calls, results and errors are those of OpenSpotClient; each call waits for its reply. An instance may be used from
several threads. In a REPL, use `client = SyncClient()` without `with`, and call `client.close()` at the end.
"""

from collections.abc import Iterator
from types import TracebackType
from typing import Self

from openspot.client.books import BookFeed, LocalBook
from openspot.client.calls import DEFAULT_RETRY
from openspot.client.client import OpenSpotClient
from openspot.client.events import Event
from openspot.client.gen.records import Session
from openspot.client.gen.sync_calls import SyncCalls, SyncOrderChangeCalls
from openspot.client.order_connection import OrderConnection
from openspot.client.records import Level
from openspot.client.signing import RequestSigner
from openspot.client.stream import ReconnectPolicy, Stream
from openspot.client.sync_loop import LoopThread
from openspot.client.transport import RetryPolicy


class SyncStream:
    """Live events: `with client.stream(…) as stream: for event in stream`. Raises what `Stream` raises."""

    def __init__(self, stream: Stream, loop: LoopThread) -> None:
        self._stream = stream
        self._loop = loop

    def __enter__(self) -> Self:
        self._loop.run(self._stream.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        return self.next()

    def next(self, timeout_s: float | None = None) -> Event:
        """The next event. Raises TimeoutError after `timeout_s`, StopIteration once the stream was closed."""
        try:
            return self._loop.run(self._stream.__anext__(), timeout_s)
        except StopAsyncIteration:
            raise StopIteration from None

    def subscribe(self, channel: str) -> None:
        """Add a market channel."""
        self._loop.run(self._stream.subscribe(channel))

    def unsubscribe(self, channel: str) -> None:
        """Remove a market channel."""
        self._loop.run(self._stream.unsubscribe(channel))

    def close(self) -> None:
        """End the stream."""
        if not self._loop.is_closed:
            self._loop.run(self._stream.close())


class BookView:
    """A consistent copy of a book."""

    def __init__(self, book: LocalBook, depth: int | None, *, is_stale: bool) -> None:
        self.symbol = book.symbol
        self.seq = book.seq
        self.timestamp = book.timestamp
        self.is_stale = is_stale
        self.bids: list[Level] = book.bids(depth)
        self.asks: list[Level] = book.asks(depth)


class SyncBookFeed:
    """Local order books: `with client.books("BTC-USD") as feed: for symbol in feed`. Raises what `BookFeed` raises.

    The books change in the background; `view` returns a consistent copy of one.
    """

    def __init__(self, feed: BookFeed, loop: LoopThread) -> None:
        self._feed = feed
        self._loop = loop

    def __enter__(self) -> Self:
        self._loop.run(self._feed.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ready(self, timeout_s: float | None = None) -> None:
        """Wait until no book is stale. Raises TimeoutError after `timeout_s`."""
        self._loop.run(self._feed.ready(), timeout_s)

    def view(self, symbol: str, depth: int | None = None) -> BookView:
        """The best `depth` levels of a book, or all. Raises KeyError for a market that this feed does not follow."""

        async def read() -> BookView:
            book = self._feed[symbol]
            return BookView(book, depth, is_stale=book.is_stale)

        return self._loop.run(read())

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """The symbol of a book that has changed since this returned it last."""
        try:
            return self._loop.run(self._feed.__anext__()).symbol
        except StopAsyncIteration:
            raise StopIteration from None

    def close(self) -> None:
        """End the feed."""
        if not self._loop.is_closed:
            self._loop.run(self._feed.close())


class SyncOrderConnection(SyncOrderChangeCalls):
    """The calls about orders over one connection: `with client.order_connection() as orders`.

    Each call waits for its reply, and raises what `OrderConnection` raises. Calls of several threads run side by side.
    """

    def __init__(self, connection: OrderConnection, loop: LoopThread) -> None:
        super().__init__(connection, loop)
        self._connection = connection

    def __enter__(self) -> Self:
        self._loop.run(self._connection.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. Calls of other threads that are under way raise UnreachableError."""
        if not self._loop.is_closed:
            self._loop.run(self._connection.close())


class SyncClient(SyncCalls):
    """OpenSpotClient without asyncio. It takes the same arguments."""

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:3001",
        ws_url: str = "ws://127.0.0.1:3002",
        *,
        timeout_s: float = 15.0,
        retry: RetryPolicy = DEFAULT_RETRY,
        api_key: RequestSigner | None = None,
    ) -> None:
        client = OpenSpotClient(base_url, ws_url, timeout_s=timeout_s, retry=retry, api_key=api_key)
        super().__init__(client, LoopThread())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection and stream, and end the thread. Further calls do nothing."""
        if not self._loop.is_closed:
            self._loop.run(self._client.close())
            self._loop.close()

    def resume(self, session: Session) -> None:
        """Use the tokens of an earlier login."""
        self._client.resume(session)

    def stream(self, *channels: str, reconnect: bool | ReconnectPolicy = False) -> SyncStream:
        """Live events, as OpenSpotClient.stream has them."""
        return SyncStream(self._client.stream(*channels, reconnect=reconnect), self._loop)

    def order_connection(self, *, cancel_on_disconnect: bool = False) -> SyncOrderConnection:
        """One connection for placing, amending and cancelling orders, as OpenSpotClient.order_connection has it."""
        connection = self._client.order_connection(cancel_on_disconnect=cancel_on_disconnect)
        return SyncOrderConnection(connection, self._loop)

    def books(self, *symbols: str, depth: int | None = None, reconnect: bool | ReconnectPolicy = True) -> SyncBookFeed:
        """Local order books, as OpenSpotClient.books has them."""
        return SyncBookFeed(self._client.books(*symbols, depth=depth, reconnect=reconnect), self._loop)
