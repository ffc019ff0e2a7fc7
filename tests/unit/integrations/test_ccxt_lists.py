"""Lists of orders, icebergs and replacements of the ccxt class: what they ask of the platform, and its answers."""

from typing import Any

import pytest

from tests.unit.integrations.conftest import Recorded
from tests.unit.integrations.test_ccxt_orders import BODY, ORDER, STOP, errors

ENTRY = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "price": "50000", "quantity": "0.5"}
EXIT = {"symbol": "BTC-USD", "side": "sell", "quantity": "0.5"}
PROFIT = EXIT | {"type": "take_profit_market", "stopPrice": "55000"}
LOSS = EXIT | {"type": "stop_market", "stopPrice": "49000"}
OF_LIST = {"listId": "L" * 16, "clientListId": "mine", "listType": "bracket", "listState": "active"}
LIST = {
    "listId": "L" * 16, "clientListId": "mine", "type": "bracket", "symbol": "BTC-USD", "status": "active",
    "createdAt": "2026-01-02T03:04:05.006Z", "updatedAt": "2026-01-02T03:04:05.006Z",
    "orders": [
        ORDER | OF_LIST | {"listRole": "entry"}, STOP | OF_LIST | {"orderId": "B" * 16, "listRole": "stop_loss"},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("params", "kind", "exits"),
    [
        ({"takeProfit": {"triggerPrice": 55_000}, "stopLoss": {"triggerPrice": 49_000}}, "bracket", [PROFIT, LOSS]),
        ({"stopLoss": {"triggerPrice": 49_000, "priceType": "mark"}}, "oto", [LOSS | {"triggerBy": "mark"}]),
        ({"stopLoss": {"stopPrice": 49_000, "price": 48_900.004, "amount": 0.5}}, "oto",
         [LOSS | {"type": "stop_limit", "price": "48900"}]),
        ({"takeProfit": {"price": 55_000}}, "oto", [EXIT | {"type": "limit", "price": "55000"}]),
        ({"takeProfit": {"triggerPrice": 55_000, "price": 54_900, "type": "limit", "clientOrderId": "p"}}, "oto",
         [PROFIT | {"type": "take_profit_limit", "price": "54900", "clientOrderId": "p"}]),
    ],
)  # fmt: skip
def test_an_order_with_exits_is_the_entry_of_a_list(
    exchange: Any, complete: Recorded, params: dict[str, Any], kind: str, exits: list[Any]
) -> None:
    complete.answer("POST", "/orders/lists", LIST, 201)
    order = exchange.create_order("BTC/USD", "limit", "buy", 0.5, 50_000, params | {"clientListId": "mine"})
    body = {"type": kind, "clientListId": "mine", "orders": [ENTRY, *exits]}
    assert complete.sent() == [("POST", "/orders/lists", body)]
    names = ("id", "listId", "clientListId", "listRole", "listState", "status")
    assert [order[name] for name in names] == ["A" * 16, "L" * 16, "mine", "entry", "active", "open"]


def test_exits_keep_the_self_trade_prevention_of_their_entry_and_not_its_other_terms(
    exchange: Any, complete: Recorded
) -> None:
    complete.answer("POST", "/orders/lists", LIST, 201)
    params = {"selfTradePrevention": "NONE", "postOnly": True, "clientOrderId": "e"}
    exchange.create_order("BTC/USD", "limit", "buy", 0.5, 50_000, params | {"stopLoss": {"triggerPrice": 49_000}})
    [(_, _, body)] = complete.sent()
    entry = ENTRY | {"selfTradePrevention": "none", "postOnly": True, "clientOrderId": "e"}
    assert body["orders"] == [entry, LOSS | {"selfTradePrevention": "none"}]


def test_ccxts_own_method_for_exits_keeps_nothing_of_the_call_before(exchange: Any, complete: Recorded) -> None:
    exchange.load_markets()
    assert exchange.has["createOrderWithTakeProfitAndStopLoss"] is True
    complete.answer("POST", "/orders/lists", LIST, 201)
    create = exchange.create_order_with_take_profit_and_stop_loss
    create("BTC/USD", "limit", "buy", 0.5, 50_000, 55_000, 49_000)
    create("BTC/USD", "limit", "buy", 0.5, 50_000, None, 49_000, {"stopLossLimitPrice": 48_900})
    bodies = [body["orders"] for *_, body in complete.sent()]
    assert bodies == [[ENTRY, PROFIT, LOSS], [ENTRY, LOSS | {"type": "stop_limit", "price": "48900"}]]


def test_both_trigger_prices_are_a_pair_of_exits(exchange: Any, complete: Recorded) -> None:
    complete.answer("POST", "/orders/lists", LIST | {"type": "oco"}, 201)
    both = {"takeProfitPrice": 55_000, "stopLossPrice": 49_000, "triggerPriceType": "mark"}
    exchange.create_order("BTC/USD", "market", "sell", 0.5, None, both)
    exchange.create_order("BTC/USD", "market", "sell", 0.5, None, both | {"stopLossLimitPrice": 48_900})
    by_mark = {"triggerBy": "mark"}
    assert [body for *_, body in complete.sent()] == [
        {"type": "oco", "orders": [PROFIT | by_mark, LOSS | by_mark]},
        {"type": "oco", "orders": [PROFIT | by_mark, LOSS | by_mark | {"type": "stop_limit", "price": "48900"}]},
    ]


@pytest.mark.parametrize(
    ("kind", "params", "error", "says"),
    [
        ("limit", {"stopLoss": {}}, "ArgumentsRequired", "triggerPrice of stopLoss"),
        ("limit", {"stopLoss": {"price": 5}}, "ArgumentsRequired", "triggerPrice of stopLoss"),
        ("limit", {"takeProfit": {}}, "ArgumentsRequired", "triggerPrice of takeProfit"),
        ("limit", {"stopLoss": 49_000}, "InvalidOrder", "dictionary"),
        ("limit", {"stopLoss": {"triggerPrice": 1, "trailingPercent": 1}}, "NotSupported", "trailingPercent"),
        ("limit", {"stopLoss": {"triggerPrice": 1, "amount": 0.4}}, "NotSupported", "amount"),
        ("limit", {"stopLoss": {"triggerPrice": 1, "type": "limit"}}, "InvalidOrder", "price"),
        ("limit", {"stopLoss": {"triggerPrice": 1, "priceType": "index"}}, "InvalidOrder", "index"),
        ("limit", {"stopLoss": {"triggerPrice": 1}, "takeProfitPrice": 2}, "InvalidOrder", "not both"),
        ("market", {"stopLoss": {"triggerPrice": 1}, "cost": 5}, "InvalidOrder", "cost"),
        ("limit", {"stopLossPrice": 1, "takeProfitPrice": 2}, "InvalidOrder", "LimitPrice"),
        ("market", {"icebergAmount": 0.1}, "InvalidOrder", "icebergAmount"),
        ("limit", {"icebergAmount": 0.1, "stopLossPrice": 1}, "InvalidOrder", "icebergAmount"),
    ],
)
def test_exits_and_icebergs_that_say_nothing_clear_are_refused_here(
    exchange: Any, complete: Recorded, kind: str, params: dict[str, Any], error: str, says: str
) -> None:
    with pytest.raises(getattr(errors(), error), match=says):
        exchange.create_order("BTC/USD", kind, "buy", 0.5, 50_000, params)
    assert complete.sent() == []


def test_the_rules_of_the_specification_have_neither_lists_nor_icebergs_and_a_batch_no_exits(
    exchange: Any, platform: Recorded
) -> None:
    order = {"symbol": "BTC/USD", "type": "limit", "side": "buy", "amount": 0.5, "price": 50_000}
    exits = {"stopLoss": {"triggerPrice": 1}}
    for call in (
        lambda: exchange.create_order("BTC/USD", "limit", "buy", 0.5, 50_000, exits),
        lambda: exchange.create_order("BTC/USD", "limit", "buy", 0.5, 50_000, {"icebergAmount": 0.1}),
        lambda: exchange.create_order_list("oco", [order, order]),
        lambda: exchange.create_orders([order | {"params": exits}]),
    ):
        with pytest.raises(errors().NotSupported):
            call()
    assert platform.sent() == []


def test_an_iceberg_shows_what_the_book_shows_of_it(exchange: Any, complete: Recorded) -> None:
    complete.answer("POST", "/orders", ORDER | {"displayQuantity": "0.1"}, 201)
    order = exchange.create_order("BTC/USD", "limit", "buy", 0.5, 50_000, {"icebergAmount": 0.10001})
    assert complete.sent() == [("POST", "/orders", BODY | {"displayQuantity": "0.1"})]
    assert order["icebergAmount"] == 0.1


def test_a_list_is_placed_found_and_cancelled_under_its_id(exchange: Any, complete: Recorded) -> None:
    path = f"/orders/lists/{'L' * 16}"
    complete.answer("POST", "/orders/lists", LIST, 201)
    complete.answer("GET", path, LIST)
    complete.answer("GET", "/orders/lists?limit=5&active=true&symbol=BTC-USD", [LIST])
    complete.answer("DELETE", path, LIST | {"status": "ended"})
    limit = {"symbol": "BTC/USD", "type": "limit", "side": "buy", "amount": 0.5, "price": 50_000}
    stop = limit | {"type": "market", "side": "sell", "price": None, "params": {"stopLossPrice": 49_000}}
    placed = exchange.create_order_list("oto", [limit, stop], {"clientListId": "mine"})
    assert complete.sent()[-1][2] == {"type": "oto", "orders": [ENTRY, LOSS], "clientListId": "mine"}
    assert (placed["id"], placed["symbol"], placed["status"]) == ("L" * 16, "BTC/USD", "active")
    assert [(order["listRole"], order["stopLossPrice"]) for order in placed["orders"]] == [
        ("entry", None), ("stop_loss", 49_000),
    ]  # fmt: skip
    assert exchange.fetch_order_list("L" * 16) == placed
    assert exchange.fetch_order_lists("BTC/USD", 5, {"active": "true"}) == [placed]
    assert exchange.cancel_order_list("L" * 16)["status"] == "ended"
    for orders in ([], [limit] * 4):
        with pytest.raises((errors().ArgumentsRequired, errors().InvalidOrder)):
            exchange.create_order_list("oco", orders)


def test_what_an_amendment_cannot_change_replaces_the_order(exchange: Any, complete: Recorded) -> None:
    path, new = f"/orders/{'A' * 16}/replace", ORDER | {"orderId": "N" * 16}
    complete.answer("POST", path, {"order": new, "cancelled": ORDER, "cancelError": None}, 201)
    complete.answer("GET", "/orders/client/mine", ORDER)
    edited = exchange.edit_order("A" * 16, "BTC/USD", "limit", "buy", 0.5, 50_000, {"postOnly": True})
    assert edited["id"] == "N" * 16
    exchange.edit_order("A" * 16, "BTC/USD", "market", "sell", 0.5, None, {"trailingPercent": 1})
    exchange.edit_order("", "BTC/USD", "limit", "buy", 0.5, 50_000, {"clientOrderId": "mine", "replace": True})
    trailing = {
        "symbol": "BTC-USD",
        "side": "sell",
        "type": "trailing_stop_market",
        "quantity": "0.5",
        "trailingBps": 100,
    }
    assert complete.sent() == [
        ("POST", path, BODY | {"postOnly": True}),
        ("POST", path, trailing),
        ("GET", "/orders/client/mine", None),
        ("POST", path, BODY | {"clientOrderId": "mine"}),
    ]
    for wanted, amount in (("A" * 16, None), ("", 0.5)):
        with pytest.raises(errors().ArgumentsRequired):
            exchange.edit_order(wanted, "BTC/USD", "limit", "buy", amount, 50_000, {"postOnly": True})


@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        ("DUPLICATE_CLIENT_LIST_ID", 409, "DuplicateOrderId"),
        ("LIST_EXIT_WOULD_FILL", 400, "OrderImmediatelyFillable"),
        ("INVALID_ORDER_LIST", 400, "InvalidOrder"),
        ("VALIDATION_FAILED", 400, "InvalidOrder"),
    ],
)
def test_refusals_of_lists_are_errors_of_ccxt(
    exchange: Any, complete: Recorded, code: str, status: int, error: str
) -> None:
    complete.refuse("POST", "/orders/lists", status, code)
    with pytest.raises(getattr(errors(), error)):
        exchange.create_order("BTC/USD", "limit", "buy", 0.5, 50_000, {"stopLoss": {"triggerPrice": 49_000}})
    complete.refuse("DELETE", f"/orders/lists/{'L' * 16}", 404, "ORDER_LIST_NOT_FOUND")
    with pytest.raises(errors().OrderNotFound):
        exchange.cancel_order_list("L" * 16)
