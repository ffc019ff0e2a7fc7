"""What one order costs in the code of REST edge and order router, step by step, without bus, database and engine.

    .venv/bin/python -m benchmarks.order_path [--orders 2000] [--rounds 7] [--profile]

The real protocol, pipeline, order service, submission, placements and call of the engine. What the kernel and other
processes would do is replaced: the connections are in memory, the audit trail is dropped, the engine answers in this
process. 16 connections. First the whole way, then its parts alone. The least processor time of the rounds is printed,
because other work on the machine only adds to it; it tells two versions apart where a whole platform's figures do not.
With `--profile`, cProfile's table of the whole way follows.
"""

import argparse
import asyncio
import cProfile
import gc
import itertools
import pstats
import time
from collections.abc import Awaitable, Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import uvicorn
import uvloop
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from benchmarks.capacity_parts import SYMBOL, USERS
from benchmarks.core_runs import table
from benchmarks.http_load import http_request
from benchmarks.local_requests import REPLY, REQUEST
from benchmarks.rest_orders import order_bodies
from openspot.contracts import subjects
from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.contracts.messages import OrderRecord, SubmitOrder, SubmitOrderReply
from openspot.domain.market import load_markets
from openspot.domain.symbol import SymbolSpec
from openspot.engine_client.commands import EngineCommands
from openspot.http.app import make_http_app
from openspot.http.audit import DatabaseAudit
from openspot.http.authentication import UserTokens
from openspot.http.connections import ConnectionBounds, Connections
from openspot.http.context import IdempotentOperation, RequestContext, new_operation
from openspot.http.protocol import GuardedProtocol
from openspot.http.responses import FastPathResponse, encode_json
from openspot.http.routing import Router
from openspot.kit.bus import Bus, LocalSubjects
from openspot.kit.bus.requests import Requests
from openspot.kit.clock import system_clock
from openspot.kit.health import Health
from openspot.kit.service import GARBAGE_THRESHOLD
from openspot.kit.tokens import Claims, sign
from openspot.rest_edge.orders.routes import PLACE, order_routes
from openspot.rest_edge.orders.schemas import OrderBatchBody, OrderBody, read_order
from openspot.rest_edge.orders.service import OrderService
from openspot.router.orders.available_funds import AvailableFunds
from openspot.router.orders.draft import draft_of
from openspot.router.orders.engine_order_ids import OrderIds
from openspot.router.orders.engine_orders import order_in_response, pending_order, place_request, placed_record
from openspot.router.orders.opening import Opening
from openspot.router.orders.placements import Placements
from openspot.router.orders.pre_trade import BEFORE_BALANCE, Candidate, MarketRules, first_failure
from openspot.router.orders.recent_orders import RecentOrders
from openspot.router.orders.reference_prices import LastTradePrices
from openspot.router.orders.rejections import Rejections
from openspot.router.orders.submission import Submission

CONNECTIONS = 16
PATIENCE_S = 600.0
"""Other work of the machine may stop this process for long, and no order must be late for that."""
SECRET = "benchmark-secret-of-thirty-two-bytes"
SPEC = SymbolSpec(
    symbol=SYMBOL, symbol_id=1, base="BTC", quote="USD", base_scale_k=100_000_000, quote_scale_k=100, tick=1, lot=1,
    taker_fee_bps=25, maker_fee_bps=15,
)  # fmt: skip
MARKET = MarketRules(load_markets().limits[SYMBOL], SPEC)
MARKETS = {SYMBOL: MARKET}


