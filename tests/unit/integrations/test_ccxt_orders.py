"""The orders of the ccxt class: what they ask of the platform, and what is made of its answers."""

from typing import Any

import pytest

from tests.unit.integrations.conftest import COMPLETE, MARKETS, NETWORKS, SPECIFICATION, Recorded

ORDER = {
    "orderId": "A" * 16, "clientOrderId": "mine", "userId": "u", "symbol": "BTC-USD", "side": "buy", "type": "limit",
    "timeInForce": "gtc", "marginMode": None, "price": "50000", "quantity": "0.5", "filledQuantity": "0",
    "remainingQuantity": "0.5", "averagePrice": None, "fee": "0", "feeCurrency": "USD", "status": "open",
    "rejectReason": None, "createdAt": "2026-01-02T03:04:05.006Z", "updatedAt": "2026-01-02T03:04:05.006Z",
}  # fmt: skip
LIMIT = {"symbol": "BTC/USD", "type": "limit", "side": "buy", "amount": 0.5, "price": 50_000}
BODY = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "price": "50000", "quantity": "0.5"}
MARKET = {"symbol": "BTC-USD", "side": "sell", "type": "market", "quantity": "0.5"}
PLACED = "pending%2Copen%2Cpartially_filled%2Cfilled%2Ccancelled"
STOP = ORDER | {
    "side": "sell", "type": "stop_market", "timeInForce": "ioc", "price": None, "stopPrice": "49000",
    "triggerBy": "last", "trailingAmount": None, "trailingBps": None, "triggerStatus": "waiting", "triggeredAt": None,
}  # fmt: skip
EXPIRY, EXPIRY_MS = "2026-03-04T05:06:07.000Z", 1_772_600_767_000


def errors() -> Any:
    from ccxt.base import errors

    return errors


# The rules


@pytest.mark.parametrize("rules", [SPECIFICATION, COMPLETE], ids=["specification", "complete"])
def test_has_and_features_follow_the_rules_of_the_platform(
    exchange: Any, platform: Recorded, rules: dict[str, Any]
) -> None:
    from openspot_ccxt.description import OFFERED_BY_COMPLETE_RULES

    platform.answer("GET", "/settings/trading", rules)
    exchange.load_markets()
    is_complete = rules is COMPLETE
    assert {exchange.has[name] for name in OFFERED_BY_COMPLETE_RULES} == {is_complete}
    said = exchange.features["spot"]["createOrder"]
    times = ("IOC", "FOK", "PO", "GTD")
    assert said["timeInForce"] == {"GTC": True} | dict.fromkeys(times, is_complete)
    for name in ("triggerPrice", "triggerDirection", "stopLossPrice", "takeProfitPrice", "trailing"):
        assert said[name] is is_complete
    kinds = {"last": True, "mark": True, "index": False}
    assert said["triggerPriceType"] == (kinds if is_complete else None)
    modes = dict.fromkeys(("NONE", "EXPIRE_MAKER", "EXPIRE_TAKER", "EXPIRE_BOTH"), True)
    assert said["selfTradePrevention"] == (modes if is_complete else False)
    assert said["iceberg"] is is_complete
    attached = {"triggerPriceType": kinds, "price": True}
    assert said["attachedStopLossTakeProfit"] == (attached if is_complete else None)
    assert exchange.features["spot"]["fetchOpenOrders"]["trigger"] is is_complete


def test_a_platform_that_only_honours_the_time_in_force_takes_ioc_and_fok(exchange: Any, platform: Recorded) -> None:
    platform.answer("GET", "/settings/trading", SPECIFICATION | {"timesInForce": ["gtc", "ioc", "fok"]})
    platform.answer("POST", "/orders", ORDER, 201)
    exchange.create_order("BTC/USD", "limit", "buy", 0.5, 50_000, {"timeInForce": "FOK"})
    assert platform.sent() == [("POST", "/orders", BODY | {"timeInForce": "fok"})]
    with pytest.raises(errors().NotSupported):
        exchange.create_order("BTC/USD", "limit", "buy", 0.5, 50_000, {"postOnly": True})


def test_markets_of_another_instance_bring_the_rules(exchange: Any, complete: Recorded) -> None:
    from openspot_ccxt.rest_sync import OpenSpot

    exchange.load_markets()
    other = OpenSpot()
    other.set_markets_from_exchange(exchange)
    assert other.has["createStopOrder"] is True and other.rules == COMPLETE


def test_markets_that_were_set_by_hand_do_not_hide_the_rules(exchange: Any, complete: Recorded) -> None:
    exchange.set_markets(exchange.parse_markets(MARKETS), exchange.parse_currencies(NETWORKS))
    complete.answer("POST", "/orders", STOP, 201)
    exchange.create_order("BTC/USD", "market", "sell", 0.5, None, {"stopPrice": 49_000})
    assert [target for _, target, _ in complete.requests] == ["/settings/trading", "/orders"]


