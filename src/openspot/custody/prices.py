"""The price of an asset in US dollars: from the last trades, or from the settings before the first trade."""

from decimal import Decimal

from openspot.custody.valuation import cross_price
from openspot.domain.money import MoneyError, parse_decimal
from openspot.kit.database import Connection

DOLLAR = "USD"
_LAST_PRICE = "SELECT price FROM trades WHERE symbol = $1 ORDER BY sequence DESC LIMIT 1"
_CROSSING_ASSETS = ("BTC", "ETH", "SOL")
"""Assets that trade in dollars and in other currencies."""


class PriceUnknownError(Exception):
    """There is no price for the asset."""


def parse_prices(text: str) -> dict[str, Decimal]:
    """Prices by asset, from `BTC=100000,USDT=1`. Raises ValueError with the reason."""
    prices: dict[str, Decimal] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        asset, equals, price = part.partition("=")
        try:
            value = parse_decimal(price.strip())
        except MoneyError as error:
            raise ValueError(f"OPENSPOT_CUSTODY_REFERENCE_PRICES: {part!r} {error}") from error
        if not equals or value <= 0:
            raise ValueError(f"OPENSPOT_CUSTODY_REFERENCE_PRICES: {part!r} must be ASSET=PRICE, above 0")
        prices[asset.strip().upper()] = value
    return prices


async def dollar_price(connection: Connection, asset: str, reference_prices: dict[str, Decimal]) -> Decimal:
    """US dollars for one unit of `asset`, at this moment. Raises PriceUnknownError."""
    if asset == DOLLAR:
        return Decimal(1)
    price: Decimal | None = await connection.fetchval(_LAST_PRICE, f"{asset}-{DOLLAR}")
    if price is not None:
        return price
    for crossing in _CROSSING_ASSETS:
        in_dollars = await connection.fetchval(_LAST_PRICE, f"{crossing}-{DOLLAR}")
        in_asset = await connection.fetchval(_LAST_PRICE, f"{crossing}-{asset}")
        if in_dollars is not None and in_asset is not None:
            return cross_price(in_dollars, in_asset)
    if asset in reference_prices:
        return reference_prices[asset]
    raise PriceUnknownError(f"nobody knows what {asset} is worth: it has not traded, and no price is set")
