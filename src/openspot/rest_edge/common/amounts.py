"""Converts amounts of 18 places to and from the texts of clients and the rows of the database."""

from collections.abc import Mapping, Set
from types import MappingProxyType
from typing import Any

from openspot.domain.market import AssetScale
from openspot.domain.money import AMOUNT_PLACES, MoneyError, parse_decimal, to_amount
from openspot.http.errors import validation_error

_NO_FIELDS: Mapping[str, str] = MappingProxyType({})


def row_values(row: Any, amounts: Set[str], fields: Mapping[str, str] = _NO_FIELDS) -> dict[str, Any]:
    """The values of a row by field. Columns in `amounts` become units of 18 places.

    `fields` names the field of each column whose field has another name.
    """
    return {
        fields.get(column, column): to_amount(value) if column in amounts else value for column, value in row.items()
    }


def amount_of_asset(field: str, text: str, asset: AssetScale) -> int:
    """Read an amount of a request. Raises HttpError (400), naming `field`, for more places than the asset has."""
    try:
        amount = to_amount(parse_decimal(text))
    except MoneyError as error:
        raise validation_error([f"{field} {error}"]) from error
    if amount % 10 ** (AMOUNT_PLACES - asset.places):
        raise validation_error([f"{field} must have at most {asset.places} decimal places for {asset.asset}"])
    return amount
