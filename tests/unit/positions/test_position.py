"""Positions and their profit and loss: average cost, long and short."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.money import AMOUNT_SCALE, MoneyError
from openspot.domain.order import Side
from openspot.positions.lifecycle import PositionTrigger
from openspot.positions.position import (
    FLAT,
    AppliedTrade,
    Position,
    PositionKeeper,
    PositionTrade,
    TradeError,
    closing_trade,
)
from openspot.positions.profit_and_loss import (
    QuoteResult,
    SymbolResult,
    mark_price,
    results_by_quote,
    results_by_symbol,
    symbol_result,
    value_at,
)

UNIT = AMOUNT_SCALE
B, S = Side.BUY, Side.SELL
T = PositionTrigger


def trade(side: Side, quantity: int, price: int, fee: int = 0) -> PositionTrade:
    """A trade in whole units."""
    return PositionTrade("t", 1, side, quantity * UNIT, quantity * price * UNIT, fee * UNIT)


def keep(*trades: PositionTrade) -> tuple[PositionKeeper, list[AppliedTrade]]:
    keeper = PositionKeeper()
    return keeper, [keeper.apply(item) for item in trades]


def test_a_sale_takes_the_average_cost() -> None:
    keeper, applied = keep(trade(B, 2, 10), trade(B, 2, 20), trade(S, 2, 25))
    assert applied[-1].realised == 20 * UNIT
    assert keeper.position.cost == 30 * UNIT
    assert keeper.position.average_price == 15 * UNIT


def test_fees_are_part_of_cost_and_proceeds() -> None:
    keeper, applied = keep(trade(B, 1, 10, fee=1), trade(S, 1, 20, fee=2))
    assert applied[-1].realised == 7 * UNIT
    assert keeper.position == Position(0, 0, 7 * UNIT, 3 * UNIT, 7 * UNIT, 2)


def test_a_sale_without_a_purchase_opens_a_short() -> None:
    keeper, applied = keep(trade(S, 2, 20, fee=1))
    assert (keeper.position.quantity, keeper.position.cost) == (-2 * UNIT, -39 * UNIT)
    assert applied == [AppliedTrade(0, (T.OPENING_TRADE,))]
    assert keeper.apply(trade(B, 1, 15)).realised == 45 * UNIT // 10
    assert symbol_result("BTC-USD", keeper.position, 30 * UNIT).unrealised == -105 * UNIT // 10


def test_a_larger_opposite_trade_closes_and_opens_anew() -> None:
    keeper, applied = keep(trade(B, 1, 10), trade(S, 3, 20, fee=3))
    assert applied[1] == AppliedTrade(9 * UNIT, (T.FLATTENING_TRADE, T.OPENING_TRADE))
    assert (keeper.position.quantity, keeper.position.cost) == (-2 * UNIT, -38 * UNIT)


def test_each_trade_names_its_triggers() -> None:
    _, applied = keep(trade(B, 2, 1), trade(B, 1, 1), trade(S, 1, 1), trade(S, 2, 1), trade(S, 1, 1))
    assert [step.triggers for step in applied] == [
        (T.OPENING_TRADE,),
        (T.TRADE,),
        (T.TRADE,),
        (T.FLATTENING_TRADE,),
        (T.OPENING_TRADE,),
    ]


def test_a_close_request_books_the_whole_position_at_the_mark() -> None:
    keeper, _ = keep(trade(B, 2, 10))
    closing = closing_trade(keeper.position, 15 * UNIT, "close-1", 9)
    assert closing == PositionTrade("close-1", 9, S, 2 * UNIT, 30 * UNIT)
    assert keeper.apply(closing) == AppliedTrade(10 * UNIT, (T.FLATTENING_TRADE,))
    short, _ = keep(trade(S, 2, 10))
    assert closing_trade(short.position, 15 * UNIT, "close-2", 9).side is B
    one_unit = Position(quantity=1, cost=7, realised=0, fees=0, cash_flow=-7, trades=1)
    assert closing_trade(one_unit, 15 * UNIT, "close-5", 9) == PositionTrade("close-5", 9, S, 1, 15)
    with pytest.raises(TradeError, match=r"^position is not open$"):
        closing_trade(FLAT, 15 * UNIT, "close-3", 9)
    with pytest.raises(TradeError, match=r"^position has no mark price to be closed at$"):
        closing_trade(short.position, None, "close-4", 9)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ((0, 1, 0), "quantity must be positive"),
        ((-1, 1, 0), "quantity must be positive"),
        ((10**37 + 1, 1, 0), "quantity is too large"),
        ((1, -1, 0), "notional must not be negative"),
        ((1, 10**37 + 1, 0), "notional is too large"),
        ((1, 1, 10**37 + 1), "fee is too large"),
        ((1, 1, -(10**37) - 1), "fee is too large"),
    ],
)
def test_a_trade_out_of_range_is_refused(fields: tuple[int, int, int], message: str) -> None:
    with pytest.raises(TradeError, match=f"^{message}$"):
        PositionTrade("t", 1, B, *fields)


@pytest.mark.parametrize("fields", [(1, 0, 0), (10**37, 10**37, 10**37), (1, 1, -(10**37))])
def test_a_trade_at_the_edge_of_the_range_is_taken(fields: tuple[int, int, int]) -> None:
    booked = PositionTrade("t", 1, B, *fields)
    assert (booked.quantity, booked.notional, booked.fee) == fields


def test_without_a_mark_there_is_no_value_and_no_unrealised_result() -> None:
    keeper, _ = keep(trade(B, 1, 10))
    result = symbol_result("BTC-USD", keeper.position, None)
    assert (result.value, result.unrealised, result.total) == (None, None, None)
    flat, _ = keep(trade(B, 1, 10), trade(S, 1, 15))
    assert symbol_result("BTC-USD", flat.position, None).total == 5 * UNIT
    assert symbol_result("BTC-USD", flat.position, 7) == SymbolResult("BTC-USD", flat.position, 7, 0, 0)


def test_an_open_position_is_worth_its_quantity_at_the_mark() -> None:
    position = keep(trade(B, 2, 10))[0].position
    assert symbol_result("BTC-USD", position, 15 * UNIT) == SymbolResult(
        "BTC-USD", position, 15 * UNIT, 30 * UNIT, 10 * UNIT
    )


def test_values_are_rounded_down_at_18_places_also_below_zero() -> None:
    assert (value_at(1, UNIT // 2), value_at(-1, UNIT // 2)) == (0, -1)
    assert mark_price("0.5") == UNIT // 2
    with pytest.raises(MoneyError):
        mark_price("0.0000000000000000001")


def test_results_are_summed_by_quote_asset_and_a_missing_mark_is_not_zero() -> None:
    positions = {
        symbol: keep(trade(B, 2, 10, fee=1), trade(S, 1, 15))[0].position
        for symbol in ("BTC-USD", "ETH-USD", "ETH-BTC", "SOL-BRL")
    }
    results = results_by_symbol(positions, {"BTC-USD": 20 * UNIT, "ETH-USD": 5 * UNIT, "ETH-BTC": UNIT})
    assert [result.symbol for result in results] == ["BTC-USD", "ETH-BTC", "ETH-USD", "SOL-BRL"]
    half = UNIT // 2
    # One of two units was sold for 15 that cost 10.50.
    assert results_by_quote(results) == [
        QuoteResult("BRL", 9 * half, None, UNIT),
        QuoteResult("BTC", 9 * half, UNIT - 21 * half, UNIT),
        QuoteResult("USD", 9 * UNIT, 25 * UNIT - 21 * UNIT, 2 * UNIT),
    ]
    assert [result.total for result in results_by_quote(results)] == [None, UNIT - 6 * UNIT, 13 * UNIT]


trades = st.lists(
    st.builds(
        PositionTrade,
        st.just("t"),
        st.just(1),
        st.sampled_from(Side),
        st.integers(1, 10**20),
        st.integers(0, 10**24),
        st.integers(-(10**6), 10**20),
    ),
    max_size=40,
)


@given(trades, st.integers(0, 10**24))
def test_realised_plus_unrealised_is_cash_flows_plus_value(history: list[PositionTrade], mark: int) -> None:
    keeper, applied = keep(*history)
    flows = sum((-1 if item.side is B else 1) * item.notional - item.fee for item in history)
    quantity = sum((1 if item.side is B else -1) * item.quantity for item in history)
    position = keeper.position
    assert position.quantity == quantity
    assert position.realised == sum(step.realised for step in applied)
    result = symbol_result("BTC-USD", position, mark)
    assert result.total == flows + value_at(quantity, mark)
    assert position.cash_flow == flows
    assert position.trades == len(history)


@given(trades)
def test_a_flat_position_has_no_cost(history: list[PositionTrade]) -> None:
    keeper, _ = keep(*history)
    held = keeper.position.quantity
    if held:
        keeper.apply(PositionTrade("t", 1, S if held > 0 else B, abs(held), 0))
    assert (keeper.position.quantity, keeper.position.cost) == (0, 0)


@given(trades, st.integers(0, 40))
def test_a_restored_position_continues_as_if_it_had_never_been_stored(history: list[PositionTrade], cut: int) -> None:
    whole, _ = keep(*history)
    first, _ = keep(*history[:cut])
    second = PositionKeeper(first.position)
    for item in history[cut:]:
        second.apply(item)
    assert second.position == whole.position


@given(st.integers(1, 10**20), st.integers(2, 20), st.integers(1, 10**6))
def test_splitting_a_fill_moves_only_last_digits(quantity: int, parts: int, price: int) -> None:
    whole, split = PositionKeeper(), PositionKeeper()
    whole.apply(PositionTrade("t", 1, B, quantity * parts, quantity * parts * price))
    for _ in range(parts):
        split.apply(PositionTrade("t", 1, B, quantity, quantity * price))
    sale = PositionTrade("t", 1, S, quantity, quantity * (price + 1))
    assert abs(whole.apply(sale).realised - split.apply(sale).realised) <= parts