# Orders with a trigger


@pytest.mark.parametrize(
    ("kind", "side", "params", "sent"),
    [
        ("market", "sell", {"triggerPrice": 49_000}, {"type": "stop_market", "stopPrice": "49000"}),
        ("market", "sell", {"stopPrice": 49_000}, {"type": "stop_market", "stopPrice": "49000"}),
        ("limit", "sell", {"stopLossPrice": 49_000.123}, {"type": "stop_limit", "stopPrice": "49000.12"}),
        ("limit", "buy", {"takeProfitPrice": 45_000}, {"type": "take_profit_limit", "stopPrice": "45000"}),
        ("market", "buy", {"triggerPrice": 51_000, "triggerDirection": "ascending"},
         {"type": "stop_market", "stopPrice": "51000"}),
        ("market", "buy", {"triggerPrice": 45_000, "triggerDirection": "below"},
         {"type": "take_profit_market", "stopPrice": "45000"}),
        ("market", "sell", {"triggerPrice": 55_000, "triggerDirection": "up"},
         {"type": "take_profit_market", "stopPrice": "55000"}),
        ("limit", "sell", {"triggerPrice": 49_000, "triggerDirection": "descending"},
         {"type": "stop_limit", "stopPrice": "49000"}),
        ("market", "sell", {"stopLossPrice": 49_000, "triggerPriceType": "mark"},
         {"type": "stop_market", "stopPrice": "49000", "triggerBy": "mark"}),
        ("market", "sell", {"stopLossPrice": 49_000, "triggerBy": "LAST"},
         {"type": "stop_market", "stopPrice": "49000", "triggerBy": "last"}),
        ("market", "sell", {"trailingAmount": 250.5}, {"type": "trailing_stop_market", "trailingAmount": "250.5"}),
        ("limit", "buy", {"trailingPercent": 1.25}, {"type": "trailing_stop_limit", "trailingBps": 125}),
        ("market", "sell", {"trailingPercent": "99.99"}, {"type": "trailing_stop_market", "trailingBps": 9_999}),
        ("market", "sell", {"trailingPercent": 0.01}, {"type": "trailing_stop_market", "trailingBps": 1}),
        ("market", "sell", {"trailingBps": 30}, {"type": "trailing_stop_market", "trailingBps": 30}),
        ("stop_market", "sell", {"stopPrice": 49_000}, {"type": "stop_market", "stopPrice": "49000"}),
        ("MARKET", "sell", {"stopPrice": 49_000}, {"type": "stop_market", "stopPrice": "49000"}),
        ("take_profit_limit", "sell", {"triggerPrice": 55_000}, {"type": "take_profit_limit", "stopPrice": "55000"}),
        ("limit", "sell", {"stopPrice": 49_000, "timeInForce": "IOC"},
         {"type": "stop_limit", "stopPrice": "49000", "timeInForce": "ioc"}),
        ("market", "sell", {"stopPrice": 49_000, "timeInForce": "GTC", "reduceOnly": False, "maxSlippageBps": "50"},
         {"type": "stop_market", "stopPrice": "49000", "maxSlippageBps": "50"}),
    ],
)  # fmt: skip
def test_an_order_with_a_trigger(
    exchange: Any, complete: Recorded, kind: str, side: str, params: dict[str, Any], sent: dict[str, Any]
) -> None:
    complete.answer("POST", "/orders", STOP, 201)
    exchange.create_order("BTC/USD", kind, side, 0.5, 50_000, params)
    price = {"price": "50000"} if sent["type"].endswith("limit") else {}
    body = {"symbol": "BTC-USD", "side": side, "quantity": "0.5"}
    assert complete.sent() == [("POST", "/orders", body | price | sent)]


