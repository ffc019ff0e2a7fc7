"""Trades through the class, in the environment of ccxt: what ccxt's suite leaves out. `trading.py ACCOUNT.json`.

ccxt's suite can place orders too, but its Python cannot: it adds numbers to texts, and calls helpers without awaiting.
"""

import asyncio
import json
import sys
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import ccxt
import ccxt.pro
import openspot_ccxt

SYMBOL = "BTC/USD"
WAIT_S = 60

openspot_ccxt.register()


async def raises(kind: type[BaseException], call: Any) -> None:
    """Fail unless the call raises exactly this error."""
    try:
        await call
    except ccxt.BaseError as error:
        assert type(error) is kind, f"{kind.__name__} expected, not {error!r}"
    else:
        raise AssertionError(f"{kind.__name__} expected")


async def errors(exchange: Any, account: dict[str, Any]) -> None:
    """Refusals arrive as ccxt's own errors."""
    await raises(ccxt.InsufficientFunds, exchange.create_order(SYMBOL, "limit", "buy", 90, 50_000))
    await raises(ccxt.InvalidOrder, exchange.create_order(SYMBOL, "limit", "buy", 0.000001, 50_000))
    await raises(ccxt.InvalidOrder, exchange.create_order(SYMBOL, "limit", "buy", 1))
    await raises(ccxt.BadSymbol, exchange.create_order("NO/USD", "limit", "buy", 1, 1))
    if not exchange.has_complete_rules:
        for params in ({"postOnly": True}, {"timeInForce": "FOK"}, {"stopLossPrice": 40_000}):
            await raises(ccxt.NotSupported, exchange.create_order(SYMBOL, "limit", "sell", 1, 50_000, params))
        await raises(ccxt.NotSupported, exchange.cancel_all_orders_after(60_000))
    await raises(ccxt.OrderNotFound, exchange.cancel_order("A" * 16))
    await raises(ccxt.OrderNotFound, exchange.fetch_order("A" * 16))
    await raises(ccxt.BadRequest, exchange.fetch_orders(SYMBOL, None, None, {"side": "neither"}))
    await raises(ccxt.InvalidAddress, exchange.withdraw("BTC", 0.1, "tb1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq"))
    stranger = ccxt.pro.openspot(account | {"secret": "wrong"})
    try:
        await raises(ccxt.AuthenticationError, stranger.fetch_balance())
        await raises(ccxt.AuthenticationError, stranger.watch_orders())
        stranger.secret = account["secret"]
        stranger.options["timeDifference"] = 60_000
        await raises(ccxt.InvalidNonce, stranger.fetch_balance())
        await stranger.load_time_difference()
        assert abs(stranger.options["timeDifference"]) < 5_000
        await stranger.fetch_balance()
    finally:
        await stranger.close()


