"""Converts amounts for the database, and reads its reports on statements."""

from decimal import Decimal

from openspot.domain.money import AMOUNT_PLACES, EXACT


def numeric(amount: int) -> Decimal:
    """An amount of 18 places for a `numeric` column. Sums may be larger than any single amount."""
    return Decimal(amount).scaleb(-AMOUNT_PLACES, context=EXACT)


def rows_changed(tag: str) -> int:
    """How many rows a statement has changed, from the command tag with which PostgreSQL ends it.

    The tag ends with the number of rows: `INSERT 0 1`, `UPDATE 3`, `DELETE 0`. The 0 in the middle of an INSERT's tag
    is something else (PostgreSQL documentation, "Message Formats", CommandComplete).
    """
    return int(tag.rpartition(" ")[2])
