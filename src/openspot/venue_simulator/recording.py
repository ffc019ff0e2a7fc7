"""Messages recorded from the real venue. A line is a local time in nanoseconds, a space, and the message."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from openspot.domain.market import MarketSeed, load_markets
from openspot.venue_simulator.book import Book
from openspot.venue_simulator.events import Data, TimelineEvent, market_id


class RecordingError(ValueError):
    """A recording cannot be played; the message names the file, the line and the reason."""


class Recording:
    """A recording in memory. With `loop` it starts again at its end, endlessly, with later times and higher ids.

    Ids continue, and each repetition starts with a depth update that takes the book back to the first one. So a client
    that keeps a book notices nothing. A REST snapshot in the file is the first book; such a file has one market.
    """

    def __init__(self, path: Path, *, loop: bool = False) -> None:
        """Read the file, plain or .gz. Raises RecordingError."""
        self._loop = loop
        self._events: list[TimelineEvent] = []
        snapshot: dict[str, Any] | None = None
        began_ns: int | None = None
        for number, (at_ns, message) in enumerate(_lines(path), 1):
            began_ns = at_ns if began_ns is None else began_ns
            if "stream" in message and isinstance(message.get("data"), dict) and "s" in message["data"]:
                self._events.append(TimelineEvent(max(0, at_ns - began_ns), message["stream"], message["data"]))
            elif "lastUpdateId" in message:
                snapshot = message
            else:
                raise RecordingError(f"{path} line {number} is neither a message of a stream nor a snapshot")
        if not self._events:
            raise RecordingError(f"{path} holds no message")
        by_id = {market_id(seed): seed for seed in load_markets().seeds}
        ids = sorted({event.data["s"] for event in self._events})
        if unknown := [name for name in ids if name not in by_id]:
            raise RecordingError(f"{path} has a market that the platform does not have: {', '.join(unknown)}")
        if snapshot is not None and len(ids) > 1:
            raise RecordingError(f"{path} has several markets and a snapshot that does not name its market")
        self.markets: tuple[MarketSeed, ...] = tuple(by_id[name] for name in ids)
        self._books = {name: Book() for name in ids}
        if snapshot is not None:
            self._books[ids[0]] = Book(snapshot["lastUpdateId"], snapshot["bids"], snapshot["asks"])

    def __len__(self) -> int:
        return len(self._events)

    def first_book(self, market_id: str) -> Book:
        """The order book of a market before the first event."""
        return self._books[market_id].copy()

    def events(self) -> Iterator[TimelineEvent]:
        """The timeline: first as recorded, then repeated with ids that continue."""
        yield from self._events
        if not self._loop:
            return
        messages: dict[str, list[Data]] = {name: [] for name in self._books}
        for event in self._events:
            messages[event.data["s"]].append(event.data)
        lanes = {name: _Lane(name, self.first_book(name), messages[name]) for name in messages}
        length_ns = self._events[-1].at_ns + 1
        start_ns = length_ns
        while True:
            for lane in lanes.values():
                yield TimelineEvent(start_ns, f"{lane.market_id.lower()}@depth@100ms", lane.start_again())
            for event in self._events:
                if (data := lanes[event.data["s"]].shifted(event.data)) is not None:
                    yield TimelineEvent(start_ns + event.at_ns, event.stream, data)
            start_ns += length_ns


class _Lane:
    """One market's ids and book through the repetitions of a recording."""

    def __init__(self, market_id: str, first_book: Book, messages: list[Data]) -> None:
        """`messages` are those of the recording, which have been sent once."""
        self.market_id = market_id
        self._first_book = first_book
        self._book = first_book.copy()
        trade_ids = [data["t"] for data in messages if "t" in data]
        kept = [data["U"] for data in messages if "U" in data and data["u"] > first_book.update_id]
        self._first_depth_id = kept[0] if kept else first_book.update_id + 1
        self._trade_ids = max(trade_ids) - min(trade_ids) + 1 if trade_ids else 0
        self._last_id = self._last_depth_id = first_book.update_id
        self._shift = 0
        self._trade_shift = 0
        for data in messages:
            self.note(data)

    def note(self, data: Data) -> None:
        """Note the ids of a message that was sent."""
        if "u" in data:
            self._last_id = max(self._last_id, data["u"])
        if "U" in data:
            self._last_depth_id = max(self._last_depth_id, data["u"])
            self._book.apply(data)

    def start_again(self) -> Data:
        """The depth update that takes the book back to the first one."""
        bids, asks = self._book.changes_to(self._first_book)
        first_id, last_id = self._last_depth_id + 1, self._last_id + 1
        self._shift = last_id + 1 - self._first_depth_id
        self._trade_shift += self._trade_ids
        data = {"e": "depthUpdate", "E": 0, "s": self.market_id, "U": first_id, "u": last_id, "b": bids, "a": asks}
        self.note(data)
        return data

    def shifted(self, data: Data) -> Data | None:
        """A message with ids that continue, or None for a depth update that is older than the first book."""
        if "t" in data:
            return data | {"t": data["t"] + self._trade_shift}
        if "U" in data:
            if data["U"] < self._first_depth_id:
                return None
            data = data | {"U": data["U"] + self._shift, "u": data["u"] + self._shift}
        elif "u" in data:
            data = data | {"u": max(data["u"] + self._shift, self._last_depth_id)}
        self.note(data)
        return data


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                at_ns, _, text = line.partition(" ")
                try:
                    message = json.loads(text)
                    if not isinstance(message, dict):
                        raise ValueError("not a JSON object")
                    yield int(at_ns), message
                except ValueError as error:
                    raise RecordingError(f"{path} line {number}: {error}") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise RecordingError(f"{path} cannot be read: {error}") from error
