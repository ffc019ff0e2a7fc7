"""Decimals, symbols and names of requests: what is read, and with which words the rest is refused."""

from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from openspot.http.validation import (
    Currency,
    ExactPositiveDecimal,
    NonNegativeDecimal,
    ParticipantId,
    PositiveDecimal,
    SignedDecimal,
    Symbol,
    WholeNumber,
)

SMALLEST = "0.000000000000000001"
LARGEST = "10000000000000000000"


class Fields(BaseModel):
    """One field of each kind; each test gives one."""

    positive: PositiveDecimal | None = None
    exact: ExactPositiveDecimal | None = None
    non_negative: NonNegativeDecimal | None = None
    signed: SignedDecimal | None = None
    symbol: Symbol | None = None
    currency: Currency | None = None
    participant: ParticipantId | None = None
    whole: WholeNumber | None = None


@pytest.mark.parametrize(
    ("field", "given", "read"),
    [
        ("positive", "1.50", "1.5"),
        ("positive", 2, "2"),
        ("positive", SMALLEST, SMALLEST),
        ("positive", LARGEST, LARGEST),
        ("exact", "1.50", Decimal("1.50")),
        ("positive", f"1.{'0' * 78}", "1"),
        ("positive", Decimal("1e-18"), SMALLEST),
        ("non_negative", "0", "0"),
        ("non_negative", SMALLEST, SMALLEST),
        ("signed", f"-{LARGEST}", f"-{LARGEST}"),
        ("signed", f"-{SMALLEST}", f"-{SMALLEST}"),
        ("symbol", "BTC-USD", "BTC-USD"),
        ("currency", "BTC", "BTC"),
        ("participant", "house:fees", "house:fees"),
        ("whole", 3, 3),
    ],
)
def test_what_is_in_range_is_read_exactly(field: str, given: Any, read: Any) -> None:
    assert getattr(Fields.model_validate({field: given}), field) == read


NO_NUMBER = ("decimal", "must be a decimal number, as text or as a JSON number")
NOT_PLAIN = ("decimal", "is not a plain decimal number such as 0.015")
TOO_LONG = ("decimal", "is too long for a number")
PLACES = ("decimal", "must have at most 18 decimal places")
NO_SYMBOL = ("symbol", "must have the format <BASE>-<QUOTE>, for example BTC-USD")
NO_CURRENCY = ("currency", "must be 2 to 10 capital letters or digits, for example BTC")
NO_PARTICIPANT = ("participant", "must be 1 to 64 letters, digits or _ : -")


@pytest.mark.parametrize(
    ("field", "given", "refusal"),
    [
        ("positive", True, NO_NUMBER),
        ("positive", [], NO_NUMBER),
        ("positive", "1e3", NOT_PLAIN),
        ("positive", "1,5", NOT_PLAIN),
        ("positive", "", NOT_PLAIN),
        ("positive", "0", ("decimal", "must be greater than 0")),
        ("positive", "-1", ("decimal", "must be greater than 0")),
        ("positive", "0" * 81, TOO_LONG),
        ("signed", "-" + "0" * 80, TOO_LONG),
        ("positive", "0" * 80, ("decimal", "must be greater than 0")),
        ("positive", "0.0000000000000000001", PLACES),
        ("positive", Decimal("1e-19"), PLACES),
        ("positive", f"{SMALLEST}5", PLACES),
        ("positive", f"{LARGEST}.000000000000000001", ("decimal", "is too large")),
        ("non_negative", f"-{SMALLEST}", ("decimal", "must be at least 0")),
        ("signed", f"-{LARGEST}1", ("decimal", "is too large")),
        ("signed", f"-{SMALLEST}5", PLACES),
        ("symbol", "BTCUSD", NO_SYMBOL),
        ("symbol", 1, NO_SYMBOL),
        ("currency", "btc", NO_CURRENCY),
        ("currency", 1, NO_CURRENCY),
        ("participant", "a b", NO_PARTICIPANT),
        ("participant", 1, NO_PARTICIPANT),
        ("whole", True, ("int_type", "must be a whole number")),
    ],
)
def test_what_is_not_is_refused_with_its_reason(field: str, given: Any, refusal: tuple[str, str]) -> None:
    with pytest.raises(ValidationError) as refused:
        Fields.model_validate({field: given})
    (error,) = refused.value.errors()
    assert (error["type"], error["msg"]) == refusal
