"""The price at which a withdrawal is valued, in US dollars. Pure.

A withdrawal is valued at the highest of the fair price's upper bound and the median of 24 hours, so that nobody makes a
withdrawal look small by a price that lasts less than a day. While the fair price is stale or disputed, the operator's
reference price counts, too, and no wallet approves such a withdrawal by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.reference import DOLLAR, reference_prices
from openspot.domain.money import amount_to_text

_NEVER_PRICED = "no market of it has a fair price yet"


class PriceUnknownError(Exception):
    """There is no price for the asset."""


@dataclass(frozen=True, slots=True)
class WithdrawalPrice:
    """US dollars for one unit of an asset.

    `unsure_because` says why people must decide on a withdrawal at this price; empty if a wallet may decide.
    """

    dollars: Decimal
    unsure_because: str = ""


def parse_prices(text: str) -> dict[str, Decimal]:
    """Prices by asset, from `BTC=100000,USDT=1`. Raises ValueError with the reason."""
    try:
        return {asset: Decimal(amount_to_text(price)) for asset, price in reference_prices(text).items()}
    except ValueError as error:
        raise ValueError(f"OPENSPOT_CUSTODY_REFERENCE_PRICES: {error}") from error


def withdrawal_price(
    asset: str, fair_prices: Mapping[str, AssetPrice], references: Mapping[str, Decimal]
) -> WithdrawalPrice:
    """The price at which a withdrawal of `asset` is valued at this moment. Raises PriceUnknownError."""
    if asset == DOLLAR:
        return WithdrawalPrice(Decimal(1))
    fair, reference = fair_prices.get(asset), references.get(asset)
    if fair is None and reference is None:
        raise PriceUnknownError(
            f"nobody knows what {asset} is worth: no market of it has a fair price yet, and the operator has set none"
        )
    candidates = [Decimal(amount_to_text(price)) for price in (fair.high, fair.day_median)] if fair is not None else []
    if fair is not None and fair.state.is_usable:
        return WithdrawalPrice(max(candidates))
    if reference is not None:
        candidates.append(reference)
    because = _NEVER_PRICED if fair is None else fair.reason or f"its fair price is {fair.state}"
    return WithdrawalPrice(max(candidates), because)
