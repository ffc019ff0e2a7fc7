"""Order entry of the engine over gRPC and over frames against a bare echo of the same messages, in one run.

    .venv/bin/python -m benchmarks.engine_grpc [--rounds 20] [--core rust]

The engine: its real process with the journal on, four participants, limit orders around one mid, resting and
crossing mixed. The echo: a bare `grpc.aio` server process on the same event loop that answers the same messages.
All get the same calls from the same client with as many in flight, in turn; medians, least and most of the
rounds are printed. PlaceOrders is measured with 100 orders a call, its rate is orders a second. The platform's own
services call the engine over frames.

The client shares the two cores with the server, so the processor time of both an order is printed beside.
"""

import argparse
import asyncio
import os
import random
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import psutil
import uvloop

from benchmarks.core_runs import table
from openspot.contracts.gen.exchange.v1 import accounts_pb2, accounts_pb2_grpc, orders_pb2_grpc
from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.engine.transport.grpc_server import MESSAGE_BYTES_MAX
from openspot.kit.frames import FrameClient
from openspot.kit.service import run_service
from openspot.kit.service_credential import headers
from openspot.up.embedded_nats import free_port
from openspot.up.services import PlatformSettings

IN_FLIGHT = 32
BATCH = 100
PARTICIPANTS = ("alice", "bob", "carol", "dave")
MID, SPREAD = 5_000_000, 2_000
QUANTITY = 100_000
CALL_S_MAX = 30.0
KEY, SECRET = "benchmark", secrets.token_urlsafe(48)
METADATA = tuple(headers(KEY, SECRET).items())
TARGET_ECHO, TARGET_BATCH = 0.8, 20.0

Call = Callable[[Any], Awaitable[Any]]


class Measured(NamedTuple):
    """Orders a second, and the processor time of the server and of the client an order in microseconds."""

    rate: float
    cost_us: float
    client_us: float


# Servers


class Echo(orders_pb2_grpc.OrderServiceServicer):
    """Answers what the engine would answer to a resting order."""

    async def PlaceOrder(self, request: pb.PlaceOrderRequest, context: Any) -> pb.PlaceOrderResponse:  # noqa: N802
        """One order."""
        return pb.PlaceOrderResponse(
            order_id=request.order_id,
            status=pb.ACCEPTED,
            result_code="SUCCESS",
            remaining_quantity=request.quantity,
            sequence=request.order_id,
            timestamp=1_700_000_000_000,
            notional="0",
            fee="0",
        )

    async def PlaceOrders(self, request: pb.PlaceOrdersRequest, context: Any) -> pb.PlaceOrdersResponse:  # noqa: N802
        """Many orders."""
        return pb.PlaceOrdersResponse(orders=[await self.PlaceOrder(order, context) for order in request.orders])


async def run_echo(settings: PlatformSettings, stop: asyncio.Event) -> None:
    """Serve the echo on the engine's port until `stop`."""
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", MESSAGE_BYTES_MAX)])
    orders_pb2_grpc.add_OrderServiceServicer_to_server(Echo(), server)  # type: ignore[no-untyped-call]
    server.add_insecure_port(settings.engine_grpc_address)
    await server.start()
    await stop.wait()
    await server.stop(None)


def serve(name: str) -> int:
    """Be one of the two servers; answers the exit code."""
    from openspot.engine.service import run

    return run_service(name, run if name == "engine" else run_echo, PlatformSettings())


