"""The smallest and the largest order that the router takes, and what a unit costs at most."""

from dataclasses import replace
from decimal import Decimal

import pytest

from openspot.domain.market import MarketLimits
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.symbol import SymbolSpec
from openspot.margin.order_sizes import (
    cost_price,
    largest_limit_order,
    lot_of,
    part_error,
    smallest_limit_order,
    smallest_market_order,
)

UNIT = AMOUNT_SCALE
MILLI = UNIT // 1000
SPEC = SymbolSpec(
    symbol="BTC-USD", symbol_id=1, base="BTC", quote="USD", base_scale_k=1000, quote_scale_k=100, tick=5, lot=1,
    taker_fee_bps=25, maker_fee_bps=15,
)  # fmt: skip
"""A lot is 0.001 BTC."""
LIMITS = MarketLimits("BTC-USD", Decimal("0.01"), Decimal(5), Decimal(10), Decimal(1000), 2000, 500)
"""From 0.01 to 5 BTC, and from 10 to 1,000 USD. A market order may slip by 5 %."""


def test_a_lot_is_so_many_units_of_the_base_asset() -> None:
    assert lot_of(SPEC) == MILLI
    assert lot_of(replace(SPEC, lot=30)) == 30 * MILLI


@pytest.mark.parametrize(
    ("price", "lot", "smallest"),
    [
        # 10 USD are 0.1 BTC at 100, and 0.3333… at 30, which is rounded up to the lot.
        (100 * UNIT, 1, 100 * MILLI),
        (30 * UNIT, 1, 334 * MILLI),
        (30 * UNIT, 100, 400 * MILLI),
        # At 5,000 they are less than the smallest quantity, and with a large lot that is the lot.
        (5_000 * UNIT, 1, 10 * MILLI),
        (5_000 * UNIT, 20, 20 * MILLI),
        (5_000 * UNIT, 3, 12 * MILLI),
        (0, 1, 10 * MILLI),
        (1, 1, 10 * UNIT * UNIT),
    ],
)
def test_the_smallest_order_keeps_lot_quantity_and_notional(price: int, lot: int, smallest: int) -> None:
    assert smallest_limit_order(replace(SPEC, lot=lot), LIMITS, price) == smallest


def test_the_notional_of_a_market_order_counts_at_the_worst_price_that_it_allows() -> None:
    # 10 USD at 95.
    assert smallest_market_order(SPEC, LIMITS, 100 * UNIT) == 106 * MILLI
    assert smallest_market_order(SPEC, LIMITS, 1) == 10 * MILLI


@pytest.mark.parametrize(
    ("price", "lot", "largest"),
    [
        (100 * UNIT, 1, 5 * UNIT),
        (300 * UNIT, 1, 3_333 * MILLI),
        (300 * UNIT, 100, 3_300 * MILLI),
        (200 * UNIT, 1, 5 * UNIT),
        (201 * UNIT, 1, 4_975 * MILLI),
    ],
)
def test_the_largest_order_keeps_quantity_and_notional_and_is_rounded_down(price: int, lot: int, largest: int) -> None:
    assert largest_limit_order(replace(SPEC, lot=lot), LIMITS, price) == largest


@pytest.mark.parametrize(
    ("price", "slippage_bps", "cost"),
    [
        (100 * UNIT, 0, 100_250 * MILLI),
        (100 * UNIT, 100, 101_252 * MILLI + MILLI // 2),
        # Slippage and fee are each rounded up.
        (1, 0, 2),
        (1, 1, 3),
        (10_000, 1, 10_027),
    ],
)
def test_a_unit_costs_its_price_with_slippage_and_taker_fee(price: int, slippage_bps: int, cost: int) -> None:
    assert cost_price(SPEC, price, slippage_bps) == cost


@pytest.mark.parametrize(
    ("quantity", "error"),
    [
        (500, None),
        # The least order is 106, and as much has to be left.
        (106, None),
        (894, None),
        (1000, None),
        (1001, "quantity is more than the open 1"),
        (105, "quantity is below the smallest order of the market, 0.106"),
        (895, "quantity leaves less than the smallest order of the market, 0.106: close the whole"),
        (999, "quantity leaves less than the smallest order of the market, 0.106: close the whole"),
    ],
)
def test_a_part_is_an_order_of_the_market_and_leaves_one(quantity: int, error: str | None) -> None:
    assert part_error(quantity * MILLI, UNIT, MILLI, 106 * MILLI) == error


def test_a_part_goes_in_whole_lots() -> None:
    assert part_error(301 * MILLI, UNIT, 2 * MILLI, MILLI) == "quantity must be a multiple of the lot 0.002"
    assert part_error(302 * MILLI, UNIT, 2 * MILLI, MILLI) is None