@pytest.mark.parametrize(
    ("method", "arguments", "sent"),
    [
        ("create_stop_order", ("market", "sell", 0.5, None, 49_000), {"type": "stop_market", "stopPrice": "49000"}),
        ("create_stop_market_order", ("sell", 0.5, 49_000), {"type": "stop_market", "stopPrice": "49000"}),
        ("create_stop_limit_order", ("sell", 0.5, 48_900, 49_000),
         {"type": "stop_limit", "price": "48900", "stopPrice": "49000"}),
        ("create_trigger_order", ("market", "sell", 0.5, None, 49_000), {"type": "stop_market", "stopPrice": "49000"}),
        ("create_stop_loss_order", ("market", "sell", 0.5, None, 49_000),
         {"type": "stop_market", "stopPrice": "49000"}),
        ("create_take_profit_order", ("market", "sell", 0.5, None, 55_000),
         {"type": "take_profit_market", "stopPrice": "55000"}),
        ("create_trailing_amount_order", ("market", "sell", 0.5, None, 100),
         {"type": "trailing_stop_market", "trailingAmount": "100"}),
        ("create_trailing_percent_order", ("market", "sell", 0.5, None, 2),
         {"type": "trailing_stop_market", "trailingBps": 200}),
    ],
)  # fmt: skip
def test_ccxts_own_methods_for_orders_with_a_trigger(
    exchange: Any, complete: Recorded, method: str, arguments: tuple[Any, ...], sent: dict[str, Any]
) -> None:
    exchange.load_markets()
    complete.answer("POST", "/orders", STOP, 201)
    getattr(exchange, method)("BTC/USD", *arguments, params={})
    body = {"symbol": "BTC-USD", "side": "sell", "quantity": "0.5"}
    assert complete.sent() == [("POST", "/orders", body | sent)]


@pytest.mark.parametrize(
    ("kind", "params", "error", "says"),
    [
        ("market", {"triggerPrice": 1, "trailingAmount": 2}, "InvalidOrder", "triggerPrice, trailingAmount"),
        ("market", {"stopLossPrice": 1, "triggerDirection": "ascending"}, "InvalidOrder", "stopLossPrice"),
        ("market", {"triggerPrice": 1, "triggerDirection": "sideways"}, "InvalidOrder", "sideways"),
        ("market", {"triggerDirection": "ascending"}, "InvalidOrder", "triggerDirection"),
        ("market", {"triggerPriceType": "mark"}, "InvalidOrder", "triggerPriceType"),
        ("market", {"triggerPrice": 1, "triggerPriceType": "index"}, "InvalidOrder", "last or mark, not index"),
        ("market", {"trailingPercent": 0.005}, "InvalidOrder", "hundredths"),
        ("market", {"trailingPercent": 100}, "InvalidOrder", "99.99"),
        ("market", {"trailingPercent": "a lot"}, "InvalidOrder", "a number"),
        ("market", {"trailingPercent": "NaN"}, "InvalidOrder", "hundredths"),
        ("market", {"trailingAmount": 0.001}, "InvalidOrder", "price"),
        ("market", {"trailingAmount": 5, "triggerDirection": "up"}, "InvalidOrder", "trailing"),
        ("market", {"trailingAmount": 5, "trailingTriggerPrice": 9}, "NotSupported", "trailingTriggerPrice"),
        ("stop_market", {}, "InvalidOrder", "requires a triggerPrice"),
        ("stop_limit", {"takeProfitPrice": 1}, "InvalidOrder", "takeProfitPrice"),
        ("iceberg", {}, "NotSupported", "iceberg"),
        ("market", {"stopPrice": 1, "cost": 5}, "InvalidOrder", "cost"),
        ("limit", {"stopPrice": 1, "postOnly": True}, "InvalidOrder", "post-only"),
        ("market", {"stopPrice": 1, "reduceOnly": True}, "NotSupported", "reduce-only"),
        ("market", {"marginMode": "cross"}, "NotSupported", "trades on the spot account"),
    ],
)  # fmt: skip
def test_a_trigger_that_says_nothing_clear_is_refused_here(
    exchange: Any, complete: Recorded, kind: str, params: dict[str, Any], error: str, says: str
) -> None:
    with pytest.raises(getattr(errors(), error), match=says):
        exchange.create_order("BTC/USD", kind, "sell", 0.5, 50_000, params)
    assert complete.sent() == []


def test_a_trailing_order_keeps_nothing_of_the_one_before(exchange: Any, complete: Recorded) -> None:
    exchange.load_markets()
    complete.answer("POST", "/orders", STOP, 201)
    params = {"clientOrderId": "mine"}
    with pytest.raises(errors().NotSupported, match="trailingTriggerPrice"):
        exchange.create_trailing_percent_order("BTC/USD", "market", "sell", 0.5, None, 2, 50_000)
    exchange.create_trailing_percent_order("BTC/USD", "market", "sell", 0.5, None, 2, None, params)
    exchange.create_trailing_percent_order("BTC/USD", "market", "sell", 0.5, None, 3)
    exchange.create_trailing_amount_order("BTC/USD", "MARKET", "SELL", 0.5, None, 4)
    body = {"symbol": "BTC-USD", "side": "sell", "type": "trailing_stop_market", "quantity": "0.5"}
    assert [sent for _, _, sent in complete.sent()] == [
        body | {"trailingBps": 200, "clientOrderId": "mine"},
        body | {"trailingBps": 300},
        body | {"trailingAmount": "4"},
    ]
    assert params == {"clientOrderId": "mine"}
    with pytest.raises(errors().ArgumentsRequired, match="trailingAmount"):
        exchange.create_trailing_amount_order("BTC/USD", "market", "sell", 0.5)


