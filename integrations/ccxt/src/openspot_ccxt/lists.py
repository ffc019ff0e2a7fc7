"""Orders that depend on each other in the platform's words, and lists of them in ccxt's: pure."""

from typing import Any

from ccxt.base.errors import ArgumentsRequired, InvalidOrder, NotSupported

from openspot_ccxt.orders import Orders

_ATTACHED = ("takeProfit", "stopLoss")
_PAIR = ("takeProfitPrice", "stopLossPrice")
_LIMITS = {"takeProfitPrice": "takeProfitLimitPrice", "stopLossPrice": "stopLossLimitPrice"}
_EXIT_FIELDS = {
    "triggerPrice",
    "stopPrice",
    "price",
    "type",
    "priceType",
    "triggerPriceType",
    "amount",
    "clientOrderId",
}
"""What `takeProfit` and `stopLoss` may say of an exit."""
_LIST_FIELDS = ["clientListId", *_ATTACHED, *_PAIR, *_LIMITS.values()]
_OF_EVERY_ORDER = ("symbol", "quantity", "selfTradePrevention")
_LIST_ORDERS_MAX = 3


class Lists(Orders):
    """The part of an exchange class that reads and writes lists of orders."""

    def asks_for_a_list(self, params: dict[str, Any]) -> bool:
        """Whether an order with these parameters is one of several that depend on each other."""
        has_exits = any(params.get(name) is not None for name in _ATTACHED)
        return has_exits or all(params.get(name) is not None for name in _PAIR)

    def list_request(
        self, symbol: str, type: str, side: str, amount: Any, price: Any, params: dict[str, Any]
    ) -> dict[str, Any]:
        """The body of the list that an order with exits, or a pair of exits, is.

        Raises ArgumentsRequired, InvalidOrder and NotSupported.
        """
        if not self.has_complete_rules:
            raise NotSupported(
                f"{self.id} createOrder() orders that depend on each other need OPENSPOT_RULES=complete at the platform"
            )
        if params.get("cost") is not None or params.get("quoteOrderQty") is not None:
            raise InvalidOrder(f"{self.id} createOrder() a cost does not go with exits: give an amount")
        attached = [name for name in _ATTACHED if params.get(name) is not None]
        paired = [name for name in _PAIR if params.get(name) is not None]
        if attached and paired:
            raise InvalidOrder(f"{self.id} createOrder() takes {attached[0]} or {paired[0]}, not both")
        if attached:
            name, orders = self.bracket_orders(symbol, type, side, amount, price, params)
        else:
            name, orders = "oco", self.pair_orders(symbol, type, side, amount, params)
        return self.named_list({"type": name, "orders": orders}, params)

    def named_list(self, request: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        """The list with the caller's own id, if there is one."""
        client_list_id = self.safe_string(params, "clientListId")
        return request if client_list_id is None else request | {"clientListId": client_list_id}

    def bracket_orders(
        self, symbol: str, type: str, side: str, amount: Any, price: Any, params: dict[str, Any]
    ) -> tuple[str, list[dict[str, Any]]]:
        """An entry, and behind it the exits of `takeProfit` and `stopLoss`."""
        entry = self.order_request(symbol, type, side, amount, price, self.omit(params, _LIST_FIELDS))
        other_side = "sell" if entry["side"] == "buy" else "buy"
        common = {name: entry[name] for name in _OF_EVERY_ORDER if name in entry}
        exits = [
            self.exit_request(symbol, other_side, name, params[name], entry["quantity"]) | common
            for name in _ATTACHED
            if params.get(name) is not None
        ]
        return ("bracket" if len(exits) == len(_ATTACHED) else "oto"), [entry, *exits]

    def exit_request(self, symbol: str, side: str, name: str, given: Any, quantity: str) -> dict[str, Any]:
        """The exit that `takeProfit` or `stopLoss` describes: an order with a trigger, or a take profit's limit."""
        if not isinstance(given, dict):
            raise InvalidOrder(f"{self.id} createOrder() {name} is a dictionary with a triggerPrice, not {given}")
        unknown = sorted(set(given) - _EXIT_FIELDS)
        if unknown:
            raise NotSupported(f"{self.id} createOrder() {name} has no {', '.join(unknown)}")
        if given.get("amount") is not None and self.amount_to_precision(symbol, given["amount"]) != quantity:
            raise NotSupported(f"{self.id} createOrder() the amount of a {name} is that of its order")
        trigger, limit = self.safe_value_2(given, "triggerPrice", "stopPrice"), given.get("price")
        way = self.safe_string_lower(given, "type", "market" if limit is None else "limit")
        params = {"clientOrderId": given.get("clientOrderId")}
        if trigger is None:
            if name == "stopLoss" or limit is None:
                raise ArgumentsRequired(f"{self.id} createOrder() requires a triggerPrice of {name}")
            return self.order_request(symbol, "limit", side, quantity, limit, params)
        params |= {
            f"{name}Price": trigger,
            "triggerPriceType": self.safe_string_2(given, "priceType", "triggerPriceType"),
        }
        return self.order_request(symbol, way, side, quantity, limit, params)

    def pair_orders(
        self, symbol: str, type: str, side: str, amount: Any, params: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Two exits of one position: what one fills, the other loses.

        Each is a market order once its trigger fires, or a limit order at its own …LimitPrice.
        """
        if type.lower() != "market":
            raise InvalidOrder(
                f"{self.id} createOrder() stopLossPrice and takeProfitPrice together go with the type market: "
                "takeProfitLimitPrice and stopLossLimitPrice give each its limit"
            )
        shared = self.omit(params, [*_LIST_FIELDS, "clientOrderId"])
        exits = []
        for name in _PAIR:
            limit = params.get(_LIMITS[name])
            way = "market" if limit is None else "limit"
            exits.append(self.order_request(symbol, way, side, amount, limit, shared | {name: params[name]}))
        return exits

    def listed_orders(self, orders: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The orders of a list as `createOrders` takes them, in the platform's words."""
        if not self.has_complete_rules:
            raise NotSupported(f"{self.id} createOrderList() needs OPENSPOT_RULES=complete at the platform")
        if len(orders) > _LIST_ORDERS_MAX:
            raise InvalidOrder(
                f"{self.id} createOrderList() takes at most {_LIST_ORDERS_MAX} orders, not {len(orders)}"
            )
        return self.batch_request(orders)

    def parse_order_list(self, answer: dict[str, Any]) -> dict[str, Any]:
        """A list with its orders, the entry first. ccxt has no structure for it; this one has ccxt's words."""
        created, updated = (self.parse8601(self.safe_string(answer, name)) for name in ("createdAt", "updatedAt"))
        return {
            "id": self.safe_string(answer, "listId"),
            "clientListId": self.safe_string(answer, "clientListId"),
            "type": self.safe_string(answer, "type"),
            "status": self.safe_string(answer, "status"),
            "symbol": self.safe_symbol(self.safe_string(answer, "symbol")),
            "timestamp": created,
            "datetime": self.iso8601(created),
            "lastUpdateTimestamp": updated,
            "orders": [self.parse_order(order) for order in answer["orders"]],
            "info": answer,
        }
