"""Money is exact: no digit is cut, none is invented."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.money import (
    AMOUNT_MAX,
    AMOUNT_SCALE,
    MoneyError,
    amount_to_text,
    decimal_to_text,
    parse_decimal,
    scaled_to_text,
    text_to_amount,
    to_amount,
    to_scaled,
)


@pytest.mark.parametrize(
    "text",
    ["", "NaN", "Infinity", "-inf", "1,000", "0x10", "1_000", "abc", " 1", "1 ", "--1", "1e", "１", "1" * 81, "."],
)
def test_what_is_no_plain_decimal_is_refused(text: str) -> None:
    with pytest.raises(MoneyError):
        parse_decimal(text)


@pytest.mark.parametrize(
    ("text", "value"), [("1", "1"), ("-0.5", "-0.5"), ("+2.50", "2.5"), (".5", "0.5"), ("1.", "1"), ("1e3", "1000")]
)
def test_decimals_are_read_as_written(text: str, value: str) -> None:
    assert parse_decimal(text) == Decimal(value)


def test_more_places_than_the_scale_holds_are_refused_not_cut() -> None:
    assert to_scaled(Decimal("0.01"), 100) == 1
    with pytest.raises(MoneyError, match="more than 2 decimal places"):
        to_scaled(Decimal("0.001"), 100)
    with pytest.raises(MoneyError, match="more than 18 decimal places"):
        to_amount(Decimal("0.0000000000000000001"))


@pytest.mark.parametrize("text", ["1e20", "1e999", "-1e20"])
def test_amounts_beyond_the_largest_are_refused(text: str) -> None:
    with pytest.raises(MoneyError, match="too large"):
        to_amount(parse_decimal(text))


@given(st.integers(-AMOUNT_MAX, AMOUNT_MAX))
def test_an_amount_survives_its_text(amount: int) -> None:
    assert to_amount(parse_decimal(amount_to_text(amount))) == amount


@given(st.integers(-(10**20), 10**20), st.integers(0, 12))
def test_a_scaled_number_survives_its_text(value: int, places: int) -> None:
    scale = 10**places
    assert to_scaled(parse_decimal(scaled_to_text(value, scale)), scale) == value


def test_texts_are_shortest() -> None:
    assert scaled_to_text(150, 100) == "1.5"
    assert scaled_to_text(-5, 100) == "-0.05"
    assert amount_to_text(10**18) == "1"
    assert decimal_to_text(Decimal("1.500")) == "1.5"
    assert decimal_to_text(Decimal("1E+3")) == "1000"
    assert decimal_to_text(Decimal("-0.0")) == "0"


@pytest.mark.parametrize(
    ("text", "amount"),
    [("0", 0), ("1", AMOUNT_SCALE), ("12.5", 125 * 10**17), ("0.000000000000000001", 1), ("00.10", 10**17)],
)
def test_a_plain_text_is_an_amount(text: str, amount: int) -> None:
    assert text_to_amount(text) == amount


@pytest.mark.parametrize("text", ["", ".", "-1", "+1", "1e3", "1.2.3", " 1", "١", "1.0000000000000000001", "nan"])
def test_a_text_that_is_no_plain_amount_is_refused(text: str) -> None:
    with pytest.raises(MoneyError):
        text_to_amount(text)


def test_each_refusal_of_a_text_says_why() -> None:
    assert parse_decimal("1" * 80) == Decimal("1" * 80)
    for read, text, reason in (
        (parse_decimal, "1" * 81, "is too long for a number"),
        (parse_decimal, "1,000", "is not a decimal number"),
        (text_to_amount, "0.1234567890123456789", "has more than 18 decimal places"),
        (text_to_amount, "-1", "is not a plain decimal number"),
    ):
        with pytest.raises(MoneyError) as refused:
            read(text)
        assert str(refused.value) == reason


def test_a_number_of_61_digits_is_scaled_and_a_longer_one_is_not_tried() -> None:
    assert to_scaled(Decimal(10) ** 60, 10) == 10**61
    for read in (lambda: to_scaled(Decimal(10) ** 61, 1), lambda: to_amount(Decimal(10) ** 20)):
        with pytest.raises(MoneyError) as refused:
            read()
        assert str(refused.value) == "is too large"


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (1, "0.01"), (-1, "-0.01"), (100, "1"), (-250, "-2.5")])
def test_zero_has_no_sign_and_whole_numbers_have_no_point(value: int, text: str) -> None:
    assert scaled_to_text(value, 100) == text
    assert amount_to_text(value * 10**16) == text
