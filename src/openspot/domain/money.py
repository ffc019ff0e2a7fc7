"""Exact money.

On the wire, a decimal is always a string. Inside a process, it is a `Decimal` or an integer, never a float.
Engine and ledger keep the amounts of every asset as integers with 18 decimal places. So a trade, its fees and its
rebates are never rounded.
"""

import re
from decimal import Context, Decimal, Inexact, InvalidOperation, Rounded

AMOUNT_PLACES = 18
AMOUNT_SCALE: int = 10**AMOUNT_PLACES
# numeric(38,18) has 20 digits before the point. One digit less keeps every sum within 128 bits.
AMOUNT_MAX: int = 10**37
BASIS_POINTS = 10_000

# Has room for the product of any two amounts. It never rounds: an inexact result raises an exception.
EXACT = Context(prec=100, traps=[InvalidOperation, Inexact, Rounded])

_DECIMAL_TEXT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_TEXT_LENGTH_MAX = 80
_SHIFTS: tuple[int, ...] = tuple(10**places for places in range(AMOUNT_PLACES + 1))
# Every scale of a market is in it; to count the digits takes longer.
_PLACES_OF_SCALE: dict[int, int] = {scale: places for places, scale in enumerate(_SHIFTS)}


class MoneyError(ValueError):
    """The value is not an exact decimal in range. The message is a predicate, such as "is too large"."""


def parse_decimal(text: str) -> Decimal:
    """Parse a finite decimal.

    Raises MoneyError for anything else: NaN, infinity, empty text, thousands separators, over-long text.
    """
    if len(text) > _TEXT_LENGTH_MAX:
        raise MoneyError("is too long for a number")
    if not _DECIMAL_TEXT.fullmatch(text):
        raise MoneyError("is not a decimal number")
    return Decimal(text)


def to_scaled(value: Decimal, scale: int) -> int:
    """Return `value` × `scale` as an integer. `scale` is a power of ten.

    Raises MoneyError if `value` is too large or has more decimal places than the scale. Digits are never cut off.
    """
    places = _PLACES_OF_SCALE.get(scale) or len(str(scale)) - 1
    if value.adjusted() > 60:
        raise MoneyError("is too large")
    product = value.scaleb(places, EXACT)
    whole = int(product)
    if whole != product:
        raise MoneyError(f"has more than {places} decimal places")
    return whole


def to_amount(value: Decimal) -> int:
    """`value` as an integer with 18 places. Raises MoneyError for more places, or above AMOUNT_MAX in size."""
    amount = to_scaled(value, AMOUNT_SCALE)
    if abs(amount) > AMOUNT_MAX:
        raise MoneyError("is too large")
    return amount


def scaled_to_text(value: int, scale: int) -> str:
    """The shortest plain decimal text of `value` / `scale`. `scale` is a power of ten: (150, 100) → "1.5"."""
    if scale == 1:
        return str(value)
    places = _PLACES_OF_SCALE.get(scale) or len(str(scale)) - 1
    digits = str(abs(value)).rjust(places + 1, "0")
    fraction = digits[-places:].rstrip("0")
    text = digits[:-places] + ("." + fraction if fraction else "")
    return "-" + text if value < 0 else text


def amount_to_text(amount: int) -> str:
    """The shortest plain decimal text of an amount with 18 places."""
    # Does what scaled_to_text does, in two thirds of the time: every fill writes several amounts.
    digits = str(abs(amount)).rjust(AMOUNT_PLACES + 1, "0")
    fraction = digits[-AMOUNT_PLACES:].rstrip("0")
    text = digits[:-AMOUNT_PLACES] + ("." + fraction if fraction else "")
    return "-" + text if amount < 0 else text


def text_to_amount(text: str) -> int:
    """The amount of a plain decimal text without sign or exponent, as `amount_to_text` writes it.

    Raises MoneyError for any other text, and for more than 18 places.
    """
    whole, _, fraction = text.partition(".")
    if len(fraction) > AMOUNT_PLACES:
        raise MoneyError(f"has more than {AMOUNT_PLACES} decimal places")
    digits = whole + fraction
    if not (digits.isascii() and digits.isdigit()):
        raise MoneyError("is not a plain decimal number")
    return int(digits) * _SHIFTS[AMOUNT_PLACES - len(fraction)]


def decimal_to_text(value: Decimal) -> str:
    """The shortest plain decimal text of `value`, without exponent."""
    text = str(value)
    if "E" in text:
        text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
