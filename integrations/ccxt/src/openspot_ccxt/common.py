"""What the synchronous and the asynchronous class share: signatures, errors, and records in ccxt's form.

Numbers come from the platform as texts, and ccxt makes its floats of them only here.
"""

import base64
import binascii
import hmac
import json
from typing import Any

from ccxt.base.errors import ArgumentsRequired, BadRequest, InvalidOrder, NotSupported, OrderNotFound
from ccxt.base.precise import Precise

from openspot_ccxt.description import BATCH_MAX, OFFERED_BY_COMPLETE_RULES, PAGE_MAX, description

PREFIX = "/api/v1"
_BODY_METHODS = ("POST", "PUT", "PATCH")
_BASIS_POINTS = "10000"
_ORDER_STATUSES = {
    "pending": "open",
    "open": "open",
    "partially_filled": "open",
    "filled": "closed",
    "cancelled": "canceled",
    "rejected": "rejected",
}
BURST_MS = 1_000
"""How far signatures of a burst may run ahead of the clock; the platform takes five seconds."""
OPEN_STATUSES = "pending,open,partially_filled"
PLACED_STATUSES = f"{OPEN_STATUSES},filled,cancelled"
"""Every state but `rejected`: a rejected order was never placed, and createOrder raised its refusal."""
_UNKNOWN_OUTCOME = 504