class MemoryConnection(asyncio.Transport):
    """A client's connection that has no socket: it sends its next request when a response is whole."""

    def __init__(self, protocol: GuardedProtocol, requests: Sequence[bytes]) -> None:
        super().__init__({"peername": ("127.0.0.1", 50_000), "sockname": ("127.0.0.1", 3001)})
        self._protocol = protocol
        self._requests = iter(requests)
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = self._loop.create_future()
        self.refused = 0

    def next(self) -> None:
        """Send the next request."""
        request = next(self._requests, None)
        if request is None:
            self.done.set_result(None)
        else:
            self._protocol.data_received(request)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Take a head or a body: a body ends the response."""
        if not data.startswith(b"HTTP/1.1"):  # type: ignore[union-attr]
            self._loop.call_soon(self.next)
        elif not data.startswith(b"HTTP/1.1 201"):  # type: ignore[union-attr]
            self.refused += 1

    def is_closing(self) -> bool:
        """Never."""
        return False

    def pause_reading(self) -> None:
        """Nothing is read."""

    def resume_reading(self) -> None:
        """Nothing is read."""

    def close(self) -> None:
        """Nothing is open."""


class Frames:
    """The engine's frames: each order is accepted and rests."""

    async def request(self, _: str, message: bytes, *__: float) -> bytes:
        """The reply to a PlaceOrders call."""
        await asyncio.sleep(0)
        orders = pb.PlaceOrdersRequest.FromString(message).orders
        return pb.PlaceOrdersResponse(orders=[answer(order) for order in orders]).SerializeToString()

    async def close(self) -> None:
        """Nothing is open."""


def answer(order: pb.PlaceOrderRequest) -> pb.PlaceOrderResponse:
    """The engine's response to an order that rests."""
    return pb.PlaceOrderResponse(
        order_id=order.order_id, status=pb.ACCEPTED, result_code="SUCCESS", remaining_quantity=order.quantity,
        sequence=order.order_id, timestamp=1_700_000_000_000, notional="0", fee="0", accepted_price=order.price,
        accepted_quantity=order.quantity,
    )  # fmt: skip


class Funds(AvailableFunds):
    """The figures of the ledger, of which all are recent."""

    async def available(self, user_id: str, asset: str, needed: Any) -> Any:
        """A figure that a reply a moment ago brought."""
        account = (user_id, asset)
        found = self._recent.take(account, needed)
        if found is None:
            self._recent.put(account, 10**12 - needed)
        return found or 10**12


class Platform:
    """Edge and router of one process, and the parts that are measured alone."""

    def __init__(self) -> None:
        self._last_id = 0
        self.commands = EngineCommands.__new__(EngineCommands)
        self.commands._place_timeout_s = 1.0
        self.commands._frames = cast(Any, Frames())
        self.placements = Placements(self.commands.place_orders, wait_s_max=30, waiting_max=10_000)
        self.submission = Submission(
            markets=MARKETS,
            reference_prices=LastTradePrices(3_600_000),
            funds=Funds(cast(Bus, None), cast(EngineCommands, None), 30),
            order_ids=OrderIds(self._take_block, take_s_max=30),
            recent_orders=RecentOrders(20_000),
            placements=self.placements,
            rejections=Rejections(cast(Bus, None), cast(Any, None)),
            clock=system_clock,
            honour_time_in_force=False,
            opening=Opening((), time.monotonic, cancel_only_s=0, post_only_s_max=0),
        )
        self.requests = Requests(cast(Any, SimpleNamespace(is_connected=True, client=self)), LocalSubjects())
        bus = SimpleNamespace(request=self.requests.request)
        self.service = OrderService(cast(Bus, bus), cast(Any, None), system_clock, PATIENCE_S)
        now = int(time.time())
        self.tokens = [sign(Claims(user, "user", now + 36_000), SECRET, now) for user in USERS]

    async def subscribe(self, *_: Any, **__: Any) -> None:
        """A subscription of the bus, which never brings anything."""

    async def _take_block(self) -> int:
        self._last_id += 1000
        return self._last_id

    async def copy_records_to_table(self, *_: Any, **__: Any) -> None:
        """The audit trail of the database, which drops its records."""

    async def serve(self) -> None:
        """Serve `orders.submit`."""
        await self.requests.serve(
            subjects.ORDERS_SUBMIT, "router", SubmitOrder, self.submission.submit, SubmitOrderReply.refused
        )


