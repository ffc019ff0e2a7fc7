"""An exchange that is worth a picture: the demo market, users with funds and orders, withdrawals."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.error import HTTPError

from PIL import Image

from openspot.up.child_platform import ChildPlatform

PASSWORD = "correct horse battery"
TRADER = "ada@example.com"
OTHERS = ("alan", "barbara", "edsger", "grace", "katherine")
FUNDS = (("USD", "25000"), ("BTC", "0.5"), ("ETH", "6"), ("SOL", "5000"), ("USDT", "2000"))
ADDRESS = "So11111111111111111111111111111111111111112"
PERSON = {
    "firstName": "Ada", "lastName": "Lovelace", "dateOfBirth": "1990-12-10", "country": "GB", "city": "London",
    "street": "12 Square", "postalCode": "SW1Y 4JH",
}  # fmt: skip
DOCUMENTS = (("identity_front", "passport.png"), ("proof_of_address", "bill.png"))
PAUSED = ("--coin", "BTC", "--network", "bitcoin", "--notice", "Back at noon.", "--reason", "the node is upgraded")
WAIT_S = 300.0
START_S_MAX = 480.0


class Exchange:
    """The REST edge and the operator's commands of one platform."""

    def __init__(self, platform: ChildPlatform) -> None:
        self.platform = platform
        self.settings = platform.settings
        self.environment = os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir)}

    def call(self, method: str, path: str, token: str = "", body: object = None) -> Any:
        """The response of a route. Raises urllib.error.HTTPError for a refusal."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.settings.rest_url}/api/v1{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.loads(response.read())

    def upload(self, kind: str, name: str, token: str) -> None:
        """Upload a small picture as a document of a verification. Raises urllib.error.HTTPError for a refusal."""
        picture = BytesIO()
        Image.new("RGB", (480, 320), (16, 120, 90)).save(picture, "PNG")
        headers = {"Content-Type": "image/png", "Authorization": f"Bearer {token}"}
        url = f"{self.settings.rest_url}/api/v1/kyc/documents?kind={kind}&name={name}"
        request = urllib.request.Request(url, picture.getvalue(), headers, method="POST")
        urllib.request.urlopen(request, timeout=60).close()

    def run(self, *arguments: str) -> None:
        """Run a command beside the platform. Raises CalledProcessError."""
        command = [sys.executable, "-m", "openspot.cli", *arguments]
        subprocess.run(command, check=True, env=self.environment, stdout=subprocess.DEVNULL)

    def register(self, email: str) -> str:
        """Register a user; returns an access token."""
        account = {"email": email, "password": PASSWORD}
        self.call("POST", "/auth/register", body=account)
        token: str = self.call("POST", "/auth/login", body=account)["accessToken"]
        return token

    def prices(self) -> dict[str, Decimal]:
        """The last price of every market that has traded."""
        tickers = self.call("GET", "/markets/tickers")
        return {one["symbol"]: Decimal(one["lastPrice"]) for one in tickers if Decimal(one["lastPrice"] or 0)}

    def has_levels(self, symbol: str) -> bool:
        """Whether both sides of a book have four levels."""
        book = self.call("GET", f"/markets/{symbol}/orderbook")
        return min(len(book["bids"]), len(book["asks"])) >= 4


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Return as soon as `condition` is true. Raises TimeoutError."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not so after {WAIT_S:.0f} s")
        time.sleep(0.5)


def fill(platform: ChildPlatform) -> None:
    """Wait for the demo market's books and trades, and let users do what they do."""
    exchange = Exchange(platform)
    symbols = [market["symbol"] for market in exchange.call("GET", "/markets")]
    wait_until(lambda: len(exchange.prices()) == len(symbols), "every market has traded")
    wait_until(lambda: all(map(exchange.has_levels, symbols)), "every book has four levels on both sides")
    _trade(exchange)
    exchange.run("reconcile", "--wait", "60")


def _trade(exchange: Exchange) -> None:
    """Users get funds. One is verified, trades, stakes, borrows, and withdraws more than custody sends without people.

    Operators have paused the withdrawals of a coin.
    """
    token = exchange.register(TRADER)
    for name in OTHERS:
        exchange.register(f"{name}@example.com")
        exchange.run("deposit", f"{name}@example.com", "USD", "10000")
    for asset, amount in FUNDS:
        exchange.run("deposit", TRADER, asset, amount)
    last = exchange.prices()["BTC-USD"]
    orders = (
        {"side": "buy", "type": "market", "quantity": "0.02"},
        {"side": "sell", "type": "market", "quantity": "0.01"},
        {
            "side": "buy",
            "type": "limit",
            "quantity": "0.05",
            "price": str((last * Decimal("0.985")).quantize(Decimal(1))),
        },
        {
            "side": "sell",
            "type": "limit",
            "quantity": "0.1",
            "price": str((last * Decimal("1.02")).quantize(Decimal(1))),
        },
    )
    for order in orders:
        exchange.call("POST", "/orders", token, {"symbol": "BTC-USD", **order})
    exchange.call("POST", "/kyc/basic-info", token, PERSON)
    exchange.call("POST", "/kyc/start", token, {"level": "verified"})
    for kind, name in DOCUMENTS:
        exchange.upload(kind, name, token)
    exchange.run("coins", "pause", "withdrawals", *PAUSED)
    saved = {"label": "Wallet", "asset": "SOL", "network": "solana", "address": ADDRESS}
    address_id = exchange.call("POST", "/users/me/withdrawal-addresses", token, saved)["id"]
    for amount in ("7.5", "125", "800"):
        sent = {"asset": "SOL", "network": "solana", "amount": amount, "addressId": address_id}
        exchange.call("POST", "/accounts/withdraw/crypto", token, sent)
    exchange.call("POST", "/staking/stake", token, {"productId": "usdt-flexible", "amount": "1500"})
    exchange.call("POST", "/margin/transfers", token, {"asset": "USD", "amount": "4000", "direction": "in"})
    for symbol, side, quantity in (("SOL-USD", "sell", "12"), ("ETH-USD", "buy", "1.5")):
        position = {"symbol": symbol, "side": side, "quantity": quantity, "leverage": "3"}
        # The fair price of a young market is sure, and what it absorbs is known, after a while.
        wait_until(partial(_opens, exchange, token, position), f"a position in {symbol} is opened")


def _opens(exchange: Exchange, token: str, position: dict[str, str]) -> bool:
    try:
        exchange.call("POST", "/margin/positions", token, position)
    except HTTPError as error:
        if error.code != HTTPStatus.CONFLICT:
            raise
        return False
    return True
