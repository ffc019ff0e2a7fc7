"""The engine from outside, without asyncio: what browser tests prepare and look at beside the page."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import grpc

from openspot.contracts.gen.exchange.v1 import orders_pb2, orders_pb2_grpc
from openspot.kit.settings import Settings
from tests.support.waiting import STARVED, stretched, until

PRICE_SCALE, QUANTITY_SCALE = 100, 10_000
"""Of the symbols that `create_market` makes."""


class OperatorError(Exception):
    """A service refused a call; the message has its status and its body."""

    def __init__(self, message: str, status: int = 0) -> None:
        """`status` is that of HTTP, 0 if there is none."""
        super().__init__(message)
        self.status = status


@dataclass
class Login:
    """A session with the engine."""

    token: str
    participant_id: str
    name: str
    type: str
    expires_at: int


class Operator:
    """Administration and orders of one engine."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.url = settings.engine_url
        self._channel = grpc.insecure_channel(settings.engine_grpc_address)
        self._orders = orders_pb2_grpc.OrderServiceStub(self._channel)
        self._metadata = (
            ("x-api-key", settings.engine_api_key),
            ("x-api-secret", settings.engine_api_secret),
            ("x-participant-type", "SYSTEM"),
        )
        self.login = self.log_in(settings.admin_id, settings.admin_password)

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()

    def log_in(self, participant_id: str, password: str) -> Login:
        """A new session. Raises OperatorError."""
        answer = self._post("Login", {"participantId": participant_id, "password": password}, "")
        if not answer["success"]:
            raise OperatorError(answer["error"])
        return Login(answer["token"], answer["participantId"], answer["name"], answer["type"], int(answer["expiresAt"]))

    def log_out(self, token: str) -> None:
        """End the session of a token. Raises OperatorError."""
        self._post("Logout", {}, token)

    def call(self, method: str, /, **fields: Any) -> dict[str, Any]:
        """The answer of an AdminService method, refusals included. Raises OperatorError if the call fails."""
        return self._post(method, fields, self.login.token)

    def admin(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The answer of a route under /api/v1/admin. Raises OperatorError."""
        return self._send(method, f"/api/v1/admin{path}", body, self.login.token)

    def read(self, path: str) -> Any:
        """The answer of a public route. Raises OperatorError."""
        return self._send("GET", path, None, "")

    def create(
        self, participant_id: str, kind: str = "BOTH", password: str = "a-long-password", name: str = ""
    ) -> None:
        """Create a participant. Raises OperatorError."""
        answer = self.call(
            "CreateParticipant",
            participantId=participant_id,
            password=password,
            name=name,
            type=kind,
            stpMode="NONE",
        )
        if not answer["success"]:
            raise OperatorError(answer["error"])

    def fund(self, participant_id: str, **amounts: str) -> None:
        """Add to balances, by currency; the account is made if it is missing. Raises OperatorError."""
        for currency, amount in amounts.items():
            fields = {"participantId": participant_id, "currency": currency, "amount": amount, "type": "DEPOSIT"}
            answer = self.call("AdjustBalance", **fields)
            if not answer["success"]:
                raise OperatorError(answer["error"])

    def create_market(self, base: str, quote: str = "USD") -> str:
        """List a market, as `list_market` does, and return its symbol when the REST edge serves it.

        Raises OperatorError.
        """
        symbol = self.list_market(base, quote)
        self.await_market(symbol)
        return symbol

    def list_market(self, base: str, quote: str = "USD") -> str:
        """Make a currency and its market in another, with prices of two places and quantities of four.

        Returns the symbol. The other services learn of the market a moment later. Raises OperatorError.
        """
        self.admin("POST", "/currencies", {"currency": base})
        body = {"symbol": f"{base}-{quote}", "tickSize": "0.01", "lotSize": "0.0001", "takerFee": 20, "makerFee": 10}
        symbol: str = self.admin("POST", "/symbols", body)["symbol"]
        return symbol

    def list_for_traders(self, base: str, status: str = "open") -> str:
        """Make a currency and its market in USD with the terms that routers need, and return the symbol.

        Prices have two places and quantities four. The other services learn of the market a moment later. Raises
        OperatorError.
        """
        terms = {
            "symbol": f"{base}-USD",
            "asset": {"currency": base, "name": base, "places": 8},
            "name": f"{base} / US dollar",
            "tickSize": "0.01",
            "lotSize": "0.0001",
            "takerFee": 25,
            "makerFee": 15,
            "quantityMin": "0.0001",
            "quantityMax": "1000",
            "notionalMin": "1",
            "notionalMax": "1000000",
            "deviationBpsMax": 2000,
            "slippageBpsMax": 100,
            "status": status,
            "reason": "a test trades here",
        }
        symbol: str = self.admin("POST", "/listings", terms)["symbol"]
        return symbol

    def await_market(self, symbol: str) -> None:
        """Wait until the REST edge and market data know a market: its ticker needs both."""
        until(lambda: symbol in self._markets_served(), f"the REST edge serves {symbol}")

    def _markets_served(self) -> set[str]:
        try:
            tickers = self._send("GET", "/api/v1/markets/tickers", None, "", self.settings.rest_url)
        except OperatorError as error:
            # A starved platform does nothing and says so.
            if error.status not in STARVED:
                raise
            return set()
        return {ticker["symbol"] for ticker in tickers}

    def place(self, participant_id: str, side: str, price: str, quantity: str, symbol: str) -> str:
        """Place a limit order; returns its engine id. Raises OperatorError if it is refused."""
        number = self._next_order_id()
        request = _limit_order(number, participant_id, symbol, side, price, quantity)
        reply = self._orders.PlaceOrder(request, metadata=self._metadata, timeout=stretched(30))
        if reply.status == orders_pb2.REJECTED:
            raise OperatorError(reply.result_code)
        return str(number)

    def place_all(self, participant_id: str, orders: list[tuple[str, str, str]], symbol: str) -> list[str]:
        """Place limit orders, each as side, price and quantity, in one call; returns their engine ids.

        Raises OperatorError if one is refused.
        """
        first = self._next_order_id()
        requests = [_limit_order(first + index, participant_id, symbol, *order) for index, order in enumerate(orders)]
        replies = self._orders.PlaceOrders(
            orders_pb2.PlaceOrdersRequest(orders=requests), metadata=self._metadata, timeout=stretched(30)
        ).orders
        for reply in replies:
            if reply.status == orders_pb2.REJECTED:
                raise OperatorError(reply.result_code)
        return [str(reply.order_id) for reply in replies]

    def cancel(self, participant_id: str, order_id: str, symbol: str) -> None:
        """Cancel an order. Raises OperatorError if the engine refuses."""
        request = orders_pb2.CancelOrderRequest(order_id=int(order_id), participant_id=participant_id, symbol=symbol)
        reply = self._orders.CancelOrder(request, metadata=self._metadata, timeout=stretched(30))
        if reply.status == orders_pb2.REJECTED:
            raise OperatorError(reply.result_code)

    def set_phase(self, symbol: str, phase: str) -> None:
        """Put a market into a phase until the next change. Raises OperatorError."""
        self.admin("PUT", f"/symbols/{symbol}/phase", {"phase": phase, "reason": "a test"})

    def set_mark_price(self, symbol: str, price: int) -> None:
        """Tell the engine a fair price, as market data does; the one before counted until now. Raises OperatorError."""
        request = orders_pb2.SetMarkPriceRequest(symbol=symbol, price=price * PRICE_SCALE, gap_ms=0)
        reply = self._orders.SetMarkPrice(request, metadata=self._metadata, timeout=stretched(30))
        if reply.status == orders_pb2.REJECTED:
            raise OperatorError(reply.result_code)

    def order(self, order_id: str) -> dict[str, Any]:
        """An order that the engine knows."""
        (row,) = (row for row in self.call("ListOrders", limit=1000)["orders"] if row["orderId"] == order_id)
        found: dict[str, Any] = row
        return found

    def balance(self, participant_id: str, currency: str) -> dict[str, str] | None:
        """A balance, or None."""
        rows = self.call("ListBalances", participantId=participant_id)["balances"]
        return next((row for row in rows if row["currency"] == currency), None)

    def participant(self, participant_id: str) -> dict[str, Any]:
        """A participant that exists."""
        found: dict[str, Any] = self.call("GetParticipant", participantId=participant_id)["participant"]
        return found

    def approve(self, withdrawal_id: str, login: Login) -> None:
        """Approve a withdrawal in the session of another administrator. Raises OperatorError."""
        path = f"/operator/withdrawals/{withdrawal_id}/approvals"
        self._send("POST", path, {"reason": "looked at"}, login.token, self.settings.custody_url)

    def sign(self, withdrawal_id: str, signer: str) -> None:
        """Sign a withdrawal with the key of one of its wallet's signers. Raises OperatorError."""
        path = f"/operator/withdrawals/{withdrawal_id}/signatures"
        self._send("POST", path, {"signer": signer, "reason": "looked at"}, self.login.token, self.settings.custody_url)

    def reject(self, withdrawal_id: str, reason: str) -> None:
        """Reject a withdrawal. Raises OperatorError."""
        path = f"/operator/withdrawals/{withdrawal_id}/rejection"
        self._send("POST", path, {"reason": reason}, self.login.token, self.settings.custody_url)

    def _next_order_id(self) -> int:
        newest = self.call("ListOrders", limit=1)["orders"]
        return max(int(newest[0]["orderId"]) if newest else 0, 10_000_000) + 1

    def _post(self, method: str, fields: dict[str, Any], token: str) -> Any:
        return self._send("POST", f"/exchange.v1.AdminService/{method}", fields, token)

    def _send(self, method: str, path: str, body: dict[str, Any] | None, token: str, url: str = "") -> Any:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request((url or self.url) + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=stretched(30)) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as error:
            raise OperatorError(f"{error.code}: {error.read().decode()}", error.code) from error


def _limit_order(
    number: int, participant_id: str, symbol: str, side: str, price: str, quantity: str
) -> orders_pb2.PlaceOrderRequest:
    return orders_pb2.PlaceOrderRequest(
        order_id=number,
        participant_id=participant_id,
        symbol=symbol,
        side=orders_pb2.BUY if side == "buy" else orders_pb2.SELL,
        type=orders_pb2.GTC,
        price=int(Decimal(price) * PRICE_SCALE),
        quantity=int(Decimal(quantity) * QUANTITY_SCALE),
        reserve_price=int(Decimal(price) * PRICE_SCALE) if side == "buy" else 0,
        external_id=f"external-{number}",
    )