async def orders(exchange: Any) -> None:
    """Orders are placed, found in every list, filled and cancelled, and their trades add up."""
    resting = await exchange.create_order(SYMBOL, "limit", "buy", 0.001, 45_000, {"clientOrderId": "mine"})
    assert (resting["status"], resting["amount"], resting["price"]) == ("open", 0.001, 45_000), resting
    assert (await exchange.fetch_order(resting["id"]))["clientOrderId"] == "mine"
    assert (await exchange.fetch_order(None, None, {"clientOrderId": "mine"}))["id"] == resting["id"]
    assert resting["id"] in [order["id"] for order in await exchange.fetch_open_orders(SYMBOL)]
    assert (await exchange.fetch_balance())["USD"]["used"] >= 45
    assert (await exchange.cancel_order(resting["id"]))["status"] == "canceled"
    assert resting["id"] in [order["id"] for order in await exchange.fetch_canceled_orders(SYMBOL)]
    await raises(ccxt.InvalidOrder, exchange.cancel_order(resting["id"]))
    two = [await exchange.create_order(SYMBOL, "limit", "buy", 0.001, 45_000) for _ in range(2)]
    cancelled = await exchange.cancel_orders([order["id"] for order in two])
    assert {order["id"] for order in cancelled} == {order["id"] for order in two}
    third = await exchange.create_order(SYMBOL, "limit", "buy", 0.001, 45_000)
    assert third["id"] in [order["id"] for order in await exchange.cancel_all_orders(SYMBOL)]

    named = await exchange.create_order(SYMBOL, "limit", "buy", 0.001, 45_000, {"clientOrderId": "named"})
    cancelled = await exchange.cancel_order(None, SYMBOL, {"clientOrderId": "named"})
    assert (cancelled["id"], cancelled["status"]) == (named["id"], "canceled"), cancelled
    await raises(ccxt.InvalidOrder, exchange.cancel_order(None, SYMBOL, {"clientOrderId": "named"}))
    await raises(ccxt.OrderNotFound, exchange.cancel_order(None, SYMBOL, {"clientOrderId": "nobody"}))

    limit = {"symbol": SYMBOL, "type": "limit", "side": "buy", "amount": 0.001, "price": 45_000}
    placed, refused = await exchange.create_orders([limit, limit | {"amount": 90, "price": 50_000}])
    assert (placed["status"], refused["status"]) == ("open", "rejected"), (placed, refused)
    assert "rejected" not in {order["status"] for order in await exchange.fetch_orders(SYMBOL)}
    assert [order["id"] for order in await exchange.cancel_orders([placed["id"]])] == [placed["id"]]

    bought = await exchange.create_market_buy_order_with_cost(SYMBOL, 100)
    sold = await exchange.create_order(SYMBOL, "market", "sell", 0.001)
    for placed in (bought, sold):
        order = await filled(exchange, placed["id"])
        trades = await exchange.fetch_order_trades(placed["id"])
        info = order["info"]
        for name, of_trades in (("filledQuantity", "quantity"), ("fee", "fee")):
            total = sum((Decimal(trade["info"][of_trades]) for trade in trades), Decimal())
            assert total == Decimal(info[name]), (name, total, info)
        assert {trade["order"] for trade in trades} == {placed["id"]}
    # The cost is a bound: the quantity is that of the worst price which the slippage allows.
    assert 90 < (await exchange.fetch_order(bought["id"]))["cost"] <= 100