class Server:
    """A server in a process of its own, and a channel to it."""

    def __init__(self, name: str, core: str, folder: Path) -> None:
        port, frames_port = free_port(), free_port()
        environment = os.environ | {
            "OPENSPOT_DATA_DIR": str(folder),
            "OPENSPOT_ENGINE_CORE": core,
            "OPENSPOT_ENGINE_GRPC_PORT": str(port),
            "OPENSPOT_ENGINE_HTTP_PORT": str(free_port()),
            "OPENSPOT_ENGINE_FRAMES_PORT": str(frames_port),
            "OPENSPOT_ENGINE_API_KEY": KEY,
            "OPENSPOT_ENGINE_API_SECRET": SECRET,
        }
        folder.mkdir()
        with (folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.engine_grpc", "--serve", name],
                env=environment,
                stdout=log,
                stderr=log,
            )
        self._usage = psutil.Process(self._process.pid)
        self.channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
        stub = orders_pb2_grpc.OrderServiceStub(self.channel)  # type: ignore[no-untyped-call]
        self.place: Call = partial(stub.PlaceOrder, metadata=METADATA)
        self.place_many: Call = partial(stub.PlaceOrders, metadata=METADATA)
        self._frames = FrameClient("127.0.0.1", frames_port, headers(KEY, SECRET))

    async def place_in_frame(self, request: pb.PlaceOrderRequest) -> pb.PlaceOrderResponse:
        """PlaceOrder over frames."""
        reply = await self._frames.request("PlaceOrder", request.SerializeToString(), CALL_S_MAX, CALL_S_MAX)
        return pb.PlaceOrderResponse.FromString(reply)

    async def place_many_in_frame(self, request: pb.PlaceOrdersRequest) -> pb.PlaceOrdersResponse:
        """PlaceOrders over frames."""
        reply = await self._frames.request("PlaceOrders", request.SerializeToString(), CALL_S_MAX, CALL_S_MAX)
        return pb.PlaceOrdersResponse.FromString(reply)

    def processor_s(self) -> float:
        """Processor time that it has used."""
        times = self._usage.cpu_times()
        return times.user + times.system

    async def close(self) -> None:
        """End it."""
        await self.channel.close()
        await self._frames.close()
        self._process.terminate()
        self._process.wait(20)


# Client


class Orders:
    """An endless flow of different orders."""

    def __init__(self) -> None:
        self._random = random.Random(1)
        self._number = 0

    def take(self, count: int) -> list[pb.PlaceOrderRequest]:
        """The next orders."""
        return [self._next() for _ in range(count)]

    def _next(self) -> pb.PlaceOrderRequest:
        self._number += 1
        buys = self._random.random() < 0.5
        return pb.PlaceOrderRequest(
            order_id=self._number,
            participant_id=PARTICIPANTS[self._number % len(PARTICIPANTS)],
            symbol="BTC-USD",
            side=pb.BUY if buys else pb.SELL,
            type=pb.GTC,
            price=MID + self._random.randint(-SPREAD, SPREAD),
            quantity=self._random.randint(1, QUANTITY),
            external_id=f"3f0d8a52-7c1b-4a77-9a0e-{self._number:012d}",
            metadata='{"clientOrderId":null,"type":"limit","timeInForce":"gtc"}',
        )


async def fund(server: Server) -> None:
    """Give every participant more than it needs."""
    accounts = accounts_pb2_grpc.AccountServiceStub(server.channel)  # type: ignore[no-untyped-call]
    for participant in PARTICIPANTS:
        for currency, amount in (("USD", "1000000000000"), ("BTC", "1000000000")):
            answer = await accounts.Deposit(
                accounts_pb2.DepositRequest(participant_id=participant, currency=currency, amount=amount),
                metadata=METADATA,
            )
            assert answer.success, answer


async def measure(server: Server, call: Call, requests: Sequence[Any], in_flight: int, orders: int) -> Measured:
    """Send all requests, so many at a time; `orders` is how many they hold."""
    rest = iter(requests)

    async def work() -> None:
        for request in rest:
            await call(request)

    before, own, began = server.processor_s(), time.process_time(), time.perf_counter()
    await asyncio.gather(*(work() for _ in range(in_flight)))
    seconds, used, own_used = time.perf_counter() - began, server.processor_s() - before, time.process_time() - own
    return Measured(orders / seconds, used / orders * 1e6, own_used / orders * 1e6)