def test_a_limit_order_with_a_trigger_needs_a_price(exchange: Any, complete: Recorded) -> None:
    for params in ({"stopPrice": 49_000}, {"trailingAmount": 5}):
        with pytest.raises(errors().InvalidOrder, match="requires a price"):
            exchange.create_order("BTC/USD", "limit", "sell", 0.5, None, params)
    assert complete.sent() == []


@pytest.mark.parametrize("params", [{"stopPrice": 49_000}, {"trailingPercent": 1}, {"selfTradePrevention": "NONE"},
                                    {"timeInForce": "GTD", "expireTime": EXPIRY_MS}])  # fmt: skip
def test_the_rules_of_the_specification_have_none_of_it(
    exchange: Any, platform: Recorded, params: dict[str, Any]
) -> None:
    with pytest.raises(errors().NotSupported, match="OPENSPOT_RULES=complete"):
        exchange.create_order("BTC/USD", "limit", "sell", 0.5, 50_000, params)
    assert platform.sent() == []


def test_an_order_that_waits_is_open_and_shows_its_trigger(exchange: Any, complete: Recorded) -> None:
    exchange.load_markets()
    trailing = STOP | {"stopPrice": None, "type": "trailing_stop_limit", "price": "48000", "timeInForce": "gtc"}
    complete.answer("GET", "/orders/stop", STOP)
    complete.answer("GET", "/orders/profit", STOP | {"type": "take_profit_market", "triggerBy": "mark"})
    complete.answer("GET", "/orders/amount", trailing | {"trailingAmount": "12.5"})
    complete.answer("GET", "/orders/part", trailing | {"trailingBps": 125, "triggerStatus": "triggered"})
    names = ("type", "status", "price", "triggerPrice", "stopPrice", "stopLossPrice", "takeProfitPrice",
             "trailingAmount", "trailingPercent", "triggerPriceType", "triggerStatus", "timeInForce")  # fmt: skip
    seen = {
        name: tuple(exchange.fetch_order(name, "BTC/USD", {"stop": True})[field] for field in names)
        for name in ("stop", "profit", "amount", "part")
    }
    assert seen == {
        "stop": ("market", "open", None, 49_000, 49_000, 49_000, None, None, None, "last", "waiting", "IOC"),
        "profit": ("market", "open", None, 49_000, 49_000, None, 49_000, None, None, "mark", "waiting", "IOC"),
        "amount": ("limit", "open", 48_000, None, None, None, None, 12.5, None, "last", "waiting", "GTC"),
        "part": ("limit", "open", 48_000, None, None, None, None, None, 1.25, "last", "triggered", "GTC"),
    }


def test_orders_with_a_trigger_are_among_the_others_and_can_be_asked_for_alone(
    exchange: Any, complete: Recorded
) -> None:
    stop = STOP | {"orderId": "B" * 16}
    fired = STOP | {"orderId": "C" * 16, "triggerStatus": "triggered"}
    complete.answer("GET", "/orders?status=pending%2Copen%2Cpartially_filled&limit=5", [ORDER, stop, fired])
    complete.answer("GET", "/orders?status=pending%2Copen%2Cpartially_filled&limit=1000", [ORDER, stop, fired])
    assert len(exchange.fetch_open_orders(None, None, 5, {"stop": False})) == 3
    alone = exchange.fetch_open_orders(None, None, 5, {"trigger": True})
    assert [order["id"] for order in alone] == ["B" * 16, "C" * 16]
    complete.answer("DELETE", f"/orders?orderIds={'B' * 16}", {"cancelled": ["B" * 16], "failed": []})
    assert [order["id"] for order in exchange.cancel_all_orders(None, {"stop": True})] == ["B" * 16]
    complete.answer("GET", "/orders?status=pending%2Copen%2Cpartially_filled&limit=1000", [ORDER])
    assert exchange.cancel_all_orders(None, {"trigger": True}) == []
    complete.answer("DELETE", f"/orders/{'B' * 16}", stop | {"status": "cancelled"})
    assert exchange.cancel_order("B" * 16, "BTC/USD", {"stop": True})["status"] == "canceled"


def test_open_orders_without_a_limit_are_as_many_as_a_request_can_list(exchange: Any, platform: Recorded) -> None:
    many = [ORDER | {"orderId": f"{number:016}"} for number in range(150)]
    platform.answer("GET", "/orders?status=pending%2Copen%2Cpartially_filled&limit=1000", many)
    assert len(exchange.fetch_open_orders()) == 150
    since = "/orders?status=pending%2Copen%2Cpartially_filled&from=1767323045006&limit=1000&symbol=BTC-USD"
    platform.answer("GET", since, many)
    assert len(exchange.fetch_open_orders("BTC/USD", 1_767_323_045_006)) == 150


