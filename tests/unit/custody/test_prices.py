"""Reference prices: what a new platform takes its assets to be worth, and what is no price."""

from decimal import Decimal

import pytest

from openspot.custody.prices import dollar_price, parse_prices
from openspot.custody.settings import CustodySettings
from openspot.domain.market import load_markets


class Trades:
    """A database connection that knows the last price of some markets."""

    def __init__(self, **prices: str) -> None:
        self._prices = {symbol.replace("_", "-"): Decimal(price) for symbol, price in prices.items()}

    async def fetchval(self, _query: str, symbol: str) -> Decimal | None:
        return self._prices.get(symbol)


async def test_a_new_platform_values_every_asset() -> None:
    prices = parse_prices(CustodySettings.model_fields["custody_reference_prices"].default)
    for asset in load_markets().assets:
        assert await dollar_price(Trades(), asset, prices) > 0  # type: ignore[arg-type]


async def test_trades_outweigh_reference_prices() -> None:
    prices = {"BTC": Decimal(100000), "BRL": Decimal("0.2")}
    direct = Trades(BTC_USD="90000")
    assert await dollar_price(direct, "BTC", prices) == 90000  # type: ignore[arg-type]
    crossing = Trades(BTC_USD="90000", BTC_BRL="360000")
    assert await dollar_price(crossing, "BRL", prices) == Decimal("0.25")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["BTC", "BTC=", "BTC=0", "BTC=-1", "BTC=much", "BTC=1e5x"])
def test_what_is_no_price_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"OPENSPOT_CUSTODY_REFERENCE_PRICES: 'BTC"):
        parse_prices(f"USDT=1,{text}")
