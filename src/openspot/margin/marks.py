"""Mark prices: the fair price of each asset in the valuation asset, with its careful bounds and its state.

Market data publishes fair prices, never the last trade of a market, which two accounts of one person can make. A price
that did not come again for a while is stale. So if market data stops, nobody borrows and nobody is liquidated.

Only markets that margin offers make them. A coin that is listed later is a link between assets too, and its price is
made by a few accounts: with DOGE-USD and DOGE-BRL they would set what a BRL is worth as collateral.
"""

from collections.abc import Callable, Collection

from openspot.domain.fair_price.crossing import asset_prices
from openspot.domain.fair_price.model import FairPrice
from openspot.kit.bus import Bus
from openspot.margin.figures import Marks
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.market_data_client.fair_prices import FairPrices
from openspot.market_data_client.requests import MarketDataClient


class StaleMarksError(Exception):
    """There are no current mark prices. The message says why."""


class MarkPriceCache:
    """The mark prices as this process knows them.

    `markets` are those that margin offers. `monotonic` returns the monotonic clock's seconds.
    """

    def __init__(
        self,
        bus: Bus,
        valuation_asset: str,
        markets: Collection[str],
        stale_s: float,
        monotonic: Callable[[], float],
    ) -> None:
        # A check of the health gives its reason before the time of the check is over.
        self._market_data = MarketDataClient(bus, bus.read_timeout_s * 0.75)
        self._valuation_asset = valuation_asset
        self._markets = markets
        self._fair_prices = FairPrices(bus, monotonic, stale_s)
        self.ended: Collection[str] = ()
        """Markets that are delisted: their last price is no link between others any more."""

    async def follow(self) -> None:
        """Follow the published prices."""
        await self._fair_prices.follow()

    async def check(self) -> None:
        """Raise StaleMarksError, with the reason, if no price is current and market data does not reply."""
        if any(price.state.is_usable for price in self._prices().values()):
            return
        try:
            await self._market_data.fair_prices()
        except MarketDataUnavailableError as error:
            raise StaleMarksError(f"mark prices are not current, nothing is liquidated: {error}") from error

    def current(self) -> Marks:
        """The price of one unit of each asset in the valuation asset. An asset that never had a price is not there."""
        return asset_prices(self._valuation_asset, self._prices())

    def _prices(self) -> dict[str, FairPrice]:
        return {
            symbol: price
            for symbol, price in self._fair_prices.all().items()
            if symbol in self._markets and symbol not in self.ended
        }
