"""A round of a liquidation, to the last lot: which markets, how much in each, and at which price at worst."""

from dataclasses import replace
from decimal import Decimal

import pytest

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.model import PriceState
from openspot.domain.market import MarketLimits
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.domain.symbol import SymbolSpec
from openspot.margin.figures import AssetBalance, Balances
from openspot.margin.liquidation import LiquidationOrder
from openspot.margin.liquidation_plan import Markets, is_sure, round_orders, sellable_quantities, used_markets
from openspot.margin.slices import Slices
from tests.support.marks import mark, marks_of

UNIT = AMOUNT_SCALE
MILLI = UNIT // 1000
NOON_MS = 1_700_000_000_000
BUY, SELL = Side.BUY, Side.SELL


def spec_of(symbol: str) -> SymbolSpec:
    """A market with a lot of 0.001, a tick of 0.05 and a taker fee of 0.25 %."""
    base, quote = symbol.split("-")
    return SymbolSpec(
        symbol=symbol, symbol_id=1, base=base, quote=quote, base_scale_k=1000, quote_scale_k=100, tick=5, lot=1,
        taker_fee_bps=25, maker_fee_bps=15,
    )  # fmt: skip


def markets(*symbols: str, **marks: AssetPrice) -> Markets:
    """These markets, or BTC-USD and ETH-USD, whose orders have from 0.01 to 5 units and from 10 to 1,000 in the quote.

    BTC is at 100 USD and ETH at 50, unless `marks` says otherwise.
    """
    names = symbols or ("BTC-USD", "ETH-USD")
    limits = {name: MarketLimits(name, Decimal("0.01"), Decimal(5), Decimal(10), Decimal(1000), 0, 0) for name in names}
    prices = marks_of(USD=UNIT, EUR=UNIT, BTC=100 * UNIT, ETH=50 * UNIT)
    return Markets({name: spec_of(name) for name in names}, limits, prices | marks, "USD", 200)


def balances(**amounts: int) -> dict[str, AssetBalance]:
    """Balances in thousandths: what is held, or if it is negative, what is owed."""
    return {asset: AssetBalance(max(each, 0) * MILLI, max(-each, 0) * MILLI) for asset, each in amounts.items()}


def planned(
    view: Markets, account: Balances, idle_rounds: int = 0, slices: Slices | None = None, now_ms: int = NOON_MS
) -> list[LiquidationOrder] | None:
    """The orders of a round, if all that is held is free."""
    free = {asset: balance.held for asset, balance in account.items() if balance.held}
    return round_orders(view, account, free, idle_rounds, slices or Slices(10_000), now_ms)


def sell(symbol: str, quantity: int, price: int) -> LiquidationOrder:
    return LiquidationOrder(symbol, SELL, quantity * MILLI, price * UNIT)


def buy(symbol: str, quantity: int, price: int) -> LiquidationOrder:
    return LiquidationOrder(symbol, BUY, quantity * MILLI, price * UNIT)


LONG = balances(BTC=2_000, USD=-150_000)
SHORT = balances(BTC=-1_000, USD=200_000)


@pytest.mark.parametrize(
    ("sellable", "sold"),
    [
        (None, 2_000),
        (9_000, 2_000),
        (500, 500),
        # Where a market absorbs nothing, a slice is the smallest order: 10 USD at 98.
        (103, 103),
        (102, 103),
        (0, 103),
    ],
)
def test_a_surplus_is_sold_as_far_as_its_market_absorbs_it(sellable: int | None, sold: int) -> None:
    btc = mark(100 * UNIT, sellable=None if sellable is None else sellable * MILLI)
    assert planned(markets(BTC=btc), LONG) == [sell("BTC-USD", sold, 98)]


def test_an_order_is_not_larger_than_its_market_allows_and_dust_is_not_sold() -> None:
    assert planned(markets(), balances(BTC=7_000, USD=-1)) == [sell("BTC-USD", 5_000, 98)]
    assert planned(markets(), balances(BTC=103, USD=-1)) == [sell("BTC-USD", 103, 98)]
    assert planned(markets(), balances(BTC=102, USD=-1)) == []
    assert planned(markets(), balances(BTC=102, ETH=2_000, USD=-1)) == [sell("ETH-USD", 2_000, 49)]
    odd = {"BTC": AssetBalance(104 * MILLI - 1), "USD": AssetBalance(owed=1)}
    assert planned(markets(), odd) == [sell("BTC-USD", 103, 98)]


