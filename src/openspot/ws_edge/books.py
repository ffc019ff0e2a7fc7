"""The order books that clients follow: one for each symbol, for any number of clients and views.

A book exists while somebody is subscribed to it. It asks market data for a snapshot when it begins, and whenever a
message does not continue it; then every client gets a fresh snapshot as well.
"""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Protocol

import msgspec

from openspot.contracts.messages import OrderBookEvent
from openspot.kit.backoff import Backoff
from openspot.kit.bus import MalformedEventError
from openspot.kit.log import get_logger
from openspot.market_data_client.errors import MarketDataUnavailableError, UnknownMarketError
from openspot.ws_edge.book import BookChange, DepthView, MirroredBook
from openspot.ws_edge.channels import Channel, Kind
from openspot.ws_edge.connection import text_frame
from openspot.ws_edge.metrics import BOOK_RESYNCS
from openspot.ws_edge.schemas import BestPrices, ErrorCode, ErrorReply, MarketPush, read_event

REQUESTS_MAX = 8
"""The edge asks for at most this many snapshots at the same time."""
PAUSE_S, PAUSE_S_MAX = 0.1, 2.0

log = get_logger("ws_edge")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(OrderBookEvent).decode

RequestBook = Callable[[str], Awaitable[OrderBookEvent]]
"""Requests from market data the snapshot that the updates continue. Raises the errors of `market_data_client`."""


class BookFanOut(Protocol):
    """Sends to the clients of a channel, which has at least one."""

    def send_update(self, channel: str, frame: bytes) -> None:
        """Send an update to the clients that have what comes before it."""

    def send_snapshots(self, channel: str) -> None:
        """Send each client of the channel a fresh snapshot."""

    def send_latest(self, channel: str, part: None, frame: bytes) -> None:
        """Send a message that replaces the previous one."""

    def send_to_channel(self, channel: str, frame: bytes) -> None:
        """Send a message that is no part of the channel's data."""


class _Stream:
    """The data of one channel: the whole book (no view), a view of it, or the best prices of a view (`is_best`)."""

    def __init__(self, view: DepthView | None, *, is_best: bool) -> None:
        self.view = view
        self.is_best = is_best
        self.snapshot: bytes | None = None
        """The frame of the snapshot, from the first request for it to the next update."""


class _Book:
    """A book and the streams of its channels."""

    def __init__(self, symbol: str) -> None:
        self.mirror = MirroredBook(symbol)
        self.streams: dict[str, _Stream] = {}
        self.is_wanted = False
        """Whether a snapshot will be requested, or is under way."""


