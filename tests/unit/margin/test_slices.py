"""Slices of a liquidation: the worst price of an order, and how much all of them trade at once."""

from dataclasses import replace

import pytest

from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.domain.symbol import SymbolSpec
from openspot.margin import slices
from openspot.margin.slices import Slices, absorbed, bound_price, forced_price, is_fair
from tests.support.marks import mark

UNIT = AMOUNT_SCALE
CENT = UNIT // 100
SPEC = SymbolSpec(
    symbol="BTC-USD",
    symbol_id=1,
    base="BTC",
    quote="USD",
    base_scale_k=1000,
    quote_scale_k=100,
    tick=5,
    lot=1,
    taker_fee_bps=25,
    maker_fee_bps=15,
)
"""A tick is 0.05 USD."""


@pytest.mark.parametrize(
    ("price", "side", "bps", "worst"),
    [
        (10_000, Side.SELL, 200, 9_800),
        (10_000, Side.BUY, 200, 10_200),
        (10_003, Side.SELL, 200, 9_805),
        (10_003, Side.BUY, 200, 10_200),
        (10_003, Side.SELL, 0, 10_005),
        (10_003, Side.BUY, 0, 10_000),
        (1, Side.BUY, 0, 5),
    ],
)
def test_the_worst_price_is_the_fair_one_less_the_bound_rounded_towards_it(
    price: int, side: Side, bps: int, worst: int
) -> None:
    assert bound_price(price * CENT, side, bps, SPEC) == worst * CENT


@pytest.mark.parametrize(
    ("price", "is_confirmed", "sells", "buys"),
    [(70, False, 85, 70), (128, False, 128, 115), (90, False, 90, 90), (70, True, 70, 70), (128, True, 128, 128)],
)
def test_a_liquidation_trades_near_the_fair_price_but_not_far_beyond_the_median_of_the_day(
    price: int, *, is_confirmed: bool, sells: int, buys: int
) -> None:
    marks = {"USD": mark(UNIT), "BTC": replace(mark(price * UNIT, day_median=100 * UNIT), is_confirmed=is_confirmed)}
    assert forced_price(marks, "BTC", "USD", Side.SELL) == sells * UNIT
    assert forced_price(marks, "BTC", "USD", Side.BUY) == buys * UNIT
    # Whoever sells the quote asset buys the base asset: here BTC is the quote.
    assert forced_price(marks, "USD", "BTC", Side.BUY) == UNIT // sells
    assert forced_price(marks, "USD", "BTC", Side.SELL) == UNIT // buys


def test_an_order_is_placed_only_while_its_worst_price_is_not_worse_than_allowed_now() -> None:
    assert is_fair(98, Side.SELL, 98)
    assert not is_fair(97, Side.SELL, 98)
    assert is_fair(102, Side.BUY, 102)
    assert not is_fair(103, Side.BUY, 102)


def test_a_market_absorbs_what_its_base_asset_says_and_else_what_its_quote_asset_says() -> None:
    marks = {
        "USD": mark(UNIT),
        "BTC": mark(100 * UNIT, sellable=3 * UNIT, buyable=5 * UNIT),
        "BRL": mark(UNIT // 5, sellable=50 * UNIT, buyable=20 * UNIT),
    }
    assert absorbed(marks, "BTC", "USD", Side.SELL) == 3 * UNIT
    assert absorbed(marks, "BTC", "USD", Side.BUY) == 5 * UNIT
    # Whoever sells dollars for reals buys reals: 20 of them cost 4 dollars.
    assert absorbed(marks, "USD", "BRL", Side.SELL) == 4 * UNIT
    assert absorbed(marks, "USD", "BRL", Side.BUY) == 10 * UNIT
    assert absorbed({"USD": mark(UNIT), "EUR": mark(UNIT)}, "EUR", "USD", Side.SELL) is None


def test_what_a_market_absorbs_of_its_quote_asset_is_rounded_down_to_the_last_unit() -> None:
    marks = {"USD": mark(UNIT), "BRL": mark(UNIT // 5 + 1, buyable=50 * UNIT + 1)}
    assert absorbed(marks, "USD", "BRL", Side.SELL) == 10 * UNIT + 50


def test_a_liquidation_never_trades_near_a_price_of_zero() -> None:
    marks = {"USD": mark(10 * UNIT), "BTC": mark(1)}
    assert [forced_price(marks, "BTC", "USD", side) for side in (Side.SELL, Side.BUY)] == [1, 1]


def test_what_two_orders_of_a_pause_take_adds_up_whatever_the_time_is() -> None:
    noon_ms = 1_700_000_000_000
    slices = Slices(10_000)
    slices.take("BTC-USD", Side.SELL, 60, noon_ms)
    slices.take("BTC-USD", Side.SELL, 30, noon_ms + 4_000)
    assert slices.left("BTC-USD", Side.SELL, 100, noon_ms + 9_999) == 10
    assert slices.left("BTC-USD", Side.SELL, 100, noon_ms + 10_000) == 100


def test_all_liquidations_together_trade_what_the_market_absorbs_in_a_pause() -> None:
    slices = Slices(10_000)
    assert slices.left("BTC-USD", Side.SELL, 100, 0) == 100
    slices.take("BTC-USD", Side.SELL, 60, 0)
    assert slices.left("BTC-USD", Side.SELL, 100, 5_000) == 40
    slices.take("BTC-USD", Side.SELL, 60, 9_999)
    assert slices.left("BTC-USD", Side.SELL, 100, 9_999) == 0
    # Other markets, the other side, and the time after the pause are free.
    assert slices.left("ETH-USD", Side.SELL, 100, 9_999) == 100
    assert slices.left("BTC-USD", Side.BUY, 100, 9_999) == 100
    assert slices.left("BTC-USD", Side.SELL, 100, 10_000) == 100
    slices.take("BTC-USD", Side.SELL, 10, 10_000)
    assert slices.left("BTC-USD", Side.SELL, 100, 10_000) == 90
    assert slices.left("BTC-USD", Side.SELL, None, 10_000) is None


def test_a_market_that_is_known_is_counted_on_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "_KEPT_MAX", 1)
    taken = Slices(1_000)
    for symbol in ("BTC-USD", "ETH-USD", "BTC-USD"):
        taken.take(symbol, Side.SELL, 4, 0)
    assert taken.left("BTC-USD", Side.SELL, 10, 0) == 2
    assert taken.left("ETH-USD", Side.SELL, 10, 0) == 10
