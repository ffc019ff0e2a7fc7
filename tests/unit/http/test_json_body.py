"""JSON of request bodies: exact, or refused with the reason."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies

from openspot.http import json_body
from openspot.http.json_body import MalformedJsonError, decode_json


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": 1, "b": "x"}', {"a": 1, "b": "x"}),
        (b'{"a": 0.10}', {"a": Decimal("0.10")}),
        (b'{"a": 1e-7}', {"a": Decimal("1e-7")}),
        (b'{"a": "b:c"}', {"a": "b:c"}),
        (b'{"a": {"b": [1, {"c": null}]}}', {"a": {"b": [1, {"c": None}]}}),
        ('{"a": "é \\ud83d\\ude00"}'.encode(), {"a": "é 😀"}),
        (b"[1, 2]", [1, 2]),
        (b'{"a": NaN}', {"a": "NaN"}),
        (b'{"a": 1e9999999999999999999}', {"a": "1e9999999999999999999"}),
        (b'{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
    ],
)
def test_what_is_read_is_exact(body: bytes, value: Any) -> None:
    assert decode_json(body) == value


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "Expecting value at character 0"),
        (b"{", "Expecting property name"),
        (b'{"a": 1} x', "Extra data"),
        (b'{"a": 1, "a": 1}', 'the property "a" is given twice'),
        (b'{"a": "x:y", "b": 1, "b": 2}', 'the property "b" is given twice'),
        (b'{"a": {"b": 1, "b": 2}}', 'the property "b" is given twice'),
        (b'[{"b": 1, "b": 2}]', 'the property "b" is given twice'),
        (b'{"a": 1, "\\u0061": 2}', 'the property "a" is given twice'),
        (b'\xef\xbb\xbf{"a": 1}', "it begins with a byte order mark"),
        ('{"a": 1}'.encode("utf-16"), "it is not UTF-8"),
        ('{"a": 1}'.encode("utf-32"), "it is not UTF-8"),
        (b'{"a": "\xff"}', "it is not UTF-8"),
        (b'{"a": "\\ud800"}', "a text holds half of a surrogate pair"),
        (b'{"\\ud800": 1}', "a text holds half of a surrogate pair"),
        (b'{"a": "x\x00"}', "Invalid control character"),
        (b"[" * 60_000, "it is nested too deeply"),
    ],
)
def test_what_cannot_be_read_exactly_is_refused_with_the_reason(body: bytes, reason: str) -> None:
    with pytest.raises(MalformedJsonError) as caught:
        decode_json(body)
    assert str(caught.value).startswith(reason)


VALUES = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.integers() | strategies.text(),
    lambda inner: strategies.lists(inner, max_size=3) | strategies.dictionaries(strategies.text(), inner, max_size=4),
    max_leaves=10,
)


@given(VALUES)
def test_whatever_json_writes_is_read_as_it_was(value: Any) -> None:
    assert decode_json(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")) == value or any(
        0xD800 <= ord(letter) < 0xE000 for letter in str(value)
    )


@given(strategies.lists(strategies.tuples(strategies.sampled_from("ab:"), VALUES), max_size=4))
def test_a_property_given_twice_is_always_seen(pairs: list[tuple[str, Any]]) -> None:
    written = ", ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in pairs)
    body = f"{{{written}}}".encode()
    if len(dict(pairs)) == len(pairs):
        assert decode_json(body) == dict(pairs)
    else:
        with pytest.raises(MalformedJsonError, match="given twice"):
            decode_json(body)


def test_a_whole_number_stays_one_up_to_forty_digits() -> None:
    for digits, kind in ((40, int), (41, Decimal), (10_000, Decimal)):
        number = decode_json(b'{"order": {"n": %s}}' % (b"9" * digits))["order"]["n"]
        assert (type(number), number) == (kind, kind("9" * digits)), digits


def test_numbers_stay_exact_beside_a_letter_of_two_surrogates() -> None:
    found = decode_json(b'{"a": "\\ud83d\\ude00", "b": 0.10, "c": {"d": 1e-7}}')
    assert repr(found) == repr({"a": "😀", "b": Decimal("0.10"), "c": {"d": Decimal("1e-7")}})


def test_a_long_name_that_is_given_twice_is_shown_by_its_first_64_letters() -> None:
    name = "a" * 70
    with pytest.raises(MalformedJsonError) as caught:
        decode_json(f'{{"{name}": 1, "{name}": 2}}'.encode())
    assert str(caught.value) == f'the property "{"a" * 64}" is given twice'


def test_a_flat_body_is_read_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(_body: bytes) -> None:
        raise AssertionError("read a second time, letter by letter")

    monkeypatch.setattr(json_body, "_decode_exactly", twice)
    assert decode_json(b'{"symbol": "BTC-USD", "quantity": 0.10}') == {"symbol": "BTC-USD", "quantity": Decimal("0.10")}
    for body in (b'{"a": "b:c"}', b'{"a": {"b": 1}}', b"[1]", b"{"):
        with pytest.raises(AssertionError):
            decode_json(body)
