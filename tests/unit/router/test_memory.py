"""What a router keeps in memory: the orders that it placed lately, and the last trade prices that it saw."""

from decimal import Decimal

import pytest

from openspot.router.orders.engine_orders import refused_order
from openspot.router.orders.recent_orders import RecentOrder, RecentOrders
from openspot.router.orders.reference_prices import LastTradePrices
from tests.unit.router.orders import candidate


def recent(order_id: str) -> RecentOrder:
    return RecentOrder(refused_order(candidate(order_id=order_id).draft, "no", 1))


def test_recent_orders_are_bounded_and_the_oldest_is_forgotten() -> None:
    orders = RecentOrders(2)
    for order_id in ("a", "b", "c"):
        orders.put(recent(order_id))
    assert orders.get("a") is None
    assert orders.get("b") is not None
    assert orders.get("c") is not None
    orders.forget("b")
    orders.forget("never there")
    assert orders.get("b") is None


@pytest.mark.spec("A1.3-20", "A1.3-21", "A1.3-22")
def test_the_reference_price_is_the_newest_trade_within_the_age() -> None:
    prices = LastTradePrices(age_ms_max=1000)
    assert prices.recent("BTC-USD", 0) is None
    prices.note("BTC-USD", Decimal(100), 5_000)
    prices.note("BTC-USD", Decimal(99), 4_999)
    prices.note("ETH-USD", Decimal(7), 5_000)
    assert prices.recent("BTC-USD", 6_000) == Decimal(100)
    assert prices.recent("BTC-USD", 6_001) is None
    prices.note("BTC-USD", Decimal(101), 6_500)
    assert prices.recent("BTC-USD", 6_600) == Decimal(101)
