"""`openspot up --demo` turns its rules on, unless they are set otherwise."""

from decimal import Decimal

from pydantic import Field

from openspot.demo.prices import usual_prices
from openspot.demo.settings import DemoSettings as DemoMarketSettings
from openspot.domain.fair_price.reference import reference_price, reference_prices
from openspot.domain.market import load_markets
from openspot.domain.money import AMOUNT_SCALE
from openspot.kit.settings import Settings
from openspot.market_data.settings import MarketDataSettings
from openspot.rest_edge.common.demo_account_names import DEMO_TAKERS
from openspot.up.demo import DEMO_RULES, demo_settings


class DemoSettings(Settings):
    demo: bool = Field(default=False, description="")
    rules: str = Field(default="specification", description="")
    price_band: str = Field(default="last_trade", description="")
    follow_fills: bool = Field(default=False, description="")


def test_the_demo_centres_bands_on_the_fair_price_unless_that_is_set() -> None:
    usual = demo_settings(DemoSettings())
    assert (usual.demo, usual.price_band, usual.follow_fills) == (True, "fair_price", True)
    assert demo_settings(DemoSettings(price_band="last_trade")).price_band == "last_trade"


def test_the_demo_takes_the_complete_rules_unless_they_are_set() -> None:
    assert demo_settings(DemoSettings()).rules == "complete"
    assert demo_settings(DemoSettings(rules="specification")).rules == "specification"


def test_the_demos_takers_make_a_full_source_of_trades_within_minutes() -> None:
    rules = demo_settings(MarketDataSettings()).fair_price_rules
    # The maker is one of two owners of each trade, so the takers are the witnesses. One may fall out.
    assert len(DEMO_TAKERS) > rules.owners_min
    assert rules.parts_min * rules.part_ms <= 180_000
    takes = Decimal(rules.volume_dollars) / AMOUNT_SCALE / DemoMarketSettings().demo_take_dollars
    assert takes * Decimal(DemoMarketSettings().demo_take_s) <= 180


def test_the_demos_reference_prices_are_within_a_tenth_of_what_its_bots_begin_with() -> None:
    references = reference_prices(DEMO_RULES["custody_reference_prices"])
    for symbol, usual in usual_prices(load_markets().seeds).items():
        expected = reference_price(symbol, references)
        assert expected is not None
        assert abs(Decimal(expected) / AMOUNT_SCALE / usual - 1) < Decimal("0.1"), symbol
