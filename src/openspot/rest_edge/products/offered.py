"""What the platform offers now: conversions, ways to pay and staking products, by its files and by its markets.

Files have the terms of the platform's own products. A market adds those that an operator has given its base asset, and
says whether any of them are offered. What is not offered any more takes nothing new; what users have there goes on.
"""

from collections.abc import Mapping
from dataclasses import replace

from openspot.domain.market import MarketConfiguration
from openspot.domain.offers import MarketOffers, Offer, is_offered
from openspot.kit.log import get_logger
from openspot.rest_edge.products.conversions.pricing import Pair, pairs_of
from openspot.rest_edge.products.payments.payment_routes import DEVELOPMENT, PaymentRoute, route_of
from openspot.rest_edge.products.staking.products import Product, product_of

log = get_logger("products")


class OfferedProducts:
    """The products of one edge. `pairs`, `routes` and `products` change in place."""

    def __init__(
        self, configuration: MarketConfiguration, routes: Mapping[str, PaymentRoute], products: Mapping[str, Product]
    ) -> None:
        """`routes` and `products` are those of the files."""
        self._configuration = configuration
        self._file_routes = routes
        self._file_products = products
        self.pairs: dict[tuple[str, str], Pair] = {}
        """The conversions that are offered."""
        self.routes: dict[str, PaymentRoute] = {}
        """The ways to pay that are offered."""
        self.products: dict[str, Product] = {}
        """The staking products, also those that take no new stakes."""
        self.refresh()

    def refresh(self) -> None:
        """Take what the markets offer now. It never raises: terms that break a rule are left out."""
        offers = self._configuration.offers
        routes, products = dict(self._file_routes), dict(self._file_products)
        for symbol, offered in offers.items():
            # A file's product of the same name is the platform's own, and stays.
            for route in self._routes_of(symbol, offered):
                routes.setdefault(route.route_id, route)
            for product in self._products_of(symbol, offered):
                products.setdefault(product.product_id, product)
        self.pairs.clear()
        self.pairs.update(pairs_of(self._configuration))
        self.routes.clear()
        self.routes.update(
            {name: each for name, each in routes.items() if is_offered(each.asset, Offer.PAYMENTS, offers)}
        )
        self.products.clear()
        self.products.update(
            {
                name: replace(each, is_open=each.is_open and is_offered(each.asset, Offer.STAKING, offers))
                for name, each in products.items()
            }
        )

    def _routes_of(self, symbol: str, offered: MarketOffers) -> list[PaymentRoute]:
        asset = self._configuration.assets.get(symbol.partition("-")[0])
        if asset is None or offered.payments is None or Offer.PAYMENTS not in offered.names:
            return []
        name = f"Development payment in {asset.asset}"
        try:
            return [route_of(_id_of(symbol), name, DEVELOPMENT, asset, offered.payments)]
        except ValueError as error:
            log.warning("a market's terms of payments cannot be used", symbol=symbol, reason=str(error))
            return []

    def _products_of(self, symbol: str, offered: MarketOffers) -> list[Product]:
        asset = self._configuration.assets.get(symbol.partition("-")[0])
        if asset is None or offered.staking is None:
            return []
        try:
            product = product_of(_id_of(symbol), asset, offered.staking)
        except ValueError as error:
            log.warning("a market's terms of stakes cannot be used", symbol=symbol, reason=str(error))
            return []
        return [replace(product, is_open=Offer.STAKING in offered.names)]


def _id_of(symbol: str) -> str:
    return f"market-{symbol.lower()}"
