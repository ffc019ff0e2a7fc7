"""ccxt's own test suite, and trades of ours, drive the class of integrations/ccxt against a running platform."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from openspot.kit.tasks import end_tasks
from openspot.up.child_platform import ChildPlatform
from tests.e2e.conftest import QUICK_MONEY
from tests.external.programs import ROOT, environment, packages_of
from tests.support.custody import BITCOIN_ADDRESS
from tests.support.market_flow import FlowMarket, market_flow
from tests.support.money_user import MoneyUser, money_user, openspot
from tests.support.platforms import child_platform
from tests.support.waiting import START_S_MAX, stretched, unstarved

pytestmark = pytest.mark.proof

LANE_S_MAX = stretched(600)
LANES = (("--sync",), (), ("--ws",))
PUBLIC_AND_PRIVATE = {
    "afterConstruct", "features", "fetchBalance", "fetchBorrowInterest", "fetchClosedOrders", "fetchCurrencies",
    "fetchDeposits", "fetchLedger", "fetchMyTrades", "fetchOHLCV", "fetchOpenOrders", "fetchOrderBook",
    "fetchOrders", "fetchStatus", "fetchTicker", "fetchTickers", "fetchTrades", "fetchTradingFees",
    "fetchWithdrawals", "loadMarkets",
}  # fmt: skip
STREAMS = {
    "watchBalance", "watchBidsAsks", "watchMyTrades", "watchOHLCV", "watchOHLCVForSymbols", "watchOrderBook",
    "watchOrderBookForSymbols", "watchOrders", "watchTicker", "watchTickers", "watchTrades", "watchTradesForSymbols",
}  # fmt: skip
NEVER_RUN = {"createOrder", "fetchL2OrderBook", "fetchMarkets", "fetchTradingFee"}
"""Methods that the suite has a file for and does not test without `--fundedTests`: trading.py places the orders."""

MARKETS = [
    FlowMarket("BTC-USD", Decimal(50_000), Decimal(10), Decimal("0.02")),
    FlowMarket("ETH-USD", Decimal(2_500), Decimal("0.5"), Decimal("0.4")),
]
FUNDS = {"USD": "1000000", "BTC": "100", "ETH": "1000"}
ALL_SCOPES = ["read", "trade", "cancel", "withdraw"]


async def trade(user: MoneyUser) -> None:
    """Orders of the user: one that rests, one that is cancelled, and then one that is filled once a second."""
    limit = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.0002"}
    await user("POST", "/orders", limit | {"price": "45000"}, status=201)
    for number in range(1, 1_000_000):
        order = await user("POST", "/orders", limit | {"price": "45001"}, status=201)
        reply = await unstarved(lambda path=f"/orders/{order['orderId']}": user.client("DELETE", path))
        # trading.py cancels all orders of its account, once in a while in this very moment.
        assert reply.status == 200 or reply.code == "ORDER_NOT_OPEN", reply.body
        side, price = ("buy", "51000") if number % 2 else ("sell", "49000")
        await user("POST", "/orders", limit | {"side": side, "price": price}, status=201)
        await asyncio.sleep(1)


async def make_history(user: MoneyUser) -> None:
    """A deposit by chain, and a withdrawal."""
    await user.verify()
    target = await user("GET", "/accounts/deposit-address?asset=BTC&network=bitcoin")
    await openspot(user.platform, "custody", "deposit", target["address"], "BTC", "1", "--network", "bitcoin")
    await user.has("BTC", "1")
    saved = {"label": "Wallet", "asset": "BTC", "network": "bitcoin", "address": BITCOIN_ADDRESS}
    address_id = (await user("POST", "/users/me/withdrawal-addresses", saved, status=201))["id"]
    body = {"asset": "BTC", "network": "bitcoin", "amount": "0.01", "addressId": address_id}
    sent = await user("POST", "/accounts/withdraw/crypto", body, status=201)
    await user.shows(f"/accounts/withdrawals/{sent['id']}", status="completed")


@asynccontextmanager
async def trading_account(platform: ChildPlatform, *, history: bool) -> AsyncIterator[dict[str, Any]]:
    """What ccxt has to be told to trade as a user who goes on trading, with a `history` of deposits and withdrawals."""
    async with money_user(platform) as user:
        if history:
            await make_history(user)
        else:
            await user.credit("BTC", "1")
        # Fees have up to eleven places, and a float of ccxt keeps fifteen digits: a larger sum would not add up there.
        await user.credit("USD", "1000")
        key = {"name": "ccxt", "scopes": ALL_SCOPES, "ipAllowList": ["127.0.0.0/16"]}
        created = await user("POST", "/api-keys", key, status=201)
        private = Ed25519PrivateKey.generate()
        public = private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        signing = key | {"algorithm": "ed25519", "publicKey": public.decode()}
        second = await user("POST", "/api-keys", signing, status=201)
        pem = private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        trading = asyncio.create_task(trade(user))
        settings = platform.settings
        api = {"public": settings.rest_url, "private": settings.rest_url, "ws": f"{settings.ws_url}/"}
        try:
            yield {
                "apiKey": created["id"], "secret": created["secret"], "urls": {"api": api},
                "ed25519": {"apiKey": second["id"], "secret": pem.decode()},
            }  # fmt: skip
            if trading.done():
                trading.result()
        finally:
            await end_tasks(trading)


@pytest.fixture(scope="module")
def run_folder_of_ccxt() -> Any:
    """A folder with a copy of ccxt: its suite runs from a path without site-packages only, and looks beside it."""
    packages = packages_of(environment("ccxt"))
    with tempfile.TemporaryDirectory(prefix="openspot-ccxt-") as name:
        folder = Path(name)
        shutil.copytree(packages / "ccxt", folder / "packages/ccxt")
        (folder / "skip-tests.json").write_text(json.dumps({"openspot": {}}), "utf-8")
        wheel = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        paths = os.pathsep.join(filter(None, [str(ROOT / ".venv/tools"), os.environ.get("PYTHONPATH")]))
        subprocess.run(
            wheel, cwd=ROOT / "integrations/ccxt", env=os.environ | {"PYTHONPATH": paths}, check=True,
            capture_output=True,
        )  # fmt: skip
        yield folder


def wheel_of(folder: Path) -> Path:
    """The package as users install it."""
    [wheel] = folder.glob("openspot_ccxt-*.whl")
    return wheel


async def output_of(folder: Path, *arguments: str) -> str:
    """What a program of this folder prints in ccxt's environment, with the package's wheel."""
    process = await asyncio.create_subprocess_exec(
        environment("ccxt") / "bin/python", *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        env=os.environ | {"EXTERNAL_RUN": str(folder), "PYTHONPATH": str(wheel_of(folder))},
    )  # fmt: skip
    try:
        async with asyncio.timeout(LANE_S_MAX):
            return (await process.communicate())[0].decode()
    finally:
        if process.returncode is None:
            process.kill()


@pytest.mark.parametrize(("rules", "lanes"), [("complete", LANES), ("specification", LANES[:1])])
@pytest.mark.timeout(stretched(1800))
async def test_ccxts_own_suite_and_trades_through_the_class(
    run_folder_of_ccxt: Path, rules: str, lanes: tuple[tuple[str, ...], ...]
) -> None:
    folder = run_folder_of_ccxt
    here = Path(__file__).parent
    data = Path(tempfile.mkdtemp(prefix="openspot-e2e-"))
    # With other reference prices than those of the flow, a person would have to approve withdrawals for minutes.
    references = {"OPENSPOT_CUSTODY_REFERENCE_PRICES": "BTC=50000,ETH=2500,SOL=200,BRL=0.2,USDC=1,USDT=1"}
    settings = {"OPENSPOT_THROTTLE_ENABLED": "false", "OPENSPOT_RULES": rules}
    platform = child_platform(data, settings | QUICK_MONEY | references)
    platform.start(stretched(START_S_MAX))
    try:
        async with (
            market_flow(platform, MARKETS, FUNDS, 0.4),
            trading_account(platform, history=True) as watched,
            # Nobody else may cancel the open order of the suite's account.
            trading_account(platform, history=False) as trading,
        ):
            (folder / "account.json").write_text(json.dumps(trading | {"rules": rules}), "utf-8")
            del watched["ed25519"]
            (folder / "keys.json").write_text(json.dumps({"openspot": watched}), "utf-8")
            suite = str(here / "suite.py")
            running = [output_of(folder, suite, "BTC/USD", "--private", *lane) for lane in lanes]
            *outputs, traded = await asyncio.gather(
                *running, output_of(folder, str(here / "trading.py"), str(folder / "account.json"))
            )
    finally:
        platform.stop()
        shutil.rmtree(data, ignore_errors=True)
    for lane, output in zip(lanes, outputs, strict=True):
        assert_passed(output, STREAMS if "--ws" in lane else PUBLIC_AND_PRIVATE)
    assert traded == "traded with hmac\ntraded with ed25519\n", traded


def assert_passed(output: str, wanted: set[str]) -> None:
    """The suite ends with status 0 whatever happened: its output tells."""
    assert "[TEST_FAILURE]" not in output and "[TEST_WARNING]" not in output, output
    [promised] = [line.split()[1:] for line in output.splitlines() if line.startswith("PROMISED")]
    done = [line.split()[4] for line in output.splitlines() if line.startswith("[INFO] TESTING DONE")]
    print("seen to run:", *sorted(set(done)))
    assert set(promised) - NEVER_RUN <= set(done), output
    assert wanted <= set(done), (wanted - set(done), output)
