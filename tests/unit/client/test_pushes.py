"""The pushes of a stream as typed records, which have every property that the WebSocket edge sends."""

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from openspot.client import AggregateTradeUpdate, BestPrices, CandleUpdate, Order, Push, Ticker, TradeUpdate
from openspot.client.pushes import RECORDS
from openspot.client.records import Record

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
import websocket_document as tool

SENT = {tool.CHANNELS[name][0].partition(":")[0]: data for name, data in tool.DATA.items()}
"""An example of what each channel carries, by the channel's name before the colon."""


def push(channel: str, data: Any) -> Push:
    return Push(f"{channel}:BTC-USD", "update", 1, 1, json.loads(msgspec.json.encode(data)))


def test_best_prices_are_exact() -> None:
    record = push("bbo", SENT["bbo"]).record()
    assert record == BestPrices(
        "BTC-USD", Decimal("64999.5"), Decimal("0.25"), Decimal("65000.5"), Decimal("0.1"), 7341, tool.TIME_MS
    )
    empty = msgspec.structs.replace(SENT["bbo"], bid_price=None, bid_quantity=None)
    record = push("bbo", empty).record()
    assert isinstance(record, BestPrices)
    assert (record.bid_price, record.bid_quantity) == (None, None)


@pytest.mark.parametrize(
    ("channel", "kind"),
    [
        ("ticker", Ticker), ("bbo", BestPrices), ("trades", TradeUpdate), ("agg-trades", AggregateTradeUpdate),
        ("candles", CandleUpdate), ("orders", Order),
    ],
)  # fmt: skip
def test_every_channel_with_a_record_has_its_fields(channel: str, kind: type[Record]) -> None:
    assert RECORDS[channel] is kind
    record = push(channel, SENT[channel]).record()
    assert type(record) is kind
    known = {field.encode_name for field in msgspec.structs.fields(kind)}
    # The record of a ticker is that of REST; the push says the sequence.
    missing = json.loads(msgspec.json.encode(SENT[channel])).keys() - known
    assert missing == ({"seq"} if channel == "ticker" else set())


def test_a_channel_without_a_record_and_bad_data_are_refused() -> None:
    for channel in ("orderbook", "balances", "notifications", "nothing"):
        with pytest.raises(ValueError, match=f"{channel}:BTC-USD has no record"):
            push(channel, {}).record()
    with pytest.raises(ValueError, match="bbo:BTC-USD sent"):
        push("bbo", {"symbol": 5}).record()
