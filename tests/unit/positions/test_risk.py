"""Risk figures: exposure, concentration, value at risk by its formula."""

import decimal
import random
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.money import AMOUNT_SCALE
from openspot.positions.risk import (
    RETURNS_MIN,
    VAR_QUANTILE,
    Concentration,
    concentration,
    daily_returns,
    exposure,
    value_at_risk,
)

UNIT = AMOUNT_SCALE
START = date(2024, 1, 1)


def series(prices: list[int | str]) -> dict[date, Decimal]:
    return {START + timedelta(days=number): Decimal(price) for number, price in enumerate(prices)}


def random_closes(seed: int, names: str, days: int) -> dict[str, dict[date, Decimal]]:
    source = random.Random(seed)
    return {name: series([source.randrange(100, 200) for _ in range(days)]) for name in names}


def test_exposure_tells_long_short_gross_net_and_what_has_no_price() -> None:
    found = exposure({"BTC": 100, "ETH": -30, "SOL": None, "USDT": 0})
    assert (found.long, found.short, found.gross, found.net) == (100, 30, 130, 70)
    assert found.unpriced == ("SOL",)
    assert found.values == {"BTC": 100, "ETH": -30, "USDT": 0}


@pytest.mark.parametrize(
    ("values", "herfindahl", "largest", "share"),
    [
        ({"BTC": 5}, "1", "BTC", "1"),
        ({"BTC": 1, "ETH": 1, "SOL": 1, "XRP": 1}, "0.25", "BTC", "0.25"),
        ({"BTC": 60, "ETH": -40}, "0.52", "BTC", "0.6"),
        ({"BTC": 1, "ETH": 2}, "0.55555556", "ETH", "0.66666667"),
    ],
)
def test_concentration_is_herfindahl_and_largest_share_of_the_gross_exposure(
    values: dict[str, int], herfindahl: str, largest: str, share: str
) -> None:
    assert concentration(values) == Concentration(Decimal(herfindahl), largest, Decimal(share))


def test_without_exposure_there_is_no_concentration() -> None:
    assert concentration({}) is None
    assert concentration({"BTC": 0}) is None


def test_value_at_risk_of_one_asset_is_computed_as_on_paper() -> None:
    """Closes that alternate between 100 and 110: returns of 10 % and −9.0909…%."""
    closes = {"BTC": series([100, 110] * 16)}
    returns = [Fraction(1, 10) if number % 2 == 0 else Fraction(-1, 11) for number in range(31)]
    mean = sum(returns) / 31
    variance = sum((item - mean) ** 2 for item in returns) / 30
    found = value_at_risk({"BTC": 1_000 * UNIT}, closes)
    assert found is not None
    with decimal.localcontext(prec=50):
        exact = VAR_QUANTILE * 1000 * (Decimal(variance.numerator) / Decimal(variance.denominator)).sqrt()
    assert abs(found - exact) <= Decimal("5e-19")
    assert str(found).startswith("159.")


@given(st.integers(0, 2**32), st.lists(st.integers(-(10**6), 10**6), min_size=3, max_size=3))
def test_value_at_risk_equals_the_matrix_formula(seed: int, weights: list[int]) -> None:
    """1.645·√(wᵀΣw) with an explicit sample covariance matrix, in exact fractions."""
    closes = random_closes(seed, "ABC", 40)
    returns = {
        name: [
            Fraction(closes[name][day]) / Fraction(closes[name][day - timedelta(days=1)]) - 1
            for day in sorted(closes[name])[1:]
        ]
        for name in "ABC"
    }
    means = {name: sum(items) / 39 for name, items in returns.items()}
    quadratic = Fraction(0)
    for weight, name in zip(weights, "ABC", strict=True):
        for other_weight, other in zip(weights, "ABC", strict=True):
            pairs = zip(returns[name], returns[other], strict=True)
            covariance = sum((one - means[name]) * (two - means[other]) for one, two in pairs) / 38
            quadratic += weight * covariance * other_weight
    values = {name: weight * UNIT for name, weight in zip("ABC", weights, strict=True)}
    found = value_at_risk(values, closes)
    assert found is not None
    # Compared as squares, which need no root: half a unit of the 18th place is all that may differ.
    low, high = Fraction(found) - Fraction(1, UNIT), Fraction(found) + Fraction(1, UNIT)
    exact = Fraction(VAR_QUANTILE) ** 2 * quadratic
    assert max(low, Fraction(0)) ** 2 <= exact <= high**2


def test_opposite_positions_in_the_same_prices_carry_no_risk() -> None:
    closes = random_closes(1, "A", 40)
    assert value_at_risk({"A": UNIT, "B": -UNIT}, {"A": closes["A"], "B": closes["A"]}) == 0


def test_fewer_than_30_common_returns_give_none() -> None:
    assert RETURNS_MIN == 30
    enough = random_closes(1, "AB", RETURNS_MIN + 1)
    assert value_at_risk({"A": UNIT, "B": UNIT}, enough) is not None
    missing = {"A": enough["A"], "B": {day: close for day, close in enough["B"].items() if day != START}}
    assert value_at_risk({"A": UNIT, "B": UNIT}, missing) is None
    assert value_at_risk({"A": UNIT, "C": UNIT}, enough) is None


def test_nothing_held_risks_nothing_and_needs_no_closes() -> None:
    assert value_at_risk({}, {}) == 0
    assert value_at_risk({"A": 0}, {}) == 0


def test_a_return_needs_the_day_before_of_every_asset() -> None:
    full = series([100, 110, 121, 242, 121])
    gap = {day: close for day, close in series([1, 2, 4, 8, 16]).items() if day != START + timedelta(days=2)}
    returns = daily_returns({"A": full, "B": gap})
    assert returns == {"A": [Decimal("0.1"), Decimal("-0.5")], "B": [Decimal(1), Decimal(1)]}
    assert daily_returns({}) == {}


@pytest.mark.parametrize("close", ["0", "-1", "NaN", "Infinity"])
def test_a_close_that_is_no_price_is_refused_by_name_and_day(close: str) -> None:
    with pytest.raises(ValueError, match="close of A on 2024-01-02 must be above zero"):
        daily_returns({"A": series([1, close])})


def test_the_callers_decimal_context_does_not_matter() -> None:
    closes = random_closes(3, "AB", 40)
    values = {"A": 12_345 * UNIT, "B": -77 * UNIT}
    expected = value_at_risk(values, closes)
    with decimal.localcontext(prec=5):
        assert value_at_risk(values, closes) == expected
        assert concentration({"BTC": 1, "ETH": 2}) == Concentration(Decimal("0.55555556"), "ETH", Decimal("0.66666667"))


def test_the_largest_position_is_the_largest_without_its_sign() -> None:
    assert concentration({"BTC": -60, "ETH": 40}) == Concentration(Decimal("0.52"), "BTC", Decimal("0.6"))
    assert concentration({"ETH": -50, "BTC": 50}) == Concentration(Decimal("0.5"), "BTC", Decimal("0.5"))