class Answering(OrderService):
    """An order service that answers at once."""

    def __init__(self) -> None:
        self._clock, self._has_complete_rules = system_clock, False

    async def place(self, user_id: str, body: OrderBody, operation: IdempotentOperation) -> OrderRecord:
        """The same record for every order."""
        self.check(body)
        assert REPLY.order is not None
        return REPLY.order


class Asking(OrderService):
    """An order service whose router answers at once."""

    def __init__(self, requests: Requests) -> None:
        async def request(_: str, *arguments: Any) -> Any:
            return await requests.request("benchmark", *arguments)

        super().__init__(cast(Bus, SimpleNamespace(request=request)), cast(Any, None), system_clock, PATIENCE_S)


def application_of(platform: Platform, service: OrderService) -> ASGIApp:
    """The edge with the order routes alone."""
    return make_http_app(
        [order_routes("/api/v1", service, has_complete_rules=False)],
        title="benchmark",
        health=Health(),
        authenticators=[UserTokens(SECRET)],
        audit=DatabaseAudit(cast(Any, platform), 100_000),
    )


def empty(platform: Platform) -> ASGIApp:
    """The pipeline around a handler that reads nothing and always answers the same."""
    router = Router("/api/v1/orders", tag="orders")
    response = FastPathResponse(201, encode_json(REPLY.order))

    async def place(_: RequestContext) -> FastPathResponse:
        return response

    @router.post("", PLACE, status=201, fast_path=place, summary="Nothing")
    async def never(body: OrderBatchBody) -> Response:
        raise AssertionError("the fast path answers")

    return make_http_app(
        [router],
        title="benchmark",
        health=Health(),
        authenticators=[UserTokens(SECRET)],
        audit=DatabaseAudit(cast(Any, platform), 100_000),
    )


