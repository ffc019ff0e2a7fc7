"""An engine for tests: in this process or as a child that can be killed, and a client of all its interfaces."""

import asyncio
import itertools
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import grpc

from openspot.contracts.gen.exchange.v1 import (
    accounts_pb2,
    accounts_pb2_grpc,
    market_data_pb2_grpc,
    orders_pb2,
    orders_pb2_grpc,
)
from openspot.engine.service import run
from openspot.kit.settings import Settings, environment_of
from openspot.up.services import PlatformSettings
from tests.support.ports import free_port
from tests.support.waiting import START_S_MAX, eventually, stretched

SCALE = 10**8
"""baseScaleK of BTC-USD; its quoteScaleK is 100."""

OPEN_ORDERS_EXPECTED = 65_536
"""Small, because a test process starts many engines, and a process with much address space cannot fork."""

_order_ids = itertools.count(1_000_001)
"""Far above the ids that tests choose themselves: otherwise a drawn id can meet a chosen one."""


def engine_settings(folder: Path, **changes: Any) -> Settings:
    """Settings of an engine with free ports, its data in `folder`."""
    return PlatformSettings(
        data_dir=folder,
        engine_api_key="test-key",
        engine_api_secret="test-secret",
        engine_http_port=free_port(),
        engine_grpc_port=free_port(),
        engine_frames_port=free_port(),
        engine_open_orders_expected=OPEN_ORDERS_EXPECTED,
    ).model_copy(update=changes)


def order(
    side: str = "buy",
    price: str = "100",
    quantity: str = "1",
    participant: str = "alice",
    /,
    **fields: Any,
) -> orders_pb2.PlaceOrderRequest:
    """A GTC order on BTC-USD. `price` and `quantity` are decimals; `fields` are set on the message unchanged."""
    number = fields.get("order_id") or next(_order_ids)
    request = orders_pb2.PlaceOrderRequest(
        order_id=number,
        participant_id=participant,
        symbol="BTC-USD",
        side=orders_pb2.BUY if side == "buy" else orders_pb2.SELL,
        type=orders_pb2.GTC,
        price=int(Decimal(price) * 100),
        quantity=int(Decimal(quantity) * SCALE),
        external_id=f"external-{number}",
    )
    for name, value in fields.items():
        setattr(request, name, value)
    return request


class AsService(grpc.aio.UnaryUnaryClientInterceptor):
    """Sends the credential of a service with every call that has no metadata of its own."""

    def __init__(self, settings: Settings) -> None:
        self._metadata = grpc.aio.Metadata(*settings.service_headers.items())

    async def intercept_unary_unary(self, continuation: Any, details: grpc.aio.ClientCallDetails, request: Any) -> Any:
        if not details.metadata:
            details = details._replace(metadata=self._metadata)
        return await continuation(details, request)


class EngineClient:
    """Speaks gRPC, HTTP and the event stream of one engine."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.url = settings.engine_url
        self.headers = settings.service_headers
        self.channel = grpc.aio.insecure_channel(
            settings.engine_grpc_address,
            options=[("grpc.initial_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 50)],
            interceptors=[AsService(settings)],
        )
        self.orders = orders_pb2_grpc.OrderServiceStub(self.channel)
        self.accounts = accounts_pb2_grpc.AccountServiceStub(self.channel)
        self.market_data = market_data_pb2_grpc.MarketDataServiceStub(self.channel)
        self.http = aiohttp.ClientSession()

    async def close(self) -> None:
        await self.channel.close()
        await self.http.close()

    async def fund(self, participant: str = "alice", **amounts: str) -> None:
        """Deposit the given amounts by currency; by default plenty of USD and BTC."""
        for currency, amount in (amounts or {"USD": "1000000", "BTC": "1000"}).items():
            reply = await self.accounts.Deposit(
                accounts_pb2.DepositRequest(participant_id=participant, currency=currency, amount=amount)
            )
            assert reply.success, reply

    async def place(self, *arguments: str, **fields: Any) -> orders_pb2.PlaceOrderResponse:
        return await self.send(order(*arguments, **fields))

    async def send(self, request: orders_pb2.PlaceOrderRequest) -> orders_pb2.PlaceOrderResponse:
        return await self.orders.PlaceOrder(request)

    async def cancel(self, order_id: int, participant: str = "alice", **fields: Any) -> orders_pb2.CancelOrderResponse:
        return await self.orders.CancelOrder(
            orders_pb2.CancelOrderRequest(order_id=order_id, participant_id=participant, **fields)
        )

    async def find(self, order_id: int = 0, external_id: str = "") -> orders_pb2.GetOrderResponse:
        return await self.orders.GetOrder(orders_pb2.GetOrderRequest(order_id=order_id, external_id=external_id))

    async def balances(self, participant: str = "alice") -> dict[str, accounts_pb2.Balance]:
        reply = await self.accounts.GetBalances(accounts_pb2.GetBalancesRequest(participant_id=participant))
        return {balance.currency: balance for balance in reply.balances}

    async def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """(status, body) of an HTTP request with the service headers, or with `headers` instead."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        sent = self.headers if headers is None else headers
        if data is not None:
            sent = {"Content-Type": "application/json"} | sent
        async with self.http.request(method, self.url + path, data=data, headers=sent) as response:
            text = await response.text()
            is_json = response.content_type == "application/json"
            return response.status, json.loads(text) if is_json else text

    @asynccontextmanager
    async def stream(self, from_seq: int | None = None, **parameters: str) -> AsyncIterator["Stream"]:
        """The event stream."""
        query = parameters | ({} if from_seq is None else {"fromSeq": str(from_seq)})
        async with self.http.ws_connect(
            f"{self.url}/ws/events", params=query, headers=self.headers, max_msg_size=0
        ) as socket:
            yield Stream(socket)

    async def events(self, from_seq: int, last_seq: int) -> list[dict[str, Any]]:
        """The events with these sequences, read over a new connection."""
        events: list[dict[str, Any]] = []
        async with self.stream(from_seq, batch="true") as stream:
            await stream.next()
            while len(events) <= last_seq - from_seq:
                events += await stream.next()
        return events[: last_seq - from_seq + 1]

    async def last_sequence(self) -> int:
        """The sequence of the newest event."""
        async with self.stream() as stream:
            sequence: int = (await stream.next())["lastSeq"]
            return sequence


