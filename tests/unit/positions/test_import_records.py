"""The rows of import files as they are read: whole records, their lines, and the reasons of what is refused."""

import json

import pytest

from openspot.positions.import_layouts import REQUIRED, layout_from_mapping
from openspot.positions.import_records import RECORD_MAX, Refused, Row, read_csv, read_json, refusal, split_lines

PAIR = layout_from_mapping({**{field: field for field in REQUIRED[:-1]}, "quantity": "note"})
"""A layout whose header is `externalId,timestamp,type,asset,note`."""


def rows_of(*lines: str) -> list[Row | Refused]:
    """The rows of a CSV file with the header of PAIR."""
    return list(read_csv([f"{line}\n" for line in ("externalId,timestamp,type,asset,note", *lines)], PAIR)[1])


def row(line: int, note: str) -> Row:
    return Row(line, {"externalid": "a", "timestamp": "b", "type": "c", "asset": "d", "note": note})


def test_a_quoted_cell_keeps_its_line_breaks() -> None:
    assert rows_of('a,b,c,d,"one', "two", 'three"', "a,b,c,d,x") == [row(2, "one\ntwo\nthree"), row(5, "x")]
    assert rows_of('a,b,c,d,"one\r', 'two"') == [row(2, "one\r\ntwo")]


def test_a_line_that_is_a_row_itself_ends_a_quoted_cell() -> None:
    assert rows_of('a,b,c,d,"one', 'a,b,c,d,two"', "a,b,c,d,x") == [
        refusal(2, "has a quote that is not closed"),
        refusal(3, "has a quote that is not closed"),
        row(4, "x"),
    ]


def test_rows_that_are_no_csv_or_have_other_columns_are_refused_with_the_reason() -> None:
    assert rows_of('a,b,c,"d"x,e', "a,b,c,d", 'a,b,c,"d', 'e"', "a,b,c,d,x") == [
        refusal(2, "is not valid CSV"),
        refusal(3, "has 4 columns, the header has 5"),
        refusal(4, "has a quote that is not closed"),
        refusal(5, "has a quote that is not closed"),
        row(6, "x"),
    ]


def test_a_row_may_be_as_long_as_the_largest_and_no_longer() -> None:
    room = RECORD_MAX - len('a,b,c,d,"')
    assert rows_of("a,b,c,d," + "x" * (room + 1)) == [row(2, "x" * (room + 1))]
    assert rows_of("a" * RECORD_MAX) == [refusal(2, "has 1 columns, the header has 5")]
    assert rows_of("a" * (RECORD_MAX + 1)) == [refusal(2, f"is longer than {RECORD_MAX} characters")]
    half = room // 2
    whole = ['a,b,c,d,"' + "x" * half, "y" * (room - half - 1) + '"']
    assert rows_of(*whole) == [row(2, "x" * half + "\n" + "y" * (room - half - 1))]
    assert [item.line for item in rows_of(whole[0], "y" + whole[1]) if isinstance(item, Refused)] == [2, 3]
    # Nor do many lines make a longer cell.
    lines = ['a,b,c,d,"' + "x" * half, "y" * half, "y" * half, 'z"']
    assert [type(item) for item in rows_of(*lines)] == [Refused] * 4


@pytest.mark.parametrize(
    "pieces", [["x" * (RECORD_MAX + 5)], ["x" * (RECORD_MAX + 5), "x" * 9], ["x" * RECORD_MAX, "xx"]]
)
def test_a_line_that_is_too_long_is_cut_one_character_after_the_longest(pieces: list[str]) -> None:
    cut = "x" * (RECORD_MAX + 1)
    assert list(split_lines(pieces)) == [cut]
    assert list(split_lines([*pieces, "\ny\n"])) == [cut, "y"]


def test_the_elements_of_an_array_are_counted_from_one() -> None:
    assert list(read_json(['[{"note": "x"}, {"note": "y"}]'], PAIR)[1]) == [
        Row(1, {"note": "x"}),
        Row(2, {"note": "y"}),
    ]
    assert list(read_json(["[]x"], PAIR)[1]) == [refusal(1, "follows the end of the array and was not read")]


def test_an_element_that_breaks_off_is_judged_by_its_own_length() -> None:
    first = json.dumps({"note": "x" * 40_000})
    text = f'[{first}, {{"note": "' + "y" * 20_000
    assert list(read_json([text], PAIR)[1])[1:] == [
        refusal(2, "is not valid JSON: Unterminated string starting at; nothing after it was read")
    ]
