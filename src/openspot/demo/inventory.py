"""How far a bot's holdings are from their targets, and how much it then buys and sells. Pure rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

ZERO, ONE = Decimal(0), Decimal(1)


@dataclass(frozen=True, slots=True)
class InventoryTarget:
    """The amount of an asset that a bot wants to hold. Further from it than `band`, the bot stops to buy or to sell."""

    amount: Decimal
    band: Decimal

    def imbalance(self, total: Decimal) -> Decimal:
        """How far `total` is from the target: 0 on it, 1 at the upper bound or beyond, -1 at the lower one."""
        return max(-ONE, min(ONE, (total - self.amount) / self.band))


@dataclass(frozen=True, slots=True)
class Appetite:
    """How much a bot wants to buy and to sell on one market: 1 is neutral, 0 nothing, 2 twice as much.

    `lean` is from -1 (it holds too little of the base asset) to 1 (too much).
    """

    buy: Decimal
    sell: Decimal
    lean: Decimal


def appetite(base: Decimal, quote: Decimal) -> Appetite:
    """The appetite of a bot with these imbalances of base and quote asset.

    The factors are linear in the imbalance of the base asset, from 0 to 2. With too
    little quote asset the bot buys less, with too much of it the bot sells less. So neither asset leaves its bounds. A
    buy adds base and takes quote; it stops when there is too much base or too little quote.
    """
    return Appetite(
        buy=(ONE - base) * min(ONE, ONE + quote),
        sell=(ONE + base) * min(ONE, ONE - quote),
        lean=(base - quote) / 2,
    )


def imbalances(totals: Mapping[str, Decimal], targets: Mapping[str, InventoryTarget]) -> dict[str, Decimal]:
    """The imbalance of every asset that has a target. An asset that is missing in `totals` counts as zero."""
    return {asset: target.imbalance(totals.get(asset, ZERO)) for asset, target in targets.items()}