async def compare(parsed: argparse.Namespace) -> int:
    """Measure in turn and print; answers 0."""
    orders = Orders()
    measured: dict[str, list[Measured]] = {}
    with tempfile.TemporaryDirectory() as folder:
        servers = {name: Server(name, parsed.core, Path(folder) / name) for name in ("echo", "engine")}
        try:
            for server in servers.values():
                await asyncio.wait_for(server.channel.channel_ready(), 30)
            await fund(servers["engine"])
            for round_number in range(parsed.rounds + 1):
                echo, engine = servers["echo"], servers["engine"]
                for name, server, place, place_many in (
                    ("echo", echo, echo.place, echo.place_many),
                    ("engine", engine, engine.place, engine.place_many),
                    ("frames", engine, engine.place_in_frame, engine.place_many_in_frame),
                ):
                    single = orders.take(parsed.orders)
                    taken = await measure(server, place, single, IN_FLIGHT, len(single))
                    many = [pb.PlaceOrdersRequest(orders=orders.take(BATCH)) for _ in range(parsed.orders // 10)]
                    batched = await measure(server, place_many, many, IN_FLIGHT, len(many) * BATCH)
                    # The first round warms both up.
                    if round_number:
                        measured.setdefault(name, []).append(taken)
                        measured.setdefault(f"{name}, {BATCH} a call", []).append(batched)
        finally:
            for server in servers.values():
                await server.close()
    report(measured, parsed)
    return 0


def report(measured: dict[str, list[Measured]], parsed: argparse.Namespace) -> None:
    """Print the table and the two ratios."""
    names = {
        "echo": "bare grpc.aio echo, PlaceOrder",
        "engine": f"engine ({parsed.core}, journal on), PlaceOrder",
        "frames": "engine over frames, PlaceOrder",
        f"echo, {BATCH} a call": f"bare grpc.aio echo, PlaceOrders of {BATCH}",
        f"engine, {BATCH} a call": f"engine, PlaceOrders of {BATCH}",
        f"frames, {BATCH} a call": f"engine over frames, PlaceOrders of {BATCH}",
    }
    rows = []
    for side, name in names.items():
        rates = [one.rate for one in measured[side]]
        costs = [
            statistics.median(costs)
            for costs in zip(*((one.cost_us, one.client_us) for one in measured[side]), strict=True)
        ]
        spread = f"{min(rates):,.0f} – {max(rates):,.0f}"
        rows.append([name, f"{statistics.median(rates):,.0f}", spread, *(f"{cost:.1f}" for cost in costs)])
    print(f"medians of {parsed.rounds} rounds; {IN_FLIGHT} calls in flight")
    table(("", "orders/s", "least – most", "server µs an order", "client µs an order"), rows)
    for title, above, below, target in (
        ("engine / echo, PlaceOrder", "engine", "echo", TARGET_ECHO),
        ("engine over frames / echo, PlaceOrder", "frames", "echo", TARGET_ECHO),
        (f"PlaceOrders of {BATCH} / PlaceOrder, engine", f"engine, {BATCH} a call", "engine", TARGET_BATCH),
    ):
        ratios = [first.rate / second.rate for first, second in zip(measured[above], measured[below], strict=True)]
        print(f"{title}: {statistics.median(ratios):.2f} (median of the rounds' ratios; target {target:g})")


def main() -> int:
    """Compare, or be one of the servers."""
    parser = argparse.ArgumentParser(description="Order entry over gRPC against a bare echo.")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--orders", type=int, default=2_000, help="PlaceOrder calls a round and side")
    parser.add_argument("--core", default="rust", choices=("rust", "reference"))
    parser.add_argument("--serve", choices=("engine", "echo"), help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    if parsed.serve:
        return serve(parsed.serve)
    return uvloop.run(compare(parsed))


if __name__ == "__main__":
    sys.exit(main())
