"""Why operators adjust balances. Pure."""

from enum import StrEnum


class Category(StrEnum):
    """Why money is given or taken. A report sums adjustments by category."""

    CORRECTION = "correction"
    """Something was posted wrongly."""
    GOODWILL = "goodwill"
    REFUND = "refund"
    """What the user paid comes back."""
    CHARGEBACK = "chargeback"
    """A payment that was credited was taken back by its provider."""
    PROMOTION = "promotion"
