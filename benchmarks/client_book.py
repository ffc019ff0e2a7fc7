"""Updates of an order book through the client, against a bare loop that sets the same levels in two dicts.

    .venv/bin/python -m benchmarks.client_book

The updates are those that market data publishes for the shallow workload on one market, once every `EVENTS_BETWEEN`
events, as the WebSocket edge sends them. Three sides run in this process, in turns. The bare loop decodes each message
as JSON and sets its levels in two dicts: no order, no sequence, no checksum. The book takes messages that are decoded
already. The client reads the text, checks sequence and checksum, and keeps the book. Times are those of the processor,
so that other programs count less.
"""

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import msgspec

from benchmarks.market_data import DEPTH, arrays
from openspot.client.books import LocalBook
from openspot.client.events import Push, event_of, read_message
from openspot.contracts.engine_events import EngineEvent
from openspot.contracts.messages import OrderBookEvent
from openspot.market_data.markets import Markets, publishable

ROUNDS = 5
EVENTS_BETWEEN = 4

_decode = msgspec.json.Decoder(list[EngineEvent]).decode
_encode = msgspec.json.Encoder().encode
_read_any = msgspec.json.Decoder().decode


def messages() -> tuple[list[str], int]:
    """The pushes of the book, as texts, and how many levels they change."""
    markets, texts, waiting, levels = Markets(DEPTH), [], 0, 0
    for array in arrays()[0]:
        for event in _decode(array):
            markets.apply(event)
            waiting += 1
            if waiting >= EVENTS_BETWEEN:
                waiting = 0
                for book in publishable(markets.all()):
                    head = {"channel": f"orderbook:{book.symbol}", "type": book.type, "seq": book.seq}
                    data = json.loads(_encode(book))
                    texts.append(json.dumps(head | {"ts": book.timestamp, "data": data}, separators=(",", ":")))
                    levels += len(book.bids) + len(book.asks)
    return texts, levels


def bare(texts: list[str]) -> None:
    """Set the levels, and nothing else."""
    bids: dict[str, str] = {}
    asks: dict[str, str] = {}
    for text in texts:
        data = _read_any(text)["data"]
        if data["type"] == "snapshot":
            bids.clear()
            asks.clear()
        for side, levels in ((bids, data["bids"]), (asks, data["asks"])):
            for price, quantity in levels:
                if quantity == "0":
                    del side[price]
                else:
                    side[price] = quantity


def book(decoded: list[OrderBookEvent]) -> None:
    """Keep a book of messages that are decoded already."""
    kept = LocalBook("BTC-USD")
    for message in decoded:
        kept.take(message)


def client(texts: list[str]) -> None:
    """Keep a book of the texts, as a feed does."""
    kept = LocalBook("BTC-USD")
    for text in texts:
        push = event_of(read_message(text))
        assert isinstance(push, Push)
        kept.take(msgspec.convert(push.data, OrderBookEvent))


def main() -> None:
    """Measure the three sides, round by round, and print the medians."""
    texts, levels = messages()
    decoded = [msgspec.convert(_read_any(text)["data"], OrderBookEvent) for text in texts]
    sides: list[tuple[str, Callable[[Any], None], Any]] = [
        ("bare loop, two dicts", bare, texts),
        ("book, decoded messages", book, decoded),
        ("client, texts", client, texts),
    ]
    seconds: dict[str, list[float]] = {name: [] for name, _, _ in sides}
    for _ in range(ROUNDS):
        for name, run, given in sides:
            began = time.process_time()
            run(given)
            seconds[name].append(time.process_time() - began)
    print(f"{len(texts):,} updates with {levels:,} levels, medians of {ROUNDS} rounds")
    base = statistics.median(seconds[sides[0][0]])
    for name, _, _ in sides:
        median = statistics.median(seconds[name])
        print(f"{name:24} {len(texts) / median:10,.0f} updates/s of one core  {median / base:5.2f} of the bare time")


if __name__ == "__main__":
    main()
