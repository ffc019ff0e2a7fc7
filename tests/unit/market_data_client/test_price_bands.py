"""Bands follow the fair price and count how long it has been uncertain, each market for itself."""

from decimal import Decimal

from openspot.domain.fair_price.model import PriceState
from openspot.market_data_client.price_bands import PriceBand, PriceBands
from tests.support.fair_prices import KnownPrices, fair_price


class Bench:
    """Bands at a time that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.prices = KnownPrices(fair_price("BTC-USD", "100"), fair_price("ETH-USD", "4"))
        self.bands = PriceBands(self.prices, lambda: self.now)

    def width(self, symbol: str = "BTC-USD") -> int:
        return self.bands.of(symbol, 1000).width_bps


def test_a_band_is_centred_on_the_fair_price_and_follows_it() -> None:
    bench = Bench()
    assert bench.bands.of("BTC-USD", 1000) == PriceBand(Decimal(100), 1000)
    bench.prices.set("BTC-USD", "120.5", low="90", high="130", day_median="100")
    assert bench.bands.of("BTC-USD", 1000) == PriceBand(Decimal("120.5"), 1000)


def test_an_uncertain_band_keeps_the_last_price_widens_with_time_and_is_narrow_again_at_once() -> None:
    bench = Bench()
    assert bench.width() == 1000
    bench.prices.set("BTC-USD", "100", state=PriceState.DISPUTED)
    assert bench.bands.of("BTC-USD", 1000) == PriceBand(Decimal(100), 2000)
    bench.now += 299
    bench.prices.set("BTC-USD", "100", state=PriceState.STALE)
    assert bench.width() == 2000
    bench.now += 1
    assert (bench.width(), bench.width("ETH-USD")) == (3000, 1000)
    bench.prices.set("BTC-USD", "100", state=PriceState.THIN)
    assert bench.width() == 2500
    bench.prices.set("BTC-USD", "100")
    assert bench.width() == 1000
    bench.prices.set("BTC-USD", "100", state=PriceState.DISPUTED)
    assert bench.width() == 2000


def test_without_a_fair_price_there_is_no_centre() -> None:
    bench = Bench()
    bench.prices.by_symbol.clear()
    assert bench.bands.of("BTC-USD", 1000) == PriceBand(None, 2000)
