"""Import of transactions: layouts, CSV and JSON as streams, the reason for each refused row, and no row twice."""

import json
import tracemalloc
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.money import AMOUNT_SCALE
from openspot.positions.fifo_transaction import FifoTransaction, TransactionKind
from openspot.positions.import_layouts import Layout, LayoutError, layout_from_mapping, recognise
from openspot.positions.import_records import (
    RECORD_MAX,
    Refused,
    Row,
    read_csv,
    read_json,
    split_lines,
)
from openspot.positions.import_rules import (
    ImportDefaults,
    Parsed,
    parse_rows,
    parse_timestamp,
)

UNIT = AMOUNT_SCALE
DEFAULTS = ImportDefaults("main", "USD")
HEADER = "externalId,timestamp,type,account,asset,quantity,value,price,fee,feeAsset,feeQuantity,destination,currency"
NOON = 1_704_196_800_000
"""2024-01-02 12:00 UTC."""


def parse(source: tuple[Layout, Iterator[Row | Refused]]) -> list[Parsed | Refused]:
    layout, rows = source
    return list(parse_rows(rows, layout, DEFAULTS))


def from_csv(*lines: str) -> list[Parsed | Refused]:
    return parse(read_csv([f"{line}\n" for line in lines]))


def transactions(results: Iterable[Parsed | Refused]) -> list[FifoTransaction]:
    """The transactions of results of which none is refused."""
    found = []
    for result in results:
        assert isinstance(result, Parsed), result
        found.append(result.transaction)
    return found


def refusals(results: Iterable[Parsed | Refused]) -> list[tuple[int, str]]:
    """Line and "field reason; field reason" of what is refused."""
    return [
        (result.line, "; ".join(f"{reason.field} {reason.text}".strip() for reason in result.reasons))
        for result in results
        if isinstance(result, Refused)
    ]


