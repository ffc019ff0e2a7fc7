"""Conversions, ways to pay and staking products follow what markets offer, beside those of the files."""

from dataclasses import replace
from decimal import Decimal

from openspot.domain.market import AssetScale, MarketConfiguration, MarketLimits, load_markets
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.offers import EVERYTHING, NOTHING, EarlyRedemption, MarketOffers, Offer, PaymentTerms, StakingTerms
from openspot.rest_edge.common.configuration import read_configuration
from openspot.rest_edge.products.offered import OfferedProducts
from openspot.rest_edge.products.payments.payment_routes import routes_of
from openspot.rest_edge.products.staking.products import ProductType, products_of

PAYMENTS = PaymentTerms(minimum=Decimal(5), maximum=Decimal(100), fee_bps=100, fee_fixed=Decimal(1))
STAKING = StakingTerms(
    apr=Decimal("0.04"), lock_days=30, unbonding_days=2, early_redemption=EarlyRedemption.NOT_ALLOWED,
    minimum=Decimal(1), maximum=Decimal(100), capacity=Decimal(1000),
)  # fmt: skip
BTC_MARKETS = ("BTC-USD", "BTC-BRL", "BTC-USDT")


def with_doge(places: int = 8) -> MarketConfiguration:
    """The platform's markets, and DOGE-USD, which an operator has listed."""
    configuration = load_markets()
    configuration.limits["DOGE-USD"] = MarketLimits(
        "DOGE-USD", Decimal(1), Decimal(1000), Decimal(1), Decimal(5000), 2000, 500
    )
    configuration.assets["DOGE"] = AssetScale("DOGE", 8, places)
    configuration.offers["DOGE-USD"] = NOTHING
    return configuration


def offered_by(configuration: MarketConfiguration) -> OfferedProducts:
    assets = load_markets().assets
    return OfferedProducts(
        configuration,
        routes_of(read_configuration("", "payments.toml"), assets),
        products_of(read_configuration("", "staking.toml"), assets),
    )


def open_products(offered: OfferedProducts) -> set[str]:
    return {name for name, product in offered.products.items() if product.is_open}


def test_without_a_change_everything_is_as_the_files_say() -> None:
    offered = offered_by(with_doge())
    assert len(offered.pairs) == 24
    assert sorted(offered.routes) == ["development-brl", "development-usd"]
    assert open_products(offered) == {"usdt-flexible", "btc-flexible", "eth-locked-30", "sol-locked-90"}
    assert not any(pair.needs_confirmed for pair in offered.pairs.values())


def test_while_nobody_knows_what_markets_offer_nothing_is_offered_and_stakes_of_files_keep_their_terms() -> None:
    configuration = with_doge()
    known = dict(configuration.offers)
    configuration.offers.clear()
    offered = offered_by(configuration)
    assert (offered.pairs, offered.routes, open_products(offered)) == ({}, {}, set())
    assert "eth-locked-30" in offered.products
    configuration.offers.update(known)
    offered.refresh()
    assert (len(offered.pairs), len(offered.routes), len(open_products(offered))) == (24, 2, 4)


def test_a_listed_market_offers_what_an_operator_says_and_the_same_tables_change() -> None:
    configuration = with_doge()
    offered = offered_by(configuration)
    pairs, routes, products = offered.pairs, offered.routes, offered.products
    configuration.offers["DOGE-USD"] = MarketOffers(frozenset(Offer), PAYMENTS, STAKING)
    offered.refresh()
    assert pairs["DOGE", "USD"].needs_confirmed and pairs["USD", "DOGE"].needs_confirmed
    assert not pairs["BTC", "USD"].needs_confirmed
    route = routes["market-doge-usd"]
    assert (route.asset, route.fee(100 * AMOUNT_SCALE), route.maximum) == (
        "DOGE", 2 * AMOUNT_SCALE, 100 * AMOUNT_SCALE,
    )  # fmt: skip
    product = products["market-doge-usd"]
    assert (product.asset, product.type, product.rate_ppm, product.is_open) == (
        "DOGE",
        ProductType.LOCKED,
        40_000,
        True,
    )


def test_what_is_taken_back_takes_nothing_new_and_its_stakes_keep_their_terms() -> None:
    configuration = with_doge()
    configuration.offers["DOGE-USD"] = MarketOffers(frozenset(Offer), PAYMENTS, STAKING)
    offered = offered_by(configuration)
    configuration.offers["DOGE-USD"] = MarketOffers(frozenset(), PAYMENTS, STAKING)
    offered.refresh()
    assert ("DOGE", "USD") not in offered.pairs
    assert "market-doge-usd" not in offered.routes
    product = offered.products["market-doge-usd"]
    assert not product.is_open
    assert product.early_redemption is EarlyRedemption.NOT_ALLOWED


def test_a_files_product_is_offered_until_no_market_of_its_asset_offers_it() -> None:
    configuration = load_markets()
    offered = offered_by(configuration)
    without = MarketOffers(EVERYTHING.names - {Offer.STAKING, Offer.CONVERSIONS})
    for symbol in BTC_MARKETS:
        assert "btc-flexible" in open_products(offered)
        configuration.offers[symbol] = without
        offered.refresh()
        assert (symbol.split("-")[0], symbol.split("-")[1]) not in offered.pairs
    assert "btc-flexible" not in open_products(offered)
    assert "btc-flexible" in offered.products
    # The pairs of other markets stay, also those quoted in BTC.
    assert ("ETH", "BTC") in offered.pairs


def test_a_file_keeps_the_name_of_its_own_product() -> None:
    configuration = with_doge()
    configuration.offers["DOGE-USD"] = MarketOffers(frozenset(Offer), PAYMENTS, STAKING)
    assets = load_markets().assets
    own = replace(
        next(iter(routes_of(read_configuration("", "payments.toml"), assets).values())), route_id="market-doge-usd"
    )
    offered = OfferedProducts(configuration, {own.route_id: own}, {})
    assert offered.routes["market-doge-usd"] == own


def test_terms_that_no_longer_fit_the_asset_are_left_out_and_the_rest_follows() -> None:
    configuration = with_doge(places=0)
    terms = replace(STAKING, minimum=Decimal("0.5"))
    fees = replace(PAYMENTS, fee_fixed=Decimal("0.5"))
    configuration.offers["DOGE-USD"] = MarketOffers(frozenset(Offer), fees, terms)
    offered = offered_by(configuration)
    assert ("DOGE", "USD") in offered.pairs
    assert "market-doge-usd" not in offered.routes
    assert "market-doge-usd" not in offered.products
