"""What it costs to move a fair price, and prices from the settings."""

import pytest

from openspot.domain.fair_price.cost import MovedSources, depth_value, move_cost
from openspot.domain.fair_price.reference import reference_price, reference_prices
from openspot.domain.money import AMOUNT_SCALE

ONE = AMOUNT_SCALE


def cost(
    *, is_bound: bool = False, near_depth: int | None = None, part_values: list[int] | None = None, move_bps: int = 1000
) -> int | None:
    return move_cost(
        MovedSources(
            is_bound=is_bound,
            near_depth=near_depth,
            band_bps=500,
            depth_min=1000,
            part_values=part_values,
            fee_bps=40,
        ),
        move_bps,
    )


def test_nobody_moves_a_venue_or_the_operator() -> None:
    assert cost(is_bound=True, near_depth=1, part_values=[1]) is None


def test_trades_cost_the_fees_of_the_smaller_half_of_the_parts_and_one() -> None:
    # 1,000 + 2,000 + 3,000 of the parts, at 0.4 %.
    assert cost(part_values=[9000, 1000, 3000, 2000, 8000]) == 24
    assert cost(part_values=[1000, 2000]) == 12


def test_a_book_costs_half_the_distance_of_its_depth_and_the_whole_move_of_the_least() -> None:
    # 2.5 % of 40,000 and 10 % of 1,000.
    assert cost(near_depth=40_000) == 1100
    assert cost(near_depth=40_000, move_bps=100) == 210
    assert cost(near_depth=0) == 100


def test_all_sources_that_count_must_be_moved() -> None:
    assert cost(near_depth=40_000, part_values=[1000, 2000]) == 1112
    assert cost() == 0
    assert cost(part_values=[]) == 0


def test_depth_in_the_quote_asset() -> None:
    assert depth_value(3 * ONE // 2, 7 * ONE) == 21 * ONE // 2


def test_prices_of_the_settings() -> None:
    prices = reference_prices(" btc=100000, BRL=0.2,,")
    assert prices == {"USD": ONE, "BTC": 100_000 * ONE, "BRL": ONE // 5}
    assert reference_price("BTC-USD", prices) == 100_000 * ONE
    assert reference_price("BTC-BRL", prices) == 500_000 * ONE
    assert reference_price("ETH-USD", prices) is None
    assert reference_price("BTC-ETH", prices) is None
    # Nothing is left of it at 18 places.
    assert reference_price("BRL-BTC", {"BRL": 1, "BTC": 10**40}) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("BTC", "'BTC' is not a decimal number"),
        ("BTC=", "is not a decimal number"),
        ("BTC=0", "must be ASSET=PRICE, above 0"),
        ("BTC=-1", "must be ASSET=PRICE, above 0"),
        ("BTC=1e60", "is too large"),
    ],
)
def test_settings_that_are_no_prices_are_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        reference_prices(f"USDT=1,{text}")
