"""Lets freqtrade trade on a running platform, and compares their books. Run by test_freqtrade.py, under its clock.

    freqtrade_run.py FREQTRADE_PYTHON CANDLES

Prints one line of JSON at the end: what was compared. Fails with an AssertionError that names the difference.
"""

import asyncio
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from openspot.up.child_platform import ChildPlatform
from tests.e2e.conftest import QUICK_MONEY
from tests.external.programs import INTEGRATION, ROOT
from tests.support.market_flow import FlowMarket, market_flow
from tests.support.money_user import MoneyUser, assert_every_book_agrees, money_user
from tests.support.platforms import child_platform
from tests.support.waiting import START_S_MAX, eventually, stretched

FREQTRADE = ROOT / "integrations/freqtrade"
MARKET = FlowMarket("BTC-USD", Decimal(50_000), Decimal(10), Decimal("0.02"))
FUNDS = {"USD": "1000000", "BTC": "100"}
FLOW_PAUSE_S = 1.0
"""Real seconds between two moves of the market: three in a candle of the quick clock."""
TRADING_S_MAX = 86_400.0
"""The caller has the limit that fits the candles and the clock."""
CANDLE = timedelta(minutes=1)
DIGITS = sys.float_info.dig
FEE_RATE_UNIT = Decimal("1e-8")
THEIR_STATUS = {"filled": "closed", "cancelled": "canceled"}
THEIR_SIDE = {"stoploss": "sell"}
"""freqtrade's names of sides that are not the platform's."""
COMPARED = ("filledQuantity", "averagePrice", "fee")


def configuration(platform: ChildPlatform, key: dict[str, Any], trades: int) -> dict[str, Any]:
    """The configuration of the guide, for this platform, key and number of trades, and with shorter pauses."""
    given: dict[str, Any] = json.loads((FREQTRADE / "config.json").read_text("utf-8"))
    given["trades_max"] = trades
    given["exchange"] |= {"key": key["id"], "secret": key["secret"]}
    urls = given["exchange"]["ccxt_config"]["urls"]["api"]
    urls |= {"public": platform.settings.rest_url, "private": platform.settings.rest_url}
    urls["ws"] = f"{platform.settings.ws_url}/"
    given["exchange"]["ccxt_config"]["rateLimit"] = 10
    # A pause is of real time, whatever the clock says, and has whole seconds.
    given["internals"]["process_throttle_secs"] = 1
    return given


@asynccontextmanager
async def running_freqtrade(folder: Path, python: str, strategy: str, *more: str) -> AsyncIterator[Callable[[], None]]:
    """freqtrade, until the block ends. Calling what it gives fails, with freqtrade's output, if freqtrade has ended."""
    output = folder / "output"
    with output.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            python, str(FREQTRADE / "start.py"), "trade", "--config", str(folder / "config.json"), *more,
            "--strategy", strategy, "--strategy-path", str(FREQTRADE / "strategies"),
            "--db-url", f"sqlite:///{folder}/trades.sqlite", "--userdir", str(folder),
            stdout=file, stderr=asyncio.subprocess.STDOUT, env=os.environ | {"PYTHONPATH": str(INTEGRATION)},
        )  # fmt: skip

    def check() -> None:
        assert process.returncode is None, f"freqtrade ended:\n{output.read_text('utf-8')[-6000:]}"

    try:
        yield check
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def trade(user: MoneyUser, folder: Path, python: str, trades: int) -> float:
    """Run freqtrade until it knows that so many trades are closed; returns the seconds that it ran."""
    began = time.monotonic()
    async with running_freqtrade(folder, python, "EveryOtherMinute") as check:

        async def all_are_closed() -> bool:
            check()
            return len(await user("GET", "/orders?limit=1000")) >= 2 * trades and are_closed(folder, trades)

        await eventually(all_are_closed, TRADING_S_MAX, 1)
        return time.monotonic() - began


def are_closed(folder: Path, trades: int) -> bool:
    """Whether freqtrade knows that so many trades are closed."""
    [row] = rows_of(folder / "trades.sqlite", "SELECT count(*) AS closed FROM trades WHERE NOT is_open")
    return bool(row["closed"] == trades)


def rows_of(database: Path, query: str) -> list[dict[str, Any]]:
    """Rows of freqtrade's database."""
    with sqlite3.connect(database) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query)]


def exact(number: float) -> Decimal:
    """The decimal that a float stands for.

    A float keeps any decimal of DIGITS digits; freqtrade adds the fees of an order's fills as floats, which may change
    the digits behind those.
    """
    return Decimal(f"{number:.{DIGITS}g}")


def kept_fees(order: dict[str, Any]) -> set[Decimal]:
    """What freqtrade may keep as the fee of an order of ours.

    It keeps the fee itself, or the cost times the fee's share of it, which it rounds to 8 places. The two differ
    only if the order was filled both as taker and as maker.
    """
    fee = Decimal(order["fee"])
    cost = Decimal(order["filledQuantity"]) * Decimal(order["averagePrice"])
    return {fee, (fee / cost).quantize(FEE_RATE_UNIT) * cost}


