"""The price of an asset at which a margin account reaches the liquidation level, all other prices unchanged.

With q held and l owed of the asset, C the value of all other assets and D of all other debts, the level at price P is
(C + q·P) / (D + l·P). It equals 1.05 at

    P = (1.05·D − C) / (q − 1.05·l).

A result of zero or below means that no price of this asset alone leads to liquidation.
"""

from openspot.domain.money import AMOUNT_SCALE
from openspot.margin.figures import (
    LIQUIDATION_PERCENT,
    AssetBalance,
    Balances,
    Marks,
    UnpricedError,
    margin_figures,
)


def liquidation_price(balances: Balances, marks: Marks, base: str, quote: str) -> int | None:
    """Liquidation price of `base` in `quote` at 18 places; None if there is none.

    Rounded so that the account is liquidated at that price and not one unit of the 18th place before it: down for a
    long, up for a short. `marks` need no price of `base`.
    Raises UnpricedError if another asset of the account, or `quote`, has no mark price.
    """
    quote_mark = marks.get(quote)
    if not quote_mark:
        raise UnpricedError([quote])
    others = margin_figures({asset: balance for asset, balance in balances.items() if asset != base}, marks)
    own = balances.get(base, AssetBalance())
    missing = LIQUIDATION_PERCENT * others.debt - 100 * others.assets
    slope = (100 * own.held - LIQUIDATION_PERCENT * own.debt) * quote_mark
    if missing * slope <= 0:
        return None
    # Both are positive for a long, both negative for a short.
    price = missing * AMOUNT_SCALE // slope if slope > 0 else -(-missing * AMOUNT_SCALE // slope)
    return price or None
