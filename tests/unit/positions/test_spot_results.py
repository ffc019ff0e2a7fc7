"""What a user holds, what it cost and what came of it: every column adds up, and what is unknown stays unknown."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.money import AMOUNT_SCALE
from openspot.positions.fifo import Lot, LotQueue
from openspot.positions.spot_results import (
    CENT,
    LotSum,
    Realised,
    SpotResult,
    SpotTotals,
    cents,
    newest_lots,
    percent_of,
    result_of_money,
    spot_result,
    totals_of,
)

ONE = AMOUNT_SCALE
NOTHING = LotSum(0, 0)

AMOUNTS = st.integers(0, 10**24)
SIGNED = st.integers(-(10**24), 10**24)


@st.composite
def results(draw: st.DrawFn) -> SpotResult:
    """Any result that can be."""
    quantity = draw(AMOUNTS)
    known = draw(st.integers(0, quantity))
    lots = LotSum(known, draw(AMOUNTS) if known else 0)
    price = draw(st.none() | st.integers(1, 10**23))
    realised = Realised(*(draw(SIGNED) for _ in range(4)))
    return spot_result("BTC", quantity, lots, price, realised, draw(st.dictionaries(st.sampled_from("AB"), SIGNED)))


def whole(amount: str, cost: str) -> LotSum:
    return LotSum(scaled(amount), scaled(cost))


def scaled(text: str) -> int:
    units, _, fraction = text.partition(".")
    return int(units + fraction.ljust(18, "0"))


@pytest.mark.parametrize(
    ("quantity", "lots", "price", "known", "value", "cost", "average", "unrealised", "percent", "unknown_value"),
    [
        # quantity  lots               price    known  value       cost     average  unrealised percent   unknown
        ("2", ("2", "100"), "75", "2", "150", "100", "50", "50", "50", "0"),
        ("2", ("2", "100"), "25", "2", "50", "100", "50", "-50", "-50", "0"),
        ("3", ("2", "100"), "75", "2", "225", "100", "50", "50", "50", "75"),
        ("3", ("0", "0"), "75", "0", "225", None, None, None, None, "225"),
        ("2", ("2", "100"), None, "2", None, "100", "50", None, None, None),
        ("0", ("0", "0"), "75", "0", "0", "0", None, "0", None, "0"),
        # Cents are cut, and the parts are made of what is shown.
        ("1", ("0.5", "0.019"), "0.05", "0.5", "0.05", "0.01", "0.038", "0.01", "100", "0.03"),
        ("3", ("3", "10"), "4", "3", "12", "10", "3.333333333333333333", "2", "20", "0"),
    ],
)  # fmt: skip
def test_a_holding_is_as_the_table_says(
    quantity: str, lots: tuple[str, str], price: str | None, known: str, value: str | None, cost: str | None,
    average: str | None, unrealised: str | None, percent: str | None, unknown_value: str | None,
) -> None:  # fmt: skip
    def amount(text: str | None) -> int | None:
        return None if text is None else -scaled(text[1:]) if text.startswith("-") else scaled(text)

    found = spot_result("BTC", scaled(quantity), whole(*lots), amount(price), Realised(), {})
    assert found == SpotResult(
        asset="BTC", quantity=scaled(quantity), known=scaled(known), price=amount(price), value=amount(value),
        cost=amount(cost), average_cost=amount(average), unrealised=amount(unrealised),
        unknown_value=amount(unknown_value), realised=Realised(), fees={},
    )  # fmt: skip
    assert found.unrealised_percent == amount(percent)


def test_the_accounting_currency_costs_what_it_is() -> None:
    found = result_of_money("USD", scaled("10.559"), Realised(), {})
    assert (found.value, found.cost, found.unrealised, found.unknown_value) == (*(scaled("10.55"),) * 2, 0, 0)
    assert found.average_cost == ONE


@given(st.lists(results(), max_size=6))
def test_every_column_adds_up_to_its_total_in_whole_cents(rows: list[SpotResult]) -> None:
    totals = totals_of(rows)
    for name in ("value", "cost", "unrealised", "unknown_value"):
        shown = [getattr(row, name) or 0 for row in rows]
        assert getattr(totals, name) == sum(shown)
        assert all(amount % CENT == 0 for amount in shown)
    for place in range(4):
        assert totals.realised[place] == sum(row.realised[place] for row in rows)
    for asset in ("A", "B"):
        assert totals.fees.get(asset, 0) == sum(row.fees.get(asset, 0) for row in rows)
    assert len(totals.unpriced) == sum(row.value is None for row in rows)


@given(results())
def test_the_value_of_a_holding_is_its_cost_its_result_and_what_has_no_cost(row: SpotResult) -> None:
    if row.value is not None and row.cost is not None:
        assert row.unrealised is not None
        assert row.unknown_value is not None
        assert row.value == row.cost + row.unrealised + row.unknown_value
    if row.known < row.quantity and not row.known:
        assert row.cost is None


def test_totals_hold_the_value_together_and_name_what_has_no_price() -> None:
    priced = spot_result("BTC", 3 * ONE, whole("2", "100"), 75 * ONE, Realised(1 * ONE, 2 * ONE, 3 * ONE, 4 * ONE), {})
    rows = [
        replace(priced, fees={"USD": 2 * ONE}),
        replace(spot_result("XYZ", ONE, LotSum(ONE, 7 * ONE), None, Realised(), {}), fees={"EUR": ONE, "USD": -ONE}),
        spot_result("ETH", ONE, NOTHING, 10 * ONE, Realised(all=-ONE), {}),
        result_of_money("USD", 5 * ONE, Realised(), {}),
    ]
    totals = totals_of(rows)
    assert totals == SpotTotals(
        value=240 * ONE, cost=112 * ONE, priced_cost=105 * ONE, unrealised=50 * ONE, unknown_value=85 * ONE,
        realised=Realised(1 * ONE, 2 * ONE, 3 * ONE, 3 * ONE), fees={"EUR": ONE, "USD": ONE}, unpriced=("XYZ",),
    )  # fmt: skip
    assert totals.value == totals.priced_cost + totals.unrealised + totals.unknown_value
    # 50 of 105.
    assert totals.unrealised_percent == scaled("47.61")
    assert totals_of([]).value == 0
    assert totals_of([]).unrealised_percent is None


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(0, 10**6)), min_size=1, max_size=8), st.data())
def test_the_newest_lots_are_what_a_queue_keeps_when_the_oldest_leave(
    given_lots: list[tuple[int, int]], data: st.DataObject
) -> None:
    lots = [Lot(number, str(number), *lot) for number, lot in enumerate(given_lots)]
    queue = LotQueue(lots)
    quantity = data.draw(st.integers(1, queue.quantity))
    reached, kept, partial = 0, NOTHING, None
    for lot in reversed(lots):
        if reached >= quantity:
            break
        reached += lot.quantity
        if reached <= quantity:
            kept = LotSum(kept.quantity + lot.quantity, kept.cost + lot.cost)
        else:
            partial = LotSum(lot.quantity, lot.cost)
    if queue.quantity > quantity:
        queue.take(queue.quantity - quantity)
    assert newest_lots(kept, partial, quantity, quantity) == LotSum(quantity, sum(lot.cost for lot in queue))


@pytest.mark.parametrize(("amount", "cut"), [("1.239", "1.23"), ("0.009", "0"), ("5", "5")])
def test_money_is_cut_towards_zero(amount: str, cut: str) -> None:
    assert cents(scaled(amount)) == scaled(cut)
    assert cents(-scaled(amount)) == -scaled(cut)


def test_a_share_is_cut_to_two_places_and_unknown_without_a_whole() -> None:
    assert percent_of(2 * ONE, 3 * ONE) == scaled("66.66")
    assert percent_of(-2 * ONE, 3 * ONE) == -scaled("66.66")
    assert percent_of(ONE, 0) is percent_of(None, ONE) is percent_of(ONE, None) is None
