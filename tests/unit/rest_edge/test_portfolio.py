"""The value of a portfolio over time."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from openspot.rest_edge.funds.accounts.portfolio import POINTS_MAX, carried, holdings_at, points_of, total_value

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_points_end_now_and_reach_back_to_the_start_inclusive() -> None:
    assert points_of(NOON - 3 * HOUR, NOON, HOUR) == [NOON - 3 * HOUR, NOON - 2 * HOUR, NOON - HOUR, NOON]
    assert points_of(NOON - 3 * HOUR + timedelta(seconds=1), NOON, HOUR)[0] == NOON - 2 * HOUR
    assert points_of(NOON, NOON, HOUR) == [NOON]
    assert len(points_of(NOON - 10_000 * HOUR, NOON, HOUR)) == POINTS_MAX


def test_a_value_holds_until_the_next_one() -> None:
    found = {1: Decimal(5), 3: Decimal(0)}
    assert carried(5, found) == [None, Decimal(5), Decimal(5), Decimal(0), Decimal(0)]


def test_what_is_held_is_valued_at_the_price_of_its_time_exactly() -> None:
    balances = {"USD": [Decimal("10.5")], "BTC": [Decimal("0.00000001")], "ETH": [Decimal(2)], "SOL": [Decimal(0)]}
    prices = {"BTC": [Decimal("99999.99")], "ETH": [None]}
    holdings = holdings_at(0, balances, prices)
    assert [holding.asset for holding in holdings] == ["BTC", "ETH", "USD"]
    assert [holding.value for holding in holdings] == [Decimal("0.0009999999"), None, Decimal("10.5")]
    assert total_value(holdings) == Decimal("10.5009999999")