async def complete_rules(exchange: Any) -> None:
    """What the complete rules add: stops that wait, are amended, cancelled and fired, and orders that expire."""
    await raises(
        ccxt.OrderImmediatelyFillable, exchange.create_stop_loss_order(SYMBOL, "market", "sell", 0.001, None, 54_000)
    )
    await raises(
        ccxt.OrderImmediatelyFillable, exchange.create_order(SYMBOL, "limit", "buy", 0.001, 51_000, {"postOnly": True})
    )
    stop = await exchange.create_order(
        SYMBOL, "limit", "sell", 0.001, 44_900, {"triggerPrice": 45_000, "clientOrderId": "stop"}
    )
    assert (stop["type"], stop["status"], stop["triggerPrice"], stop["stopLossPrice"]) == (
        "limit",
        "open",
        45_000,
        45_000,
    )
    await raises(
        ccxt.DuplicateOrderId, exchange.create_order(SYMBOL, "limit", "buy", 0.001, 45_000, {"clientOrderId": "stop"})
    )
    profit = await exchange.create_take_profit_order(SYMBOL, "market", "sell", 0.001, None, 54_000)
    trailing = await exchange.create_trailing_percent_order(SYMBOL, "market", "sell", 0.001, None, 4.5, params={})
    assert (profit["takeProfitPrice"], trailing["trailingPercent"]) == (54_000, 4.5), (profit, trailing)
    marked = {"triggerPriceType": "mark", "selfTradePrevention": "EXPIRE_MAKER"}
    three = {order["id"] for order in (stop, profit, trailing)}
    waiting = await exchange.fetch_open_orders(SYMBOL, None, None, {"trigger": True})
    assert {order["id"] for order in waiting} == three, waiting
    edited = await exchange.edit_order(stop["id"], SYMBOL, "limit", "sell", 0.0005, 44_800)
    assert (edited["amount"], edited["price"], edited["triggerPrice"]) == (0.0005, 44_800, 45_000), edited
    assert {order["id"] for order in await exchange.cancel_all_orders(SYMBOL, {"trigger": True})} == three

    limit = {"symbol": SYMBOL, "type": "limit", "side": "sell", "amount": 0.001, "price": 44_900}
    placed, refused = await exchange.create_orders([
        limit | {"params": {"stopLossPrice": 45_000} | marked}, limit | {"params": {"stopLossPrice": 54_000}}
    ])  # fmt: skip
    assert (placed["triggerPriceType"], refused["status"]) == ("mark", "rejected"), (placed, refused)
    await exchange.cancel_order(placed["id"])

    timer = await exchange.cancel_all_orders_after(3_600_000)
    assert timer["timeoutSeconds"] == 3_600 and (await exchange.cancel_all_orders_after(0))["timeoutSeconds"] == 0
    soon = exchange.milliseconds() + 2_000
    order = await exchange.create_order(
        SYMBOL, "limit", "buy", 0.001, 45_000, {"timeInForce": "GTD", "expireTime": soon}
    )
    assert (order["timeInForce"], order["expireTime"]) == ("GTD", soon), order
    await ended(exchange, order["id"], "canceled")
    two = [await exchange.create_order(SYMBOL, "limit", "buy", 0.001, 45_000) for _ in range(2)]
    amended = await exchange.edit_orders([{"id": each["id"], "symbol": SYMBOL, "price": 45_001} for each in two])
    assert [each["price"] for each in amended] == [45_001, 45_001], amended
    await exchange.cancel_orders([each["id"] for each in two])

    iceberg = await exchange.create_order(SYMBOL, "limit", "buy", 0.002, 45_000, {"icebergAmount": 0.001})
    assert (iceberg["amount"], iceberg["icebergAmount"]) == (0.002, 0.001), iceberg
    replaced = await exchange.edit_order(
        iceberg["id"], SYMBOL, "limit", "buy", 0.002, 45_000, {"icebergAmount": 0.0005}
    )
    assert (replaced["icebergAmount"], replaced["status"]) == (0.0005, "open"), replaced
    assert (await exchange.fetch_order(iceberg["id"]))["status"] == "canceled"
    await exchange.cancel_order(replaced["id"])
    await lists(exchange)

    changes = asyncio.create_task(until_fired(exchange))
    await asyncio.sleep(0)
    fired = await stop_below(exchange)
    order = await filled(exchange, fired["id"])
    assert (order["status"], order["triggerStatus"], order["amount"]) == ("closed", "triggered", 0.001), order
    assert await changes == fired["id"]


async def stop_below(exchange: Any) -> Any:
    """A stop so little below the last price that the flow soon fires it."""
    async with asyncio.timeout(WAIT_S):
        while True:
            last = (await exchange.fetch_ticker(SYMBOL))["last"]
            # The flow may be faster than the request.
            with suppress(ccxt.OrderImmediatelyFillable):
                return await exchange.create_stop_loss_order(SYMBOL, "market", "sell", 0.001, None, last - 2)


