"""Payments: fees, routes, and the pages that a user may be sent back to."""

import pytest

from openspot.domain.market import load_markets
from openspot.domain.money import AMOUNT_SCALE
from openspot.rest_edge.common.configuration import ConfigurationError, read_configuration
from openspot.rest_edge.products.payments.payment_routes import routes_of
from openspot.rest_edge.products.payments.return_urls import is_allowed, origins_of
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
