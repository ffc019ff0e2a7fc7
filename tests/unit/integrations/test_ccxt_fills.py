"""The fills of an order's reply are trades of ccxt's order."""

from typing import Any

from tests.unit.integrations.conftest import Recorded
from tests.unit.integrations.test_ccxt_orders import ORDER


def test_what_an_order_took_at_once_is_its_trades_and_its_fee_stays_the_platforms(
    exchange: Any, complete: Recorded
) -> None:
    fills = [
        {"tradeId": "9", "price": "49999.5", "quantity": "0.1", "fee": "9.9999", "feeCurrency": "USD"},
        {"tradeId": "10", "price": "50000", "quantity": "0.2", "fee": "20.00000000000000001", "feeCurrency": "USD"},
    ]
    # Further fills than the reply lists: the order's own figures have them, too.
    filled = {"status": "partially_filled", "filledQuantity": "0.4", "remainingQuantity": "0.1", "fee": "39.9999"}
    reply = ORDER | filled | {"averagePrice": "49999.875", "fills": fills, "fillsTruncated": True}
    complete.answer("POST", "/orders", reply, 201)
    order = exchange.create_order("BTC/USD", "limit", "buy", 0.5, 50_000)
    shared = {
        "timestamp": None, "datetime": None, "symbol": "BTC/USD", "order": "A" * 16, "type": None, "side": "buy",
        "takerOrMaker": "taker",
    }  # fmt: skip
    fees = [{"cost": cost, "currency": "USD"} for cost in (9.9999, 20.0)]
    # In the platform's order, though none has a time.
    assert order["trades"] == [
        shared
        | {"id": "9", "price": 49_999.5, "amount": 0.1, "cost": 4_999.95, "info": fills[0]}
        | {"fee": fees[0], "fees": [fees[0]]},
        shared
        | {"id": "10", "price": 50_000.0, "amount": 0.2, "cost": 10_000.0, "info": fills[1]}
        | {"fee": fees[1], "fees": [fees[1]]},
    ]
    assert (order["filled"], order["average"], order["cost"]) == (0.4, 49_999.875, 19_999.95)
    fee = {"cost": 39.9999, "currency": "USD"}
    assert (order["fee"], order["fees"]) == (fee, [fee])
    assert order["info"]["fillsTruncated"] is True

    complete.answer("GET", f"/orders/{'A' * 16}", ORDER | filled)
    assert exchange.fetch_order("A" * 16, "BTC/USD")["trades"] == []
