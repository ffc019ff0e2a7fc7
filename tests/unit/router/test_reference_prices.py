"""What an order's price is compared with: the last trade, or the fair price with the width of its band."""

from decimal import Decimal
from typing import Any

from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.money import AMOUNT_SCALE
from openspot.market_data_client.price_bands import PriceBands
from openspot.router.orders.pre_trade import PriceReference, Reference
from openspot.router.orders.reference_prices import FairReferences, LastTradePrices
from tests.unit.router.orders import MARKETS


def test_the_newest_trade_counts_until_it_is_too_old() -> None:
    prices = LastTradePrices(1_000)
    assert prices.reference("BTC-USD", 5_000) == Reference(None)
    prices.note("BTC-USD", Decimal(100), 5_000)
    prices.note("BTC-USD", Decimal(90), 4_999)
    assert prices.reference("BTC-USD", 6_000) == Reference(Decimal(100), PriceReference.LAST_TRADE, None)
    assert prices.reference("BTC-USD", 6_001) == Reference(None)
    prices.note("BTC-USD", Decimal(110), 5_000)
    assert prices.reference("BTC-USD", 5_000) == Reference(Decimal(110))
    assert prices.reference("ETH-USD", 5_000) == Reference(None)


class OnePrice:
    """Knows the fair price of one market."""

    def of(self, symbol: str) -> FairPrice | None:
        amounts = dict.fromkeys(("price", "low", "high", "day_median", "sellable", "buyable"), 100 * AMOUNT_SCALE)
        return FairPrice(symbol=symbol, state=PriceState.GOOD, timestamp_ms=1, **amounts)


def test_a_fair_price_comes_with_the_width_of_its_band_and_an_unknown_market_has_none() -> None:
    known: Any = OnePrice()
    references = FairReferences(PriceBands(known, lambda: 0.0), MARKETS)
    assert references.reference("BTC-USD", 1) == Reference(Decimal(100), PriceReference.FAIR_PRICE, 1000)
    assert references.reference("YYY-USD", 1) == Reference(None, PriceReference.FAIR_PRICE)