async def lists(exchange: Any) -> None:
    """A bracket and a pair of exits are placed whole, found by any of their orders, and cancelled as one."""
    entry = await exchange.create_order_with_take_profit_and_stop_loss(
        SYMBOL, "limit", "buy", 0.001, 45_000, 54_000, 44_000, {"clientListId": "bracket"}
    )
    assert (entry["listRole"], entry["status"]) == ("entry", "open"), entry
    of_list = await exchange.fetch_orders(SYMBOL, None, None, {"listId": entry["listId"]})
    assert {order["listRole"] for order in of_list} == {"entry", "take_profit", "stop_loss"}, of_list
    stop = (await exchange.fetch_order_list(entry["listId"]))["orders"][2]
    assert (stop["stopLossPrice"], stop["listState"]) == (44_000, "planned"), stop
    cancelled = await exchange.cancel_order_list(entry["listId"])
    assert {order["status"] for order in cancelled["orders"]} == {"canceled"}, cancelled
    both = {"takeProfitPrice": 54_000, "stopLossPrice": 45_000, "stopLossLimitPrice": 44_900}
    profit = await exchange.create_order(SYMBOL, "market", "sell", 0.001, None, both)
    assert (profit["listRole"], profit["takeProfitPrice"]) == ("take_profit", 54_000), profit
    await exchange.cancel_order(profit["id"])
    await raises(ccxt.InvalidOrder, exchange.cancel_order_list(profit["listId"]))
    await raises(ccxt.OrderNotFound, exchange.fetch_order_list("A" * 16))


async def until_fired(exchange: Any) -> str:
    """The id of the next order whose trigger fires, as a watcher learns it."""
    async with asyncio.timeout(WAIT_S):
        while True:
            for order in await exchange.watch_orders(SYMBOL):
                if order["triggerStatus"] == "triggered":
                    return str(order["id"])


async def ended(exchange: Any, order_id: str, status: str) -> None:
    """Wait until the order has this status."""
    async with asyncio.timeout(WAIT_S):
        while (await exchange.fetch_order(order_id))["status"] != status:
            await asyncio.sleep(0.1)


async def filled(exchange: Any, order_id: str) -> Any:
    """The order once it has ended and the rows of its trades are written."""
    async with asyncio.timeout(WAIT_S):
        while True:
            order = await exchange.fetch_order(order_id)
            trades = await exchange.fetch_order_trades(order_id)
            total = sum((Decimal(trade["info"]["quantity"]) for trade in trades), Decimal())
            if order["status"] in ("closed", "canceled") and total == Decimal(order["info"]["filledQuantity"]) > 0:
                return order
            await asyncio.sleep(0.1)


async def streams(exchange: Any) -> None:
    """What a watcher is told is what REST says; a book that went wrong is noticed, and replaced."""
    watcher = asyncio.create_task(exchange.watch_my_trades(SYMBOL))
    changed = asyncio.create_task(exchange.watch_orders(SYMBOL))
    whole = await exchange.watch_order_book(SYMBOL)
    assert whole["bids"][0][0] < whole["asks"][0][0]
    small = await exchange.watch_order_book(SYMBOL, 3)
    assert (len(small["bids"]), len(small["asks"])) == (3, 3)
    trades = await watcher
    await changed
    assert trades[-1]["fee"]["cost"] > 0
    rest = {trade["id"]: trade for trade in await exchange.fetch_my_trades(SYMBOL)}
    for trade in trades:
        assert {**trade, "info": 0} == {**rest[trade["id"]], "info": 0}

    book = exchange.orderbooks[SYMBOL]
    book.texts["bids"] = {price: (text, "9") for price, (text, _) in book.texts["bids"].items()}
    await raises(ccxt.ChecksumError, after_next_update(exchange))
    book = await exchange.watch_order_book(SYMBOL)
    assert exchange.checksum(book) and book["bids"][0][0] < book["asks"][0][0]
    book["nonce"] = -1
    await raises(ccxt.InvalidNonce, after_next_update(exchange))
    await exchange.watch_order_book(SYMBOL)
    await raises(ccxt.BadSymbol, exchange.watch_order_book("NO/USD"))


