"""Mark prices of assets, as tests of margin write them. All figures are integers at 18 places."""

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.model import PriceState


def mark(
    price: int,
    *,
    low: int | None = None,
    high: int | None = None,
    state: PriceState = PriceState.GOOD,
    sellable: int | None = None,
    buyable: int | None = None,
    day_median: int | None = None,
    reason: str = "",
) -> AssetPrice:
    """A price. By default all sources agree, the day's median is the same, and no market bounds an amount."""
    return AssetPrice(
        low=price if low is None else low,
        price=price,
        high=price if high is None else high,
        day_median=price if day_median is None else day_median,
        state=state,
        sellable=sellable,
        buyable=buyable,
        reason=reason,
    )


def marks_of(**prices: int) -> dict[str, AssetPrice]:
    """Prices on which all sources agree, by asset."""
    return {asset: mark(price) for asset, price in prices.items()}