def test_our_own_layout_holds_every_field() -> None:
    found = transactions(
        from_csv(
            HEADER,
            "a,2024-01-02T12:00:00Z,acquisition,cold,BTC,1.5,30000,,12.5,BNB,0.05,,USD",
            "b,1704196800001,sell,,BTC,0.5,,20000.000000000000000001,,,,,",
            "c,1704196801,Transfer,cold,BTC,0.25,,,,,,desk,",
        )
    )
    assert found == [
        FifoTransaction(
            "a",
            NOON,
            TransactionKind.ACQUISITION,
            "cold",
            "BTC",
            15 * UNIT // 10,
            30_000 * UNIT,
            125 * UNIT // 10,
            "BNB",
            UNIT // 20,
        ),
        # Price × quantity is 10000 and half of the last place, which is rounded to even.
        FifoTransaction("b", NOON + 1, TransactionKind.DISPOSAL, "main", "BTC", UNIT // 2, 10_000 * UNIT),
        FifoTransaction("c", NOON + 1000, TransactionKind.TRANSFER, "cold", "BTC", UNIT // 4, destination="desk"),
    ]


@pytest.mark.parametrize(("last_digits", "value"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 2), (6, 3), (7, 4)])
def test_price_times_quantity_is_rounded_half_to_even_at_18_places(last_digits: int, value: int) -> None:
    """Half a unit at so many times 10^-18."""
    (found,) = transactions(from_csv(HEADER, f"a,{NOON},buy,,BTC,0.5,,{last_digits}e-18,,,,,"))
    assert found.value == value


def test_a_price_times_quantity_above_half_a_place_is_rounded_up() -> None:
    (found,) = transactions(from_csv(HEADER, f"a,{NOON},buy,,BTC,0.6,,1e-18,,,,,"))
    assert found.value == 1


def test_coinbase_is_recognised_below_its_preamble() -> None:
    found = from_csv(
        "",
        "Transactions",
        "User,Somebody,00000000",
        "ID,Timestamp,Transaction Type,Asset,Quantity Transacted,Price Currency,Price at Transaction,Subtotal,"
        "Total (inclusive of fees and/or spread),Fees and/or Spread,Notes",
        'cb1,2024-01-02 12:00:00 UTC,Buy,BTC,0.01,USD,$84000.00,"$1,840.00",$1845.00,$5.00,"Bought 0.01, in dollars"',
        "cb2,2024-01-02 12:00:01 UTC,Advanced Trade Sell,BTC,-0.005,USD,$84250.00,-$421.25,-$419.25,$2.00,",
        "cb3,2024-01-02 12:00:02 UTC,Reward Income,ADA,0.5,USD,$0.48,$0.24,$0.24,-$0.01,",
        "cb4,2024-01-02 12:00:03 UTC,Send,BTC,0.0025,USD,$84000.00,,,,",
        "cb5,2024-01-02 12:00:04 UTC,Buy,BTC,0.01,EUR,€84000.00,€840.00,€845.00,€5.00,",
    )
    assert transactions(found[:3]) == [
        FifoTransaction("cb1", NOON, TransactionKind.ACQUISITION, "main", "BTC", UNIT // 100, 1840 * UNIT, 5 * UNIT),
        FifoTransaction(
            "cb2", NOON + 1000, TransactionKind.DISPOSAL, "main", "BTC", UNIT // 200, 42125 * UNIT // 100, 2 * UNIT
        ),
        FifoTransaction(
            "cb3", NOON + 2000, TransactionKind.ACQUISITION, "main", "ADA", UNIT // 2, 24 * UNIT // 100, -UNIT // 100
        ),
    ]
    assert [line for line, _ in refusals(found)] == [8, 9]
    assert refusals(found)[0][1].startswith("type 'Send' is none of buy, ")
    assert refusals(found)[1][1] == "currency is EUR, the books are kept in USD"


@pytest.mark.parametrize(
    ("pair", "asset"),
    [
        ("XXBTZUSD", "BTC"),
        ("XBTUSD", "BTC"),
        ("XBT/USD", "BTC"),
        ("XETHZUSD", "ETH"),
        ("XTZUSD", "XTZ"),
        ("XDGUSD", "DOGE"),
        ("XXDGZUSD", "DOGE"),
        ("USDTZUSD", "USDT"),
        ("DOTUSD", "DOT"),
        ("HBAR/USD", "HBAR"),
    ],
)
def test_kraken_pairs_are_split_into_two_assets(pair: str, asset: str) -> None:
    (found,) = transactions(
        from_csv(
            '"txid","ordertxid","pair","time","type","ordertype","price","cost","fee","vol","margin","misc","ledgers"',
            f'"TX1","O1","{pair}","2024-01-02 12:00:00.1234","buy","limit",100.0,50.0,0.25,0.5,0.00000,"","L1,L2"',
        )
    )
    assert found == FifoTransaction(
        "TX1", NOON + 123, TransactionKind.ACQUISITION, "main", asset, UNIT // 2, 50 * UNIT, UNIT // 4
    )


def test_a_kraken_trade_with_margin_or_another_quote_is_refused() -> None:
    found = from_csv(
        "txid,pair,time,type,cost,fee,vol,margin",
        "a,XXBTZUSD,2024-01-02 12:00:00,buy,1,0,1,1.5",
        "b,XETHXXBT,2024-01-02 12:00:00,buy,1,0,1,0",
        "c,NONSENSE,2024-01-02 12:00:00,buy,1,0,1,0",
        "d,,2024-01-02 12:00:00,buy,1,0,1,0",
    )
    assert refusals(found) == [
        (2, "margin is not zero: a leveraged trade moves no lots"),
        (3, "currency is BTC, the books are kept in USD"),
        (4, "pair NONSENSE cannot be split into two assets"),
        (5, "pair is empty and cannot be split into two assets"),
    ]


@pytest.mark.parametrize("pair", ["USD", "/USD", "BTC/", "/"])
def test_a_pair_with_only_one_asset_is_refused(pair: str) -> None:
    found = from_csv("txid,pair,time,type,cost,fee,vol,margin", f"a,{pair},2024-01-02 12:00:00,buy,1,0,1,0")
    assert refusals(found) == [(2, f"pair {pair} cannot be split into two assets")]


KRAKEN = {
    "txid": "a", "pair": "XBT/USD", "time": "1704196800", "type": "buy", "cost": "50", "fee": "1", "vol": "2",
    "margin": "0.000",
}  # fmt: skip
BITSTAMP = {
    "ID": "a", "Type": "Market", "Subtype": "Buy", "Datetime": "1704196800", "Amount": "2", "Amount currency": "BTC",
    "Value": "50", "Value currency": "USD", "Fee": "1", "Fee currency": "USD",
}  # fmt: skip


@pytest.mark.parametrize(
    ("row", "key", "reason"),
    [
        (KRAKEN, "margin", None),
        (KRAKEN, "pair", "pair is empty and cannot be split into two assets"),
        (KRAKEN, "vol", "quantity is missing"),
        (BITSTAMP, "Type", "type 'Buy' is none of market buy, market sell"),
        (BITSTAMP, "Subtype", "type 'Market' is none of market buy, market sell"),
        (BITSTAMP, "Fee currency", "fee is in no currency, whose value the row does not give"),
        (BITSTAMP, "Fee", None),
    ],
)
def test_an_object_may_lack_keys_that_the_first_one_has(row: dict[str, str], key: str, reason: str | None) -> None:
    rest = {name: text for name, text in row.items() if name != key}
    found = parse(read_json([f"{json.dumps(row)}\n{json.dumps(rest)}"]))
    assert refusals(found) == ([] if reason is None else [(2, reason)])
    (first, *_) = transactions([item for item in found if isinstance(item, Parsed)])
    assert first == FifoTransaction("a", NOON, TransactionKind.ACQUISITION, "main", "BTC", 2 * UNIT, 50 * UNIT, UNIT)


def test_an_object_may_lack_fields_of_the_mapping() -> None:
    layout = layout_from_mapping(
        {"externalId": "id", "timestamp": "at", "type": "side", "asset": "coin", "quantity": "size", "fee": "fee"}
    )
    assert layout.name == "mapping"
    found = parse(read_json(['{"id": "a", "at": 1704196800, "side": "buy", "coin": "BTC"}'], layout))
    assert refusals(found) == [(1, "quantity is missing; value is missing, and so is price")]


def test_bitstamp_rows_are_market_trades_only() -> None:
    found = from_csv(
        "ID,Account,Type,Subtype,Datetime,Amount,Amount currency,Value,Value currency,Rate,Rate currency,Fee,"
        "Fee currency,Order ID",
        "1,Main Account,Market,Buy,2024-01-02T12:00:00Z,2.0,LTC,100.00,USD,50.0,USD,0.5,USD,1001",
        "2,Main Account,Deposit,,2024-01-02T12:00:00Z,2.0,LTC,,,,,,,",
        "3,Main Account,Market,Sell,2024-01-02T12:00:00Z,2.0,LTC,100.00,USD,50.0,USD,0.5,LTC,1002",
    )
    assert transactions(found[:1]) == [
        FifoTransaction("1", NOON, TransactionKind.ACQUISITION, "Main Account", "LTC", 2 * UNIT, 100 * UNIT, UNIT // 2)
    ]
    assert [line for line, _ in refusals(found)] == [3, 4]
    assert "type 'Deposit' is none of market buy, market sell" in refusals(found)[0][1]
    assert refusals(found)[1][1] == "fee is in LTC, whose value the row does not give"


def test_a_given_mapping_names_the_columns() -> None:
    layout = layout_from_mapping(
        {"externalId": "Ref", "timestamp": "When", "type": "What", "asset": "Coin", "quantity": "Qty", "value": "Total"}
    )
    text = "Note;Ref;When;What;Coin;Qty;Total\nx;r1;2024-01-02 12:00:00;buy;BTC;1;10\n"
    assert transactions(parse(read_csv([text], layout))) == [
        FifoTransaction("r1", NOON, TransactionKind.ACQUISITION, "main", "BTC", UNIT, 10 * UNIT)
    ]
    with pytest.raises(LayoutError, match="file has no header with the columns coin, qty, ref, total, what, when"):
        read_csv(["a,b\n"], layout)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"nonsense": "A"}, "mapping names the unknown field nonsense"),
        ({"externalId": " "}, "mapping of externalId names no column"),
        ({"externalId": "A", "timestamp": "a"}, "mapping uses the column a twice"),
        ({"externalId": "A", "type": "B"}, "mapping lacks timestamp, asset, quantity"),
    ],
)
def test_a_bad_mapping_is_refused(mapping: dict[str, str], message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        layout_from_mapping(mapping)


def test_an_unknown_header_is_refused_with_its_columns() -> None:
    with pytest.raises(LayoutError, match="header is of no known layout: date, pair, side; give a mapping"):
        read_csv(["Date,Pair,Side\n", "1,2,3\n"])
    with pytest.raises(LayoutError, match=r"^header is of no known layout: file has no columns; give a mapping$"):
        read_csv([])
    # A title has one cell and is no header.
    with pytest.raises(LayoutError, match=r"^header is of no known layout: a, b; give a mapping$"):
        read_csv(["Title\n", "a,b\n", "1,2\n"])
    with pytest.raises(LayoutError, match=r"^header names a column twice: fee, value$"):
        read_csv([f"{HEADER},Fee,Value\n"])
    assert recognise(["date"]) is None


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


OBJECT = {"externalId": "a", "timestamp": NOON, "type": "buy", "asset": "BTC", "quantity": 1, "value": 0.1}


def test_json_is_an_array_or_one_object_a_line_and_numbers_stay_exact() -> None:
    second = (
        '{"externalId": "b", "timestamp": "2024-01-02T12:00:00Z", "type": "sell", "asset": "BTC", "quantity": "1",'
        ' "value": 0.1234567890123456789e1, "fee": null}'
    )
    expected = [
        FifoTransaction("a", NOON, TransactionKind.ACQUISITION, "main", "BTC", UNIT, UNIT // 10),
        FifoTransaction("b", NOON, TransactionKind.DISPOSAL, "main", "BTC", UNIT, 1_234_567_890_123_456_789),
    ]
    for text in (f"[{json.dumps(OBJECT)}, {second}]", f"\n{json.dumps(OBJECT)}\n\n{second}"):
        assert transactions(parse(read_json([text]))) == expected
        assert transactions(parse(read_json(list(text)))) == expected


def test_json_lines_are_counted_as_in_the_file_and_each_bad_one_is_refused_alone() -> None:
    good = json.dumps(OBJECT)
    lines = [
        "",
        good,
        "{",
        '{"externalId": 1,}',
        "[1]",
        '{"a": 1} {"b": 2}',
        '{"externalId": "a", "externalid": "b"}',
        '{"quantity": true}',
        '{"quantity": {"nested": 1}}',
        "[" * 100_000,
        '{"a":' * 10_000,
        "x" * (RECORD_MAX + 1),
        good,
    ]
    found = parse(read_json(["\n".join(lines)]))
    assert [(result.line, isinstance(result, Parsed)) for result in found] == [
        (number, number in (2, 13)) for number in range(2, 14)
    ]
    reasons = dict(refusals(found))
    assert reasons[3].startswith("is not valid JSON: Expecting property name enclosed in double quotes")
    assert reasons[4].startswith("is not valid JSON: ")
    assert reasons[11] == "is nested too deeply"
    assert reasons[5] == "is not one object"
    assert reasons[6] == "is not one object"
    assert reasons[7] == "externalid is given twice"
    assert reasons[8] == reasons[9] == "quantity must be a text or a number"
    assert reasons[10] == reasons[12] == f"is longer than {RECORD_MAX} characters"


@pytest.mark.parametrize(
    ("after", "place", "reason"),
    [
        (", 7]", 2, "is not an object; nothing after it was read"),
        (', {"a": ]', 2, "is not valid JSON: Expecting value; nothing after it was read"),
        (" {}]", 2, "does not follow a comma; nothing after it was read"),
        ("", 2, "does not follow a comma; nothing after it was read"),
        (",", 2, "is not an object; nothing after it was read"),
        ("] tail", 2, "follows the end of the array and was not read"),
        (
            ', {"a": "' + "x" * 200_000,
            2,
            f"is not valid JSON or longer than {RECORD_MAX} characters; nothing after it was read",
        ),
        (", " + '{"a":' * 10_000, 2, "is nested too deeply; nothing after it was read"),
    ],
)
def test_an_array_that_breaks_off_is_told(after: str, place: int, reason: str) -> None:
    found = parse(read_json([f"[{json.dumps(OBJECT)}{after}"]))
    assert isinstance(found[0], Parsed)
    assert refusals(found) == [(place, reason)]


def test_json_without_objects_or_of_unknown_keys_is_refused() -> None:
    for text, message in (
        ("", "file does not begin with an object: it is empty"),
        ("[]", "file does not begin with an object: it is empty"),
        ("[7]", "file does not begin with an object: is not an object; nothing after it was read"),
        ("null", "file does not begin with an object: is not one object"),
        ('{"a": 1, "b": 2}', "keys are of no known layout: a, b; give a mapping"),
    ):
        with pytest.raises(LayoutError, match=f"^{message}$"):
            read_json([text])


def test_the_first_object_must_be_among_the_first_ten_rows() -> None:
    good = json.dumps(OBJECT)
    found = parse(read_json(["null\n" * 9 + good]))
    assert [(item.line, isinstance(item, Parsed)) for item in found] == [(line, line == 10) for line in range(1, 11)]
    with pytest.raises(LayoutError, match=r"^file does not begin with an object: is not one object$"):
        read_json(["null\n" * 10 + good])


def test_a_mapping_serves_json_too() -> None:
    layout = layout_from_mapping(
        {"externalId": "id", "timestamp": "at", "type": "side", "asset": "coin", "quantity": "size", "price": "px"}
    )
    text = '{"id": "a", "at": 1704196800, "side": "BUY", "coin": "BTC", "size": 2, "px": 3}'
    assert transactions(parse(read_json([text], layout))) == [
        FifoTransaction("a", NOON, TransactionKind.ACQUISITION, "main", "BTC", 2 * UNIT, 6 * UNIT)
    ]


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("2024-01-02T12:00:00Z", 0),
        ("2024-01-02T14:00:00+02:00", 0),
        ("2024-01-02 12:00:00", 0),
        ("2024-01-02 12:00:00 UTC", 0),
        ("2024-01-02 12:00:00.1239", 123),
        ("1704196800", 0),
        ("1704196800005", 5),
        ("2024-01-02", -43_200_000),
    ],
)
def test_timestamps_are_utc_milliseconds(text: str, milliseconds: int) -> None:
    assert parse_timestamp(text) == NOON + milliseconds


def csv_pieces(count: int) -> Iterator[str]:
    yield "externalId,timestamp,type,asset,quantity,value\n"
    for number in range(count):
        yield f"t{number:09},1704196800000,buy,BTC,1,10\n"


def json_pieces(count: int) -> Iterator[str]:
    yield "["
    for number in range(count):
        yield ("," if number else "") + json.dumps({**OBJECT, "externalId": f"t{number}"})
    yield "]"


@pytest.mark.parametrize(("read", "pieces"), [(read_csv, csv_pieces), (read_json, json_pieces)])
def test_ten_times_as_many_rows_need_no_more_memory(read: object, pieces: object) -> None:
    def peak(count: int) -> int:
        tracemalloc.start()
        try:
            layout, rows = read(pieces(count))  # type: ignore[operator]
            assert sum(isinstance(item, Parsed) for item in parse_rows(rows, layout, DEFAULTS)) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)
    small, large = peak(300), peak(3_000)
    assert large < small * 1.5