async def watched_orders(exchange: Any) -> None:
    """Orders that changed come oldest first, though an older one changed after a younger one."""
    exchange.newUpdates = False
    older, younger = [await exchange.create_order(SYMBOL, "limit", "buy", 0.001, 45_000) for _ in range(2)]
    await exchange.cancel_order(older["id"], SYMBOL)
    while exchange.orders.hashmap[SYMBOL].get(older["id"], {}).get("status") != "canceled":
        await asyncio.sleep(0.05)
    waiting = asyncio.create_task(exchange.watch_orders(SYMBOL))
    while not waiting.done():
        another = await exchange.create_order(SYMBOL, "limit", "buy", 0.001, 45_000)
        await exchange.cancel_order(another["id"], SYMBOL)
        await asyncio.wait({waiting}, timeout=1)
    ours = [order["id"] for order in await waiting if order["id"] in (older["id"], younger["id"])]
    assert ours == [older["id"], younger["id"]]
    await exchange.cancel_order(younger["id"], SYMBOL)
    exchange.newUpdates = True


async def markets(exchange: Any) -> None:
    """Best prices, and several markets at once; what is left is subscribed to again."""
    ticker = (await exchange.fetch_tickers([SYMBOL]))[SYMBOL]
    assert ticker["bidVolume"] > 0 and ticker["askVolume"] > 0, ticker
    best = await exchange.watch_bids_asks([SYMBOL])
    assert best[SYMBOL]["bid"] < best[SYMBOL]["ask"] and best[SYMBOL]["bidVolume"] > 0, best
    both = [SYMBOL, "ETH/USD"]
    assert (await exchange.watch_trades_for_symbols(both))[-1]["symbol"] in both
    assert (await exchange.watch_order_book_for_symbols(both))["symbol"] in both
    waiting = asyncio.create_task(after_next_update(exchange))
    await exchange.watch_order_book(SYMBOL)
    assert await exchange.un_watch_order_book_for_symbols(both)
    await raises(ccxt.UnsubscribeError, waiting)
    assert await exchange.un_watch_bids_asks() and await exchange.un_watch_trades_for_symbols(both)
    await exchange.watch_order_book(SYMBOL)


async def money(exchange: Any) -> None:
    """The ledger adds up; a transfer opens the margin account, and nothing is borrowed from an empty pool."""
    entries = await exchange.fetch_ledger("USD")
    assert entries[-1]["after"] > 0 and {entry["direction"] for entry in entries} == {"in", "out"}, entries[-1]
    assert await exchange.fetch_borrow_interest() == []
    await raises(ccxt.AccountNotEnabled, exchange.borrow_cross_margin("USD", 1))
    await exchange.transfer("USD", 10, "spot", "margin")
    assert (await exchange.fetch_balance({"marginMode": "cross"}))["USD"]["free"] == 10
    await raises(ccxt.OperationRejected, exchange.borrow_cross_margin("USD", 5))
    await exchange.transfer("USD", 10, "margin", "spot")
    assert "USD" in await exchange.fetch_convert_currencies()
    for unknown in ("A" * 16, "no-such-id"):
        await raises(ccxt.OrderNotFound, exchange.create_convert_trade(unknown, "USD", "BTC"))
        await raises(ccxt.OrderNotFound, exchange.fetch_convert_trade(unknown))


async def after_next_update(exchange: Any) -> None:
    """Watch until something is wrong."""
    while True:
        await exchange.watch_order_book(SYMBOL)


async def main(account: dict[str, Any]) -> None:
    """Run every check with each key of the account."""
    ed25519, rules = account.pop("ed25519"), account.pop("rules")
    for name, key in (("hmac", {}), ("ed25519", ed25519)):
        exchange = ccxt.pro.openspot({**account, **key, "rateLimit": 1})
        try:
            async with asyncio.timeout(4 * WAIT_S):
                await exchange.load_markets()
                assert exchange.rules["rules"] == rules and exchange.has["editOrder"] is (rules == "complete")
                if name == "hmac":
                    await errors(exchange, account)
                    await streams(exchange)
                    await watched_orders(exchange)
                    await markets(exchange)
                    await money(exchange)
                    if rules == "complete":
                        await complete_rules(exchange)
                await orders(exchange)
        finally:
            await exchange.close()
        print(f"traded with {name}", flush=True)


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