@pytest.mark.parametrize(
    ("owed", "held", "idle_rounds", "bought"),
    [
        (1_000, 200_000, 0, 1_000),
        # With the fee a unit costs 102.255 at 102.
        (1_000, 50_000, 0, 488),
        (1_000, 102_255, 0, 1_000),
        (1_000, 102_254, 0, 999),
        # Each round that traded nothing leaves one percent more room: 104.3001.
        (1_000, 50_000, 2, 479),
        (1_000, 50_000, 100, 244),
        # The smallest order is 10 USD at 102.
        (98, 200_000, 0, 99),
        (100, 200_000, 0, 100),
    ],
)
def test_a_shortage_is_bought_as_far_as_the_account_can_pay(
    owed: int, held: int, idle_rounds: int, bought: int
) -> None:
    account = balances(BTC=-owed, USD=held)
    assert planned(markets(), account, idle_rounds) == [buy("BTC-USD", bought, 102)]


def test_what_the_account_cannot_pay_is_not_bought() -> None:
    assert planned(markets(), balances(BTC=-1_000, USD=10_123)) == []
    assert planned(markets(), balances(BTC=-1_000, USD=10_124)) == [buy("BTC-USD", 99, 102)]
    for free in ({}, {"USD": -UNIT}, {"USD": 0}):
        assert round_orders(markets(), SHORT, free, 0, Slices(10_000), NOON_MS) == []


def test_the_buys_of_a_round_share_what_is_free() -> None:
    account = balances(BTC=-1_000, ETH=-1_000, USD=150_000)
    # 47.745 USD are left after the first, and a unit of the second costs 51.1275.
    assert planned(markets(), account) == [buy("BTC-USD", 1_000, 102), buy("ETH-USD", 933, 51)]


def test_a_purchase_is_bounded_by_what_its_market_absorbs() -> None:
    assert planned(markets(BTC=mark(100 * UNIT, buyable=700 * MILLI)), SHORT) == [buy("BTC-USD", 700, 102)]
    assert planned(markets(BTC=mark(100 * UNIT, buyable=0)), SHORT) == [buy("BTC-USD", 99, 102)]


def test_sells_come_first_and_each_order_is_noted_with_its_market_and_its_side() -> None:
    slices = Slices(10_000)
    account = balances(BTC=-1_000, ETH=2_000, USD=200_000)
    view = markets("BTC-USD", "ETH-BTC", ETH=mark(50 * UNIT, sellable=900 * MILLI))
    view = view._replace(
        limits={**view.limits, "ETH-BTC": replace(view.limits["ETH-BTC"], notional_min=Decimal("0.1"))}
    )
    assert planned(view, account, slices=slices) == [
        # At worst 0.49 BTC, rounded towards the fair price to a tick of 0.05.
        LiquidationOrder("ETH-BTC", SELL, 900 * MILLI, 500 * MILLI),
        buy("BTC-USD", 1_000, 102),
    ]
    assert slices.left("ETH-BTC", SELL, UNIT, NOON_MS) == 100 * MILLI
    assert slices.left("BTC-USD", BUY, UNIT, NOON_MS) == 0
    assert slices.left("BTC-USD", SELL, UNIT, NOON_MS) == UNIT


def test_all_rounds_of_a_pause_share_what_the_market_absorbs() -> None:
    slices, view = Slices(10_000), markets(BTC=mark(100 * UNIT, sellable=500 * MILLI))
    account = balances(BTC=300, USD=-150_000)
    assert planned(view, account, slices=slices) == [sell("BTC-USD", 300, 98)]
    assert planned(view, account, slices=slices, now_ms=NOON_MS + 9_999) == [sell("BTC-USD", 200, 98)]
    assert planned(view, account, slices=slices, now_ms=NOON_MS + 9_999) == []
    assert planned(view, account, slices=slices, now_ms=NOON_MS + 10_000) == [sell("BTC-USD", 300, 98)]


def test_a_made_price_does_not_lower_the_worst_price_of_a_sale() -> None:
    # At 70, with a day's median of 100, a liquidation believes 85 at least.
    assert planned(markets(BTC=mark(70 * UNIT, day_median=100 * UNIT)), LONG) == [
        LiquidationOrder("BTC-USD", SELL, 2_000 * MILLI, 83_300 * MILLI)
    ]


