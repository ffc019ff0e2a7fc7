"""Candle files of another venue: what is read, what is refused and where, and the larger intervals."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from openspot.domain.candles import Interval
from openspot.market_data import imported_candles
from openspot.market_data.imported_candles import CandleFileError, ImportedCandle, finest, read_candles, with_larger

HEADER = "symbol,interval,time,open,high,low,close,volume"
NOW = datetime(2026, 1, 7, tzinfo=UTC)
MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


def read(*lines: str) -> list[ImportedCandle]:
    return read_candles([f"{line}\n" for line in lines], {"BTC-USD", "ETH-USD"}, NOW)


def candle(interval: Interval, minutes: int, prices: str, volume: str = "1", symbol: str = "BTC-USD") -> ImportedCandle:
    begins_at = MONDAY + timedelta(minutes=minutes)
    opens, high, low, close = (Decimal(price) for price in prices.split())
    return ImportedCandle(symbol, interval, begins_at, opens, high, low, close, Decimal(volume))


def test_a_file_is_read_with_and_without_intervals_and_with_both_kinds_of_times() -> None:
    assert read(
        HEADER,
        "BTC-USD,1h,2026-01-05T01:00:00+01:00,10,12,9,11,0",
        "",
        "ETH-USD,,1767571260000,1.5,1.5,1.5,1.5,2.25",
    ) == [
        candle(Interval.H1, 0, "10 12 9 11", "0"),
        candle(Interval.M1, 1, "1.5 1.5 1.5 1.5", "2.25", "ETH-USD"),
    ]
    assert read("\ufeffTime,Symbol,Open,High,Low,Close,Volume", '"2026-01-05T00:00:00Z",BTC-USD,10,12,9,11,3') == [
        candle(Interval.M1, 0, "10 12 9 11", "3")
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("DOGE-USD,1m,2026-01-05T00:00:00Z,1,1,1,1,1", "line 3: symbol: there is no market 'DOGE-USD'"),
        ("BTC-USD,2m,2026-01-05T00:00:00Z,1,1,1,1,1", "line 3: interval: '2m' is none of 1m, 5m, 15m, 30m, 1h, 4h"),
        ("BTC-USD,1m,2026-01-05T00:00:00,1,1,1,1,1", "line 3: time: is neither"),
        ("BTC-USD,1m,99999999999999999999,1,1,1,1,1", "line 3: time: is neither"),
        ("BTC-USD,5m,2026-01-05T00:01:00Z,1,1,1,1,1", "line 3: time: no interval of 5m begins then"),
        ("BTC-USD,1w,2026-01-05T00:00:00Z,1,1,1,1,1", "line 3: time: the interval has not ended yet"),
        ("BTC-USD,1m,2026-01-05T00:00:00Z,1,1,1,x,1", "line 3: close: is not a decimal number"),
        ("BTC-USD,1m,2026-01-05T00:00:00Z,NaN,1,1,1,1", "line 3: open: is not a decimal number"),
        ("BTC-USD,1m,2026-01-05T00:00:00Z,1,1,0,1,1", "line 3: low: is not positive"),
        ("BTC-USD,1m,2026-01-05T00:00:00Z,1,1,1,1,-1", "line 3: volume: is not positive"),
        ("BTC-USD,1m,2026-01-05T00:00:00Z,1,1,1,1,1000000000000000000", "line 3: volume: is too large"),
        ("BTC-USD,1m,2026-01-05T00:00:00Z,1,1,1,1,0.1234567890123456789", "line 3: volume: has more than 18"),
        ("BTC-USD,1m,2026-01-05T00:00:00Z,1,2,1,3,1", "line 3: high: is not the highest price"),
        ("BTC-USD,1m,2026-01-05T00:00:00Z,1,3,2,3,1", "line 3: low: is not the lowest price"),
        ("BTC-USD,1m,2026-01-04T23:59:00Z,2,2,2,2,2", "line 3: time: the file has this candle twice"),
        ("BTC-USD,1m,2026-01-05T00:00:00Z,1,1,1,1", "line 3: has 7 columns, and the header has 8"),
        ("BTC-USD,1m," + " " * 1000, "line 3: is longer than 1000 characters"),
        ('BTC-USD,1m,"2026', "line 3: "),
    ],
)
def test_the_first_wrong_line_is_refused_with_its_number_its_column_and_the_reason(line: str, reason: str) -> None:
    with pytest.raises(CandleFileError) as refused:
        read(HEADER, "BTC-USD,1m,2026-01-04T23:59:00Z,1,1,1,1,1", line)
    assert str(refused.value).startswith(reason)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ((), "the file has no candle"),
        ((HEADER,), "the file has no candle"),
        (("symbol,time,open,high,low",), "line 1: the header lacks close, volume"),
        ((HEADER + ",trades",), "line 1: no column is called 'trades'"),
        ((HEADER + ",volume",), "line 1: the header names a column twice"),
    ],
)
def test_a_header_that_says_too_little_or_too_much_is_refused(lines: tuple[str, ...], reason: str) -> None:
    with pytest.raises(CandleFileError, match=reason):
        read(*lines)


def test_a_file_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imported_candles, "ROWS_MAX", 1)
    with pytest.raises(CandleFileError, match="line 3: a file has at most 1 candles; split it"):
        read(HEADER, "BTC-USD,,2026-01-05T00:00:00Z,1,1,1,1,1", "BTC-USD,,2026-01-05T00:01:00Z,1,1,1,1,1")


def test_larger_intervals_are_made_of_smaller_ones_unless_they_are_given() -> None:
    given = [
        candle(Interval.M1, 6, "11 15 11 12", "4"),
        candle(Interval.M1, 0, "10 12 9 11"),
        candle(Interval.M1, 4, "11 13 10 11", "2"),
        candle(Interval.M1, 4, "1 1 1 1", "7", "ETH-USD"),
        candle(Interval.H1, 0, "10 20 5 12", "100"),
        candle(Interval.H1, 60, "12 14 12 13", "50"),
    ]
    made = with_larger(given)
    bitcoin = [found for found in made if found.symbol == "BTC-USD" and found.interval is not Interval.M1]
    assert bitcoin == [
        candle(Interval.M5, 0, "10 13 9 11", "3"),
        candle(Interval.M5, 5, "11 15 11 12", "4"),
        candle(Interval.M15, 0, "10 15 9 12", "7"),
        candle(Interval.M30, 0, "10 15 9 12", "7"),
        # Those of hours are the given ones, and what is larger follows from them.
        candle(Interval.H1, 0, "10 20 5 12", "100"),
        candle(Interval.H1, 60, "12 14 12 13", "50"),
        candle(Interval.H4, 0, "10 20 5 13", "150"),
        candle(Interval.D1, 0, "10 20 5 13", "150"),
        candle(Interval.W1, 0, "10 20 5 13", "150"),
    ]
    assert {found.interval for found in made if found.symbol == "ETH-USD"} == set(Interval)
    assert set(given) <= set(made)


def test_each_time_is_covered_once_by_the_shortest_candles() -> None:
    minute, five, hour = Interval.M1, Interval.M5, Interval.H1
    # The first hour has minutes only in its middle, the second has none.
    given = [(hour, 60), (hour, 0), (five, 5), (five, 10), (minute, 12), (minute, 13)]
    assert finest(given) == [(five, 5), (minute, 12), (minute, 13), (hour, 60)]
    assert finest([]) == []
