"""Amounts between database, rules and clients."""

from decimal import Decimal

import pytest

from openspot.positions.amounts import amount_of, shown, shown_or_none


@pytest.mark.parametrize(
    ("stored", "amount", "text"),
    [
        ("0.000000000000000001", 1, "0.000000000000000001"),
        ("-2.50", -25 * 10**17, "-2.5"),
        (
            "12345678901234567890.123456789012345678",
            12_345_678_901_234_567_890_123_456_789_012_345_678,
            "12345678901234567890.123456789012345678",
        ),
        # A sum may be larger than any single amount.
        ("30000000000000000001.5", 30_000_000_000_000_000_001_500_000_000_000_000_000, "30000000000000000001.5"),
    ],
)
def test_an_amount_keeps_each_of_its_18_places(stored: str, amount: int, text: str) -> None:
    assert amount_of(Decimal(stored)) == amount
    assert shown(amount) == shown_or_none(amount) == text


def test_what_is_missing_is_shown_as_missing() -> None:
    assert shown_or_none(None) is None
