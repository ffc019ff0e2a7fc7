"""Profit and loss of positions, marked to the fair price.

A mark price is the price of one whole unit in the quote asset, as an integer at 18 places. The value of a position
is ⌊quantity × mark⌋ at 18 places. Without a mark, value and unrealised result are None, never zero. Each quote asset
has its own sums, because amounts of different assets cannot be added.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from openspot.domain.money import AMOUNT_SCALE, parse_decimal, to_amount
from openspot.positions.position import Position


@dataclass(frozen=True, slots=True)
class SymbolResult:
    """The result of one symbol, in its quote asset at 18 places. What needs a missing mark price is None."""

    symbol: str
    position: Position
    mark: int | None
    value: int | None
    unrealised: int | None

    @property
    def total(self) -> int | None:
        """Realised plus unrealised result."""
        return None if self.unrealised is None else self.position.realised + self.unrealised


@dataclass(frozen=True, slots=True)
class QuoteResult:
    """The sums over the symbols of one quote asset. Unrealised result and total are None if a mark is missing."""

    quote: str
    realised: int
    unrealised: int | None
    fees: int

    @property
    def total(self) -> int | None:
        """Realised plus unrealised result."""
        return None if self.unrealised is None else self.realised + self.unrealised


def mark_price(price: str) -> int:
    """A price as an integer at 18 places. Raises MoneyError if it has more places."""
    return to_amount(parse_decimal(price))


def value_at(quantity: int, mark: int) -> int:
    """The value of a signed quantity, rounded down at 18 places."""
    return quantity * mark // AMOUNT_SCALE


def symbol_result(symbol: str, position: Position, mark: int | None) -> SymbolResult:
    """The result of one position. A flat position has no value at any price, so it needs no mark."""
    if not position.quantity:
        return SymbolResult(symbol, position, mark, 0, 0)
    if mark is None:
        return SymbolResult(symbol, position, None, None, None)
    value = value_at(position.quantity, mark)
    return SymbolResult(symbol, position, mark, value, value - position.cost)


def results_by_symbol(positions: Mapping[str, Position], marks: Mapping[str, int]) -> list[SymbolResult]:
    """The result of each symbol (BASE-QUOTE), by symbol."""
    return [symbol_result(symbol, position, marks.get(symbol)) for symbol, position in sorted(positions.items())]


def results_by_quote(results: list[SymbolResult]) -> list[QuoteResult]:
    """The sums of each quote asset, by asset."""
    groups: dict[str, list[SymbolResult]] = {}
    for result in results:
        groups.setdefault(result.symbol.split("-")[1], []).append(result)
    sums = []
    for quote, group in sorted(groups.items()):
        known = [result.unrealised for result in group if result.unrealised is not None]
        sums.append(
            QuoteResult(
                quote,
                sum(result.position.realised for result in group),
                sum(known) if len(known) == len(group) else None,
                sum(result.position.fees for result in group),
            )
        )
    return sums
