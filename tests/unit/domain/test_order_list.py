"""Which orders fit together in a list, what each is there, and the engine's number of a list."""

from decimal import Decimal
from typing import Any

import pytest

from openspot.domain.order import OrderListType, OrderType, PostOnlyMode, TimeInForce
from openspot.domain.order_list import (
    ENGINE_LIST_ID_MAX,
    ListedOrder,
    ListRole,
    ListType,
    engine_list_id,
    list_fault,
    role_of,
)


def order(order_type: OrderType = OrderType.LIMIT, *, is_buy: bool = False, **fields: Any) -> ListedOrder:
    """A sell of 1 BTC, but for the fields."""
    given = ListedOrder("BTC-USD", is_buy, order_type, TimeInForce.GTC, Decimal(1), None, None, None)
    return given._replace(**fields)


ENTRY, PROFIT = order(is_buy=True), order()
STOP, TRAILING = order(OrderType.STOP_MARKET), order(OrderType.TRAILING_STOP_LIMIT)


@pytest.mark.parametrize(
    ("list_type", "orders"),
    [
        (ListType.OCO, [PROFIT, STOP]),
        (ListType.OCO, [STOP, PROFIT]),
        (ListType.OCO, [TRAILING, STOP]),
        (ListType.OCO, [order(is_buy=True), order(OrderType.TAKE_PROFIT_MARKET, is_buy=True)]),
        (ListType.OCO, [order(post_only=PostOnlyMode.REFUSE), STOP]),
        (ListType.OCO, [PROFIT, STOP._replace(time_in_force=TimeInForce.IOC)]),
        (ListType.OTO, [ENTRY, STOP]),
        (ListType.OTO, [order(OrderType.MARKET, is_buy=True), PROFIT]),
        (ListType.OTO, [order(OrderType.STOP_LIMIT, is_buy=True), PROFIT]),
        (ListType.OTO, [PROFIT, order(OrderType.STOP_MARKET, is_buy=True)]),
        (ListType.BRACKET, [ENTRY._replace(time_in_force=TimeInForce.FOK), PROFIT, STOP]),
        (ListType.BRACKET, [ENTRY._replace(post_only=PostOnlyMode.REFUSE), STOP, PROFIT]),
        (ListType.BRACKET, [ENTRY._replace(time_in_force=TimeInForce.GTD), PROFIT, STOP]),
        (ListType.OCO, [PROFIT._replace(time_in_force=TimeInForce.GTD), STOP]),
        (ListType.BRACKET, [ENTRY._replace(client_order_id="a"), PROFIT._replace(client_order_id="b"), STOP]),
    ],
)
def test_orders_that_depend_on_each_other_are_a_list(list_type: ListType, orders: list[ListedOrder]) -> None:
    assert list_fault(list_type, orders) is None


