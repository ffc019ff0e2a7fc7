"""An exchange that is worth a picture: the demo market with a past day, users with funds and orders, withdrawals.

The demo market begins when it is started. Candles of a few minutes show nothing of a chart, so that a day of invented
trades is written before its first one, into the tables of this platform, which is thrown away afterwards.
"""

import asyncio
import json
import os
import random
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import ROUND_DOWN, Decimal
from typing import Any

from openspot.kit.database import create_pool
from openspot.market_data.store import AGGREGATE, intervals_sql
from openspot.up.child_platform import ChildPlatform

PASSWORD = "correct horse battery"
TRADER = "ada@example.com"
OTHERS = ("alan", "barbara", "edsger", "grace", "katherine")
FUNDS = (("USD", "25000"), ("BTC", "0.5"), ("ETH", "6"), ("SOL", "5000"), ("USDT", "2000"))
HOUSE = (
    ("house:lending", "USD", "1000000"),
    ("house:lending", "SOL", "1000"),
    ("house:insurance", "USD", "10000"),
    ("house:staking", "USDT", "10000"),
)
ADDRESS = "So11111111111111111111111111111111111111112"
PERSON = {
    "firstName": "Ada", "lastName": "Lovelace", "dateOfBirth": "1990-12-10", "country": "GB", "city": "London",
    "street": "12 Square", "postalCode": "SW1Y 4JH",
}  # fmt: skip
PAST = timedelta(hours=30)
PAST_STEP = timedelta(seconds=25)
LARGEST_STEP = 0.0011
"""The most that an invented price moves from one trade to the next, as a share of it."""
WAIT_S = 300.0
START_S_MAX = 480.0
_WRITE_TRADES = """
    INSERT INTO market_trades (trade_id, symbol, sequence, price, quantity, taker_side, executed_at)
    SELECT * FROM unnest(
        $1::text[], $2::text[], $3::bigint[], $4::numeric[], $5::numeric[], $6::text[], $7::timestamptz[]
    )
"""
_WRITE_CANDLES = f"""
    INSERT INTO market_candles (
        symbol, interval, begins_at, open, high, low, close, volume, quote_volume, trades,
        first_at, first_sequence, last_at, last_sequence
    )
    {AGGREGATE}
    FROM market_trades CROSS JOIN ({intervals_sql()}) AS intervals
    WHERE trade_id LIKE 'past-%'
    GROUP BY symbol, name, date_bin(length, executed_at, origin)
    ON CONFLICT DO NOTHING
"""


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
    """Wait for the demo market's books and trades, give it a past, and let users do what they do."""
    exchange = Exchange(platform)
    symbols = [market["symbol"] for market in exchange.call("GET", "/markets")]
    wait_until(lambda: len(exchange.prices()) == len(symbols), "every market has traded")
    wait_until(lambda: all(map(exchange.has_levels, symbols)), "every book has four levels on both sides")
    asyncio.run(_write_past(platform, exchange.prices()))
    # Market data reads the past day when it starts.
    killed = platform.kill("market-data")
    wait_until(lambda: platform.state.pids.get("market-data", killed) != killed, "market data runs again")
    wait_until(lambda: _responds(exchange), "market data responds")
    _trade(exchange)
    exchange.run("reconcile", "--wait", "60")


def _responds(exchange: Exchange) -> bool:
    try:
        return bool(exchange.prices()) and exchange.has_levels("BTC-USD")
    except OSError:
        return False


async def _write_past(platform: ChildPlatform, prices: dict[str, Decimal]) -> None:
    """Write invented trades before the first one of each market, and their candles."""
    now = datetime.now(UTC)
    pool = await create_pool(platform.settings, connections_max=1)
    try:
        for symbol, price in prices.items():
            first = await pool.fetchval("SELECT min(executed_at) FROM market_trades WHERE symbol = $1", symbol)
            rows = _past_of(symbol, price, first or now)
            await pool.execute(_WRITE_TRADES, *map(list, zip(*rows, strict=True)))
        await pool.execute(_WRITE_CANDLES)
    finally:
        await pool.close()


def _past_of(symbol: str, price: Decimal, end: datetime) -> list[tuple[object, ...]]:
    """Invented trades of a market, the newest first: a price that wanders, back from `price` at `end`."""
    chance = random.Random(symbol)
    places = -int(price.normalize().as_tuple().exponent)
    tick = Decimal(1).scaleb(-max(places, 2))
    value, drift = float(price), 0.0
    rows: list[tuple[object, ...]] = []
    for number in range(1, PAST // PAST_STEP):
        drift = 0.97 * drift + chance.gauss(0, LARGEST_STEP / 60)
        value *= 1 + max(-LARGEST_STEP, min(LARGEST_STEP, drift + chance.gauss(0, LARGEST_STEP / 5)))
        # An invented figure becomes an amount here, and is exact from here on.
        shown = Decimal(value).quantize(tick, ROUND_DOWN)
        quantity = Decimal(chance.lognormvariate(4.5, 0.9) / value).quantize(Decimal("0.00000001"))
        side = "buy" if drift <= 0 else "sell"
        at = end - number * PAST_STEP
        rows.append((f"past-{symbol}-{number}", symbol, -number, shown, quantity, side, at))
    return rows


def _trade(exchange: Exchange) -> None:
    """Users get funds. One trades, stakes, borrows, and withdraws more than custody sends without people."""
    token = exchange.register(TRADER)
    for name in OTHERS:
        exchange.register(f"{name}@example.com")
        exchange.run("deposit", f"{name}@example.com", "USD", "10000")
    for account, asset, amount in (*((TRADER, *fund) for fund in FUNDS), *HOUSE):
        exchange.run("deposit", account, asset, amount)
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
    saved = {"label": "Wallet", "asset": "SOL", "network": "solana", "address": ADDRESS}
    address_id = exchange.call("POST", "/users/me/withdrawal-addresses", token, saved)["id"]
    for amount in ("7.5", "125", "800"):
        sent = {"asset": "SOL", "network": "solana", "amount": amount, "addressId": address_id}
        exchange.call("POST", "/accounts/withdraw/crypto", token, sent)
    exchange.call("POST", "/staking/stake", token, {"productId": "usdt-flexible", "amount": "1500"})
    exchange.call("POST", "/margin/transfers", token, {"asset": "USD", "amount": "4000", "direction": "in"})
    for symbol, side, quantity in (("ETH-USD", "buy", "1.5"), ("SOL-USD", "sell", "12")):
        position = {"symbol": symbol, "side": side, "quantity": quantity, "leverage": "3"}
        exchange.call("POST", "/margin/positions", token, position)
