"""Orders in the platform's words, and its orders in ccxt's: pure, but for what ccxt's base class knows of markets.

What an order may ask for follows from `GET /settings/trading`, which the class reads with the markets.
"""

from decimal import Decimal, InvalidOperation
from typing import Any

from ccxt.base.errors import ArgumentsRequired, InvalidOrder, NotSupported
from ccxt.base.precise import Precise

from openspot_ccxt.description import BATCH_MAX, OFFERED_BY_COMPLETE_RULES

SPECIFICATION = {
    "rules": "specification",
    "orderTypes": ["limit", "market"],
    "timesInForce": ["gtc"],
    "triggerSources": [],
    "postOnly": False,
    "quoteQuantitySides": ["buy"],
    "selfTradePreventionModes": [],
    "ordersPerBatchMax": BATCH_MAX,
}
"""What every platform offers: the answer of `GET /settings/trading` until it has been asked."""

_ORDER_STATUSES = {
    "pending": "open",
    "open": "open",
    "partially_filled": "open",
    "filled": "closed",
    "cancelled": "canceled",
    "rejected": "rejected",
}
_UNKNOWN_OUTCOME = 504
_STOP, _TAKE_PROFIT, _TRAILING = "stop", "take_profit", "trailing_stop"
_LIMIT, _MARKET = "limit", "market"
_NATIVE_TYPES = {f"{kind}_{way}": (kind, way) for kind in (_STOP, _TAKE_PROFIT, _TRAILING) for way in (_LIMIT, _MARKET)}
"""The platform's names of orders with a trigger: what fires them, and what they are then."""
_TRIGGER_FIELDS = {
    "triggerPrice": "triggerPrice",
    "stopPrice": "triggerPrice",
    "stopLossPrice": "stopLossPrice",
    "takeProfitPrice": "takeProfitPrice",
    "trailingAmount": "trailingAmount",
    "trailingPercent": "trailing distance",
    "trailingBps": "trailing distance",
}
"""The parameters that make an order wait. Those with the same meaning are the same parameter by another name."""
_DIRECTIONS = {
    "ascending": True, "up": True, "above": True, "descending": False, "down": False, "below": False,
}  # fmt: skip
_EXPIRY_FIELDS = ("expireTime", "goodTillDate", "expiresAt")
_BASIS_POINTS_MAX = 9_999
_PREVENTION_MODES = {
    "NONE": "none",
    "EXPIRE_MAKER": "cancel_resting",
    "CANCEL_MAKER": "cancel_resting",
    "EXPIRE_TAKER": "cancel_incoming",
    "CANCEL_TAKER": "cancel_incoming",
    "EXPIRE_BOTH": "cancel_both",
    "CANCEL_BOTH": "cancel_both",
    "DECREMENT": "decrement_and_cancel",
}
"""ccxt's words for self-trade prevention, and some that are usual elsewhere. The platform's own are taken too."""
_UNIFIED_MODES = {
    "NONE": "none", "EXPIRE_MAKER": "cancel_resting", "EXPIRE_TAKER": "cancel_incoming", "EXPIRE_BOTH": "cancel_both",
}  # fmt: skip
_READ_HERE = [
    *_TRIGGER_FIELDS, *_EXPIRY_FIELDS, "cost", "quoteOrderQty", "timeInForce", "postOnly", "clientOrderId",
    "reduceOnly", "triggerDirection", "triggerPriceType", "triggerBy", "trailingTriggerPrice", "selfTradePrevention",
    "stopLoss", "takeProfit", "icebergAmount", "displayQuantity",
]  # fmt: skip
"""Parameters of an order that are translated. All others are sent as they are: the platform refuses what it lacks."""


_AMENDED = ("clientOrderId", "triggerPrice", "stopPrice", "stopLossPrice", "takeProfitPrice")
"""Parameters of an amendment. With any other the order is replaced."""


