"""The value of a portfolio over time."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from openspot.rest_edge.funds.accounts.portfolio import POINTS_MAX, holdings_at, points_of, total_value
from openspot.rest_edge.funds.accounts.portfolio_service import with_present_prices
from tests.support.fair_prices import asset_price

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_points_end_now_and_reach_back_to_the_start_inclusive() -> None:
    assert points_of(NOON - 3 * HOUR, NOON, HOUR) == [NOON - 3 * HOUR, NOON - 2 * HOUR, NOON - HOUR, NOON]
    assert points_of(NOON - 3 * HOUR + timedelta(seconds=1), NOON, HOUR)[0] == NOON - 2 * HOUR
    assert points_of(NOON, NOON, HOUR) == [NOON]
    assert len(points_of(NOON - 10_000 * HOUR, NOON, HOUR)) == POINTS_MAX


def test_what_is_held_is_valued_at_the_price_of_its_time_exactly() -> None:
    balances = {"USD": [Decimal("10.5")], "BTC": [Decimal("0.00000001")], "ETH": [Decimal(2)], "SOL": [Decimal(0)]}
    prices = {"BTC": [Decimal("99999.99")], "ETH": [None]}
    holdings = holdings_at(0, balances, prices)
    assert [holding.asset for holding in holdings] == ["BTC", "ETH", "USD"]
    assert [holding.value for holding in holdings] == [Decimal("0.0009999999"), None, Decimal("10.5")]
    assert total_value(holdings) == Decimal("10.5009999999")


def test_the_present_is_valued_at_the_fair_price_and_the_past_at_its_last_trades() -> None:
    prices: dict[str, list[Decimal | None]] = {"BTC": [Decimal(100), Decimal(50)], "ETH": [Decimal(4), Decimal(4)]}
    with_present_prices(prices, ["BTC", "ETH", "BRL"], {"BTC": asset_price("99.5"), "BRL": asset_price("0.2")}, 2)
    assert prices == {
        "BTC": [Decimal(100), Decimal("99.5")],
        "ETH": [Decimal(4), Decimal(4)],
        "BRL": [None, Decimal("0.2")],
    }
