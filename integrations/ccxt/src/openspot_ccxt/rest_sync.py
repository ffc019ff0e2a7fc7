"""The synchronous exchange class, REST only: made from rest_async.py by `tools/ccxt_sync.py`."""

from typing import Any

from ccxt.base.errors import ArgumentsRequired, ExchangeNotAvailable, InvalidOrder, NotSupported
from ccxt.base.exchange import Exchange

from openspot_ccxt.common import OPEN_STATUSES, PLACED_STATUSES, TRIGGER_FLAGS, Common
from openspot_ccxt.description import PAGE_MAX
from openspot_ccxt.funds_sync import Funds, Params
from openspot_ccxt.lists_sync import OrderLists


class OpenSpot(OrderLists, Funds, Common, Exchange):
    """OpenSpot. The methods are ccxt's, and raise ccxt's errors; docs/guides/ccxt.md says what they do here."""

    def call(self, method: str, path: str, params: Params = None, access: str = "private") -> Any:
        """Send a request and return what its body holds."""
        return self.request(path, [access], method, params or {})

    # Public

    def fetch_time(self, params: Params = None) -> int | None:
        """The platform's time in milliseconds."""
        system = self.call("GET", "settings/system", params, "public")
        return self.parse8601(self.safe_string(system, "serverTime"))

    def load_time_difference(self, params: Params = None) -> int:
        """Measure how far this machine's clock is ahead of the platform's, and sign with the platform's time."""
        before = self.milliseconds()
        server = self.fetch_time(params)
        self.options["timeDifference"] = (before + self.milliseconds()) // 2 - server
        return self.options["timeDifference"]

    def fetch_status(self, params: Params = None) -> dict[str, Any]:
        """`ok` if the platform has all it needs, else `maintenance`."""
        try:
            response = self.call("GET", "health/ready", params, "public")
            status = "ok"
        except ExchangeNotAvailable as error:
            response, status = str(error), "maintenance"
        return {"status": status, "updated": None, "eta": None, "url": None, "info": response}

    def fetch_markets(self, params: Params = None) -> list[Any]:
        """All markets. The rules of orders are read with them: `has` and `features` follow."""
        if self.options["adjustForTimeDifference"]:
            self.load_time_difference()
        self.follow_rules(self.call("GET", "settings/trading", None, "public"))
        return self.parse_markets(self.call("GET", "markets", params, "public"))

    def know_rules(self) -> None:
        """Load the markets, and ask for the rules of orders if the markets came from elsewhere."""
        self.load_markets()
        if self.trading_rules is None:
            self.follow_rules(self.call("GET", "settings/trading", None, "public"))

    def fetch_currencies(self, params: Params = None) -> dict[str, Any]:
        """All currencies that can come in or leave."""
        return self.parse_currencies(self.call("GET", "fees/network/all", params, "public"))

    def fetch_ticker(self, symbol: str, params: Params = None) -> dict[str, Any]:
        """The last 24 hours of a market."""
        self.load_markets()
        market = self.market(symbol)
        return self.parse_ticker(self.call("GET", f"markets/{market['id']}/ticker", params, "public"), market)

    def fetch_tickers(self, symbols: list[str] | None = None, params: Params = None) -> dict[str, Any]:
        """The last 24 hours of several markets, or of all."""
        self.load_markets()
        return self.parse_tickers(self.call("GET", "markets/tickers", params, "public"), symbols)

    def fetch_bids_asks(self, symbols: list[str] | None = None, params: Params = None) -> dict[str, Any]:
        """The best prices of several markets, or of all."""
        self.load_markets()
        wanted = self.market_symbols(symbols)
        tickers = self.call("GET", "markets/tickers", params, "public")
        return self.filter_by_array([self.parse_bid_ask(ticker) for ticker in tickers], "symbol", wanted)

    def fetch_order_book(self, symbol: str, limit: int | None = None, params: Params = None) -> dict[str, Any]:
        """The book; `nonce` is the newest engine event in it. At most 1,000 levels a side, by default 50."""
        self.load_markets()
        market = self.market(symbol)
        request = {} if limit is None else {"depth": max(1, min(limit, 1000))}
        book = self.call("GET", f"markets/{market['id']}/orderbook", request | (params or {}), "public")
        parsed = self.parse_order_book(book, market["symbol"], self.safe_integer(book, "timestamp"))
        parsed["nonce"] = self.safe_integer(book, "sequence")
        return parsed

    def fetch_trades(
        self, symbol: str, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """The newest public trades, oldest first; with `since` those of the newest 1,000 that are not older."""
        self.load_markets()
        market = self.market(symbol)
        request = self.omit(self.page_request(since, limit, params or {}), ["from", "to"])
        trades = self.call("GET", f"markets/{market['id']}/trades", request, "public")
        return self.parse_trades(trades, market, since, limit)

    def fetch_ohlcv(
        self, symbol: str, timeframe: str = "1m", since: int | None = None, limit: int | None = None,
        params: Params = None,
    ) -> list[Any]:  # fmt: skip
        """Candles, oldest first. An interval without a trade has none. At most 1,000 intervals, by default 100."""
        self.load_markets()
        market = self.market(symbol)
        request: dict[str, Any] = {"interval": self.timeframe_named(timeframe)}
        if since is not None:
            request["from"] = since
        if limit is not None:
            request["limit"] = max(1, min(limit, 1000))
        until = self.safe_integer(params, "until")
        if until is not None:
            request["to"] = until
        request |= self.omit(params or {}, ["until"])
        candles = self.call("GET", f"markets/{market['id']}/candles", request, "public")
        return self.parse_ohlcvs(candles, market, timeframe, since, limit)

    # Orders

    def create_order(
        self, symbol: str, type: str, side: str, amount: float | None, price: float | None = None,
        params: Params = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Place a limit or market order, at once or when its trigger fires.

        `cost` in `params` is what a market order spends or brings. A trigger is one of `triggerPrice` (or `stopPrice`),
        `stopLossPrice`, `takeProfitPrice`, `trailingAmount` and `trailingPercent`, fired by the `last` or `mark` price
        (`triggerPriceType`). Also `timeInForce`, `postOnly`, `expireTime`, `selfTradePrevention`, `icebergAmount` and
        `clientOrderId`. With `stopLoss`, `takeProfit` or both in `params` the order is the entry of a list;
        `stopLossPrice` and `takeProfitPrice` together are a pair of exits, of which one cancels the other.
        """
        self.know_rules()
        if self.asks_for_a_list(params or {}):
            return self.place_list(self.list_request(symbol, type, side, amount, price, params or {}))
        request = self.order_request(symbol, type, side, amount, price, params or {})
        return self.parse_order(self.call("POST", "orders", request), self.market(symbol))

    def create_orders(self, orders: list[dict[str, Any]], params: Params = None) -> list[dict[str, Any]]:
        """Place up to twenty orders by one request, each answered alone, in the order of `orders`.

        What is wrong here raises before anything is sent. An order that the platform refuses has the status
        `rejected`, and the refusal in `info`; the others stand.
        """
        self.know_rules()
        bodies = self.batch_request(orders)
        entries = self.call("POST", "orders/batch", {"orders": bodies} | (params or {}))
        return [self.parse_batch_entry(entry, body) for entry, body in zip(entries, bodies, strict=True)]

    def create_market_buy_order_with_cost(self, symbol: str, cost: float, params: Params = None) -> dict[str, Any]:
        """Buy at the market for `cost` of the quote currency."""
        return self.create_order(symbol, "market", "buy", None, None, (params or {}) | {"cost": cost})

    def create_trailing_amount_order(
        self, symbol: str, type: str, side: str, amount: float, price: float | None = None,
        trailingAmount: float | None = None, trailingTriggerPrice: float | None = None, params: Params = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Place a trailing stop at a distance in the quote currency. ccxt's own keeps `params` from call to call."""
        return self.create_trailing_order(
            "trailingAmount", trailingAmount, symbol, type, side, amount, price, trailingTriggerPrice, params
        )

    def create_trailing_percent_order(
        self, symbol: str, type: str, side: str, amount: float, price: float | None = None,
        trailingPercent: float | None = None, trailingTriggerPrice: float | None = None, params: Params = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Place a trailing stop at a distance in percent. ccxt's own keeps `params` from call to call."""
        return self.create_trailing_order(
            "trailingPercent", trailingPercent, symbol, type, side, amount, price, trailingTriggerPrice, params
        )

    def create_trailing_order(
        self, name: str, distance: float | None, symbol: str, type: str, side: str, amount: float,
        price: float | None, trigger_price: float | None, params: Params,
    ) -> dict[str, Any]:  # fmt: skip
        """Place a trailing stop whose distance has this name."""
        if distance is None:
            raise ArgumentsRequired(f"{self.id} createOrder() requires a {name}")
        trailing = (params or {}) | {name: distance}
        if trigger_price is not None:
            trailing["trailingTriggerPrice"] = trigger_price
        return self.create_order(symbol, type, side, amount, price, trailing)

    def edit_order(
        self,
        id: str,
        symbol: str,
        type: str,
        side: str,
        amount: float | None = None,
        price: float | None = None,
        params: Params = None,
    ) -> dict[str, Any]:
        """Give an open order another price, another amount or both, by its id or `clientOrderId` in `params`.

        `amount` is the whole amount of the order, with what is filled. An order that only gets smaller keeps its place.
        What an amendment cannot change, another time in force for example, or `replace` in `params`, makes it a
        replacement: the order is cancelled and one like this placed in one step. It has another id, and nothing of it
        is filled. Only platforms with the complete rules do this; with others it raises NotSupported.
        """
        self.know_rules()
        if self.asks_for_a_replacement(params or {}):
            return self.replace_order(id, symbol, type, side, amount, price, params or {})
        request = self.amendment_request(symbol, type, amount, price, params or {})
        client_order_id = self.safe_string(params, "clientOrderId")
        if client_order_id is not None:
            path = f"orders/client/{self.encode_uri_component(client_order_id)}"
        elif id:
            path = f"orders/{self.encode_uri_component(id)}"
        else:
            raise ArgumentsRequired(f"{self.id} editOrder() requires an id or a clientOrderId")
        return self.parse_order(self.call("PATCH", path, request))

    def replace_order(
        self, id: str, symbol: str, type: str, side: str, amount: float | None, price: float | None, params: Params
    ) -> dict[str, Any]:
        """Cancel an order and place another in one step. Without an id that of the `clientOrderId` is replaced."""
        params = params or {}
        if not id and params.get("clientOrderId") is None:
            raise ArgumentsRequired(f"{self.id} editOrder() requires an id or a clientOrderId")
        request = self.replacement_request(symbol, type, side, amount, price, params)
        order_id = id or (self.fetch_order(None, symbol, {"clientOrderId": params["clientOrderId"]}))["id"]
        replaced = self.call("POST", f"orders/{self.encode_uri_component(order_id)}/replace", request)
        return self.parse_order(replaced["order"])

    def edit_orders(self, orders: list[dict[str, Any]], params: Params = None) -> list[dict[str, Any]]:
        """Amend up to twenty open orders by one request, each answered alone, in the order of `orders`.

        Each names `id`, `symbol` and what it shall have: `amount`, `price` or both. One whose amendment is refused
        stays as it is, and is returned without a status, with the refusal in `info`.
        """
        self.know_rules()
        bodies = self.amendments_request(orders)
        entries = self.call("PATCH", "orders/batch", {"orders": bodies} | (params or {}))
        return [self.parse_amendment_entry(entry, order) for entry, order in zip(entries, orders, strict=True)]

    def create_market_order_with_cost(
        self, symbol: str, side: str, cost: float, params: Params = None
    ) -> dict[str, Any]:
        """Buy or sell at the market for at most `cost` of the quote currency."""
        return self.create_order(symbol, "market", side, None, None, (params or {}) | {"cost": cost})

    def create_market_sell_order_with_cost(self, symbol: str, cost: float, params: Params = None) -> dict[str, Any]:
        """Sell at the market for at most `cost` of the quote currency. The complete rules of orders have this."""
        return self.create_order(symbol, "market", "sell", None, None, (params or {}) | {"cost": cost})

    def cancel_order(self, id: str, symbol: str | None = None, params: Params = None) -> dict[str, Any]:
        """Cancel an order, by its id or by `clientOrderId` in `params`, and return it.

        Raises OrderNotFound, or InvalidOrder if it has ended already. If several open orders have that clientOrderId,
        all of them are cancelled, and one of them is returned.
        """
        self.load_markets()
        params = self.omit(params or {}, TRIGGER_FLAGS)
        client_order_id = self.safe_string(params, "clientOrderId")
        if client_order_id is not None:
            return self.cancel_by_client_order_id(client_order_id, self.omit(params, ["clientOrderId"]))
        if not id:
            raise ArgumentsRequired(f"{self.id} cancelOrder() requires an id or a clientOrderId")
        return self.parse_order(self.call("DELETE", f"orders/{self.encode_uri_component(id)}", params))

    def cancel_by_client_order_id(self, client_order_id: str, params: Params) -> dict[str, Any]:
        """Cancel the open orders with this clientOrderId and return one of them."""
        outcome = self.call("DELETE", "orders", {"clientOrderId": client_order_id} | (params or {}))
        if outcome["cancelled"]:
            # The order's row may be a moment behind the engine.
            return self.fetch_order(outcome["cancelled"][0]) | {"status": "canceled"}
        # Raises OrderNotFound if no order ever had it.
        order = self.fetch_order(None, None, {"clientOrderId": client_order_id})
        reasons = "; ".join(failure["reason"] for failure in outcome["failed"]) or f"it is {order['status']}"
        raise InvalidOrder(f"{self.id} cancelOrder() did not cancel {client_order_id}: {reasons}")

    def cancel_orders(self, ids: list[str], symbol: str | None = None, params: Params = None) -> list[dict[str, Any]]:
        """Cancel several orders, or those of the `clientOrderIds` in `params`; returns those that were cancelled."""
        client_order_ids = self.safe_list(params, "clientOrderIds")
        if client_order_ids and not ids:
            self.load_markets()
            cancelled = []
            for client_order_id in client_order_ids:
                cancelled += self.cancel_matching({"clientOrderId": client_order_id}, symbol)
            return cancelled
        if not ids:
            raise ArgumentsRequired(f"{self.id} cancelOrders() requires ids")
        self.load_markets()
        return self.cancel_matching({"orderIds": ",".join(ids)} | self.omit(params or {}, TRIGGER_FLAGS), symbol)

    def cancel_all_orders(self, symbol: str | None = None, params: Params = None) -> list[dict[str, Any]]:
        """Cancel the open orders of a market, or of all; returns those that were cancelled.

        With `trigger` in `params` only those that wait for their trigger, at most 1,000.
        """
        self.load_markets()
        request = self.omit(params or {}, TRIGGER_FLAGS)
        if not self.safe_bool_2(params or {}, *TRIGGER_FLAGS, False):
            return self.cancel_matching(request, symbol)
        orders = self.fetch_open_orders(symbol, None, None, {"trigger": True})
        waiting = [order["id"] for order in orders if order["triggerStatus"] == "waiting"]
        return self.cancel_orders(waiting, symbol, request) if waiting else []

    def cancel_all_orders_after(self, timeout: int, params: Params = None) -> dict[str, Any]:
        """Cancel all open orders `timeout` milliseconds after the last such call; 0 ends the timer.

        Whole seconds, rounded up, from 5 s to 24 h. Only platforms with the complete rules do this; with others it
        raises NotSupported.
        """
        self.know_rules()
        if not self.has_complete_rules:
            raise NotSupported(f"{self.id} cancelAllOrdersAfter() needs OPENSPOT_RULES=complete at the platform")
        request = {"timeoutSeconds": -(-timeout // 1000)}
        timer: dict[str, Any] = self.call("POST", "orders/cancel-all-after", request | (params or {}))
        return timer

    def cancel_matching(self, request: dict[str, Any], symbol: str | None) -> list[dict[str, Any]]:
        """Cancel what meets the conditions."""
        if symbol is not None:
            request = request | {"symbol": self.market_id(symbol)}
        outcome = self.call("DELETE", "orders", request)
        return [
            self.safe_order({"id": order_id, "symbol": symbol, "status": "canceled", "info": outcome})
            for order_id in outcome["cancelled"]
        ]

    def fetch_order(self, id: str | None, symbol: str | None = None, params: Params = None) -> dict[str, Any]:
        """One order, by its id or by `clientOrderId` in `params`."""
        self.load_markets()
        client_order_id = self.safe_string(params, "clientOrderId")
        if client_order_id is not None:
            path = f"orders/client/{self.encode_uri_component(client_order_id)}"
        elif id:
            path = f"orders/{self.encode_uri_component(id)}"
        else:
            raise ArgumentsRequired(f"{self.id} fetchOrder() requires an id or a clientOrderId")
        query = self.omit(params or {}, ["clientOrderId", *TRIGGER_FLAGS])
        return self.parse_order(self.call("GET", path, query))

    def fetch_order_triggers(self, ids: list[str], params: Params = None) -> list[dict[str, Any]]:
        """What fires up to twenty orders now: that of a trailing stop moves, so no order has it.

        Each has `id`, `triggerPrice` and `price`, the limit that the order would match with. Orders that wait for no
        price are left out. ccxt has no structure for it. Only platforms with the complete rules do this; with others it
        raises NotSupported.
        """
        self.know_rules()
        if not self.has_complete_rules:
            raise NotSupported(f"{self.id} fetchOrderTriggers() needs OPENSPOT_RULES=complete at the platform")
        if not ids:
            raise ArgumentsRequired(f"{self.id} fetchOrderTriggers() requires ids")
        found = self.call("GET", "orders/triggers", {"orderIds": ",".join(ids)} | (params or {}))
        return [self.parse_order_trigger(trigger) for trigger in found]

    def list_orders(
        self, status: str, symbol: str | None, since: int | None, limit: int | None, params: Params
    ) -> list[Any]:
        """Orders of these states, or of the `status` that `params` name, oldest first.

        With `trigger` in `params` only those that wait for a trigger, or have waited for one.
        """
        self.load_markets()
        with_trigger = self.safe_bool_2(params or {}, *TRIGGER_FLAGS, False)
        params = self.omit(params or {}, TRIGGER_FLAGS)
        request = {"status": status} | self.page_request(since, PAGE_MAX if with_trigger else limit, params)
        market = None
        if symbol is not None:
            market = self.market(symbol)
            request["symbol"] = market["id"]
        rows = self.call("GET", "orders", request)
        if with_trigger:
            rows = [row for row in rows if "triggerStatus" in row]
        return self.parse_orders(rows, market, since, limit)

    def fetch_orders(
        self, symbol: str | None = None, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """Orders that were placed, of any state. Rejected ones are not: `status` in `params` can ask for them."""
        return self.list_orders(PLACED_STATUSES, symbol, since, limit, params)

    def fetch_open_orders(
        self, symbol: str | None = None, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """Orders that are open: without a `limit` as many as one request can list, the newest 1,000."""
        return self.list_orders(OPEN_STATUSES, symbol, since, PAGE_MAX if limit is None else limit, params)

    def fetch_closed_orders(
        self, symbol: str | None = None, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """Orders that were filled completely."""
        return self.list_orders("filled", symbol, since, limit, params)

    def fetch_canceled_orders(
        self, symbol: str | None = None, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """Orders that were cancelled."""
        return self.list_orders("cancelled", symbol, since, limit, params)

    def fetch_canceled_and_closed_orders(
        self, symbol: str | None = None, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """Orders that were filled or cancelled."""
        return self.list_orders("filled,cancelled", symbol, since, limit, params)

    def fetch_my_trades(
        self, symbol: str | None = None, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """The user's trades with their fees, oldest first."""
        self.load_markets()
        request = self.page_request(since, limit, params or {})
        market = None
        if symbol is not None:
            market = self.market(symbol)
            request["symbol"] = market["id"]
        return self.parse_trades(self.call("GET", "orders/trades", request), market, since, limit)

    def fetch_order_trades(
        self, id: str, symbol: str | None = None, since: int | None = None, limit: int | None = None,
        params: Params = None,
    ) -> list[Any]:  # fmt: skip
        """The trades of one order."""
        return self.fetch_my_trades(symbol, since, limit, (params or {}) | {"orderId": id})

    # Account

    def fetch_balance(self, params: Params = None) -> dict[str, Any]:
        """The user's balances; those of the margin account with `"marginMode": "cross"` in `params`."""
        self.load_markets()
        if self.is_margin_requested(params or {}):
            return self.parse_margin_balance(self.margin_account())
        params = self.omit(params or {}, ["type", "marginMode"])
        return self.parse_balance(self.call("GET", "accounts/balances", params))

    def fetch_trading_fee(self, symbol: str, params: Params = None) -> dict[str, Any]:
        """The fees of a market."""
        self.load_markets()
        market = self.market(symbol)
        current = self.call("GET", f"markets/{market['id']}", params, "public")
        return self.parse_trading_fee(self.parse_market(current))

    def fetch_trading_fees(self, params: Params = None) -> dict[str, Any]:
        """The fees of all markets."""
        markets = self.parse_markets(self.call("GET", "markets", params, "public"))
        return {market["symbol"]: self.parse_trading_fee(market) for market in markets}

    def fetch_deposit_address(self, code: str, params: Params = None) -> dict[str, Any]:
        """The user's deposit address, on the network that `params` name or the currency's first one."""
        self.load_markets()
        currency = self.currency(code)
        request = {"asset": currency["id"]}
        network = self.safe_string(params, "network")
        if network is not None:
            request["network"] = self.network_code_to_id(network, code)
        request |= self.omit(params or {}, ["network"])
        return self.parse_deposit_address(self.call("GET", "accounts/deposit-address", request), currency)

    def list_transactions(
        self, path: str, code: str | None, since: int | None, limit: int | None, params: Params
    ) -> list[Any]:
        """Deposits or withdrawals, oldest first."""
        self.load_markets()
        request = self.omit(self.page_request(since, limit, params or {}), ["from", "to"])
        currency = None
        if code is not None:
            currency = self.currency(code)
            request["asset"] = currency["id"]
        return self.parse_transactions(self.call("GET", path, request), currency, since, limit)

    def fetch_deposits(
        self, code: str | None = None, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """The user's deposits, by chain, by bank and by the operator."""
        return self.list_transactions("accounts/deposits", code, since, limit, params)

    def fetch_withdrawals(
        self, code: str | None = None, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """The user's withdrawals."""
        return self.list_transactions("accounts/withdrawals", code, since, limit, params)

    def withdraw(
        self, code: str, amount: float, address: str, tag: str | None = None, params: Params = None
    ) -> dict[str, Any]:
        """Withdraw to an address that the user has saved. `amount` leaves the account; the fee is taken from it.

        `params` may have `network`, `clientWithdrawalId` and `mfaCode`.
        """
        self.load_markets()
        currency = self.currency(code)
        network = self.safe_string(params, "network")
        network_id = None if network is None else self.network_code_to_id(network, code)
        saved = self.call("GET", "users/me/withdrawal-addresses")
        address_id = self.saved_address_of(saved, currency["id"], address, tag, network_id)
        request = {
            "asset": currency["id"],
            "amount": self.currency_to_precision(code, amount),
            "addressId": address_id,
        }
        if network_id is not None:
            request["network"] = network_id
        request |= self.omit(params or {}, ["network"])
        return self.parse_transaction(self.call("POST", "accounts/withdraw/crypto", request), currency)