class Common:
    """The part of an exchange class that waits for nothing. The other base class is one of ccxt's `Exchange`."""

    _last_nonce: int = 0

    def describe(self) -> dict[str, Any]:
        """What ccxt is told about the exchange."""
        return self.deep_extend(super().describe(), description())

    # Requests

    def nonce(self) -> int:
        """The platform's time in milliseconds, and never the same twice: it takes each signature once."""
        now = self.milliseconds() - self.options["timeDifference"]
        # A clock that was set back counts from there; within a burst each request is a millisecond after the last.
        was_set_back = self._last_nonce - now > BURST_MS
        self._last_nonce = now if was_set_back else max(self._last_nonce + 1, now)
        return self._last_nonce

    def signature_of(self, text: bytes) -> str:
        """The signature of `text`: Ed25519 in base64 if the secret is a PEM private key, else HMAC-SHA256 in hex."""
        secret: str = self.secret
        if "PRIVATE KEY" in secret:
            signed = self.eddsa(text, secret, "ed25519")
            return base64.b64encode(signed).decode() if isinstance(signed, bytes) else signed
        return hmac.digest(secret.encode(), text, "sha256").hex()

    def sign(
        self,
        path: str,
        api: Any = "public",
        method: str = "GET",
        params: Any = None,
        headers: Any = None,
        body: Any = None,
    ) -> dict[str, Any]:
        """The request for `path`, signed if `api` is private (docs/guides/api-keys.md)."""
        access = api[0] if isinstance(api, list) else api
        query = self.omit(params or {}, self.extract_params(path))
        target = f"{PREFIX}/{self.implode_params(path, params or {})}"
        if method in _BODY_METHODS:
            body = json.dumps(query, separators=(",", ":"))
        elif query:
            target += "?" + self.urlencode(query)
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if access == "private":
            self.check_required_credentials()
            headers |= self.signed_headers(method, target, body or "")
        return {"url": self.urls["api"][access] + target, "method": method, "body": body, "headers": headers}

    def signed_headers(self, method: str, target: str, body: str) -> dict[str, str]:
        """The three headers of a signed request."""
        stamp = str(self.nonce())
        return {
            "X-API-Key": self.apiKey,
            "X-API-Timestamp": stamp,
            "X-API-Signature": self.signature_of(f"{stamp}{method}{target}{body}".encode()),
        }

    def handle_errors(
        self, code: int, reason: str, url: str, method: str, headers: Any, body: str, response: Any,
        request_headers: Any, request_body: Any,
    ) -> None:  # fmt: skip
        """Raise ccxt's error for a refusal. A refusal without a known code gets ccxt's error for its HTTP status."""
        if code < 400 or not isinstance(response, dict):
            return
        text = f"{self.id} {body}"
        name = self.safe_string(response, "code")
        message = response.get("message")
        message = "; ".join(message) if isinstance(message, list) else str(message)
        self.throw_broadly_matched_exception(self.exceptions["broad"], message, text)
        if (
            name == "VALIDATION_FAILED"
            and method == "POST"
            and url.endswith((f"{PREFIX}/orders", f"{PREFIX}/orders/batch"))
        ):
            raise InvalidOrder(text)
        if name == "VALIDATION_FAILED" and f"{PREFIX}/conversions" in url and message.startswith(("quoteId ", "id ")):
            # No quote and no conversion has an id of this form.
            raise OrderNotFound(text)
        self.throw_exactly_matched_exception(self.exceptions["exact"], name, text)

    def page_request(self, since: int | None, limit: int | None, params: dict[str, Any]) -> dict[str, Any]:
        """The query of a list. The platform lists the newest first, so `since` asks for as many as it can."""
        until = self.safe_integer(params, "until")
        request: dict[str, Any] = {}
        if since is not None:
            request["from"] = since
            request["limit"] = PAGE_MAX
        elif limit is not None:
            request["limit"] = max(1, min(limit, PAGE_MAX))
        if until is not None:
            request["to"] = until
        return request | self.omit(params, ["until", "paginate"])

    def order_request(
        self, symbol: str, type: str, side: str, amount: Any, price: Any, params: dict[str, Any]
    ) -> dict[str, Any]:
        """The body of an order. Raises InvalidOrder and NotSupported."""
        market = self.market(symbol)
        if side not in ("buy", "sell"):
            raise InvalidOrder(f"{self.id} createOrder() takes the sides buy and sell, not {side}")
        request: dict[str, Any] = {"symbol": market["id"], "side": side, "type": type}
        cost = self.safe_string_2(params, "cost", "quoteOrderQty")
        if type == "limit":
            if price is None:
                raise InvalidOrder(f"{self.id} createOrder() requires a price for a limit order")
            request["price"] = self.price_to_precision(symbol, price)
        elif type != "market":
            raise NotSupported(f"{self.id} createOrder() takes limit and market orders, not {type}")
        if cost is not None:
            if type != "market" or (side != "buy" and not self.has_complete_rules(market)):
                raise InvalidOrder(f"{self.id} createOrder() takes a cost for market orders that buy only")
            request["quoteQuantity"] = Precise.string_add(cost, "0")
        else:
            if amount is None:
                raise ArgumentsRequired(f"{self.id} createOrder() requires an amount")
            request["quantity"] = self.amount_to_precision(symbol, amount)
        if self.is_post_only_order(type, market, params):
            request["postOnly"] = True
        time_in_force = self.time_in_force_of(type, market, params)
        if time_in_force is not None:
            request["timeInForce"] = time_in_force
        names = ["cost", "quoteOrderQty", "timeInForce", "postOnly", "clientOrderId", "reduceOnly"]
        client_order_id = self.safe_string(params, "clientOrderId")
        if client_order_id is not None:
            request["clientOrderId"] = client_order_id
        return request | self.omit(params, names)

    def batch_request(self, orders: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The bodies of several orders. Raises ArgumentsRequired, InvalidOrder, BadSymbol and NotSupported."""
        if not orders:
            raise ArgumentsRequired(f"{self.id} createOrders() requires orders")
        if len(orders) > BATCH_MAX:
            raise InvalidOrder(f"{self.id} createOrders() places at most {BATCH_MAX} orders at once, not {len(orders)}")
        bodies = []
        for number, order in enumerate(orders):
            symbol, kind, side = (self.safe_string(order, name) for name in ("symbol", "type", "side"))
            if symbol is None or kind is None or side is None:
                raise ArgumentsRequired(f"{self.id} createOrders() requires symbol, type and side of orders[{number}]")
            amount, price = self.safe_value(order, "amount"), self.safe_value(order, "price")
            bodies.append(self.order_request(symbol, kind, side, amount, price, self.safe_dict(order, "params", {})))
        return bodies

    def parse_batch_entry(self, entry: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        """The order of a batch, or a rejected one with the refusal in `info`.

        `status` is None where nobody knows whether the order was placed: look for its `clientOrderId`.
        """
        if entry["order"] is not None:
            return self.parse_order(entry["order"])
        names = {
            "clientOrderId": "clientOrderId",
            "type": "type",
            "side": "side",
            "price": "price",
            "amount": "quantity",
        }
        status = None if entry["status"] == _UNKNOWN_OUTCOME else "rejected"
        order = {name: self.safe_string(body, field) for name, field in names.items()}
        market = self.safe_market(body["symbol"])
        return self.safe_order(order | {"status": status, "symbol": market["symbol"], "info": entry}, market)

    def has_complete_rules(self, market: dict[str, Any]) -> bool:
        """Whether the platform's complete rules of orders are on."""
        return self.safe_string(market["info"], "rules") == "complete"

    def follow_rules(self, markets: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Let `has` and `features` promise what the rules of the markets allow. Returns the markets."""
        is_complete = any(self.has_complete_rules(market) for market in markets)
        for name in OFFERED_BY_COMPLETE_RULES:
            self.has[name] = is_complete
        placing = self.features["spot"]["createOrder"]
        holds = is_complete or self.options["honourTimeInForce"]
        placing["timeInForce"] = placing["timeInForce"] | {"IOC": holds, "FOK": holds, "PO": is_complete}
        return markets

    def is_post_only_order(self, type: str, market: dict[str, Any], params: dict[str, Any]) -> bool:
        """Whether an order is not to take. Raises NotSupported where the platform's rules have no such orders."""
        wanted = self.safe_string_upper(params, "timeInForce")
        if not self.safe_bool(params, "postOnly", False) and wanted != "PO":
            return False
        if not self.has_complete_rules(market):
            raise NotSupported(f"{self.id} createOrder() post-only orders need OPENSPOT_RULES=complete at the platform")
        if type != "limit" or wanted not in (None, "GTC", "PO"):
            raise InvalidOrder(f"{self.id} createOrder() takes post-only for limit orders without another timeInForce")
        return True

    def time_in_force_of(self, type: str, market: dict[str, Any], params: dict[str, Any]) -> str | None:
        """What an order asks for, in the platform's words. Raises NotSupported for what it would not keep to."""
        wanted = self.safe_string_upper(params, "timeInForce")
        if self.safe_bool(params, "reduceOnly", False):
            raise NotSupported(f"{self.id} createOrder() has no reduce-only orders")
        if wanted in (None, "GTC", "PO"):
            return None
        if wanted == "IOC" and type == "market":
            return "ioc"
        if wanted in ("IOC", "FOK") and (self.has_complete_rules(market) or self.options["honourTimeInForce"]):
            return wanted.lower()
        raise NotSupported(
            f"{self.id} createOrder() timeInForce {wanted} of a {type} order needs OPENSPOT_RULES=complete "
            "at the platform, or OPENSPOT_HONOUR_TIME_IN_FORCE there and options.honourTimeInForce here"
        )

    def timeframe_named(self, timeframe: str) -> str:
        """An interval in the platform's words. Raises BadRequest for one that it does not have."""
        name = self.safe_string(self.timeframes, timeframe)
        if name is None:
            raise BadRequest(f"{self.id} has the timeframes {', '.join(self.timeframes)}, not {timeframe}")
        return name

    # Markets and currencies

    def parse_market(self, market: dict[str, Any]) -> dict[str, Any]:
        """A market of `GET /markets`. One without limits takes no orders, so it is not active."""
        base_id, quote_id = market["baseAsset"], market["quoteAsset"]
        base, quote = self.safe_currency_code(base_id), self.safe_currency_code(quote_id)
        return self.safe_market_structure({
            "id": market["symbol"],
            "symbol": f"{base}/{quote}",
            "base": base,
            "quote": quote,
            "baseId": base_id,
            "quoteId": quote_id,
            "type": "spot",
            "spot": True,
            "margin": False,
            "active": market["active"] and market["quantityMin"] is not None,
            "taker": self.parse_number(Precise.string_div(str(market["takerFee"]), _BASIS_POINTS)),
            "maker": self.parse_number(Precise.string_div(str(market["makerFee"]), _BASIS_POINTS)),
            "percentage": True,
            "tierBased": False,
            "feeSide": "quote",
            "precision": {
                "amount": self.safe_number(market, "lotSize"),
                "price": self.safe_number(market, "tickSize"),
            },
            "limits": {
                "amount": {
                    "min": self.safe_number(market, "quantityMin"), "max": self.safe_number(market, "quantityMax"),
                },
                "price": {"min": self.safe_number(market, "tickSize"), "max": None},
                "cost": {
                    "min": self.safe_number(market, "notionalMin"), "max": self.safe_number(market, "notionalMax"),
                },
            },
            "info": market,
        })  # fmt: skip

    def parse_currencies(
        self, rows: list[dict[str, Any]], markets: list[dict[str, Any]] | None = None
    ) -> dict[str, Any]:
        """Currencies of `GET /fees/network/all`: a row for each asset and network."""
        result: dict[str, Any] = {}
        for asset in sorted({row["asset"] for row in rows}):
            code = self.safe_currency_code(asset)
            own = [row for row in rows if row["asset"] == asset]
            networks = {}
            for row in own:
                network = self.network_id_to_code(row["network"], code)
                networks[network] = {
                    "id": row["network"],
                    "network": network,
                    "active": True,
                    "deposit": True,
                    "withdraw": True,
                    "fee": self.safe_number(row, "fee"),
                    "precision": self.parse_number(self.parse_precision(self.safe_string(row, "places"))),
                    "limits": {
                        "withdraw": {"min": self.safe_number(row, "minimum"), "max": None},
                        "deposit": {"min": None, "max": None},
                    },
                    "info": row,
                }
            result[code] = self.safe_currency_structure(
                {
                    "id": asset,
                    "code": code,
                    "name": code,
                    "type": "fiat" if own[0]["fiat"] else "crypto",
                    "active": True,
                    "networks": networks,
                    "info": own,
                }
            )
        return result

    # Market data

    def parse_ticker(self, ticker: dict[str, Any], market: Any = None) -> dict[str, Any]:
        """A ticker of REST or WebSocket, which have the same fields."""
        market = self.safe_market(self.safe_string(ticker, "symbol"), market)
        last, timestamp = self.safe_string(ticker, "lastPrice"), self.safe_integer(ticker, "timestamp")
        return self.safe_ticker(
            {
                "symbol": market["symbol"],
                "timestamp": timestamp,
                "datetime": self.iso8601(timestamp),
                "high": self.safe_string(ticker, "highPrice"),
                "low": self.safe_string(ticker, "lowPrice"),
                "bid": self.safe_string(ticker, "bidPrice"),
                "bidVolume": None,
                "ask": self.safe_string(ticker, "askPrice"),
                "askVolume": None,
                "open": self.safe_string(ticker, "openPrice"),
                "close": last,
                "last": last,
                "previousClose": None,
                "change": self.safe_string(ticker, "priceChange"),
                "percentage": self.safe_string(ticker, "priceChangePercent"),
                "average": None,
                "baseVolume": self.safe_string(ticker, "volume"),
                "quoteVolume": self.safe_string(ticker, "quoteVolume"),
                "info": ticker,
            },
            market,
        )

    def parse_bid_ask(self, ticker: dict[str, Any]) -> dict[str, Any]:
        """The best prices of a ticker, without their volumes, which the platform's tickers do not have."""
        market, timestamp = self.safe_market(ticker["symbol"]), self.safe_integer(ticker, "timestamp")
        return self.safe_ticker(
            {
                "symbol": market["symbol"],
                "timestamp": timestamp,
                "datetime": self.iso8601(timestamp),
                "bid": self.safe_string(ticker, "bidPrice"),
                "ask": self.safe_string(ticker, "askPrice"),
                "info": ticker,
            },
            market,
        )

    def parse_ohlcv(self, ohlcv: dict[str, Any], market: Any = None) -> list[Any]:
        """A candle."""
        prices = [self.safe_number(ohlcv, name) for name in ("open", "high", "low", "close", "volume")]
        return [self.safe_integer(ohlcv, "timestamp"), *prices]

    def parse_trade(self, trade: dict[str, Any], market: Any = None) -> dict[str, Any]:
        """A public trade, or a trade of the user, which has an `orderId` and a fee."""
        market = self.safe_market(self.safe_string(trade, "symbol"), market)
        timestamp = self.safe_integer(trade, "timestamp")
        if timestamp is None:
            timestamp = self.parse8601(self.safe_string(trade, "executedAt"))
        fee = None
        if "fee" in trade:
            currency = self.safe_currency_code(self.safe_string(trade, "feeCurrency"))
            fee = {"cost": self.safe_string(trade, "fee"), "currency": currency}
        return self.safe_trade(
            {
                "id": self.safe_string(trade, "tradeId"),
                "order": self.safe_string(trade, "orderId"),
                "timestamp": timestamp,
                "datetime": self.iso8601(timestamp),
                "symbol": market["symbol"],
                "type": None,
                "side": self.safe_string(trade, "side"),
                "takerOrMaker": self.safe_string(trade, "role"),
                "price": self.safe_string(trade, "price"),
                "amount": self.safe_string(trade, "quantity"),
                "cost": None,
                "fee": fee,
                "info": trade,
            },
            market,
        )

    # Account

    def parse_balance(self, response: list[dict[str, Any]]) -> dict[str, Any]:
        """Balances. `used` is what open orders and withdrawals hold, with the fees that are set aside for them."""
        result: dict[str, Any] = {"info": response}
        for row in response:
            account = self.account()
            account["free"] = self.safe_string(row, "available")
            account["total"] = self.safe_string(row, "total")
            result[self.safe_currency_code(row["asset"])] = account
        return self.safe_balance(result)

    def parse_order(self, order: dict[str, Any], market: Any = None) -> dict[str, Any]:
        """An order of REST or WebSocket, which have the same fields."""
        market = self.safe_market(self.safe_string(order, "symbol"), market)
        created, updated = (self.parse8601(self.safe_string(order, name)) for name in ("createdAt", "updatedAt"))
        filled = self.safe_string(order, "filledQuantity")
        was_filled = filled is not None and Precise.string_gt(filled, "0")
        return self.safe_order(
            {
                "id": self.safe_string(order, "orderId"),
                "clientOrderId": self.safe_string(order, "clientOrderId"),
                "timestamp": created,
                "datetime": self.iso8601(created),
                "lastTradeTimestamp": updated if was_filled else None,
                "lastUpdateTimestamp": updated,
                "symbol": market["symbol"],
                "type": self.safe_string(order, "type"),
                "timeInForce": self.safe_string_upper(order, "timeInForce"),
                "postOnly": self.safe_bool(order, "postOnly", False),
                "side": self.safe_string(order, "side"),
                "price": self.safe_string(order, "price"),
                "triggerPrice": None,
                "amount": self.safe_string(order, "quantity"),
                "filled": filled,
                "average": self.safe_string(order, "averagePrice"),
                "status": self.safe_string(_ORDER_STATUSES, self.safe_string(order, "status")),
                "fee": {
                    "cost": self.safe_number(order, "fee"),
                    "currency": self.safe_currency_code(self.safe_string(order, "feeCurrency")),
                },
                "info": order,
            },
            market,
        )

    def parse_trading_fee(self, fee: dict[str, Any], market: Any = None) -> dict[str, Any]:
        """The fees of a market: everybody is charged these."""
        return {
            "info": fee["info"],
            "symbol": fee["symbol"],
            "maker": fee["maker"],
            "taker": fee["taker"],
            "percentage": True,
            "tierBased": False,
        }


def checksum_of(bids: list[tuple[str, str]], asks: list[tuple[str, str]]) -> int:
    """The CRC-32 of the best ten levels (docs/guides/order-book.md)."""
    texts: list[str] = []
    for level in range(10):
        for side in (bids, asks):
            if level < len(side):
                texts += side[level]
    return binascii.crc32(":".join(texts).encode())
