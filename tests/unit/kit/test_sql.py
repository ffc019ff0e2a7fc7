"""Amounts for the database, and numbers of rows from its command tags."""

import pytest

from openspot.domain.money import AMOUNT_MAX
from openspot.kit.sql import numeric, rows_changed


@pytest.mark.parametrize(
    ("amount", "text"),
    [(1, "0.000000000000000001"), (15 * 10**17, "1.500000000000000000"), (-(10**18), "-1.000000000000000000")],
)
def test_an_amount_is_a_decimal_with_18_places(amount: int, text: str) -> None:
    assert format(numeric(amount), "f") == text


def test_a_sum_larger_than_any_amount_is_exact() -> None:
    assert format(numeric(1000 * AMOUNT_MAX + 1), "f") == f"{1000 * AMOUNT_MAX // 10**18}.000000000000000001"


@pytest.mark.parametrize(("tag", "rows"), [("INSERT 0 1", 1), ("INSERT 0 0", 0), ("UPDATE 11", 11), ("DELETE 0", 0)])
def test_the_number_of_rows_is_the_end_of_the_command_tag(tag: str, rows: int) -> None:
    assert rows_changed(tag) == rows