def test_what_fires_orders_now_can_be_asked_for(exchange: Any, complete: Recorded) -> None:
    trigger = {"orderId": "A" * 16, "triggerPrice": "49012.5", "limitPrice": "48500"}
    complete.answer("GET", f"/orders/triggers?orderIds={'A' * 16}%2C{'B' * 16}", [trigger])
    assert exchange.fetch_order_triggers(["A" * 16, "B" * 16]) == [
        {"id": "A" * 16, "triggerPrice": 49_012.5, "price": 48_500, "info": trigger}
    ]
    with pytest.raises(errors().ArgumentsRequired):
        exchange.fetch_order_triggers([])


# Times in force, prevention, expiry


@pytest.mark.parametrize(
    ("params", "sent"),
    [
        ({"postOnly": True}, {"postOnly": True}),
        ({"timeInForce": "PO"}, {"postOnly": True}),
        ({"postOnly": True, "postOnlyMode": "slide"}, {"postOnly": True, "postOnlyMode": "slide"}),
        ({"timeInForce": "IOC"}, {"timeInForce": "ioc"}),
        ({"timeInForce": "FOK"}, {"timeInForce": "fok"}),
        ({"timeInForce": "GTD", "expireTime": EXPIRY_MS}, {"timeInForce": "gtd", "expiresAt": EXPIRY}),
        ({"goodTillDate": str(EXPIRY_MS)}, {"timeInForce": "gtd", "expiresAt": EXPIRY}),
        ({"expiresAt": EXPIRY, "postOnly": True}, {"timeInForce": "gtd", "expiresAt": EXPIRY, "postOnly": True}),
        ({"selfTradePrevention": "EXPIRE_MAKER"}, {"selfTradePrevention": "cancel_resting"}),
        ({"selfTradePrevention": "EXPIRE_TAKER"}, {"selfTradePrevention": "cancel_incoming"}),
        ({"selfTradePrevention": "expire_both"}, {"selfTradePrevention": "cancel_both"}),
        ({"selfTradePrevention": "NONE"}, {"selfTradePrevention": "none"}),
        ({"selfTradePrevention": "DECREMENT"}, {"selfTradePrevention": "decrement_and_cancel"}),
        ({"selfTradePrevention": "cancel_incoming"}, {"selfTradePrevention": "cancel_incoming"}),
        ({"clientOrderId": "mine"}, {"clientOrderId": "mine"}),
    ],
)
def test_the_complete_rules_take_what_traders_expect(
    exchange: Any, complete: Recorded, params: dict[str, Any], sent: dict[str, Any]
) -> None:
    complete.answer("POST", "/orders", ORDER | {"postOnly": True}, 201)
    order = exchange.create_order("BTC/USD", "limit", "buy", 0.5, 50_000, params)
    assert complete.sent() == [("POST", "/orders", BODY | sent)]
    assert order["postOnly"] is True


def test_an_order_shows_its_expiry_and_its_prevention(exchange: Any, complete: Recorded) -> None:
    terms = {"timeInForce": "gtd", "expiresAt": EXPIRY, "selfTradePrevention": "cancel_both"}
    complete.answer("GET", "/orders/a", ORDER | terms)
    order = exchange.fetch_order("a")
    assert (order["timeInForce"], order["expireTime"], order["selfTradePrevention"]) == (
        "GTD",
        EXPIRY_MS,
        "cancel_both",
    )


@pytest.mark.parametrize(
    ("params", "error", "says"),
    [
        ({"timeInForce": "GTD"}, "ArgumentsRequired", "expireTime"),
        ({"timeInForce": "IOC", "expireTime": EXPIRY_MS}, "InvalidOrder", "GTD, not IOC"),
        ({"expireTime": "tomorrow"}, "InvalidOrder", "tomorrow"),
        ({"expireTime": [1]}, "InvalidOrder", "expireTime"),
        ({"timeInForce": "GTX"}, "NotSupported", "GTX"),
        ({"selfTradePrevention": "sometimes"}, "InvalidOrder", "sometimes"),
        ({"postOnly": True, "timeInForce": "IOC"}, "InvalidOrder", "post-only"),
    ],
)
def test_terms_that_contradict_each_other_are_refused_here(
    exchange: Any, complete: Recorded, params: dict[str, Any], error: str, says: str
) -> None:
    with pytest.raises(getattr(errors(), error), match=says):
        exchange.create_order("BTC/USD", "limit", "buy", 0.5, 50_000, params)
    assert complete.sent() == []


