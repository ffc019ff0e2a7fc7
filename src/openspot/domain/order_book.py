"""Level-2 order books: sides sorted by price, and the checksum that publisher and receivers compare.

Prices and quantities are exact. A book of texts keeps each level as it was sent, because the checksum is made of the
texts (docs/guides/order-book.md).
"""

import zlib
from bisect import bisect_left, insort
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, islice
from typing import Generic, TypeVar

from openspot.domain.money import MoneyError, text_to_amount

CHECKSUM_LEVELS = 10
REMOVED = "0"
"""The quantity of a level that is gone."""

# Prices and quantities repeat, so most come from the cache.
amount_of = lru_cache(65_536)(text_to_amount)

Level = tuple[str, str]
"""Price and quantity, as texts."""
Value = TypeVar("Value")


class BookContradictionError(Exception):
    """An event or message contradicts the book, or refers to a part of the book that is not known."""


class RankedSide(Generic[Value]):
    """One side of a book: a value for each price.

    Prices are kept by rank, and a bid's rank is its negative price: the best rank is the lowest on both sides.
    """

    def __init__(self, *, is_bids: bool) -> None:
        self._sign = -1 if is_bids else 1
        self._values: dict[int, Value] = {}
        self._ranks: list[int] = []

    def __len__(self) -> int:
        return len(self._ranks)

    @property
    def best(self) -> int | None:
        """The best price, or None if the side is empty."""
        return self._sign * self._ranks[0] if self._ranks else None

    def put(self, rank: int, value: Value) -> None:
        if rank not in self._values:
            insort(self._ranks, rank)
        self._values[rank] = value

    def remove(self, rank: int) -> bool:
        """Remove a rank. Returns whether it was there."""
        if self._values.pop(rank, None) is None:
            return False
        del self._ranks[bisect_left(self._ranks, rank)]
        return True

    def top(self, depth: int | None = None) -> dict[int, Value]:
        """The values of the best `depth` prices by rank, best first; of all prices without `depth`."""
        values = self._values
        return {rank: values[rank] for rank in islice(self._ranks, depth)}


class TextSide(RankedSide[Level]):
    """One side of a book of texts."""

    def __init__(self, *, is_bids: bool) -> None:
        super().__init__(is_bids=is_bids)
        self._best_levels: list[Level] | None = None
        """The levels that the checksum is made of; None if one of them may have changed."""

    def set(self, level: Level) -> None:
        """Set a level; quantity "0" removes it. Raises BookContradictionError."""
        price, quantity = level
        try:
            rank = self._sign * amount_of(price)
            is_removed = not amount_of(quantity)
        except MoneyError as error:
            raise BookContradictionError(f"{level} {error}") from error
        ranks = self._ranks
        if len(ranks) < CHECKSUM_LEVELS or rank <= ranks[CHECKSUM_LEVELS - 1]:
            self._best_levels = None
        if not is_removed:
            if rank not in self._values:
                insort(ranks, rank)
            self._values[rank] = level
        elif not self.remove(rank):
            raise BookContradictionError(f"no level at {price} to remove")

    @property
    def has_new_best(self) -> bool:
        """Whether a level of the checksum may have changed since `best_levels` was called."""
        return self._best_levels is None

    def best_levels(self) -> list[Level]:
        """The levels that the checksum is made of."""
        if self._best_levels is None:
            self._best_levels = list(map(self._values.__getitem__, self._ranks[:CHECKSUM_LEVELS]))
        return self._best_levels


class TextBook:
    """A book that follows messages. Its user checks their sequences."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.bids = TextSide(is_bids=True)
        self.asks = TextSide(is_bids=False)
        self._checksum = 0

    def apply(self, bids: Iterable[Level], asks: Iterable[Level], expected: int) -> None:
        """Set levels, and check that the book's checksum is then `expected`.

        Raises BookContradictionError. Some levels may be set then, so the book needs a snapshot.
        """
        for level in bids:
            self.bids.set(level)
        for level in asks:
            self.asks.set(level)
        if self.checksum() != expected:
            raise BookContradictionError("the checksum differs")

    def checksum(self) -> int:
        if self.bids.has_new_best or self.asks.has_new_best:
            self._checksum = checksum(self.bids.best_levels(), self.asks.best_levels())
        return self._checksum


def checksum(bids: Iterable[Level], asks: Iterable[Level]) -> int:
    """The CRC-32 of the ten best levels: `bidPrice:bidQuantity:askPrice:askQuantity` of level 1, 2 …

    Levels are best first. All texts are joined with colons. If a side has fewer levels, its part is left out.
    """
    best_bids, best_asks = list(islice(bids, CHECKSUM_LEVELS)), list(islice(asks, CHECKSUM_LEVELS))
    both = min(len(best_bids), len(best_asks))
    in_turn = chain.from_iterable(zip(best_bids, best_asks, strict=False))
    texts = chain.from_iterable(chain(in_turn, best_bids[both:], best_asks[both:]))
    return zlib.crc32(":".join(texts).encode())


def differences(before: dict[int, Value], after: dict[int, Value]) -> dict[int, Value | None]:
    """The ranks at which two views of a side differ, best first, with the new value; None for a rank that is gone."""
    changes: dict[int, Value | None] = dict(after.items() - before.items())
    changes.update(dict.fromkeys(before.keys() - after.keys()))
    return {rank: changes[rank] for rank in sorted(changes)}
