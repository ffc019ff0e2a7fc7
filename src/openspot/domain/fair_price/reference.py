"""The prices that the operator's settings give assets, for markets that nobody has priced yet."""

from collections.abc import Mapping

from openspot.domain.money import AMOUNT_SCALE, MoneyError, parse_decimal, to_amount

DOLLAR = "USD"


def reference_prices(text: str) -> dict[str, int]:
    """US dollars at 18 places by asset, from `BTC=100000,USDT=1`. Raises ValueError with the part and the reason."""
    prices = {DOLLAR: AMOUNT_SCALE}
    for part in filter(None, (part.strip() for part in text.split(","))):
        asset, equals, price = part.partition("=")
        try:
            value = to_amount(parse_decimal(price.strip()))
        except MoneyError as error:
            raise ValueError(f"{part!r} {error}") from error
        if not equals or value <= 0:
            raise ValueError(f"{part!r} must be ASSET=PRICE, above 0")
        prices[asset.strip().upper()] = value
    return prices


def reference_price(symbol: str, prices: Mapping[str, int]) -> int | None:
    """The price of a market (BASE-QUOTE) from its assets' prices, rounded down; None if one has none."""
    base, _, quote = symbol.partition("-")
    if base not in prices or quote not in prices:
        return None
    return prices[base] * AMOUNT_SCALE // prices[quote] or None
