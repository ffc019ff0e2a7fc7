"""Layouts of imported files: what each column means, and which header belongs to which layout."""

import json

import pytest

from openspot.positions.fifo_transaction import FifoTransaction, TransactionKind
from openspot.positions.import_layouts import LayoutError, layout_from_mapping, recognise
from openspot.positions.import_records import read_csv, read_json
from openspot.positions.import_rules import Parsed, parse_timestamp
from tests.unit.positions.import_rows import HEADER, NOON, UNIT, from_csv, parse, refusals, transactions


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