def test_a_round_waits_for_prices_and_for_one_market_with_a_sure_price() -> None:
    disputed = mark(100 * UNIT, state=PriceState.DISPUTED)
    assert planned(markets(), {**LONG, "SOL": AssetBalance(held=1)}) is None
    assert planned(markets(BTC=disputed), LONG) is None
    both = balances(BTC=2_000, ETH=2_000, USD=-150_000)
    assert planned(markets(BTC=disputed), both) == [sell("ETH-USD", 2_000, 49)]
    # Without any market there is nothing to wait for.
    assert planned(markets("ETH-USD"), LONG) == []
    assert planned(markets(BTC=disputed), balances(BTC=2_000)) == []


@pytest.mark.parametrize(
    ("account", "used"),
    [
        # A surplus is sold for what is owed, and a shortage is bought with what is held.
        (balances(BTC=1, USD=-1), ["BTC-USD"]),
        (balances(BTC=1, USD=-1, EUR=-1), ["BTC-EUR", "BTC-USD"]),
        (balances(BTC=-1, EUR=1), ["BTC-EUR"]),
        (balances(BTC=-1, ETH=1), ["ETH-BTC"]),
        (balances(BTC=1, ETH=-1, USD=1), ["ETH-BTC", "ETH-USD"]),
        # No market has both, so the valuation asset is the other side.
        (balances(ETH=1, EUR=-1), ["ETH-USD"]),
        (balances(SOL=1, ETH=-1), ["ETH-USD"]),
        # Without a shortage nothing is traded, and what is held as it is owed is neither.
        (balances(BTC=1, ETH=1), []),
        ({"BTC": AssetBalance(5, 3, 2), "USD": AssetBalance(5, 9)}, []),
        ({"BTC": AssetBalance(6, 3, 2), "USD": AssetBalance(9, 5, 4)}, []),
        ({}, []),
    ],
)
def test_the_markets_of_a_round_turn_surplus_into_what_is_short(account: Balances, used: list[str]) -> None:
    view = markets("ETH-USD", "ETH-BTC", "BTC-USD", "BTC-EUR")
    found = used_markets(view, account)
    assert list(found) == used
    assert all(found[symbol] is view.symbols[symbol] for symbol in used)


def test_what_can_be_sold_is_the_smallest_order_of_its_market() -> None:
    assert sellable_quantities(markets(), LONG) == {"BTC": 103 * MILLI}
    # The smallest purchase is 0.099 BTC at 102.255 USD.
    assert sellable_quantities(markets(), SHORT) == {"USD": 10_123_245 * UNIT // 10**6}
    assert sellable_quantities(markets(), {}) == {}


def test_of_several_markets_the_one_with_the_smallest_order_counts() -> None:
    account = balances(BTC=2_000, USD=-1, EUR=-1)
    view = markets("BTC-EUR", "BTC-USD")
    for symbol, notional, smallest in (("BTC-EUR", 5, 52), ("BTC-USD", 3, 31), ("BTC-EUR", 30, 31)):
        limits = {**view.limits, symbol: replace(view.limits[symbol], notional_min=Decimal(notional))}
        view = view._replace(limits=limits)
        assert sellable_quantities(view, account) == {"BTC": smallest * MILLI}


def test_at_a_price_that_is_not_sure_any_quantity_can_be_sold_and_without_one_nobody_knows() -> None:
    stale = mark(100 * UNIT, state=PriceState.STALE)
    assert sellable_quantities(markets(BTC=stale), LONG) == {"BTC": 1}
    assert sellable_quantities(markets(BTC=stale), SHORT) == {"USD": 1}
    assert sellable_quantities(markets(), {**LONG, "SOL": AssetBalance(held=1)}) is None


def test_while_a_market_takes_no_orders_what_it_would_sell_is_no_loss() -> None:
    view = markets()
    paused = view._replace(symbols={symbol: replace(spec, active=False) for symbol, spec in view.symbols.items()})
    assert sellable_quantities(paused, LONG) == {"BTC": 1}
    assert sellable_quantities(paused, SHORT) == {"USD": 1}


def test_a_market_is_sure_if_the_prices_of_both_its_assets_are() -> None:
    marks = markets().marks
    assert is_sure(spec_of("BTC-USD"), marks)
    assert not is_sure(spec_of("BTC-SOL"), marks)
    assert not is_sure(spec_of("SOL-USD"), marks)
    for asset in ("BTC", "USD"):
        assert not is_sure(spec_of("BTC-USD"), {**marks, asset: mark(UNIT, state=PriceState.DISPUTED)})