async def bare(_: Scope, receive: Receive, send: Send) -> None:
    """Read a body and answer with as many bytes as an order has."""
    await receive()
    body = encode_json(REPLY.order)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 201, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def http(application: ASGIApp, platform: Platform, count: int) -> float:
    """Send orders on all connections until each is answered; returns the seconds of processor time."""
    config = uvicorn.Config(application, log_level="error", access_log=False, lifespan="off")
    config.load()
    state, places = ServerState(), Connections(ConnectionBounds(1000, 1000))
    connections = []
    for number in range(CONNECTIONS):
        bodies = itertools.islice(order_bodies(number), count // CONNECTIONS)
        token = platform.tokens[number % len(platform.tokens)]
        protocol = GuardedProtocol(config, state, {}, open_connections=places)
        flow = [http_request("POST", "/api/v1/orders", body, token) for body in bodies]
        connection = MemoryConnection(protocol, flow)
        protocol.connection_made(connection)
        connections.append(connection)
    began = time.process_time()
    for connection in connections:
        connection.next()
    await asyncio.gather(*(connection.done for connection in connections))
    seconds = time.process_time() - began
    assert not any(connection.refused for connection in connections)
    return seconds


async def at_a_time(count: int, work: Callable[[int], Awaitable[object]]) -> None:
    """Do `work` so many times, as many at a time as there are connections."""

    async def some(first: int) -> None:
        for number in range(first, count, CONNECTIONS):
            await work(number)

    await asyncio.gather(*(some(first) for first in range(CONNECTIONS)))


def parts(platform: Platform, count: int) -> dict[str, Callable[[], Any]]:
    """The parts of an order's way that can be done alone, `count` times each."""
    bodies = list(itertools.islice(order_bodies(5), count))
    orders = [read_order(body, are_complete=False) for body in bodies]
    ids = [new_operation().operation_id for _ in orders]
    submits = [SubmitOrder("user-1", order.to_request(id_), None) for order, id_ in zip(orders, ids, strict=True)]
    drafts = [draft_of(submit) for submit in submits]
    now_ms = system_clock() // 1_000_000

    def candidate(draft: Any) -> Candidate:
        made = Candidate(draft, MARKETS, now_ms=now_ms)
        assert first_failure(made, BEFORE_BALANCE) is None
        return made

    candidates = [candidate(draft) for draft in drafts]
    pending = [pending_order(each, number, now_ms) for number, each in enumerate(candidates, 1)]
    requests = [place_request(each, number, honour_time_in_force=False) for number, each in enumerate(candidates, 1)]
    responses = [answer(request) for request in requests]
    placed = [order_in_response(order, SPEC, response) for order, response in zip(pending, responses, strict=True)]
    records = [placed_record(order, SPEC, response, with_fills=False)
               for order, response in zip(placed, responses, strict=True)]  # fmt: skip
    encoder, decoder = msgspec.json.Encoder(), msgspec.json.Decoder(SubmitOrder)
    reply_decoder = msgspec.json.Decoder(SubmitOrderReply)

    def each(work: Callable[[Any], object], over: Sequence[Any]) -> Callable[[], None]:
        def run() -> None:
            for item in over:
                work(item)

        return run

    def codec(submit: SubmitOrder) -> None:
        decoder.decode(encoder.encode(submit))
        reply_decoder.decode(encoder.encode(REPLY))

    def response_of(number: int) -> None:
        order_in_response(pending[number], SPEC, responses[number])

    return {
        "body read and checked": each(lambda body: read_order(body, are_complete=False), bodies),
        "rules of the edge": each(platform.service.check, orders),
        "request for the router": each(lambda order: order.to_request("a"), orders),
        "request and reply encoded and decoded": each(codec, submits),
        "draft": each(draft_of, submits),
        "pre-trade checks": each(candidate, drafts),
        "pending order": each(lambda candidate: pending_order(candidate, 1, now_ms), candidates),
        "request for the engine": each(lambda c: place_request(c, 1, honour_time_in_force=False), candidates),
        "order in the response": each(response_of, range(count)),
        "record for the client": each(lambda order: placed_record(order, SPEC, responses[0], with_fills=False), placed),
        "response encoded": each(encode_json, records),
    }  # fmt: skip


async def measure(options: argparse.Namespace) -> None:
    """All rounds, and the table."""
    platform, count = Platform(), options.orders
    await platform.serve()
    alone = parts(platform, count)
    layers = {
        "HTTP: parser, protocol, task": bare,
        "… with the pipeline": empty(platform),
        "… with body, rules and operation": application_of(platform, Answering()),
        "… with the request within the process": application_of(platform, Asking(platform.requests)),
        "… with the router's checks, engine and record: the whole way": application_of(platform, platform.service),
    }

    async def request(number: int) -> None:
        await platform.requests.request("benchmark", REQUEST, SubmitOrderReply, PATIENCE_S)

    async def echo(_: SubmitOrder) -> SubmitOrderReply:
        return REPLY

    await platform.requests.serve("benchmark", "router", SubmitOrder, echo, SubmitOrderReply.refused)
    placing = [pb.PlaceOrderRequest(order_id=number, symbol=SYMBOL, external_id=f"order{number:011d}",
               participant_id="user-1", quantity=100, price=100, metadata="{}") for number in range(count)]  # fmt: skip
    found: dict[str, list[float]] = {}
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)

    def note(name: str, seconds: float) -> None:
        found.setdefault(name, []).append(1e6 * seconds / count)

    for _ in range(options.rounds):
        for name, application in layers.items():
            note(name, await http(application, platform, count))
        for name, work in (
            ("request within the process, no work", request),
            ("call of the engine, shared", lambda number: platform.placements.place(placing[number])),
        ):
            began = time.process_time()
            await at_a_time(count, work)
            note(name, time.process_time() - began)
        for name, run in alone.items():
            began = time.process_time()
            run()
            note(name, time.process_time() - began)
        await asyncio.sleep(0.05)
    table(("processor time of an order", "µs, least"), [[name, f"{min(costs):.1f}"] for name, costs in found.items()])
    if options.profile:
        profile = cProfile.Profile()
        profile.enable()
        await http(application_of(platform, platform.service), platform, count)
        profile.disable()
        pstats.Stats(profile).sort_stats("tottime").print_stats(60)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--orders", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--profile", action="store_true", help="print cProfile's table of the whole way, too")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
