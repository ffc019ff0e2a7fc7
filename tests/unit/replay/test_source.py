"""Level-3 files: what is read, and what is refused with which words."""

import gzip
import lzma
from decimal import Decimal
from pathlib import Path

import pytest

from openspot.replay.plan import PlaceCommand, command_of, make_plan
from openspot.replay.source import BookEvent, SourceError, read_events, read_venue_totals, venue_trades_path
from tests.support.shared_data import BITSTAMP, needs_bitstamp

HEADER = "id,timestamp,exchange_timestamp,price,volume,action,direction\n"
ROWS = (
    HEADER
    + "1,1430438404518,1430438404000,236.47,2.00000000,created,bid\n"
    + "1,1430438404635,1430438404000,236.47,1.78855669,changed,bid\n"
    + "2,1430438404637,1430438340000,236.50,0.00000000,deleted,ask\n"
)
EVENTS = [
    BookEvent("1", 1430438404518, Decimal("236.47"), Decimal(2), "created", "buy"),
    BookEvent("1", 1430438404635, Decimal("236.47"), Decimal("1.78855669"), "changed", "buy"),
    BookEvent("2", 1430438404637, Decimal("236.50"), Decimal(0), "deleted", "sell"),
]


def written(folder: Path, text: str, name: str = "flow_orders.csv") -> Path:
    path = folder / name
    packed = {".gz": gzip.compress, ".xz": lzma.compress}.get(path.suffix, bytes)(text.encode())
    path.write_bytes(packed)
    return path


@pytest.mark.parametrize("name", ["flow_orders.csv", "flow_orders.csv.gz", "flow_orders.csv.xz"])
def test_a_file_is_read_plain_and_packed_in_file_order(tmp_path: Path, name: str) -> None:
    assert list(read_events(written(tmp_path, ROWS, name))) == EVENTS


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    text = "direction,action,volume,price,timestamp,id,more\nask,created,1,2,3,x,y\n"
    assert list(read_events(written(tmp_path, text))) == [BookEvent("x", 3, Decimal(2), Decimal(1), "created", "sell")]


def test_a_file_with_a_header_alone_has_no_events(tmp_path: Path) -> None:
    assert list(read_events(written(tmp_path, HEADER))) == []


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("1,2,3,4,5,created", "line 2: 6 fields instead of 7"),
        (",2,3,4,5,created,bid", "line 2: id must have 1 to 64 characters"),
        (f"{'x' * 65},2,3,4,5,created,bid", "line 2: id must have 1 to 64 characters"),
        ("1,then,3,4,5,created,bid", "line 2: timestamp must be milliseconds"),
        ("1,-2,3,4,5,created,bid", "line 2: timestamp must be milliseconds"),
        ("1,2,3,four,5,created,bid", "line 2: price is not a decimal number"),
        ("1,2,3,-4,5,created,bid", "line 2: price is negative"),
        ("1,2,3,nan,5,created,bid", "line 2: price is not a decimal number"),
        ("1,2,3,4,,created,bid", "line 2: volume is not a decimal number"),
        ("1,2,3,4,5,exploded,bid", "line 2: action must be one of changed, created, deleted"),
        ("1,2,3,4,5,created,up", "line 2: direction must be bid or ask"),
        (f"1,2,3,4,5,created,{'b' * 5000}", "longer than 4096 characters"),
    ],
)
def test_a_bad_row_is_named_by_line_field_and_reason(tmp_path: Path, row: str, words: str) -> None:
    path = written(tmp_path, f"{HEADER}{row}\n")
    with pytest.raises(SourceError, match=words) as refusal:
        list(read_events(path))
    assert path.name in str(refusal.value)


@pytest.mark.parametrize("text", ["", "id,timestamp\n1,2\n", "no header at all\n"])
def test_a_file_without_the_columns_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SourceError, match="line 1: no column"):
        list(read_events(written(tmp_path, text)))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv.gz", b"this is no gzip"),
        ("a.csv.gz", gzip.compress(ROWS.encode())[:-12]),
        ("a.csv.xz", b"this is no xz"),
        ("a.csv.xz", lzma.compress(ROWS.encode())[:-12]),
        ("a.csv", b"\xff\xfe\x00"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(SourceError, match="cannot be read"):
        list(read_events(path))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        list(read_events(tmp_path / "nothing.csv"))
    with pytest.raises(SourceError, match="cannot be read"):
        list(read_events(tmp_path))


def test_the_venues_trades_stand_beside_its_orders(tmp_path: Path) -> None:
    orders = written(tmp_path, ROWS, "day_orders.csv.xz")
    assert venue_trades_path(orders) is None
    trades = written(
        tmp_path, "trade_id,timestamp,price,amount\n1,10,5,0.5\n2,20,5,1.5\n3,30,5,9\n", "day_trades.csv.gz"
    )
    assert venue_trades_path(orders) == trades
    totals = read_venue_totals(trades, 20)
    assert (totals.trades, totals.volume) == (2, Decimal(2))
    assert venue_trades_path(written(tmp_path, ROWS, "other.csv")) is None


@needs_bitstamp
def test_the_bitstamp_day_has_the_events_that_its_description_counts() -> None:
    counts = {"created": 0, "changed": 0, "deleted": 0}
    for event in read_events(BITSTAMP):
        counts[event.action] += 1
    assert counts == {"created": 24_894, "changed": 602, "deleted": 24_918}
    plan = make_plan(read_events(BITSTAMP), 16)
    assert plan.events == 50_414
    assert plan.orders == sum(isinstance(command_of(event), PlaceCommand) for event in read_events(BITSTAMP))
    assert all(funds.base > 0 and funds.quote > 0 for funds in plan.funds)
    trades = venue_trades_path(BITSTAMP)
    assert trades is not None
    totals = read_venue_totals(trades, plan.last_timestamp)
    assert (totals.trades, totals.volume.quantize(Decimal("0.01"))) == (575, Decimal("847.66"))