class Orders:
    """The part of an exchange class that reads and writes orders. The other base class is one of ccxt's `Exchange`."""

    trading_rules: dict[str, Any] | None = None
    """The answer of `GET /settings/trading`; None before it was asked."""

    # The rules

    @property
    def rules(self) -> dict[str, Any]:
        """What orders may ask for, as far as it is known."""
        return SPECIFICATION if self.trading_rules is None else self.trading_rules

    @property
    def has_complete_rules(self) -> bool:
        """Whether the platform's complete rules of orders are on."""
        return bool(self.rules["rules"] == "complete")

    def follow_rules(self, rules: dict[str, Any]) -> dict[str, Any]:
        """Let `has` and `features` promise what these rules allow. Returns the rules."""
        self.trading_rules = rules
        for name in OFFERED_BY_COMPLETE_RULES:
            self.has[name] = self.has_complete_rules
        times, sources = rules["timesInForce"], rules["triggerSources"]
        spot, triggers = self.features["spot"], bool(sources)
        modes = rules["selfTradePreventionModes"]
        spot["createOrder"] |= {
            "timeInForce": {
                "GTC": True, "IOC": "ioc" in times, "FOK": "fok" in times, "GTD": "gtd" in times,
                "PO": rules["postOnly"],
            },
            "triggerPrice": triggers,
            "triggerPriceType": {name: name in sources for name in ("last", "mark", "index")} if triggers else None,
            "triggerDirection": triggers,
            "stopLossPrice": triggers,
            "takeProfitPrice": triggers,
            "trailing": triggers,
            "selfTradePrevention": {name: mode in modes for name, mode in _UNIFIED_MODES.items()} if modes else False,
            "iceberg": self.has_complete_rules,
            "attachedStopLossTakeProfit": {
                "triggerPriceType": {name: name in sources for name in ("last", "mark", "index")}, "price": True,
            } if self.has_complete_rules else None,
        }  # fmt: skip
        spot["createOrders"] |= {"max": rules["ordersPerBatchMax"]}
        for method in ("fetchOrder", "fetchOpenOrders", "fetchOrders", "fetchClosedOrders"):
            spot[method] |= {"trigger": triggers}
        return rules

    def set_markets_from_exchange(self, sourceExchange: Any) -> Any:
        """Take the markets of another instance, and the rules with them."""
        super().set_markets_from_exchange(sourceExchange)
        if sourceExchange.trading_rules is not None:
            self.follow_rules(sourceExchange.trading_rules)
        return self

    # Requests

    def order_request(
        self, symbol: str, type: str, side: str, amount: Any, price: Any, params: dict[str, Any]
    ) -> dict[str, Any]:
        """The body of an order. Raises ArgumentsRequired, InvalidOrder and NotSupported."""
        market = self.market(symbol)
        side = side.lower()
        if side not in ("buy", "sell"):
            raise InvalidOrder(f"{self.id} createOrder() takes the sides buy and sell, not {side}")
        self.refuse_what_is_not_offered(params)
        kind, way, trigger = self.trigger_of(symbol, type.lower(), side, params)
        request: dict[str, Any] = {
            "symbol": market["id"],
            "side": side,
            "type": way if kind is None else f"{kind}_{way}",
        }
        if way == _LIMIT:
            if price is None:
                raise InvalidOrder(f"{self.id} createOrder() requires a price for a limit order")
            request["price"] = self.price_to_precision(symbol, price)
        cost = self.safe_string_2(params, "cost", "quoteOrderQty")
        if cost is not None:
            if request["type"] != _MARKET or side not in self.rules["quoteQuantitySides"]:
                raise InvalidOrder(
                    f"{self.id} createOrder() takes a cost for market orders that "
                    f"{' or '.join(self.rules['quoteQuantitySides'])} only"
                )
            request["quoteQuantity"] = Precise.string_add(cost, "0")
        else:
            if amount is None:
                raise ArgumentsRequired(f"{self.id} createOrder() requires an amount")
            request["quantity"] = self.amount_to_precision(symbol, amount)
        request |= trigger | self.validity_of(way, kind, params) | self.prevention_of(params)
        request |= self.display_of(symbol, request["type"], params)
        client_order_id = self.safe_string(params, "clientOrderId")
        if client_order_id is not None:
            request["clientOrderId"] = client_order_id
        return request | self.omit(params, _READ_HERE)

    def refuse_what_is_not_offered(self, params: dict[str, Any]) -> None:
        """Raise NotSupported for parameters that would be lost, or would mean something else."""
        if self.safe_bool(params, "reduceOnly", False):
            raise NotSupported(f"{self.id} createOrder() has no reduce-only orders")
        if params.get("marginMode") is not None:
            # The platform would keep the word, and trade with the funds of the spot account.
            raise NotSupported(f"{self.id} createOrder() trades on the spot account: marginMode is not for orders")
        for name in ("stopLoss", "takeProfit"):
            if params.get(name) is not None:
                raise NotSupported(f"{self.id} a {name} goes with createOrder() alone: a list is no part of a batch")

    def trigger_of(
        self, symbol: str, type: str, side: str, params: dict[str, Any]
    ) -> tuple[str | None, str, dict[str, Any]]:
        """What fires the order (None: nothing), whether it is a limit or market order then, and the trigger's fields.

        `type` may be limit or market, or one of the platform's names. Raises InvalidOrder and NotSupported.
        """
        of_type, way = _NATIVE_TYPES.get(type, (None, type))
        if way not in (_LIMIT, _MARKET):
            raise NotSupported(
                f"{self.id} createOrder() takes limit and market orders, not {type}: stops are such orders "
                "with stopLossPrice, takeProfitPrice or trailingPercent in params"
            )
        given = [name for name in _TRIGGER_FIELDS if params.get(name) is not None]
        if not given and of_type is None:
            self.refuse_without_a_trigger(params)
            return None, way, {}
        if not self.rules["triggerSources"]:
            raise NotSupported(
                f"{self.id} createOrder() orders with a trigger need OPENSPOT_RULES=complete at the platform"
            )
        if not given:
            raise InvalidOrder(
                f"{self.id} createOrder() requires a triggerPrice or a trailing distance for a {type} order"
            )
        if len({_TRIGGER_FIELDS[name] for name in given}) > 1:
            raise InvalidOrder(f"{self.id} createOrder() takes one of {', '.join(given)}, not several")
        name = given[0]
        is_trailing = name.startswith("trailing")
        kind = _TRAILING if is_trailing else self.kind_of(name, of_type, side, params)
        if of_type is not None and kind != of_type:
            raise InvalidOrder(f"{self.id} createOrder() {name} does not belong to a {type} order")
        fields = self.distance_of(symbol, name, params) if is_trailing else {
            "stopPrice": self.price_to_precision(symbol, params[name])
        }  # fmt: skip
        return kind, way, fields | self.trigger_source_of(params)

    def refuse_without_a_trigger(self, params: dict[str, Any]) -> None:
        """Raise InvalidOrder for what only an order with a trigger can have."""
        for name in ("triggerDirection", "triggerPriceType", "triggerBy", "trailingTriggerPrice"):
            if params.get(name) is not None:
                raise InvalidOrder(f"{self.id} createOrder() {name} is for orders with a trigger")

    def kind_of(self, name: str, of_type: str | None, side: str, params: dict[str, Any]) -> str:
        """Whether a fixed trigger is a stop or a take profit.

        A triggerPrice alone is a stop, which fires when the price gets worse. `triggerDirection` can say the other way.
        """
        direction = self.safe_string_lower(params, "triggerDirection")
        if name == "stopLossPrice":
            named = _STOP
        elif name == "takeProfitPrice":
            named = _TAKE_PROFIT
        else:
            named = None if direction is not None else of_type or _STOP
        if direction is None:
            assert named is not None, "without a direction the name or the type says it"
            return named
        if direction not in _DIRECTIONS:
            raise InvalidOrder(f"{self.id} createOrder() triggerDirection is ascending or descending, not {direction}")
        kind = _STOP if _DIRECTIONS[direction] is (side == "buy") else _TAKE_PROFIT
        if named not in (None, kind):
            raise InvalidOrder(f"{self.id} createOrder() {name} of an order that {side}s does not fire {direction}")
        return kind

    def distance_of(self, symbol: str, name: str, params: dict[str, Any]) -> dict[str, Any]:
        """The distance of a trailing stop: an amount of the quote currency, or hundredths of a percent."""
        if params.get("trailingTriggerPrice") is not None:
            raise NotSupported(
                f"{self.id} createOrder() trailing stops follow the price at once, without trailingTriggerPrice"
            )
        if params.get("triggerDirection") is not None:
            raise InvalidOrder(f"{self.id} createOrder() triggerDirection is not for a trailing stop")
        if name == "trailingAmount":
            return {"trailingAmount": self.price_to_precision(symbol, params[name])}
        text = str(params[name])
        try:
            basis_points = Decimal(self.number_to_string(params[name])) * (100 if name == "trailingPercent" else 1)
        except InvalidOperation:
            raise InvalidOrder(f"{self.id} createOrder() {name} is a number, not {text}") from None
        if basis_points != basis_points.to_integral_value() or not 1 <= basis_points <= _BASIS_POINTS_MAX:
            raise InvalidOrder(f"{self.id} createOrder() {name} is from 0.01 % to 99.99 %, in hundredths, not {text}")
        return {"trailingBps": int(basis_points)}

    def trigger_source_of(self, params: dict[str, Any]) -> dict[str, Any]:
        """The price that fires the trigger, if the order says it."""
        source = self.safe_string_lower_2(params, "triggerPriceType", "triggerBy")
        if source is None:
            return {}
        if source not in self.rules["triggerSources"]:
            offered = " or ".join(self.rules["triggerSources"])
            raise InvalidOrder(f"{self.id} createOrder() triggerPriceType is {offered}, not {source}")
        return {"triggerBy": source}

    def validity_of(self, way: str, kind: str | None, params: dict[str, Any]) -> dict[str, Any]:
        """How long an order stays, and whether it may take. Raises NotSupported for what the rules do not keep to."""
        wanted = self.safe_string_upper(params, "timeInForce")
        expiry = self.expiry_of(params)
        if expiry is not None and wanted not in (None, "GTD"):
            raise InvalidOrder(f"{self.id} createOrder() an expiry goes with timeInForce GTD, not {wanted}")
        if expiry is not None:
            wanted = "GTD"
        if self.safe_bool(params, "postOnly", False) or wanted == "PO":
            if not self.rules["postOnly"]:
                raise NotSupported(
                    f"{self.id} createOrder() post-only orders need OPENSPOT_RULES=complete at the platform"
                )
            if kind is not None or way != _LIMIT or wanted not in (None, "GTC", "PO", "GTD"):
                raise InvalidOrder(
                    f"{self.id} createOrder() takes post-only for limit orders that rest, without a trigger"
                )
            return {"postOnly": True} | self.good_till(wanted, expiry)
        if wanted in (None, "GTC"):
            return {}
        if wanted == "GTD":
            return self.good_till(wanted, expiry)
        if wanted == "IOC" and way == _MARKET:
            return {"timeInForce": "ioc"} if kind is None else {}
        if wanted in ("IOC", "FOK") and wanted.lower() in self.rules["timesInForce"]:
            return {"timeInForce": wanted.lower()}
        raise NotSupported(
            f"{self.id} createOrder() timeInForce {wanted} of a {way} order needs OPENSPOT_RULES=complete "
            "or OPENSPOT_HONOUR_TIME_IN_FORCE at the platform"
        )

    def expiry_of(self, params: dict[str, Any]) -> str | None:
        """When the order ends, in ISO 8601; None if it does not say. It may be given in milliseconds since 1970."""
        for name in _EXPIRY_FIELDS:
            given = params.get(name)
            if given is None:
                continue
            is_number = isinstance(given, int | float) or (isinstance(given, str) and given.isdecimal())
            milliseconds = int(given) if is_number else self.parse8601(given) if isinstance(given, str) else None
            if milliseconds is None:
                raise InvalidOrder(f"{self.id} createOrder() {name} is a time in ISO 8601 or milliseconds, not {given}")
            text: str = self.iso8601(milliseconds)
            return text
        return None

    def good_till(self, wanted: str | None, expiry: str | None) -> dict[str, Any]:
        """The fields of an order that ends at a time; none if `wanted` is another time in force."""
        if wanted != "GTD":
            return {}
        if "gtd" not in self.rules["timesInForce"]:
            raise NotSupported(f"{self.id} createOrder() timeInForce GTD needs OPENSPOT_RULES=complete at the platform")
        if expiry is None:
            raise ArgumentsRequired(f"{self.id} createOrder() timeInForce GTD requires an expireTime")
        return {"timeInForce": "gtd", "expiresAt": expiry}

    def prevention_of(self, params: dict[str, Any]) -> dict[str, Any]:
        """What is to become of a match with the user's own orders, if the order says it."""
        wanted = self.safe_string(params, "selfTradePrevention")
        if wanted is None:
            return {}
        mode = _PREVENTION_MODES.get(wanted.upper(), wanted.lower())
        modes = self.rules["selfTradePreventionModes"]
        if not modes:
            raise NotSupported(
                f"{self.id} createOrder() selfTradePrevention needs OPENSPOT_RULES=complete at the platform"
            )
        if mode not in modes:
            raise InvalidOrder(
                f"{self.id} createOrder() selfTradePrevention is one of {', '.join(modes)}, not {wanted}"
            )
        return {"selfTradePrevention": mode}

    def display_of(self, symbol: str, type: str, params: dict[str, Any]) -> dict[str, Any]:
        """How much of an order the book shows, if the order says it."""
        shown = self.safe_value_2(params, "icebergAmount", "displayQuantity")
        if shown is None:
            return {}
        if not self.has_complete_rules:
            raise NotSupported(f"{self.id} createOrder() icebergs need OPENSPOT_RULES=complete at the platform")
        if type != _LIMIT:
            raise InvalidOrder(f"{self.id} createOrder() takes an icebergAmount for limit orders without a trigger")
        return {"displayQuantity": self.amount_to_precision(symbol, shown)}

    def batch_request(self, orders: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The bodies of several orders. Raises ArgumentsRequired, InvalidOrder, BadSymbol and NotSupported."""
        self.check_batch("createOrders", "places", orders)
        bodies = []
        for number, order in enumerate(orders):
            symbol, kind, side = (self.safe_string(order, name) for name in ("symbol", "type", "side"))
            if symbol is None or kind is None or side is None:
                raise ArgumentsRequired(f"{self.id} createOrders() requires symbol, type and side of orders[{number}]")
            amount, price = self.safe_value(order, "amount"), self.safe_value(order, "price")
            bodies.append(self.order_request(symbol, kind, side, amount, price, self.safe_dict(order, "params", {})))
        return bodies

    def check_batch(self, method: str, does: str, orders: list[dict[str, Any]]) -> None:
        """Raise ArgumentsRequired for no orders, and InvalidOrder for more than a request can have."""
        if not orders:
            raise ArgumentsRequired(f"{self.id} {method}() requires orders")
        at_most = self.rules["ordersPerBatchMax"]
        if len(orders) > at_most:
            raise InvalidOrder(f"{self.id} {method}() {does} at most {at_most} orders at once, not {len(orders)}")

    def asks_for_a_replacement(self, params: dict[str, Any]) -> bool:
        """Whether an order has to be replaced to become what these parameters ask for."""
        asked = self.omit(params, [*_AMENDED, "replace"])
        is_asked = bool(params.get("replace")) or any(given is not None for given in asked.values())
        return self.has_complete_rules and is_asked

    def replacement_request(
        self, symbol: str, type: str, side: str, amount: Any, price: Any, params: dict[str, Any]
    ) -> dict[str, Any]:
        """The body of a replacement: the new order, whole. Raises ArgumentsRequired, InvalidOrder and NotSupported."""
        if amount is None and params.get("cost") is None:
            raise ArgumentsRequired(f"{self.id} editOrder() requires the amount of an order that replaces another")
        return self.order_request(symbol, type, side, amount, price, self.omit(params, ["replace"]))

    def amendment_request(
        self, symbol: str, type: str, amount: Any, price: Any, params: dict[str, Any]
    ) -> dict[str, Any]:
        """The body of an amendment. Raises ArgumentsRequired, InvalidOrder and NotSupported."""
        if not self.has_complete_rules:
            raise NotSupported(f"{self.id} editOrder() needs OPENSPOT_RULES=complete at the platform")
        _, way = _NATIVE_TYPES.get(type.lower(), (None, type.lower()))
        if way not in (_LIMIT, _MARKET):
            raise InvalidOrder(f"{self.id} editOrder() amends limit and market orders, not {type}")
        if price is not None and way == _MARKET:
            raise InvalidOrder(f"{self.id} editOrder() gives a price to limit orders only")
        request: dict[str, Any] = {}
        if amount is not None:
            request["quantity"] = self.amount_to_precision(symbol, amount)
        if price is not None:
            request["price"] = self.price_to_precision(symbol, price)
        fixed = [name for name in _TRIGGER_FIELDS if name.endswith("Price") and params.get(name) is not None]
        if len({_TRIGGER_FIELDS[name] for name in fixed}) > 1:
            raise InvalidOrder(f"{self.id} editOrder() takes one of {', '.join(fixed)}, not several")
        if fixed:
            request["stopPrice"] = self.price_to_precision(symbol, params[fixed[0]])
        if not request:
            raise ArgumentsRequired(f"{self.id} editOrder() requires an amount or a price")
        return request | self.omit(params, [*_AMENDED, "replace"])

    def amendments_request(self, orders: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The bodies of several amendments. Raises ArgumentsRequired, InvalidOrder and NotSupported."""
        self.check_batch("editOrders", "amends", orders)
        bodies = []
        for number, order in enumerate(orders):
            order_id, symbol = self.safe_string(order, "id"), self.safe_string(order, "symbol")
            if not order_id or symbol is None:
                raise ArgumentsRequired(f"{self.id} editOrders() requires id and symbol of orders[{number}]")
            kind = self.safe_string(order, "type", _LIMIT)
            amount, price = self.safe_value(order, "amount"), self.safe_value(order, "price")
            body = self.amendment_request(symbol, kind, amount, price, self.safe_dict(order, "params", {}))
            bodies.append({"orderId": order_id} | body)
        return bodies

    # Records

    def parse_order(self, order: dict[str, Any], market: Any = None) -> dict[str, Any]:
        """An order of REST or WebSocket, which have the same fields.

        `type` is what the order is in the book; an order that waits for its trigger has the trigger's price beside it.
        `trades` are the fills of a reply to a placement, at most 100. Nothing else has any.
        """
        market = self.safe_market(self.safe_string(order, "symbol"), market)
        created, updated = (self.parse8601(self.safe_string(order, name)) for name in ("createdAt", "updatedAt"))
        filled = self.safe_string(order, "filledQuantity")
        was_filled = filled is not None and Precise.string_gt(filled, "0")
        name = self.safe_string(order, "type")
        kind, way = _NATIVE_TYPES.get(name, (None, name))
        trigger = self.safe_string(order, "stopPrice")
        basis_points = self.safe_string(order, "trailingBps")
        fee = {
            "cost": self.safe_number(order, "fee"),
            "currency": self.safe_currency_code(self.safe_string(order, "feeCurrency")),
        }
        return self.safe_order(
            {
                "id": self.safe_string(order, "orderId"),
                "clientOrderId": self.safe_string(order, "clientOrderId"),
                "timestamp": created,
                "datetime": self.iso8601(created),
                "lastTradeTimestamp": updated if was_filled else None,
                "lastUpdateTimestamp": updated,
                "symbol": market["symbol"],
                "type": way,
                "timeInForce": self.safe_string_upper(order, "timeInForce"),
                "postOnly": self.safe_bool(order, "postOnly", False),
                "reduceOnly": False,
                "side": self.safe_string(order, "side"),
                "price": self.safe_string(order, "price"),
                "triggerPrice": trigger,
                "stopLossPrice": None if kind in (None, _TAKE_PROFIT) else trigger,
                "takeProfitPrice": trigger if kind == _TAKE_PROFIT else None,
                "trailingAmount": self.safe_number(order, "trailingAmount"),
                "trailingPercent": self.parse_number(basis_points and Precise.string_div(basis_points, "100")),
                "triggerPriceType": self.safe_string(order, "triggerBy"),
                "triggerStatus": self.safe_string(order, "triggerStatus"),
                "expireTime": self.parse8601(self.safe_string(order, "expiresAt")),
                "selfTradePrevention": self.safe_string(order, "selfTradePrevention"),
                "icebergAmount": self.safe_number(order, "displayQuantity"),
                "listId": self.safe_string(order, "listId"),
                "clientListId": self.safe_string(order, "clientListId"),
                "listRole": self.safe_string(order, "listRole"),
                "listState": self.safe_string(order, "listState"),
                "amount": self.safe_string(order, "quantity"),
                "filled": filled,
                "average": self.safe_string(order, "averagePrice"),
                "status": self.safe_string(_ORDER_STATUSES, self.safe_string(order, "status")),
                "trades": self.parse_fills(order, market),
                "fee": fee,
                # Without them ccxt adds up the fees of the trades, which need not be all.
                "fees": [dict(fee)],
                "info": order,
            },
            market,
        )

    def parse_fills(self, order: dict[str, Any], market: dict[str, Any]) -> list[dict[str, Any]]:
        """The fills of an order as trades, oldest first. They have no time."""
        common = {name: order[name] for name in ("symbol", "orderId", "side") if name in order} | {"role": "taker"}
        # Parsed here, as ccxt would sort them by their times.
        fills = self.safe_list(order, "fills", [])
        return [self.parse_trade(fill | common, market) | {"info": fill} for fill in fills]

    def parse_order_trigger(self, trigger: dict[str, Any]) -> dict[str, Any]:
        """What fires an order now, in ccxt's words."""
        return {
            "id": self.safe_string(trigger, "orderId"),
            "triggerPrice": self.safe_number(trigger, "triggerPrice"),
            "price": self.safe_number(trigger, "limitPrice"),
            "info": trigger,
        }

    def parse_batch_entry(self, entry: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        """The order of a batch, or a rejected one with the refusal in `info`.

        `status` is None where nobody knows whether the order was placed: look for its `clientOrderId`.
        """
        if entry["order"] is not None:
            return self.parse_order(entry["order"])
        names = {"clientOrderId": "clientOrderId", "side": "side", "price": "price", "amount": "quantity",
                 "triggerPrice": "stopPrice"}  # fmt: skip
        status = None if entry["status"] == _UNKNOWN_OUTCOME else "rejected"
        order = {name: self.safe_string(body, field) for name, field in names.items()}
        order["type"] = _NATIVE_TYPES.get(body["type"], (None, body["type"]))[1]
        market = self.safe_market(body["symbol"])
        return self.safe_order(order | {"status": status, "symbol": market["symbol"], "info": entry}, market)

    def parse_amendment_entry(self, entry: dict[str, Any], order: dict[str, Any]) -> dict[str, Any]:
        """The amended order of a batch; one whose amendment was refused has no status, and the refusal in `info`."""
        if entry["order"] is not None:
            return self.parse_order(entry["order"])
        market = self.market(order["symbol"])
        return self.safe_order({"id": order["id"], "symbol": market["symbol"], "info": entry}, market)
