"""The button that plays a deposit: where it exists, for whom it works, and what it runs."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from starlette.applications import Starlette
from starlette.routing import Route

from openspot.up.services import PlatformSettings
from openspot.up.supervisor import child_settings
from openspot.web_server.loopback import is_private
from openspot.web_server.settings import WebServerSettings
from openspot.web_server.simulated_deposits import SimulatedDeposits
from tests.support.asgi import ask
from tests.support.waiting import stretched

TRADER = {"authorization": "Bearer trader", "content-type": "application/json"}
COINS = {"asset": "SOL", "network": "solana", "amount": "12.5"}
MONEY = {"asset": "USD", "network": "wire", "amount": "100", "fiat": True}
NOTES_ITS_ARGUMENTS = """
import json, os, pathlib, sys
(pathlib.Path(os.environ["OPENSPOT_DATA_DIR"]) / "command.json").write_text(json.dumps(sys.argv[1:]))
"""
FAILS = "import sys; print('amount must be at least 0.01 SOL', file=sys.stderr); sys.exit(1)"


async def _deposit_address(request: web.Request) -> web.Response:
    if request.headers.get("authorization") != "Bearer trader":
        return web.json_response({"code": "UNAUTHENTICATED", "message": "log in"}, status=401)
    return web.json_response({"address": f"address-of-{request.query['asset']}-{request.query['network']}"})


async def _bank(request: web.Request) -> web.Response:
    return web.json_response({"reference": f"user-of-{request.query['currency']}"})


@pytest.fixture
async def edge() -> AsyncIterator[TestServer]:
    application = web.Application()
    application.router.add_get("/api/v1/accounts/deposit-address", _deposit_address)
    application.router.add_get("/api/v1/accounts/deposit-fiat-info", _bank)
    async with TestServer(application) as running:
        yield running


async def play(
    edge: TestServer | str, folder: Path, body: Any, headers: dict[str, str] = TRADER, command: str = ""
) -> Any:
    """The reply to a request; `command` stands for `openspot`."""
    async with aiohttp.ClientSession() as client:
        program = (sys.executable, "-c", command or NOTES_ITS_ARGUMENTS)
        url = edge if isinstance(edge, str) else str(edge.make_url("")).rstrip("/")
        deposits = SimulatedDeposits(client, url, folder, stretched(15), program)
        application = Starlette(routes=[Route("/simulated-deposits", deposits.deposit, methods=["POST"])])
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await ask(application, "POST", "/simulated-deposits", headers=headers, body=content)


async def test_coins_are_sent_to_the_callers_own_address(edge: TestServer, tmp_path: Path) -> None:
    assert (await play(edge, tmp_path, COINS)).status == 202
    command = json.loads((tmp_path / "command.json").read_text())
    assert command[:5] == ["custody", "deposit", "--network", "solana", "--tx-hash"]
    assert command[6:] == ["--", "address-of-SOL-solana", "SOL", "12.5"]


async def test_a_bank_transfer_is_credited_to_the_caller(edge: TestServer, tmp_path: Path) -> None:
    assert (await play(edge, tmp_path, MONEY)).status == 202
    command = json.loads((tmp_path / "command.json").read_text())
    assert command == ["deposit", "--", "user-of-USD", "USD", "100"]


async def test_nobody_without_a_session_plays_a_deposit(edge: TestServer, tmp_path: Path) -> None:
    reply = await play(edge, tmp_path, COINS, {"content-type": "application/json"})
    assert (reply.status, reply.json["code"]) == (401, "UNAUTHENTICATED")
    assert not (tmp_path / "command.json").exists()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "the body is not valid"),
        ({"asset": "SOL", "network": "solana"}, "amount"),
        (COINS | {"user": "another"}, "user"),
        (COINS | {"asset": "--help"}, "asset must be"),
        (COINS | {"network": "--tx-hash"}, "network must be"),
        (COINS | {"amount": "-1"}, "amount must be"),
        (COINS | {"amount": "0.00"}, "amount must be"),
        (COINS | {"amount": "1e9"}, "amount must be"),
    ],
)
async def test_a_bad_request_runs_nothing(edge: TestServer, tmp_path: Path, body: Any, reason: str) -> None:
    reply = await play(edge, tmp_path, body)
    assert reply.status == 400
    assert reason in reply.json["message"]
    assert not (tmp_path / "command.json").exists()


async def test_the_reason_of_a_refused_deposit_is_told(edge: TestServer, tmp_path: Path) -> None:
    reply = await play(edge, tmp_path, COINS, command=FAILS)
    assert (reply.status, reply.json["message"]) == (400, "amount must be at least 0.01 SOL")
    assert (await play(edge, tmp_path, b" " * 2000)).status == 413


async def test_an_edge_that_is_silent_is_named(edge: TestServer, tmp_path: Path) -> None:
    url = str(edge.make_url("")).rstrip("/")
    await edge.close()
    reply = await play(url, tmp_path, COINS)
    assert (reply.status, reply.json["code"]) == (502, "BAD_GATEWAY")


@pytest.mark.parametrize(
    "exposed",
    [
        {"host": "0.0.0.0"},
        {"web_host": "192.168.1.5"},
        {"rest_host": "::"},
        {"ws_host": "0.0.0.0"},
        {"given_web_url": "https://exchange.example"},
        {"given_rest_url": "https://127.0.0.1.example"},
        {"given_ws_url": "wss://exchange.example"},
    ],
)
def test_no_deposit_is_played_on_a_platform_that_others_reach(exposed: dict[str, str]) -> None:
    assert WebServerSettings(simulated_deposits=True).simulates_deposits
    settings = WebServerSettings(simulated_deposits=True, **exposed)
    assert not settings.simulates_deposits
    assert not settings.page_config.simulates_deposits


def test_deposits_are_played_where_the_bus_is_embedded_unless_the_operator_says_otherwise() -> None:
    def played(bus_urls: dict[str, str], **given: Any) -> bool:
        told = child_settings("web", PlatformSettings(**given), bus_urls)
        assert isinstance(told, WebServerSettings)
        return told.simulates_deposits

    embedded = {"web": "nats://web:word@127.0.0.1:4222"}
    assert played(embedded)
    assert not played({})
    assert not played(embedded, simulated_deposits=False)
    assert not played(embedded, host="0.0.0.0")


def test_addresses_of_this_computer_are_told_from_others() -> None:
    assert is_private(["127.0.0.1", "localhost", "::1", "http://[::1]:3001", "ws://127.0.0.5:3002/x"])
    for address in ("", "0.0.0.0", "::", "exchange.example", "http://10.0.0.1", "http://localhost.example", "http://"):
        assert not is_private(["127.0.0.1", address]), address
