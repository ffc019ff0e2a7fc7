"""Payments and staking products as configured: fees, routes, bounds, and the pages that a user is sent back to."""

import pytest

from openspot.domain.market import load_markets
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.offers import EarlyRedemption
from openspot.rest_edge.common.configuration import ConfigurationError, read_configuration
from openspot.rest_edge.products.payments.payment_routes import PaymentRoute, routes_of
from openspot.rest_edge.products.payments.return_urls import is_allowed, origins_of
from openspot.rest_edge.products.staking.products import Product, ProductType, products_of
from openspot.rest_edge.site_settings.places import countries, provinces

ASSETS = load_markets().assets
ROW = {"name": "Card", "currency": "USD", "provider": "development", "minimum": "5", "maximum": "100", "fee_bps": 150,
       "fee_fixed": "0.30"}  # fmt: skip


def test_the_fee_is_rounded_up_to_the_places_of_the_currency() -> None:
    route = routes_of({"routes": {"card": ROW}}, ASSETS)["card"]
    cents = AMOUNT_SCALE // 100
    assert route.fee(100 * AMOUNT_SCALE) == 180 * cents
    # 0.30 + 0.1501 is 0.4501: a part of a cent counts as a whole one.
    assert route.fee(1_000_667 * AMOUNT_SCALE // 100_000) == 46 * cents


def test_the_routes_of_the_package_are_valid() -> None:
    assert "development-usd" in routes_of(read_configuration("", "payments.toml"), ASSETS)


@pytest.mark.parametrize(
    "change",
    [{"currency": "DOGE"}, {"provider": "paypal"}, {"minimum": "0"}, {"minimum": "101"}, {"minimum": "5.001"},
     {"fee_bps": 10_000}, {"fee_bps": -1}, {"fee_fixed": "5"}, {"fee_fixed": "-1"}, {"surprise": 1}],
)  # fmt: skip
def test_a_route_that_is_not_valid_is_refused_by_name(change: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match="payment route card: "):
        routes_of({"routes": {"card": ROW | change}}, ASSETS)


ORIGINS = origins_of("https://shop.example, http://localhost:5173/")


@pytest.mark.parametrize("url", ["https://shop.example", "https://shop.example/a?b=c#d", "http://localhost:5173/x"])
def test_a_page_at_an_allowed_origin_is_allowed(url: str) -> None:
    assert is_allowed(url, ORIGINS)


@pytest.mark.parametrize(
    "url",
    [
        "http://shop.example", "https://shop.example.evil.test", "https://evil.test/https://shop.example",
        "https://shop.example@evil.test", "https://shop.example:444", "http://localhost", "//shop.example",
        "javascript:alert(1)", "https://shop.example\\@evil.test", "https://shop.example /", "https://shop.exämple",
        "https://shop.example:x", "", "https://", "https://[",
    ],
)  # fmt: skip
def test_no_other_page_is_allowed(url: str) -> None:
    assert not is_allowed(url, ORIGINS)
    assert not is_allowed("https://shop.example", origins_of(""))


def test_countries_and_provinces_are_those_of_iso_3166() -> None:
    known = {country.code: country for country in countries()}
    assert len(known) == 249
    assert (known["CA"].alpha3, known["CA"].numeric, known["CA"].name) == ("CAN", "124", "Canada")
    assert [country.name for country in countries()] == sorted(country.name for country in countries())
    canada = {province.code: province for province in provinces("CA") or ()}
    assert len(canada) == 13
    assert (canada["CA-NB"].name, canada["CA-NB"].type, canada["CA-NB"].parent) == ("New Brunswick", "Province", None)
    assert any(province.parent == "GB-SCT" for province in provinces("GB") or ())
    assert provinces("AQ") == ()
    assert provinces("XX") is None


def test_an_origin_with_credentials_or_another_scheme_is_never_allowed() -> None:
    """Even where somebody wrote it into the setting."""
    for url in ("https://user@shop.example/", "javascript://shop.example/%0aalert(1)", "ftp://shop.example/"):
        origin = url.removesuffix("/").partition("/%")[0]
        assert not is_allowed(url, origins_of(origin))
        assert not is_allowed(url, origins_of("https://shop.example"))


def test_a_fee_is_less_than_the_least_amount_and_less_than_all_of_it() -> None:
    with pytest.raises(ConfigurationError, match="the fee on the least amount must be less than it"):
        routes_of({"routes": {"card": ROW | {"fee_bps": 0, "fee_fixed": "5"}}}, ASSETS)
    assert routes_of({"routes": {"card": ROW | {"fee_bps": 0, "fee_fixed": "4.99"}}}, ASSETS)["card"].fee_bps == 0
    with pytest.raises(ConfigurationError, match="fee_bps must be at least 0 and less than 10000"):
        routes_of({"routes": {"card": ROW | {"fee_bps": 10_000, "fee_fixed": "0"}}}, ASSETS)
    same = routes_of({"routes": {"card": ROW | {"minimum": "100"}}}, ASSETS)["card"]
    assert (same.minimum, same.maximum) == (100 * AMOUNT_SCALE, 100 * AMOUNT_SCALE)


def test_a_route_is_read_whole_from_its_row() -> None:
    assert routes_of({"routes": {"card": ROW}}, ASSETS) == {
        "card": PaymentRoute(
            route_id="card", name="Card", asset="USD", provider="development", minimum=5 * AMOUNT_SCALE,
            maximum=100 * AMOUNT_SCALE, fee_bps=150, fee_fixed=3 * AMOUNT_SCALE // 10, unit=AMOUNT_SCALE // 100,
        )
    }  # fmt: skip
    assert routes_of({}, ASSETS) == {}


def test_origins_are_read_in_any_letter_case_with_or_without_a_slash() -> None:
    assert origins_of(" HTTPS://Shop.Example/ ,,http://[2001:db8::1]:8080") == {
        "https://shop.example", "http://[2001:db8::1]:8080",
    }  # fmt: skip
    assert is_allowed("http://[2001:db8::1]:8080/a", origins_of("http://[2001:db8::1]:8080"))


STAKING = {"asset": "USD", "type": "locked", "apr": "0.05", "lock_days": 30, "unbonding_days": 2,
           "early_redemption": "not_allowed", "minimum": "10", "maximum": "100", "capacity": "1000"}  # fmt: skip


def test_a_staking_product_is_read_whole_from_its_row() -> None:
    assert products_of({"products": {"month": STAKING}}, ASSETS) == {
        "month": Product(
            product_id="month", asset="USD", type=ProductType.LOCKED, rate_ppm=50_000, lock_days=30, unbonding_days=2,
            early_redemption=EarlyRedemption.NOT_ALLOWED, minimum=10 * AMOUNT_SCALE, maximum=100 * AMOUNT_SCALE,
            capacity=1000 * AMOUNT_SCALE, unit=AMOUNT_SCALE // 100,
        )
    }  # fmt: skip
    assert products_of({}, ASSETS) == {}


@pytest.mark.parametrize(
    ("change", "is_valid"),
    [
        ({"lock_days": 1}, True),
        ({"lock_days": 0}, False),
        ({"lock_days": 3650, "unbonding_days": 3650}, True),
        ({"lock_days": 3651}, False),
        ({"unbonding_days": 3651}, False),
        ({"unbonding_days": -1}, False),
        ({"type": "flexible", "lock_days": 0, "unbonding_days": 0}, True),
        ({"type": "flexible", "lock_days": 1}, False),
    ],
)
def test_the_days_of_a_staking_product_have_bounds(change: dict[str, object], is_valid: bool) -> None:
    document = {"products": {"month": STAKING | change}}
    if is_valid:
        assert list(products_of(document, ASSETS)) == ["month"]
        return
    with pytest.raises(ConfigurationError) as refused:
        products_of(document, ASSETS)
    assert str(refused.value) == (
        "staking product month: lock_days is for locked products, and both counts of days are whole numbers in range"
    )
