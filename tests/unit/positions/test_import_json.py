"""JSON files as streams of objects, the reason for each refusal, and the memory that any file takes."""

import json
import tracemalloc
from collections.abc import Iterator

import pytest

from openspot.positions.fifo_transaction import FifoTransaction, TransactionKind
from openspot.positions.import_layouts import LayoutError, layout_from_mapping
from openspot.positions.import_records import RECORD_MAX, read_csv, read_json
from openspot.positions.import_rules import Parsed, parse_rows
from tests.unit.positions.import_rows import DEFAULTS, NOON, UNIT, parse, refusals, transactions

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
