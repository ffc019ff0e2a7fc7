"""CSV files as streams of rows: quotes, line ends, pieces, and the reason for each refused row."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.positions.import_layouts import LayoutError
from openspot.positions.import_records import RECORD_MAX, read_csv, split_lines
from openspot.positions.import_rules import Parsed
from tests.unit.positions.import_rows import HEADER, from_csv, parse, refusals, transactions


def test_the_delimiter_is_that_of_the_header_and_a_byte_order_mark_does_not_matter() -> None:
    for delimiter in (",", ";", "\t"):
        lines = ["externalId,timestamp,type,asset,quantity,value", "a,1704196800000,buy,BTC,1,10"]
        text = "\ufeff" + "\r\n".join(lines).replace(",", delimiter)
        assert [item.external_id for item in transactions(parse(read_csv([text])))] == ["a"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (",1704196800000,buy,,BTC,1,10,,,,,,", "externalId is missing"),
        ("with space,1704196800000,buy,,BTC,1,10,,,,,,", "externalId must be 1 to 200 visible ASCII characters"),
        ("a,,buy,,BTC,1,10,,,,,,", "timestamp is missing"),
        ("a,yesterday,buy,,BTC,1,10,,,,,,", "timestamp is not a date and time in ISO 8601"),
        ("a,12345,buy,,BTC,1,10,,,,,,", "timestamp is not a date and time in ISO 8601"),
        ("a,0001-01-01T00:00:00+14:00,buy,,BTC,1,10,,,,,,", "timestamp must lie between"),
        ("a,1704196800000,,,BTC,1,10,,,,,,", "type is missing"),
        ("a,1704196800000,gift,,BTC,1,10,,,,,,", "type 'gift' is none of acquisition, buy, disposal, sell, transfer"),
        ("a,1704196800000,buy,,,1,10,,,,,,", "asset is missing"),
        ("a,1704196800000,buy,,btc,1,10,,,,,,", "asset must be 2 to 10 capital letters or digits"),
        ("a,1704196800000,buy,,BTC,,10,,,,,,", "quantity is missing"),
        ("a,1704196800000,buy,,BTC,one,10,,,,,,", "quantity is not a decimal number"),
        ("a,1704196800000,buy,,BTC,NaN,10,,,,,,", "quantity is not a decimal number"),
        ("a,1704196800000,buy,,BTC,-1,10,,,,,,", "quantity must be positive"),
        ("a,1704196800000,buy,,BTC,1e30,10,,,,,,", "quantity is too large"),
        ("a,1704196800000,buy,,BTC,0.0000000000000000001,10,,,,,,", "quantity has more than 18 decimal places"),
        ("a,1704196800000,buy,,BTC,1,,,,,,,", "value is missing, and so is price"),
        ("a,1704196800000,buy,,BTC,1,-10,,,,,,", "value must not be negative"),
        ("a,1704196800000,buy,,BTC,1,,-10,,,,,", "price must not be negative"),
        ("a,1704196800000,buy,,BTC,1,,ten,,,,,", "price is not a decimal number"),
        ("a,1704196800000,buy,,BTC,1,10,,x,,,,", "fee is not a decimal number"),
        ("a,1704196800000,buy,,BTC,1,10,,,BNB,1,,", "fee is missing: the value of a fee that was paid in an asset"),
        ("a,1704196800000,buy,,BTC,1,10,,1,BNB,,,", "feeQuantity must be positive"),
        ("a,1704196800000,buy,,BTC,1,10,,1,,2,,", "feeAsset is missing for the given feeQuantity"),
        ("a,1704196800000,transfer,,BTC,1,,,,,,,", "destination must name the account"),
        ("a,1704196800000,transfer,,BTC,1,10,,,,,cold,", "value must be zero for a transfer"),
        ("a,1704196800000,buy,,BTC,1,10,,,,,cold,", "destination belongs to transfers only"),
        ("a,1704196800000,buy,,BTC,1,10,,,,,,EUR", "currency is EUR, the books are kept in USD"),
        ("a,1704196800000,buy", "has 3 columns, the header has 13"),
    ],
)
def test_a_bad_row_is_refused_with_line_field_and_reason_and_the_others_are_taken(row: str, reason: str) -> None:
    good = "good,1704196800000,buy,,BTC,1,10,,,,,,"
    found = from_csv(HEADER, good, row, good)
    ((line, text),) = refusals(found)
    assert line == 3
    assert text.startswith(reason)
    assert len(found) == 3


def test_a_row_is_refused_with_every_reason_at_once() -> None:
    ((line, text),) = refusals(from_csv(HEADER, "a,never,gift,,,x,y,,z,,,,EUR"))
    assert line == 2
    assert [reason.split()[0] for reason in text.split("; ")] == [
        "timestamp",
        "type",
        "asset",
        "quantity",
        "value",
        "fee",
        "currency",
    ]


def test_a_stray_quote_costs_its_own_line_only() -> None:
    good = "externalId,timestamp,type,asset,quantity,value"
    rows = [f"t{number},1704196800000,buy,BTC,1,10" for number in range(6)]
    rows[1] = 't1,"1704196800000,buy,BTC,1,10'
    rows[4] = 't4,1704196800000,buy,BTC,1,"10'
    found = from_csv(good, *rows)
    assert refusals(found) == [(3, "has a quote that is not closed"), (6, "has a quote that is not closed")]
    kept = [result.transaction.external_id for result in found if isinstance(result, Parsed)]
    assert kept == ["t0", "t2", "t3", "t5"]


def test_two_stray_quotes_do_not_swallow_the_rows_between_them() -> None:
    """As CSV the file is valid, with one cell that holds two rows; as a list of trades it is not."""
    found = from_csv(
        "externalId,timestamp,type,asset,quantity,value,note",
        'a,1704196800000,buy,BTC,1,10,"first',
        "b,1704196800000,buy,BTC,1,10,second",
        'c,1704196800000,buy,BTC,1,10,third"',
    )
    assert refusals(found) == [(2, "has a quote that is not closed"), (4, "has a quote that is not closed")]
    assert [result.transaction.external_id for result in found if isinstance(result, Parsed)] == ["b"]


def test_a_file_with_carriage_returns_only_is_refused() -> None:
    with pytest.raises(LayoutError, match="file has no columns"):
        read_csv([f"{HEADER}\ra,1704196800000,buy,,BTC,1,10,,,,,,\r"])


def test_a_quoted_cell_may_hold_line_breaks_and_lines_are_counted_as_in_the_file() -> None:
    found = from_csv(
        "externalId,timestamp,type,asset,quantity,value,note",
        'a,1704196800000,buy,BTC,1,10,"two',
        'lines, and ""quotes"""',
        "",
        "b,1704196800000,buy,BTC,1,10,",
        "c,1704196800000,buy,BTC,1,x,",
    )
    assert [result.line for result in found] == [2, 5, 6]
    assert refusals(found) == [(6, "value is not a decimal number")]


def test_an_over_long_row_is_refused_and_the_next_one_is_read() -> None:
    long = "a," + "x" * RECORD_MAX
    found = from_csv("externalId,timestamp,type,asset,quantity,value", long, f'"{long}', "b,1704196800000,buy,BTC,1,10")
    assert refusals(found) == [
        (2, f"is longer than {RECORD_MAX} characters"),
        (3, f"is longer than {RECORD_MAX} characters"),
    ]
    assert isinstance(found[-1], Parsed)


@given(st.text(st.sampled_from('ab,"\n\r \t;'), max_size=60), st.integers(1, 10))
def test_a_file_means_the_same_however_it_is_cut_into_pieces(text: str, size: int) -> None:
    whole = f"{HEADER}\n{text}"
    pieces = [whole[start : start + size] for start in range(0, len(whole), size)]
    assert list(split_lines(pieces)) == list(split_lines([whole]))
    assert parse(read_csv(pieces)) == parse(read_csv([whole]))