def test_a_cost_is_never_taken_for_an_amount(exchange: Any, complete: Recorded) -> None:
    complete.answer("POST", "/orders", ORDER, 201)
    exchange.load_markets()
    exchange.create_market_sell_order_with_cost("BTC/USD", 100)
    exchange.create_market_buy_order_with_cost("BTC/USD", 99.5)
    exchange.create_market_order_with_cost("BTC/USD", "sell", 7)
    body = {"symbol": "BTC-USD", "type": "market"}
    assert [sent for _, _, sent in complete.sent()] == [
        body | {"side": "sell", "quoteQuantity": "100"},
        body | {"side": "buy", "quoteQuantity": "99.5"},
        body | {"side": "sell", "quoteQuantity": "7"},
    ]


def test_the_specification_takes_a_cost_of_buys_alone(exchange: Any, platform: Recorded) -> None:
    for method in (exchange.create_market_sell_order_with_cost, exchange.create_market_order_with_cost):
        arguments = ("BTC/USD", 100) if "sell" in method.__name__ else ("BTC/USD", "sell", 100)
        with pytest.raises(errors().InvalidOrder, match="buy only"):
            method(*arguments)
    assert platform.sent() == []


@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        ("DUPLICATE_CLIENT_ORDER_ID", 409, "DuplicateOrderId"),
        ("TRIGGER_WOULD_FIRE", 400, "OrderImmediatelyFillable"),
        ("POST_ONLY_WOULD_CROSS", 400, "OrderImmediatelyFillable"),
        ("REFERENCE_PRICE_UNKNOWN", 400, "InvalidOrder"),
        ("A_REASON_OF_TOMORROW", 400, "InvalidOrder"),
        ("PHASE_HALTED", 409, "MarketClosed"),
        ("PHASE_UNCROSSING", 409, "ExchangeNotAvailable"),
    ],
)
def test_refusals_of_orders_are_errors_of_ccxt(
    exchange: Any, platform: Recorded, code: str, status: int, error: str
) -> None:
    platform.refuse("POST", "/orders", status, code)
    with pytest.raises(errors().BaseError) as raised:
        exchange.create_order("BTC/USD", "limit", "buy", 0.5, 50_000, {"clientOrderId": "mine"})
    assert raised.type.__name__ == error


# Amendments


def test_an_order_is_amended_by_either_id(exchange: Any, complete: Recorded) -> None:
    order_id = "A" * 16
    complete.answer("PATCH", f"/orders/{order_id}", ORDER | {"price": "50100"})
    complete.answer("PATCH", "/orders/client/mine", ORDER)
    assert exchange.edit_order(order_id, "BTC/USD", "limit", "buy", 0.4, 50_100)["price"] == 50_100
    exchange.edit_order(order_id, "BTC/USD", "limit", "buy", None, 50_100)
    exchange.edit_order("", "BTC/USD", "limit", "buy", 0.4, None, {"clientOrderId": "mine"})
    exchange.edit_order(order_id, "BTC/USD", "stop_market", "sell", 0.4)
    exchange.edit_order(order_id, "BTC/USD", "market", "sell", None, None, {"stopLossPrice": 48_000})
    exchange.edit_order(order_id, "BTC/USD", "limit", "buy", 0.4, None, {"replace": False})
    with pytest.raises(errors().InvalidOrder, match="stopLossPrice, takeProfitPrice, not several"):
        both = {"stopLossPrice": 48_000, "takeProfitPrice": 52_000}
        exchange.edit_order(order_id, "BTC/USD", "market", "sell", None, None, both)
    assert complete.sent() == [
        ("PATCH", f"/orders/{order_id}", {"quantity": "0.4", "price": "50100"}),
        ("PATCH", f"/orders/{order_id}", {"price": "50100"}),
        ("PATCH", "/orders/client/mine", {"quantity": "0.4"}),
        ("PATCH", f"/orders/{order_id}", {"quantity": "0.4"}),
        ("PATCH", f"/orders/{order_id}", {"stopPrice": "48000"}),
        ("PATCH", f"/orders/{order_id}", {"quantity": "0.4"}),
    ]
    for wanted, kind, amount, price in (
        ("", "limit", 0.4, None), (order_id, "limit", None, None), (order_id, "market", 0.4, 5), (order_id, "x", 1, 1)
    ):  # fmt: skip
        with pytest.raises((errors().ArgumentsRequired, errors().InvalidOrder)):
            exchange.edit_order(wanted, "BTC/USD", kind, "buy", amount, price)
    for code in ("QUANTITY_BELOW_FILLED", "VALIDATION_FAILED", "AMENDMENT_REJECTED"):
        complete.refuse("PATCH", f"/orders/{order_id}", 400, code)
        with pytest.raises(errors().InvalidOrder):
            exchange.edit_order(order_id, "BTC/USD", "limit", "buy", 0.1)


