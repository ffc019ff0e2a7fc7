"""An order book as the venue publishes it: prices and quantities as texts, and the id of the last change."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

Level = tuple[str, str]
"""Price and quantity as texts."""


class Book:
    """All levels of one market."""

    def __init__(self, update_id: int = 0, bids: Iterable[Level] = (), asks: Iterable[Level] = ()) -> None:
        self.update_id = update_id
        self._bids = {Decimal(price): (price, quantity) for price, quantity in bids}
        self._asks = {Decimal(price): (price, quantity) for price, quantity in asks}

    def copy(self) -> "Book":
        """A new book with the same levels."""
        return Book(self.update_id, self._bids.values(), self._asks.values())

    def apply(self, data: dict[str, Any]) -> None:
        """Apply a `depthUpdate`, unless the book has it already. A quantity of zero removes its level."""
        if data["u"] <= self.update_id:
            return
        for levels, changes in ((self._bids, data["b"]), (self._asks, data["a"])):
            for price, quantity in changes:
                if quantity.strip("0."):
                    levels[Decimal(price)] = (price, quantity)
                else:
                    levels.pop(Decimal(price), None)
        self.update_id = data["u"]

    def snapshot(self, limit: int) -> dict[str, Any]:
        """The best `limit` levels of each side, as `GET /depth` returns them."""
        return {
            "lastUpdateId": self.update_id,
            "bids": [self._bids[price] for price in sorted(self._bids, reverse=True)[:limit]],
            "asks": [self._asks[price] for price in sorted(self._asks)[:limit]],
        }

    def changes_to(self, other: "Book") -> tuple[list[Level], list[Level]]:
        """The bid and ask levels of a `depthUpdate` that makes this book equal to `other`."""
        return _changes(self._bids, other._bids), _changes(self._asks, other._asks)


def _changes(now: dict[Decimal, Level], then: dict[Decimal, Level]) -> list[Level]:
    removed = [(text, "0.00000000") for price, (text, _) in now.items() if price not in then]
    return removed + [level for price, level in then.items() if now.get(price) != level]
