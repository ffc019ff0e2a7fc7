"""Converts amounts of 18 places from the database and for clients. Sums may be larger than any single amount."""

from decimal import Decimal
from typing import Any

from openspot.domain.money import AMOUNT_PLACES, EXACT, amount_to_text


def amount_of(value: Any) -> int:
    """The amount in a `numeric` column with at most 18 places."""
    return int(Decimal(value).scaleb(AMOUNT_PLACES, context=EXACT))


def shown(amount: int) -> str:
    """An amount as text for clients."""
    return amount_to_text(amount)


def shown_or_none(amount: int | None) -> str | None:
    """An amount as text for clients; None if it is missing."""
    return None if amount is None else amount_to_text(amount)