def test_several_orders_are_amended_by_one_request(exchange: Any, complete: Recorded) -> None:
    refused = {"status": 404, "order": None, "error": {"message": "no", "code": "ORDER_NOT_FOUND", "details": None}}
    complete.answer("PATCH", "/orders/batch", [{"status": 200, "order": ORDER, "error": None}, refused])
    amended, unknown = exchange.edit_orders(
        [{"id": "a", "symbol": "BTC/USD", "price": 50_000}, {"id": "b", "symbol": "ETH/USD", "amount": 2}]
    )
    bodies = [{"orderId": "a", "price": "50000"}, {"orderId": "b", "quantity": "2"}]
    assert complete.sent() == [("PATCH", "/orders/batch", {"orders": bodies})]
    assert (amended["price"], amended["status"]) == (50_000, "open")
    assert (unknown["id"], unknown["symbol"], unknown["status"]) == ("b", "ETH/USD", None)
    assert unknown["info"]["error"]["code"] == "ORDER_NOT_FOUND"
    for orders in ([], [{"symbol": "BTC/USD", "price": 1}], [{"id": "a", "symbol": "BTC/USD", "price": 1}] * 21):
        with pytest.raises((errors().ArgumentsRequired, errors().InvalidOrder)):
            exchange.edit_orders(orders)


def test_the_dead_mans_switch_is_set_in_whole_seconds(exchange: Any, complete: Recorded) -> None:
    timer = {"timeoutSeconds": 6, "cancelsAt": "2026-01-02T03:04:05.006Z", "firedAt": None, "cancelledOrders": None}
    complete.answer("POST", "/orders/cancel-all-after", timer)
    assert exchange.cancel_all_orders_after(5_001) == timer
    exchange.cancel_all_orders_after(0)
    assert [body for *_, body in complete.sent()] == [{"timeoutSeconds": 6}, {"timeoutSeconds": 0}]


def test_the_specification_has_neither_amendments_nor_a_dead_mans_switch(exchange: Any, platform: Recorded) -> None:
    for call in (
        lambda: exchange.edit_order("A" * 16, "BTC/USD", "limit", "buy", 0.4),
        lambda: exchange.edit_orders([{"id": "a", "symbol": "BTC/USD", "price": 1}]),
        lambda: exchange.cancel_all_orders_after(60_000),
        lambda: exchange.fetch_order_triggers(["A" * 16]),
    ):
        with pytest.raises(errors().NotSupported, match="OPENSPOT_RULES=complete"):
            call()
    assert platform.sent() == []


# Batches, lists and cancellations


def test_a_batch_of_orders_is_one_request_and_each_order_has_its_own_outcome(exchange: Any, platform: Recorded) -> None:
    entries = [
        {"status": 201, "order": ORDER, "error": None},
        {"status": 400, "order": None, "error": {"message": "no", "code": "RISK_NSF", "details": None}},
        {"status": 504, "order": None, "error": {"message": "?", "code": "ORDER_STATUS_UNKNOWN", "details": None}},
    ]
    platform.answer("POST", "/orders/batch", entries)
    second = LIMIT | {"side": "sell", "amount": 2, "params": {"clientOrderId": "other"}}
    third = {"symbol": "ETH/USD", "type": "market", "side": "buy", "params": {"cost": 100}}
    placed, rejected, unknown = exchange.create_orders([LIMIT, second, third])
    bodies = [
        BODY,
        BODY | {"side": "sell", "quantity": "2", "clientOrderId": "other"},
        {"symbol": "ETH-USD", "side": "buy", "type": "market", "quoteQuantity": "100"},
    ]
    assert platform.sent() == [("POST", "/orders/batch", {"orders": bodies})]
    assert (placed["id"], placed["status"], placed["amount"]) == ("A" * 16, "open", 0.5)
    assert (rejected["id"], rejected["status"], rejected["clientOrderId"]) == (None, "rejected", "other")
    assert (rejected["symbol"], rejected["side"], rejected["amount"], rejected["price"]) == (
        "BTC/USD",
        "sell",
        2,
        50_000,
    )
    assert rejected["info"]["error"]["code"] == "RISK_NSF"
    assert (unknown["status"], unknown["symbol"]) == (None, "ETH/USD")


