"""What the synchronous and the asynchronous class share: signatures, errors, and records in ccxt's form.

Numbers come from the platform as texts, and ccxt makes its floats of them only here.
"""

import base64
import binascii
import hmac
import json
from typing import Any

from ccxt.base.errors import BadRequest, InvalidOrder, OrderNotFound
from ccxt.base.precise import Precise

from openspot_ccxt.description import PAGE_MAX, description
from openspot_ccxt.lists import Lists

PREFIX = "/api/v1"
_BODY_METHODS = ("POST", "PUT", "PATCH")
_BASIS_POINTS = "10000"
_REFUSED = (400, 409)
BURST_MS = 1_000
"""How far signatures of a burst may run ahead of the clock; the platform takes five seconds."""
TRIGGER_FLAGS = ["trigger", "stop"]
"""ccxt's words for asking among orders with a trigger. Here they are among the others, so the words say nothing new."""
OPEN_STATUSES = "pending,open,partially_filled"
PLACED_STATUSES = f"{OPEN_STATUSES},filled,cancelled"
"""Every state but `rejected`: a rejected order was never placed, and createOrder raised its refusal."""


class Common(Lists):
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
        is_of_orders = method in ("POST", "PATCH") and f"{PREFIX}/orders" in url
        if name == "VALIDATION_FAILED" and is_of_orders:
            raise InvalidOrder(text)
        if name == "VALIDATION_FAILED" and f"{PREFIX}/conversions" in url and message.startswith(("quoteId ", "id ")):
            # No quote and no conversion has an id of this form.
            raise OrderNotFound(text)
        self.throw_exactly_matched_exception(self.exceptions["exact"], name, text)
        if is_of_orders and code in _REFUSED:
            # The engine has more reasons than the list of errors.
            raise InvalidOrder(text)

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
                    "active": row.get("depositsEnabled", True) and row.get("withdrawalsEnabled", True),
                    "deposit": row.get("depositsEnabled", True),
                    "withdraw": row.get("withdrawalsEnabled", True),
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
                "bidVolume": self.safe_string(ticker, "bidQuantity"),
                "ask": self.safe_string(ticker, "askPrice"),
                "askVolume": self.safe_string(ticker, "askQuantity"),
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
        """The best prices of a ticker with their volumes."""
        market, timestamp = self.safe_market(ticker["symbol"]), self.safe_integer(ticker, "timestamp")
        return self.safe_ticker(
            {
                "symbol": market["symbol"],
                "timestamp": timestamp,
                "datetime": self.iso8601(timestamp),
                "bid": self.safe_string(ticker, "bidPrice"),
                "bidVolume": self.safe_string(ticker, "bidQuantity"),
                "ask": self.safe_string(ticker, "askPrice"),
                "askVolume": self.safe_string(ticker, "askQuantity"),
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
