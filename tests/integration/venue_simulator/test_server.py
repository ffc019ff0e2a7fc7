"""The simulated venue as its clients see it: REST, streams, limits and faults."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import ClientWebSocketResponse, WSMsgType

from openspot.venue.ccxt_venue import TickSink, load_exchange_class, open_exchange, parse_config
from openspot.venue_simulator import connection
from openspot.venue_simulator.faults import Faults
from openspot.venue_simulator.generator import Generator
from openspot.venue_simulator.recording import Recording
from openspot.venue_simulator.server import Simulator
from tests.support.ports import free_port
from tests.support.shared_data import BINANCE, needs_binance
from tests.support.venue import SEEDS, ScriptedSource, playing, quote, running_simulator, send, trade
from tests.support.waiting import eventually, stretched


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    async with running_simulator(ScriptedSource(symbols=("BTC-USDT", "ETH-USDT"))) as venue:
        yield venue


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as client:
        yield client


async def get(session: aiohttp.ClientSession, venue: Simulator, path: str) -> tuple[int, Any]:
    async with session.get(venue.rest_url + path) as response:
        return response.status, await response.json()


async def ask(socket: ClientWebSocketResponse, method: str, *params: str) -> Any:
    await socket.send_json({"method": method, "params": list(params), "id": 9})
    return await socket.receive_json(timeout=stretched(30))


async def test_rest_shows_markets_time_and_books(simulator: Simulator, session: aiohttp.ClientSession) -> None:
    assert await get(session, simulator, "/ping") == (200, {})
    code, body = await get(session, simulator, "/time")
    assert code == 200
    assert body["serverTime"] > 1_700_000_000_000
    code, body = await get(session, simulator, "/exchangeInfo")
    assert (code, [symbol["symbol"] for symbol in body["symbols"]]) == (200, ["BTCUSDT", "ETHUSDT"])
    code, body = await get(session, simulator, "/depth?symbol=BTCUSDT&limit=5")
    assert (code, body["lastUpdateId"], body["asks"]) == (200, 1, [["101.00000000", "2.00000000"]])


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", -1121),
        ("?symbol=DOGEUSDT", -1121),
        ("?symbol=BTCUSDT&limit=x", -1130),
        ("?symbol=BTCUSDT&limit=0", -1130),
        ("?symbol=BTCUSDT&limit=-5", -1130),
        ("?symbol=BTCUSDT&limit=5001", -1130),
        ("?symbol=BTCUSDT&limit=²", -1130),
    ],
)
async def test_a_bad_depth_request_is_refused(
    simulator: Simulator, session: aiohttp.ClientSession, query: str, code: int
) -> None:
    status, body = await get(session, simulator, f"/depth{query}")
    assert (status, body["code"]) == (400, code)


async def test_a_client_gets_what_it_subscribed_to_and_no_more(
    simulator: Simulator, session: aiohttp.ClientSession
) -> None:
    async with session.ws_connect(simulator.ws_url) as socket:
        assert await ask(socket, "SUBSCRIBE", "btcusdt@trade") == {"result": None, "id": 9}
        await send(simulator, quote(1), trade(1, "ETHUSDT"), trade(2))
        assert (await socket.receive_json(timeout=stretched(30)))["t"] == 2
        assert await ask(socket, "UNSUBSCRIBE", "btcusdt@trade") == {"result": None, "id": 9}
        await send(simulator, trade(3))
        assert await ask(socket, "LIST_SUBSCRIPTIONS") == {"result": [], "id": 9}


async def test_a_combined_stream_names_the_stream_of_each_message(
    simulator: Simulator, session: aiohttp.ClientSession
) -> None:
    address = simulator.ws_url.replace("/ws", "/stream?streams=btcusdt@bookTicker/ethusdt@trade")
    async with session.ws_connect(address) as socket:
        await eventually(lambda: simulator.streams)
        await send(simulator, quote(5), trade(6, "ETHUSDT"))
        first, second = [await socket.receive_json(timeout=stretched(30)) for _ in range(2)]
    assert (first["stream"], first["data"]["u"]) == ("btcusdt@bookTicker", 5)
    assert (second["stream"], second["data"]["t"]) == ("ethusdt@trade", 6)


async def test_streams_in_the_address_need_no_request(simulator: Simulator, session: aiohttp.ClientSession) -> None:
    async with session.ws_connect(f"{simulator.ws_url}/btcusdt@trade") as socket:
        await eventually(lambda: simulator.streams)
        await send(simulator, trade(6))
        assert (await socket.receive_json(timeout=stretched(30)))["t"] == 6


async def test_a_bad_request_gets_an_error_and_the_connection_stays(
    simulator: Simulator, session: aiohttp.ClientSession
) -> None:
    async with session.ws_connect(simulator.ws_url) as socket:
        await socket.send_str("{")
        assert (await socket.receive_json(timeout=stretched(30)))["error"]["code"] == 3
        assert (await ask(socket, "SUBSCRIBE", "btcusdt@everything"))["error"]["code"] == 2
        assert await ask(socket, "SUBSCRIBE", "btcusdt@trade") == {"result": None, "id": 9}


async def test_a_client_that_asks_too_often_is_disconnected(
    simulator: Simulator, session: aiohttp.ClientSession
) -> None:
    async with session.ws_connect(simulator.ws_url) as socket:
        for _ in range(6):
            await socket.send_json({"method": "LIST_SUBSCRIPTIONS", "id": 1})
        types = [(await socket.receive(timeout=stretched(30))).type for _ in range(6)]
    assert types.count(WSMsgType.CLOSE) == 1
    assert socket.close_code == 1008


async def test_a_client_that_does_not_read_is_cut_off_and_others_are_served(
    simulator: Simulator, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "FRAMES_WAITING_MAX", 100)
    async with session.ws_connect(f"{simulator.ws_url}/btcusdt@trade") as reader:
        _, writer = await asyncio.open_connection(*simulator.ws_url[5:].removesuffix("/ws").split(":"))
        writer.write(
            b"GET /ws/btcusdt@trade HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        await eventually(lambda: len(simulator.connections) == 2)
        number = 0

        async def only_the_reader_is_left() -> bool:
            nonlocal number
            for _ in range(50):
                number += 1
                await send(simulator, trade(number, p="1" * 1000))
                assert (await reader.receive_json(timeout=stretched(30)))["t"] == number
            return len(simulator.connections) == 1

        await eventually(only_the_reader_is_left)
        writer.close()


async def test_a_silent_venue_accepts_and_answers_nothing(simulator: Simulator, session: aiohttp.ClientSession) -> None:
    simulator.faults = Faults(is_silent=True)
    async with session.ws_connect(f"{simulator.ws_url}/btcusdt@trade", autoping=False, autoclose=False) as socket:
        await eventually(lambda: simulator.streams)
        await socket.ping()
        await socket.send_json({"method": "LIST_SUBSCRIPTIONS", "id": 1})
        await send(simulator, trade(1))
        with pytest.raises(TimeoutError):
            await socket.receive(timeout=0.5)
        simulator.faults = Faults()
        await send(simulator, trade(2))
        assert (await socket.receive_json(timeout=stretched(30)))["t"] == 2
        await socket.ping()
        assert (await socket.receive(timeout=stretched(30))).type is WSMsgType.PONG


async def test_only_a_venue_that_is_not_silent_answers_a_goodbye(
    simulator: Simulator, session: aiohttp.ClientSession
) -> None:
    for is_silent in (False, True):
        simulator.faults = Faults(is_silent=is_silent)
        timeout = aiohttp.ClientWSTimeout(ws_close=0.5 if is_silent else 30)
        socket = await session.ws_connect(simulator.ws_url, timeout=timeout)
        await socket.close()
        assert (socket.close_code == 1000) is not is_silent
        await eventually(lambda: not simulator.connections)


async def test_without_a_client_a_timeline_that_is_as_fast_as_clients_read_waits(
    session: aiohttp.ClientSession,
) -> None:
    source = ScriptedSource([trade(number) for number in range(1, 501)])
    async with running_simulator(source, speed=0) as venue:
        playing_to_the_end = asyncio.create_task(venue.play())
        async with session.ws_connect(venue.ws_url) as idle:
            assert (await ask(idle, "LIST_SUBSCRIPTIONS"))["result"] == []
            async with session.ws_connect(f"{venue.ws_url}/btcusdt@trade") as socket:
                assert [(await socket.receive_json(timeout=stretched(30)))["t"] for _ in range(500)] == list(
                    range(1, 501)
                )
        assert await asyncio.wait_for(playing_to_the_end, stretched(30)) == 500


async def test_a_fault_cuts_connections_after_a_number_of_messages(
    simulator: Simulator, session: aiohttp.ClientSession
) -> None:
    simulator.faults = Faults(disconnect_after=3)
    async with session.ws_connect(f"{simulator.ws_url}/btcusdt@trade") as socket:
        await eventually(lambda: simulator.streams)
        for number in (1, 2):
            await send(simulator, trade(number))
            assert (await socket.receive_json(timeout=stretched(30)))["t"] == number
        await send(simulator, trade(3))
        assert (await socket.receive(timeout=stretched(30))).type in (WSMsgType.CLOSED, WSMsgType.ERROR)
    await eventually(lambda: not simulator.connections)


@needs_binance
async def test_the_librarys_order_book_follows_the_recorded_depth(session: aiohttp.ClientSession) -> None:
    troubles: list[str] = []
    sink = TickSink(lambda _: None, lambda _: None, lambda _, error: troubles.append(repr(error)), troubles.append)
    async with running_simulator(Recording(BINANCE), speed=30.0) as venue:
        exchange: Any = open_exchange(load_exchange_class("binance"), parse_config(venue.adapter_config), sink)
        try:
            following = asyncio.create_task(exchange.watch_order_book("BTC/USDT"))
            await eventually(lambda: "btcusdt@depth@100ms" in venue.streams)
            async with playing(venue):
                await asyncio.wait_for(following, stretched(60))
                # Several hundred updates after the snapshot.
                await eventually(lambda: exchange.orderbooks["BTC/USDT"]["nonce"] > 50_093_250_000, timeout_s=60)

            async def has_the_last_update() -> Any:
                _, body = await get(session, venue, "/depth?symbol=BTCUSDT&limit=50")
                return body if body["lastUpdateId"] == exchange.orderbooks["BTC/USDT"]["nonce"] else None

            body = await eventually(has_the_last_update)
            for side in ("bids", "asks"):
                theirs = [[price, quantity] for price, quantity, *_ in exchange.orderbooks["BTC/USDT"][side][:50]]
                assert theirs == [[float(price), float(quantity)] for price, quantity in body[side]]
            assert troubles == []
        finally:
            await exchange.close()


async def test_a_faster_timeline_passes_faster(session: aiohttp.ClientSession) -> None:
    source = Generator(seed=1, markets=[SEEDS["BTC-USDT"]])
    async with (
        running_simulator(source, speed=100.0) as venue,
        session.ws_connect(f"{venue.ws_url}/btcusdt@bookTicker") as socket,
        playing(venue),
    ):
        began = asyncio.get_running_loop().time()
        for _ in range(200):
            await socket.receive_json(timeout=stretched(30))
        # Two quotes are made in a second of the timeline: about 100 s of it.
        assert 0.5 < asyncio.get_running_loop().time() - began < 50


async def test_the_command_serves_until_it_is_stopped(session: aiohttp.ClientSession) -> None:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "openspot.venue_simulator",
        *("--port", str(port), "--speed", "20"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parent,
    )
    try:
        assert process.stdout is not None
        first = (await asyncio.wait_for(process.stdout.readline(), stretched(60))).decode()
        second = (await asyncio.wait_for(process.stdout.readline(), stretched(60))).decode()
        assert f"http://127.0.0.1:{port}/api/v3" in first
        config = json.loads(second.partition("OPENSPOT_VENUE_CONFIG='")[2].rstrip("'\n"))
        assert config["urls"]["api"]["ws"]["spot"] == f"ws://127.0.0.1:{port}/ws"
        async with session.ws_connect(f"ws://127.0.0.1:{port}/ws/solusd@bookTicker") as socket:
            assert (await socket.receive_json(timeout=stretched(60)))["s"] == "SOLUSD"
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), stretched(30)) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_the_command_names_a_port_that_is_taken(simulator: Simulator) -> None:
    port = simulator.rest_url.split(":")[2].split("/")[0]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "openspot.venue_simulator", "--port", port, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await asyncio.wait_for(process.communicate(), stretched(60))
    assert process.returncode == 1
    assert f"port {port} cannot be used" in errors.decode()