class Books:
    """The books by symbol. `run` must run while they are used."""

    def __init__(self, fan_out: BookFanOut) -> None:
        self._fan_out = fan_out
        self._books: dict[str, _Book] = {}
        self._wanted: asyncio.PriorityQueue[tuple[int, int, _Book]] = asyncio.PriorityQueue()
        """Books that wait for a request. Those that clients had already come first, the others in their order."""
        self._numbers = count()

    def open(self, channel: Channel) -> None:
        """A channel has its first client."""
        book = self._books.get(channel.symbol)
        if book is None:
            book = self._books[channel.symbol] = _Book(channel.symbol)
            self._want(book, urgent=False)
        view = DepthView(book.mirror, channel.depth) if channel.depth is not None else None
        book.streams[channel.name] = _Stream(view, is_best=channel.kind is Kind.BBO)

    def close(self, channel: Channel) -> None:
        """A channel has lost its last client."""
        book = self._books[channel.symbol]
        del book.streams[channel.name]
        if not book.streams:
            del self._books[channel.symbol]

    def snapshot(self, channel: Channel) -> bytes | None:
        """The frame that the channel's next update continues, or None while the book itself waits for a snapshot."""
        book = self._books.get(channel.symbol)
        if book is None or book.mirror.seq is None:
            return None
        stream = book.streams[channel.name]
        if stream.snapshot is None:
            event = book.mirror.snapshot() if stream.view is None else stream.view.snapshot()
            stream.snapshot = _best_frame(channel.name, event) if stream.is_best else _frame_of(channel.name, event)
        return stream.snapshot

    def take(self, symbol: str, payload: bytes) -> None:
        """Take a message of market data. Raises MalformedEventError."""
        book = self._books.get(symbol)
        if book is None:
            return
        message = read_event(_decode, payload)
        if message.symbol != symbol:
            raise MalformedEventError("the symbol is not the subject's")
        change = book.mirror.take(message)
        if change is BookChange.UPDATED:
            self._send_updates(book, message, payload)
        elif change is BookChange.REPLACED:
            self._send_snapshots(book)
        elif change is BookChange.BROKEN:
            self._broken(book)

    def restart(self) -> None:
        """Messages may have been missed: request every book again."""
        for book in self._books.values():
            book.mirror.wait()
            self._want(book, urgent=True)

    async def run(self, request: RequestBook) -> None:
        """Request the snapshots that books wait for, until cancelled."""
        async with asyncio.TaskGroup() as workers:
            for _ in range(REQUESTS_MAX):
                workers.create_task(self._work(request))

    async def _work(self, request: RequestBook) -> None:
        backoff = Backoff(PAUSE_S, PAUSE_S_MAX)
        while True:
            urgency, _, book = await self._wanted.get()
            if not self._is_waiting(book):
                book.is_wanted = False
                continue
            try:
                snapshot = await request(book.mirror.symbol)
            except UnknownMarketError:
                snapshot = None
            except MarketDataUnavailableError as error:
                log.warning("no order book yet", symbol=book.mirror.symbol, reason=str(error))
                await asyncio.sleep(backoff.failed())
                self._wanted.put_nowait((urgency, next(self._numbers), book))
                continue
            backoff.succeeded()
            book.is_wanted = False
            if self._is_waiting(book):
                self._begin(book, snapshot)

    def _is_waiting(self, book: _Book) -> bool:
        """Whether the book still needs a snapshot. Meanwhile it may have got one, or lost its last client."""
        return book.mirror.seq is None and self._books.get(book.mirror.symbol) is book

    def _begin(self, book: _Book, snapshot: OrderBookEvent | None) -> None:
        if snapshot is None:
            self._tell_unknown(book)
        elif book.mirror.begin(snapshot) is BookChange.BROKEN:
            self._broken(book)
        else:
            self._send_snapshots(book)

    def _tell_unknown(self, book: _Book) -> None:
        reason = f"there is no market {book.mirror.symbol}; the subscription stays, and its book comes if there is one"
        for name in book.streams:
            refusal = ErrorReply(ErrorCode.UNKNOWN_MARKET, reason, channel=name)
            self._fan_out.send_to_channel(name, text_frame(_encode(refusal)))

    def _want(self, book: _Book, *, urgent: bool) -> None:
        if not book.is_wanted:
            book.is_wanted = True
            self._wanted.put_nowait((0 if urgent else 1, next(self._numbers), book))

    def _broken(self, book: _Book) -> None:
        BOOK_RESYNCS.inc()
        log.warning("order book does not continue, asking for a snapshot", symbol=book.mirror.symbol)
        self._want(book, urgent=True)

    def _send_updates(self, book: _Book, message: OrderBookEvent, payload: bytes) -> None:
        for name, stream in book.streams.items():
            if stream.view is None:
                push = MarketPush(name, "update", message.seq, message.timestamp, msgspec.Raw(payload))
                frame = text_frame(_encode(push))
            else:
                update = stream.view.update()
                if update is None:
                    continue
                if stream.is_best:
                    stream.snapshot = None
                    best = _best_frame(name, msgspec.structs.replace(stream.view.snapshot(), type="update"))
                    self._fan_out.send_latest(name, None, best)
                    continue
                frame = _frame_of(name, update)
            stream.snapshot = None
            self._fan_out.send_update(name, frame)

    def _send_snapshots(self, book: _Book) -> None:
        for name, stream in book.streams.items():
            stream.snapshot = None
            if stream.view is not None:
                stream.view.rebase()
            self._fan_out.send_snapshots(name)


def _frame_of(channel: str, event: OrderBookEvent) -> bytes:
    return text_frame(_encode(MarketPush(channel, event.type, event.seq, event.timestamp, event)))


def _best_frame(channel: str, view: OrderBookEvent) -> bytes:
    bid_price, bid_quantity = view.bids[0] if view.bids else (None, None)
    ask_price, ask_quantity = view.asks[0] if view.asks else (None, None)
    best = BestPrices(view.symbol, bid_price, bid_quantity, ask_price, ask_quantity, view.seq, view.timestamp)
    return text_frame(_encode(MarketPush(channel, view.type, view.seq, view.timestamp, best)))
