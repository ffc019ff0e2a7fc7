"""How far from the fair price an order's price may be, by how sure that price is. Pure.

A market's own width holds while the price is good. A thin price has half as much again, one that is stale or disputed
twice as much. As long as the price is not good, the width grows by the market's own width every five minutes, up to
five times. Otherwise a market in which every honest price is outside would stay frozen: for example one whose price
comes from settings that nobody has looked at. No width is above 90 %.
"""

from enum import StrEnum

from openspot.domain.fair_price.model import PriceState

FACTOR_MAX = 5
WIDENS_EVERY_S = 300
WIDTH_BPS_MAX = 9_000


class PriceReference(StrEnum):
    """What price bands are centred on, as the setting `OPENSPOT_PRICE_BAND` says."""

    LAST_TRADE = "last_trade"
    FAIR_PRICE = "fair_price"


def width_bps(market_bps: int, state: PriceState, unsure_s: float) -> int:
    """The width of a band in basis points. `unsure_s` is how long the price has not been good, in seconds."""
    if state is PriceState.GOOD:
        return market_bps
    wide = market_bps * 3 // 2 if state is PriceState.THIN else market_bps * 2
    wide += market_bps * int(unsure_s // WIDENS_EVERY_S)
    return max(market_bps, min(wide, market_bps * FACTOR_MAX, WIDTH_BPS_MAX))
