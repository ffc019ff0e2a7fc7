"""Reduce-only orders: how much of which positions one trades back. Quantities are integers at 18 places."""

from collections.abc import Sequence

from openspot.contracts.refusals import InvalidRequestError
from openspot.domain.money import amount_to_text
from openspot.margin.order_sizes import part_error


def parts_of(quantity: int | None, positions: Sequence[int], lot: int, least: int) -> list[int]:
    """The quantity to trade back of each position, in their order. Those behind the end of the result stay as they are.

    Without `quantity`, or if it is more than is open, all are closed. `least` is the smallest order of the market.
    Raises InvalidRequestError if the last position would be left with, or closed by, an order that is too small.
    """
    parts: list[int] = []
    left = sum(positions) if quantity is None else quantity
    for whole in positions:
        if not left:
            break
        part = min(left, whole)
        fault = None if part == whole else part_error(part, whole, lot, least)
        if fault is not None:
            taken = f"after the positions before it, {amount_to_text(part)} of {amount_to_text(whole)} is left: "
            raise InvalidRequestError(taken + fault if parts else fault)
        parts.append(part)
        left -= part
    return parts
