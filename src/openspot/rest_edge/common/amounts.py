"""Amounts of 18 places on their way to and from clients and database."""

from collections.abc import Set
from typing import Any

from openspot.domain.market import AssetScale
from openspot.domain.money import AMOUNT_PLACES, MoneyError, parse_decimal, to_amount
from openspot.http.errors import validation_error


def row_values(row: Any, amounts: Set[str]) -> dict[str, Any]:
    """The columns of a row by name; those in `amounts` in units of 18 places."""
    return {name: to_amount(value) if name in amounts else value for name, value in row.items()}


def amount_of_asset(field: str, text: str, asset: AssetScale) -> int:
    """The amount in a request. Raises HttpError (400) for more places than the asset has; `field` names it."""
    try:
        amount = to_amount(parse_decimal(text))
    except MoneyError as error:
        raise validation_error([f"{field} {error}"]) from error
    if amount % 10 ** (AMOUNT_PLACES - asset.places):
        raise validation_error([f"{field} must have at most {asset.places} decimal places for {asset.asset}"])
    return amount
