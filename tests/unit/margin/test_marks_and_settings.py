"""Mark prices of assets from prices of markets, and the intervals of the service."""

from openspot.domain.money import AMOUNT_SCALE
from openspot.margin.interest import MINUTE_MS
from openspot.margin.marks import asset_marks
from openspot.margin.settings import MarginSettings

UNIT = AMOUNT_SCALE


def test_an_asset_is_valued_directly_or_through_the_fewest_markets() -> None:
    prices = {
        "BTC-USD": 100 * UNIT,
        "BTC-BRL": 500 * UNIT,
        "ETH-BTC": UNIT // 10,
        "SOL-BRL": 50 * UNIT,
        "ETH-USD": 11 * UNIT,
    }
    assert asset_marks("USD", prices) == {
        "USD": UNIT,
        "BTC": 100 * UNIT,
        "ETH": 11 * UNIT,
        "BRL": UNIT // 5,
        "SOL": 10 * UNIT,
    }


def test_an_asset_without_a_priced_market_has_no_mark() -> None:
    assert asset_marks("USD", {"SOL-BRL": 50 * UNIT}) == {"USD": UNIT}
    # A price that is too small to value anything is none.
    assert asset_marks("USD", {"SOL-BTC": 1, "BTC-USD": 1}) == {"USD": UNIT, "BTC": 1}


def test_the_intervals_are_those_of_the_specification_and_interest_counts_whole_intervals() -> None:
    settings = MarginSettings()
    assert settings.margin_scan_s == 5
    assert settings.margin_interest_s == 60 == MINUTE_MS / 1000