class Stream:
    """One connection of the event stream."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def next(self, timeout_s: float = 30) -> Any:
        """The next message. Fails if the connection ends instead."""
        message = await self.socket.receive(timeout=timeout_s)
        assert message.type == aiohttp.WSMsgType.TEXT, message
        return json.loads(message.data)

    async def close_code(self, timeout_s: float = 30) -> int | None:
        """Skip messages until the connection ends, and return its close code."""
        while True:
            message = await self.socket.receive(timeout=timeout_s)
            if message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR):
                return self.socket.close_code


@asynccontextmanager
async def running_engine(settings: Settings) -> AsyncIterator[EngineClient]:
    """An engine in this process. Stops it cleanly at the end."""
    stop = asyncio.Event()
    task = asyncio.create_task(run(settings, stop))
    client = EngineClient(settings)
    try:
        await _until_ready(client, lambda: task.done() and task.result())
        yield client
    finally:
        await client.close()
        stop.set()
        await task


async def _until_ready(client: EngineClient, check: Any) -> None:
    async def ready() -> bool:
        check()
        try:
            return (await client.request("GET", "/ready"))[0] == 200
        except aiohttp.ClientError:
            return False

    await eventually(ready, START_S_MAX)
    await asyncio.wait_for(client.channel.channel_ready(), stretched(START_S_MAX))


class EngineProcess:
    """An engine in a child process that can be killed."""

    def __init__(self, settings: Settings, preparation: str = "") -> None:
        """`preparation` is Python that the child runs before the engine."""
        self.settings = settings
        self._preparation = preparation
        self.log_path = settings.data_dir / "engine.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.settings.data_dir.mkdir(parents=True, exist_ok=True)
        environment = os.environ | self.environment()
        code = (
            "import sys\n"
            "from openspot.engine.service import run\n"
            "from openspot.kit.service import run_service\n"
            "from openspot.engine.settings import EngineSettings\n"
            f"{self._preparation}\n"
            'sys.exit(run_service("engine", run, EngineSettings()))\n'
        )
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=log, stdout=log)

    def environment(self) -> dict[str, str]:
        """The settings as variables of the child's environment."""
        return environment_of(self.settings)

    async def ready(self, client: EngineClient) -> None:
        """Wait until the engine responds. Fails with its log if it ends instead."""
        await _until_ready(client, self._check_alive)

    def _check_alive(self) -> None:
        assert self.poll() is None, self.log_path.read_text("utf-8")

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        return None if self.process is None else self.process.poll()

    def kill(self) -> None:
        """Kill it with kill -9."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Send SIGTERM and return the exit code."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(stretched(30))

    def wait(self, timeout_s: float = 30) -> int:
        """Wait until it ends and return the exit code."""
        assert self.process is not None
        return self.process.wait(timeout_s)

    def log(self) -> list[dict[str, Any]]:
        """Its log lines."""
        return [json.loads(line) for line in self.log_path.read_text("utf-8").splitlines() if line.startswith("{")]


@asynccontextmanager
async def engine_process(
    settings: Settings, preparation: str = "", child: EngineProcess | None = None
) -> AsyncIterator[tuple[EngineProcess, EngineClient]]:
    """A ready engine in a child process, and a client."""
    child, client = child or EngineProcess(settings, preparation), EngineClient(settings)
    child.start()
    try:
        await child.ready(client)
        yield child, client
    finally:
        await client.close()
        if child.poll() is None:
            child.kill()
