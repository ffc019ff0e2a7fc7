"""The synchronous methods for lists of orders: made from lists_async.py by `tools/ccxt_sync.py`."""

from typing import Any

from openspot_ccxt.lists import Lists

Params = dict[str, Any] | None


class OrderLists(Lists):
    """The part of an exchange class that is about lists of orders. `createOrder` places them, too."""

    def create_order_with_take_profit_and_stop_loss(
        self, symbol: str, type: str, side: str, amount: float, price: float | None = None,
        takeProfit: float | None = None, stopLoss: float | None = None, params: Params = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Place an order with exits that follow what it fills. ccxt's own keeps `params` from call to call."""
        given = self.set_take_profit_and_stop_loss_params(
            symbol, type, side, amount, price, takeProfit, stopLoss, dict(params or {})
        )
        return self.create_order(symbol, type, side, amount, price, given)

    def place_list(self, request: dict[str, Any]) -> dict[str, Any]:
        """Place a list and return its first order: the entry, or the take profit of a pair."""
        placed = self.call("POST", "orders/lists", request)
        return self.parse_order(placed["orders"][0])

    def create_order_list(self, type: str, orders: list[dict[str, Any]], params: Params = None) -> dict[str, Any]:
        """Place an `oco`, `oto` or `bracket`: all its orders or none. `orders` are those of `createOrders`.

        An entry comes first. `clientListId` in `params` makes a repeated request harmless.
        """
        self.know_rules()
        request = {"type": type, "orders": self.listed_orders(orders)}
        return self.parse_order_list(self.call("POST", "orders/lists", request | (params or {})))

    def fetch_order_list(self, id: str, params: Params = None) -> dict[str, Any]:
        """One list with its orders."""
        self.load_markets()
        return self.parse_order_list(self.call("GET", f"orders/lists/{self.encode_uri_component(id)}", params))

    def fetch_order_lists(
        self, symbol: str | None = None, limit: int | None = None, params: Params = None
    ) -> list[dict[str, Any]]:
        """The newest lists with their orders, newest first; with `active` in `params` those that bind their orders."""
        self.load_markets()
        request = self.omit(self.page_request(None, limit, params or {}), ["from", "to"])
        if symbol is not None:
            request["symbol"] = self.market_id(symbol)
        return [self.parse_order_list(answer) for answer in self.call("GET", "orders/lists", request)]

    def cancel_order_list(self, id: str, params: Params = None) -> dict[str, Any]:
        """Cancel all that is open of a list, and return the list."""
        self.load_markets()
        return self.parse_order_list(self.call("DELETE", f"orders/lists/{self.encode_uri_component(id)}", params))