@pytest.mark.parametrize(
    ("list_type", "orders", "fault"),
    [
        (ListType.OCO, [PROFIT], "orders must have 2 entries for a list of type oco: the two exits"),
        (
            ListType.BRACKET,
            [ENTRY, STOP],
            "orders must have 3 entries for a list of type bracket: the entry, then its exits",
        ),
        (
            ListType.OTO,
            [ENTRY, PROFIT, STOP],
            "orders must have 2 entries for a list of type oto: the entry, then its exits",
        ),
        (ListType.OCO, [PROFIT, PROFIT], "orders.1.type: of two exits at least one must have a trigger"),
        (ListType.BRACKET, [ENTRY, PROFIT, PROFIT], "orders.2.type: of two exits at least one must have a trigger"),
        (ListType.OCO, [PROFIT, STOP._replace(is_buy=True)], "orders.1.side must be sell: both are exits"),
        (ListType.OTO, [ENTRY, STOP._replace(is_buy=True)], "orders.1.side must be sell: an exit reverses its entry"),
        (ListType.OTO, [PROFIT, PROFIT], "orders.1.side must be buy: an exit reverses its entry"),
        (
            ListType.OCO,
            [PROFIT, STOP._replace(symbol="ETH-USD")],
            "orders.1.symbol must be BTC-USD: a list is on one market",
        ),
        (
            ListType.OCO,
            [PROFIT, STOP._replace(quantity=Decimal(2))],
            "orders.1.quantity must be that of the first order: a list is about one position",
        ),
        (ListType.OCO, [PROFIT._replace(quantity=None), STOP], "orders.0.quantity is required"),
        (
            ListType.OCO,
            [PROFIT._replace(quote_quantity=Decimal(1)), STOP],
            "orders.0.quoteQuantity must not be given in a list: give quantity",
        ),
        (
            ListType.OCO,
            [PROFIT._replace(post_only=PostOnlyMode.SLIDE), STOP],
            "orders.0.postOnlyMode slide does not go with a list",
        ),
        (
            ListType.OTO,
            [TRAILING._replace(is_buy=True), PROFIT],
            "orders.0.type trailing_stop_limit is not for an entry",
        ),
        (
            ListType.OTO,
            [ENTRY, TRAILING],
            "orders.1.type trailing_stop_limit is not for an exit of an entry: no price is known that it could follow",
        ),
        (
            ListType.OTO,
            [ENTRY, order(OrderType.MARKET)],
            "orders.1.type market is not for an exit: it needs a price or a trigger",
        ),
        (
            ListType.OCO,
            [PROFIT, STOP._replace(time_in_force=TimeInForce.FOK)],
            "orders.1.timeInForce fok does not go with an exit",
        ),
        (
            ListType.OCO,
            [PROFIT._replace(time_in_force=TimeInForce.IOC), STOP],
            "orders.0.timeInForce ioc does not go with an exit that has no trigger",
        ),
        (
            ListType.OTO,
            [ENTRY, PROFIT._replace(post_only=PostOnlyMode.REFUSE)],
            "orders.1.postOnly is not for an exit of an entry",
        ),
        (
            ListType.BRACKET,
            [ENTRY, STOP, PROFIT._replace(time_in_force=TimeInForce.GTD)],
            "orders.2.timeInForce gtd is not for an exit of an entry: its time could pass before the entry fills",
        ),
        (
            ListType.OCO,
            [PROFIT._replace(client_order_id="a"), STOP._replace(client_order_id="a")],
            "orders.1.clientOrderId is that of another order of the list",
        ),
    ],
)
def test_what_does_not_fit_is_said_with_the_order_and_its_field(
    list_type: ListType, orders: list[ListedOrder], fault: str
) -> None:
    assert list_fault(list_type, orders) == fault


def test_each_order_has_a_role() -> None:
    assert role_of(ListType.BRACKET, 1, OrderType.STOP_LIMIT) is ListRole.ENTRY
    assert role_of(ListType.BRACKET, 2, OrderType.LIMIT) is ListRole.TAKE_PROFIT
    assert role_of(ListType.OCO, 1, OrderType.TAKE_PROFIT_LIMIT) is ListRole.TAKE_PROFIT
    assert role_of(ListType.OCO, 1, OrderType.STOP_MARKET) is ListRole.STOP_LOSS
    assert role_of(ListType.OCO, 2, OrderType.TRAILING_STOP_MARKET) is ListRole.STOP_LOSS


def test_the_types_are_those_of_the_engine() -> None:
    assert [(list_type.number, list_type.size, list_type.has_entry) for list_type in ListType] == [
        (OrderListType.OCO, 2, False),
        (OrderListType.OTO, 2, True),
        (OrderListType.BRACKET, 3, True),
    ]


def test_the_number_of_a_list_follows_from_its_id() -> None:
    assert engine_list_id("7mWpLQxT28sVbnC4") == engine_list_id("7mWpLQxT28sVbnC4") == 9_058_178_400_822_460_032
    assert engine_list_id("7mWpLQxT28sVbnC5") != engine_list_id("7mWpLQxT28sVbnC4")
    assert all(0 < engine_list_id(f"list-{number}") <= ENGINE_LIST_ID_MAX for number in range(1000))
    # A list that no router placed has the engine's number as its id.
    assert engine_list_id("17") == 17
    assert engine_list_id("9" * 20) == 99_999_999_999_999_999_999
    assert engine_list_id("9" * 21) <= ENGINE_LIST_ID_MAX