@pytest.mark.parametrize(
    ("orders", "error"),
    [
        ([], "ArgumentsRequired"),
        ([LIMIT] * 21, "InvalidOrder"),
        ([LIMIT, {"symbol": "BTC/USD", "side": "buy"}], "ArgumentsRequired"),
        ([LIMIT, LIMIT | {"symbol": "NO/USD"}], "BadSymbol"),
        ([LIMIT, LIMIT | {"side": "hold"}], "InvalidOrder"),
        ([LIMIT, LIMIT | {"price": None}], "InvalidOrder"),
        ([LIMIT, LIMIT | {"amount": None}], "ArgumentsRequired"),
        ([LIMIT, LIMIT | {"params": {"postOnly": True}}], "NotSupported"),
    ],
)
def test_a_faulty_batch_is_not_sent(exchange: Any, platform: Recorded, orders: list[Any], error: str) -> None:
    exchange.load_markets()
    with pytest.raises(getattr(errors(), error)):
        exchange.create_orders(orders)
    assert platform.sent() == []


def test_twenty_orders_are_a_batch(exchange: Any, platform: Recorded) -> None:
    platform.answer("POST", "/orders/batch", [{"status": 201, "order": ORDER, "error": None}] * 20)
    assert len(exchange.create_orders([LIMIT] * 20)) == 20


def test_rejected_orders_are_in_no_list_unless_they_are_asked_for(exchange: Any, platform: Recorded) -> None:
    for target in (f"/orders?status={PLACED}&symbol=BTC-USD", "/orders?status=filled", "/orders?status=rejected"):
        platform.answer("GET", target, [])
    exchange.fetch_orders("BTC/USD")
    exchange.fetch_closed_orders()
    exchange.fetch_orders(None, None, None, {"status": "rejected"})
    assert len(platform.sent()) == 3


def test_an_order_is_cancelled_by_its_client_order_id(exchange: Any, platform: Recorded) -> None:
    platform.answer("DELETE", "/orders?clientOrderId=mine", {"cancelled": ["A" * 16], "failed": []})
    platform.answer("GET", f"/orders/{'A' * 16}", ORDER)
    cancelled = exchange.cancel_order(None, None, {"clientOrderId": "mine"})
    # The row was still open.
    assert (cancelled["id"], cancelled["clientOrderId"], cancelled["status"]) == ("A" * 16, "mine", "canceled")
    assert exchange.cancel_order_with_client_order_id("mine")["id"] == "A" * 16


def test_a_client_order_id_without_an_open_order_is_told_from_one_that_nobody_had(
    exchange: Any, platform: Recorded
) -> None:
    platform.answer("DELETE", "/orders?clientOrderId=mine", {"cancelled": [], "failed": []})
    platform.answer("GET", "/orders/client/mine", ORDER | {"status": "filled"})
    with pytest.raises(errors().InvalidOrder, match="it is closed"):
        exchange.cancel_order(None, None, {"clientOrderId": "mine"})
    platform.refuse("GET", "/orders/client/mine", 404, "ORDER_NOT_FOUND")
    with pytest.raises(errors().OrderNotFound):
        exchange.cancel_order(None, None, {"clientOrderId": "mine"})
    failed = [{"orderId": "A" * 16, "reason": "the engine does not answer"}]
    platform.answer("DELETE", "/orders?clientOrderId=mine", {"cancelled": [], "failed": failed})
    platform.answer("GET", "/orders/client/mine", ORDER)
    with pytest.raises(errors().InvalidOrder, match="the engine does not answer"):
        exchange.cancel_order(None, None, {"clientOrderId": "mine"})


def test_without_an_id_nothing_is_cancelled(exchange: Any, platform: Recorded) -> None:
    for call in (exchange.cancel_order, exchange.fetch_order):
        with pytest.raises(errors().ArgumentsRequired):
            call("")
    # An empty list of ids would be no condition, and cancel all orders.
    with pytest.raises(errors().ArgumentsRequired):
        exchange.cancel_orders([])
    assert platform.sent() == []


def test_orders_are_cancelled_and_amended_by_their_client_order_ids(exchange: Any, complete: Recorded) -> None:
    exchange.load_markets()
    complete.answer("DELETE", "/orders?clientOrderId=a&symbol=BTC-USD", {"cancelled": ["A" * 16], "failed": []})
    complete.answer("DELETE", "/orders?clientOrderId=b&symbol=BTC-USD", {"cancelled": [], "failed": []})
    cancelled = exchange.cancel_orders_with_client_order_ids(["a", "b"], "BTC/USD")
    assert [order["id"] for order in cancelled] == ["A" * 16]
    complete.answer("PATCH", "/orders/client/mine", ORDER)
    edited = exchange.edit_order_with_client_order_id("mine", "BTC/USD", "limit", "buy", 0.4)
    assert (edited["id"], complete.sent()[-1]) == ("A" * 16, ("PATCH", "/orders/client/mine", {"quantity": "0.4"}))
    with pytest.raises(errors().ArgumentsRequired):
        exchange.cancel_orders([], "BTC/USD", {"clientOrderIds": []})
