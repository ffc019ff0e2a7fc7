"""Recorded messages: read, played as they are, and repeated without a seam."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from openspot.venue_simulator.recording import Recording, RecordingError
from tests.support.shared_data import BINANCE, needs_binance
from tests.support.venue_book import ClientBook, first

SNAPSHOT = {"lastUpdateId": 12, "bids": [["99", "1"], ["98", "2"]], "asks": [["101", "3"]]}


def depth(first_id: int, last_id: int, bids: list[list[str]], asks: list[list[str]]) -> dict[str, Any]:
    data = {"e": "depthUpdate", "E": 500, "s": "BTCUSDT", "U": first_id, "u": last_id, "b": bids, "a": asks}
    return {"stream": "btcusdt@depth@100ms", "data": data}


def trade(trade_id: int) -> dict[str, Any]:
    data = {"e": "trade", "E": 505, "s": "BTCUSDT", "t": trade_id, "p": "100.10", "q": "0.50", "T": 500, "m": True}
    return {"stream": "btcusdt@trade", "data": data}


def quote(update_id: int) -> dict[str, Any]:
    data = {"u": update_id, "s": "BTCUSDT", "b": "99.00", "B": "1.00", "a": "101.00", "A": "3.00"}
    return {"stream": "btcusdt@bookTicker", "data": data}


MESSAGES = [
    depth(8, 10, [["97", "9"]], []),
    SNAPSHOT,
    depth(11, 13, [["99", "5"], ["98", "0.000"]], [["101", "0.0"], ["102", "4"]]),
    quote(14),
    trade(70),
    depth(14, 16, [["96", "1"]], []),
    trade(71),
    quote(18),
]

RUN = 7
"""Events of one run: those of the file; later without the update from before the snapshot, with one at the begin."""


def write(path: Path, messages: list[Any], step_ns: int = 1000) -> Path:
    text = "".join(f"{5_000 + number * step_ns} {json.dumps(message)}\n" for number, message in enumerate(messages))
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("name", ["a.ndjson", "a.ndjson.gz"])
def test_messages_are_played_as_they_were_recorded(tmp_path: Path, name: str) -> None:
    recording = Recording(write(tmp_path / name, MESSAGES))
    events = list(recording.events())
    assert [event.data for event in events] == [each["data"] for each in MESSAGES if "data" in each]
    assert [event.at_ns for event in events] == [0, 2000, 3000, 4000, 5000, 6000, 7000]
    assert [market.symbol for market in recording.markets] == ["BTC-USDT"]
    assert recording.first_book("BTCUSDT").snapshot(9) == {
        "lastUpdateId": 12,
        "bids": [("99", "1"), ("98", "2")],
        "asks": [("101", "3")],
    }
    assert len(recording) == 7


def test_repetitions_go_on_in_time_and_ids_and_keep_prices_and_quantities(tmp_path: Path) -> None:
    events = first(Recording(write(tmp_path / "a", MESSAGES), loop=True).events(), 4 * RUN)
    assert [event.at_ns for event in events] == sorted(event.at_ns for event in events)
    trades = [event.data for event in events if "t" in event.data]
    assert [data["t"] for data in trades] == [70, 71, 72, 73, 74, 75, 76, 77]
    assert {(data["p"], data["q"], data["E"], data["T"]) for data in trades} == {("100.10", "0.50", 505, 500)}
    quotes = [event.data["u"] for event in events if "B" in event.data]
    assert len(set(quotes)) == len(quotes) == 8
    assert quotes == sorted(quotes)


def test_a_client_that_keeps_the_book_sees_no_seam(tmp_path: Path) -> None:
    recording = Recording(write(tmp_path / "a", MESSAGES), loop=True)
    client, ends = ClientBook(recording.first_book("BTCUSDT")), []
    for number, event in enumerate(first(recording.events(), 6 * RUN), 1):
        if "U" in event.data:
            client.take(event)
        if number % RUN == 0:
            ends.append(client.book.snapshot(9) | {"lastUpdateId": 0})
    assert ends == [{"lastUpdateId": 0, "bids": [("99", "5"), ("96", "1")], "asks": [("102", "4")]}] * 6
    assert client.updates == 2 + 5 * 3


@needs_binance
def test_the_recorded_day_repeats_without_a_seam() -> None:
    recording = Recording(BINANCE, loop=True)
    assert len(recording) == 41_248
    client, kinds = ClientBook(recording.first_book("BTCUSDT")), Counter[str]()
    for event in first(recording.events(), 90_000):
        kinds[event.stream] += 1
        if "U" in event.data:
            client.take(event)
    assert client.updates > 7000
    snapshot = client.book.snapshot(1)
    assert float(snapshot["bids"][0][0]) < float(snapshot["asks"][0][0])


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("", "holds no message"),
        ("x {}\n", "line 1"),
        ("5 {\n", "line 1"),
        ("5 []\n", "line 1: not a JSON object"),
        ("5 {}\n", "line 1 is neither"),
        (f"5 {json.dumps(trade(1))}\n6 {{\n", "line 2"),
        (f"5 {json.dumps(trade(1)).replace('BTCUSDT', 'DOGEUSDT')}\n", "does not have: DOGEUSDT"),
        (
            f"5 {json.dumps(trade(1))}\n6 {json.dumps(trade(2)).replace('BTC', 'ETH')}\n7 {json.dumps(SNAPSHOT)}\n",
            "several markets",
        ),
    ],
)
def test_what_cannot_be_played_is_refused_with_the_line_and_the_reason(tmp_path: Path, lines: str, reason: str) -> None:
    path = tmp_path / "bad.ndjson"
    path.write_text(lines, "utf-8")
    with pytest.raises(RecordingError, match=reason):
        Recording(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"missing\.gz cannot be read"):
        Recording(tmp_path / "missing.gz")
    broken = write(tmp_path / "cut.gz", MESSAGES)
    broken.write_bytes(broken.read_bytes()[:-20])
    with pytest.raises(RecordingError, match=r"cut\.gz cannot be read"):
        Recording(broken)
    plain = tmp_path / "plain.gz"
    plain.write_text("5 {}", "utf-8")
    with pytest.raises(RecordingError, match=r"plain\.gz cannot be read"):
        Recording(plain)