async def compare(user: MoneyUser, database: Path, funds: Decimal) -> dict[str, Any]:
    """Compare every order, fee and balance, to the last digit that freqtrade keeps."""
    theirs = {row["order_id"]: row for row in rows_of(database, "SELECT * FROM orders")}
    trades = {row["id"]: row for row in rows_of(database, "SELECT * FROM trades")}
    ours = {order["orderId"]: order for order in await user("GET", "/orders?limit=1000")}
    assert theirs.keys() <= ours.keys(), f"orders that only freqtrade knows: {theirs.keys() - ours.keys()}"
    usd, btc, fees, digits = funds, Decimal(), Decimal(), 0
    for order_id, order in ours.items():
        if order_id not in theirs:
            # freqtrade forgets a trade whose first order it has cancelled before anything of it was filled.
            assert (order["side"], order["status"], Decimal(order["filledQuantity"])) == ("buy", "cancelled", 0), order
            continue
        row = theirs[order_id]
        side = THEIR_SIDE.get(row["ft_order_side"], row["ft_order_side"])
        assert (side, row["status"]) == (order["side"], THEIR_STATUS[order["status"]]), (row, order)
        if order["status"] == "cancelled" and Decimal(order["filledQuantity"]) == 0:
            # The book had moved: freqtrade cancelled the order and placed another.
            assert not row["filled"], row
            continue
        for name, known in (("filled", "filledQuantity"), ("average", "averagePrice")):
            assert exact(row[name]) == Decimal(order[known]), (name, row, order)
        trade = trades[row["ft_trade_id"]]
        fee = exact(trade["fee_open_cost" if order["side"] == "buy" else "fee_close_cost"])
        assert fee in kept_fees(order), (trade, order)
        digits = max(digits, *(len(Decimal(order[known]).normalize().as_tuple().digits) for known in COMPARED))
        sign = 1 if order["side"] == "buy" else -1
        charged = Decimal(order["fee"])
        assert charged > 0, order
        usd -= sign * exact(row["filled"]) * exact(row["average"]) + charged
        btc += sign * exact(row["filled"])
        fees += charged
    assert 0 < digits <= DIGITS, "a float cannot hold such a number"
    # What freqtrade's rows add up to is what the engine and the ledger hold.
    assert (await user.total("USD"), await user.total("BTC")) == (usd, btc), (usd, btc)
    await assert_every_book_agrees(user.platform)
    newest = await user("GET", "/accounts/transactions?asset=USD&limit=1")
    assert Decimal(newest[0]["balance"]) == usd, (newest, usd)
    sides = [order["side"] for order in ours.values() if order["status"] == "filled"]
    return {
        "buys": sides.count("buy"), "sells": sides.count("sell"), "fees": str(fees), "usd": str(usd), "btc": str(btc),
        "digits": digits,
    }  # fmt: skip


async def candles_between_orders(user: MoneyUser) -> int:
    """How many candles have passed from the one of the first order to the one of the last."""
    times = [datetime.fromisoformat(order["createdAt"]) for order in await user("GET", "/orders?limit=1000")]
    first, last = (found.replace(second=0, microsecond=0) for found in (min(times), max(times)))
    return (last - first) // CANDLE


async def main(python: str, candles: int) -> None:
    """Start a platform and a market, let freqtrade trade, and compare."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-e2e-"))
    # A request's deadline and a token's end are by the clock, which runs quickly.
    settings = QUICK_MONEY | {
        "OPENSPOT_THROTTLE_ENABLED": "false", "OPENSPOT_REQUEST_TIMEOUT_S": "60", "OPENSPOT_ACCESS_TOKEN_S": "86400",
    }  # fmt: skip
    platform = child_platform(folder / "platform", settings)
    (folder / "freqtrade").mkdir()
    platform.start(stretched(START_S_MAX))
    try:
        async with market_flow(platform, [MARKET], FUNDS, FLOW_PAUSE_S), money_user(platform) as user:
            await user.credit("USD", "10000")
            key = {"name": "freqtrade", "scopes": ["read", "trade", "cancel"], "ipAllowList": ["127.0.0.0/8"]}
            created = await user("POST", "/api-keys", key, status=201)
            # In for a candle, out for a candle.
            trades = candles // 2
            text = json.dumps(configuration(platform, created, trades))
            (folder / "freqtrade/config.json").write_text(text, "utf-8")
            seconds = await trade(user, folder / "freqtrade", python, trades)
            result = await compare(user, folder / "freqtrade/trades.sqlite", Decimal(10_000))
            result["candles"] = await candles_between_orders(user)
        print(json.dumps({"seconds": round(seconds, 1)} | result), flush=True)
    finally:
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
