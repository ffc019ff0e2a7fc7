"""What it costs to move a fair price for a minute: an estimate from below, for the operator. Rules without IO."""

from collections.abc import Sequence
from dataclasses import dataclass

from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS

MOVE_BPS = 1_000
"""The move whose cost is shown."""


@dataclass(frozen=True, slots=True)
class MovedSources:
    """What a mover meets. Amounts are in the quote asset, at 18 places.

    `is_bound` says that a source counts that no trade here moves: a venue, or the operator's price. `near_depth` is
    the smaller side of what stands within `band_bps` of the price, None without a standing mid. `part_values` are the
    counted values of the window's parts, None if trades do not count. `fee_bps` is what a trade costs both sides.
    """

    is_bound: bool
    near_depth: int | None
    band_bps: int
    depth_min: int
    part_values: Sequence[int] | None
    fee_bps: int


def move_cost(sources: MovedSources, move_bps: int = MOVE_BPS) -> int | None:
    """The least cost in the quote asset of moving all sources by `move_bps`; None if no trade here can.

    - Trades: more than the counted value of the smaller half of the parts and one, traded with oneself, for the fees.
    - Book: the standing depth is taken at half its distance from the price, and is worth the old price afterwards.
      Then the least depth stands at the moved price for anybody to take, and loses the whole move.
    """
    if sources.is_bound:
        return None
    cost = 0
    if sources.part_values:
        majority = sorted(sources.part_values)[: len(sources.part_values) // 2 + 1]
        cost += sum(majority) * sources.fee_bps // BASIS_POINTS
    if sources.near_depth is not None:
        distance = min(sources.band_bps, move_bps)
        cost += sources.near_depth * distance // (2 * BASIS_POINTS) + sources.depth_min * move_bps // BASIS_POINTS
    return cost


def depth_value(quantity: int, price: int) -> int:
    """A base quantity in the quote asset, rounded down."""
    return quantity * price // AMOUNT_SCALE
