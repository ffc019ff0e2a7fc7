"""The price of an asset at which a margin account reaches the liquidation level, if no other price changes.

The account holds q and owes l of the asset. C is the value of all other assets, D the value of all other debts. At
price P of the asset, the level is (C + q·P) / (D + l·P). It equals 1.05 at

    P = (1.05·D − C) / (q − 1.05·l).

C and D are at the careful bounds of the other prices, and P is a price on which all sources agree. If the result is
zero or negative, no price of this asset alone leads to liquidation.
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

    The price is rounded down for a long and up for a short. So the account is liquidated at this price, and not one
    unit of the 18th place earlier. `marks` need no price of `base`.
    Raises UnpricedError if another asset of the account, or `quote`, has no mark price.
    """
    if quote not in marks:
        raise UnpricedError([quote])
    quote_mark = marks[quote].price
    others = margin_figures({asset: balance for asset, balance in balances.items() if asset != base}, marks)
    own = balances.get(base, AssetBalance())
    missing = LIQUIDATION_PERCENT * others.debt - 100 * others.assets
    slope = (100 * own.held - LIQUIDATION_PERCENT * own.debt) * quote_mark
    if missing * slope <= 0:
        return None
    # Dividend and divisor are positive for a long, and negative for a short.
    price = missing * AMOUNT_SCALE // slope if slope > 0 else -(-missing * AMOUNT_SCALE // slope)
    return price or None
