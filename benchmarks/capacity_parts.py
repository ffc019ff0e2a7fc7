"""The parts of services that `benchmarks.capacity` loads, each alone in this process, with input made beforehand."""

import asyncio
import functools
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import msgspec
from websockets.asyncio.server import ServerConnection, serve

from benchmarks.engine_commands import engine_commands, first_commands
from benchmarks.ledger_settlement import MAKE_ACCOUNTS, MARKET_MAKERS, trades
from benchmarks.workloads import ACCOUNTS
from benchmarks.ws_fan_out import CHANNELS, HANDSHAKE, never_ended
from openspot.contracts import subjects
from openspot.contracts.engine_events import AcceptedEvent, EngineEvent, StreamEntry, TradeEvent
from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.contracts.messages import (
    BalanceUpdated,
    LedgerBalance,
    LedgerBalancesReply,
    LedgerBalancesRequest,
    MarketTradeEvent,
    OrderEvent,
    OrderRequest,
    SubmitOrder,
    SubmitOrderReply,
)
from openspot.domain.market import load_markets
from openspot.domain.partition import WHOLE
from openspot.domain.symbol import SymbolSpec
from openspot.engine.core.selection import make_core
from openspot.engine.state.state_machine import StateMachine
from openspot.engine.stream.event_render import EventRenderer
from openspot.engine_client.position import StreamPosition
from openspot.http.connections import ConnectionBounds, Connections
from openspot.kit.bus import Bus, OutgoingEvent, RetryingPublisher, encode
from openspot.kit.clock import system_clock
from openspot.kit.database import Pool
from openspot.kit.tokens import Claims, sign
from openspot.ledger.outbox import BalanceEvents
from openspot.ledger.settings import LedgerSettings
from openspot.ledger.settlement import Settlement
from openspot.ledger.store import LedgerStore
from openspot.ledger.worker import Workflows
from openspot.market_data.markets import Markets, publishable
from openspot.market_data.recorder import Recorder
from openspot.market_data.store import MarketDataStore
from openspot.router.orders.available_funds import AvailableFunds
from openspot.router.orders.engine_order_ids import OrderIds
from openspot.router.orders.opening import Opening
from openspot.router.orders.placements import Placements
from openspot.router.orders.pre_trade import MarketRules
from openspot.router.orders.recent_orders import RecentOrders
from openspot.router.orders.reference_prices import LastTradePrices
from openspot.router.orders.rejections import Rejections
from openspot.router.orders.submission import Submission
from openspot.router.store import RouterStore
from openspot.router.tracked_order import TrackedOrder
from openspot.router.trade_row import TradeRow
from openspot.router.translation.lease import POSITION_BUCKET, PublishedPosition
from openspot.router.translation.order_state_machine import OrderStateMachine
from openspot.router.translation.row_writer import RowWriter
from openspot.ws_edge.connection import WRITE_BUFFER_BYTES, EdgeConnection, Flusher, Limits
from openspot.ws_edge.hub import Hub
from openspot.ws_edge.incoming import Turns
from openspot.ws_edge.login import TokenChecker
from openspot.ws_edge.session import Sessions
from openspot.ws_edge.settings import WsEdgeSettings

EPOCH = "benchmark"
ARRAY = 256
"""Events that the engine's stream delivers together, and that the translator publishes together."""
EVENTS_BETWEEN_BOOKS = 512
LEDGER_BATCH = 200
"""Trades of one settlement: what arrives in a tenth of a second at 2,000 trades a second."""
LEDGER_USERS = 1_000
IN_FLIGHT = 16
USERS = tuple(f"user-{number}" for number in range(4))
SYMBOL = "BTC-USD"

_decode = msgspec.json.Decoder(list[StreamEntry]).decode


class Flow(NamedTuple):
    """The engine's events of the workload, as its stream sends them, and how many orders and trades they tell of."""

    messages: list[bytes]
    orders: int
    trades: int


class Rows(NamedTuple):
    """What the translator made of one batch: rows, and the order events that it published, as (subject, payload)."""

    orders: list[TrackedOrder]
    trades: list[TradeRow]
    position: StreamPosition
    events: list[tuple[str, bytes]]


Cost = tuple[float, int]
"""Seconds of processor time of this process, and the orders that they were spent on."""


def flow(orders: int) -> Flow:
    """Run the workload through the core until it has placed so many orders."""
    commands = int(orders / 0.65)
    machine = StateMachine(make_core("auto"), commands)
    renderer = EventRenderer(machine.directory, EPOCH)
    first, notes = first_commands()
    machine.register(first, notes)
    events = renderer.messages(machine.apply(first, notes).events)
    for record, note in engine_commands(commands, seed=1):
        machine.register(record, [note])
        events += renderer.messages(machine.apply(record, [note]).events)
    messages = [b"[" + b",".join(events[at : at + ARRAY]) + b"]" for at in range(0, len(events), ARRAY)]
    kinds = [type(event) for message in messages for event in _decode(message)]
    return Flow(messages, kinds.count(AcceptedEvent), kinds.count(TradeEvent))


async def _ready() -> None:
    """The connection is there."""


async def translate(bus: Bus, given: Flow) -> tuple[Cost, list[Rows]]:
    """Decode, translate and publish the events, and save the position after each batch."""
    machine, publisher = OrderStateMachine(EPOCH, []), RetryingPublisher(bus, held_max=1000, ready=_ready)
    position = PublishedPosition(bus.key_value(POSITION_BUCKET, StreamPosition), WHOLE)
    await position.load()
    made, began = [], time.process_time()
    for message in given.messages:
        events = cast(list[EngineEvent], _decode(message))
        outgoing: list[OutgoingEvent] = []
        orders: dict[str, TrackedOrder] = {}
        rows: list[TradeRow] = []
        for event in events:
            translated = machine.apply(event)
            for message_out, targets in ((one.message, one.targets) for one in translated.publications):
                payload = encode(message_out)
                if isinstance(message_out, OrderEvent):
                    # The server publishes it on the other subject.
                    to, key = targets[-1], message_out.order.user_id
                    outgoing.append(OutgoingEvent(to.subject, payload, to.message_id, key=key))
                    continue
                outgoing += [OutgoingEvent(target.subject, payload, target.message_id) for target in targets]
            orders |= {order.order_id: order for order in translated.orders}
            rows += translated.trades
        reached = StreamPosition(EPOCH, events[-1].seq)
        await bus.publish_many(outgoing)
        await position.save(reached)
        told = [(event.subject, event.payload) for event in outgoing if event.subject.startswith("orders.")]
        made.append(Rows(list(orders.values()), rows, reached, told))
    used = time.process_time() - began
    await publisher.close()
    return (used, given.orders), made


async def write_rows(pool: Pool, bus: Bus, made: Sequence[Rows], orders: int) -> Cost:
    """Write the rows of the translated events."""
    publisher = RetryingPublisher(bus, held_max=1000, ready=_ready)
    store = RouterStore(pool)
    await store.division.begin(WHOLE.total)
    writer = RowWriter(store, publisher, None, 20_000)
    began = time.process_time()
    for rows in made:
        await writer.put(rows.orders, rows.trades, rows.position)
    await writer.drained()
    used = time.process_time() - began
    await writer.cancel()
    await publisher.close()
    return used, orders


# The ledger


async def settle(pool: Pool, bus: Bus, given: Flow) -> Cost:
    """Settle as many trades as the flow has, in batches."""
    settlement = await _settlement(pool, bus)
    batches = _batches(given.trades, "ledger")
    began = time.process_time()
    for batch in batches:
        rejected = await settlement.settle(batch)
        await settlement.announce(batch, rejected)
    return time.process_time() - began, given.orders


async def settle_in_workflows(pool: Pool, bus: Bus, settings: LedgerSettings, given: Flow) -> Cost:
    """Settle them as durable workflows, as the ledger worker does."""
    workflows = Workflows(settings, await _settlement(pool, bus))
    await workflows.start()
    batches = _batches(given.trades, "worker")
    try:
        began = time.process_time()
        for batch in batches:
            await workflows.settle(batch)
        return time.process_time() - began, given.orders
    finally:
        await workflows.stop()


async def _settlement(pool: Pool, bus: Bus) -> Settlement:
    await pool.execute(MAKE_ACCOUNTS, LEDGER_USERS, MARKET_MAKERS)
    store = LedgerStore(pool)
    settlement = Settlement(store, BalanceEvents(bus, store, system_clock), bus, system_clock)
    await settlement.start()
    return settlement


def _batches(count: int, run: str) -> list[list[Any]]:
    everything = list(trades(count, LEDGER_USERS, run))
    return [everything[at : at + LEDGER_BATCH] for at in range(0, len(everything), LEDGER_BATCH)]


# Market data


async def publish_market_data(pool: Pool, bus: Bus, given: Flow) -> Cost:
    """Decode and apply the events, publish trades, books and tickers, and count the trades in the candles."""
    markets, store = Markets(1000), MarketDataStore(pool)
    recorder = Recorder(store, (await store.lead()).token, 20_000)
    began = time.process_time()
    waiting = 0
    for message in given.messages:
        found: list[MarketTradeEvent] = []
        events = cast(list[EngineEvent], _decode(message))
        for event in events:
            applied = markets.apply(event)
            if applied is not None and applied.trade is not None:
                found.append(applied.trade)
        for trade in found:
            await bus.announce(subjects.of_symbol(subjects.MARKETDATA_TRADE, trade.symbol), trade)
        waiting += len(events)
        if waiting >= EVENTS_BETWEEN_BOOKS:
            waiting = 0
            for book in publishable(markets.all()):
                await bus.announce(subjects.of_symbol(subjects.MARKETDATA_ORDERBOOK, book.symbol), book)
            for market in markets.all():
                ticker = market.changed_ticker(system_clock() // 1_000_000)
                if ticker is not None:
                    await bus.announce(subjects.of_symbol(subjects.MARKETDATA_TICKER, ticker.symbol), ticker)
        await recorder.put(found, StreamPosition(EPOCH, events[-1].seq))
    await recorder.drained()
    used = time.process_time() - began
    await recorder.cancel()
    return used, given.orders


# Taking orders


def submissions(count: int) -> Iterator[SubmitOrder]:
    """Requests for limit orders, as the REST edge sends them."""
    for number in range(count):
        side, price = ("buy", "sell")[number % 2], f"{50_000 + number % 41}"
        order = OrderRequest(f"order{number:011d}", SYMBOL, side, "limit", "0.01", price)
        yield SubmitOrder(USERS[number % len(USERS)], order, None)


async def take_orders(pool: Pool, bus: Bus, start_client: Callable[[], subprocess.Popen[bytes]], count: int) -> Cost:
    """Serve `orders.submit` as the router does, before an engine that accepts all, until the client has ended."""
    taken = 0

    async def place(orders: Sequence[pb.PlaceOrderRequest]) -> list[pb.PlaceOrderResponse]:
        nonlocal taken
        taken += len(orders)
        return [
            pb.PlaceOrderResponse(
                order_id=order.order_id,
                status=pb.ACCEPTED,
                result_code="SUCCESS",
                remaining_quantity=order.quantity,
                sequence=order.order_id,
                timestamp=1_700_000_000_000,
                notional="0",
                fee="0",
            )
            for order in orders
        ]

    store = RouterStore(pool)
    spec = SymbolSpec(
        symbol=SYMBOL,
        symbol_id=1,
        base="BTC",
        quote="USD",
        base_scale_k=100_000_000,
        quote_scale_k=100,
        tick=1,
        lot=1,
        taker_fee_bps=25,
        maker_fee_bps=15,
    )
    placements = Placements(place, wait_s_max=30, waiting_max=10_000)
    order_ids = OrderIds(store.take_id_block, take_s_max=30)
    submission = Submission(
        markets={SYMBOL: MarketRules(load_markets().limits[SYMBOL], spec)},
        reference_prices=LastTradePrices(3_600_000),
        funds=AvailableFunds(bus, cast(Any, None), 30),
        order_ids=order_ids,
        recent_orders=RecentOrders(200_000),
        placements=placements,
        rejections=Rejections(bus, store),
        clock=system_clock,
        honour_time_in_force=False,
        opening=Opening((), time.monotonic, cancel_only_s=0, post_only_s_max=0),
    )
    await bus.serve(subjects.ORDERS_SUBMIT, "router", SubmitOrder, submission.submit, SubmitOrderReply.refused)
    client = start_client()
    try:
        began = time.process_time()
        while client.poll() is None:
            await asyncio.sleep(0.1)
        used = time.process_time() - began
    finally:
        client.kill()
    await bus.stop_serving()
    await placements.close()
    await order_ids.close()
    assert taken >= count, f"{taken} of {count} orders were placed"
    return used, taken


async def submit(bus: Bus, count: int) -> None:
    """The other side of `take_orders`, in a process of its own: the REST edge's requests, and the ledger's replies."""

    async def balances(request: LedgerBalancesRequest) -> LedgerBalancesReply:
        return LedgerBalancesReply([LedgerBalance(str(request.asset), "1000000000000", "0")])

    await bus.serve(
        subjects.LEDGER_BALANCES_GET, "ledger", LedgerBalancesRequest, balances, LedgerBalancesReply.refused
    )
    requests = submissions(count)

    async def work() -> None:
        for request in requests:
            reply = await bus.request(subjects.ORDERS_SUBMIT, request, SubmitOrderReply, 30)
            assert reply.success, reply

    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))


# The WebSocket edge


def _text(message: dict[str, str]) -> bytes:
    """A client's frame. Its mask is zero."""
    payload = msgspec.json.encode(message)
    length = len(payload)
    head = bytes((0x81, 0x80 | length)) if length < 126 else bytes((0x81, 0x80 | 126)) + length.to_bytes(2, "big")
    return head + bytes(4) + payload


class Watcher(asyncio.Protocol):
    """A user's client: logs in, follows trades and book of a market, and drops what it receives."""

    def __init__(self, token: str) -> None:
        self._token = token

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send everything at once."""
        frames = [_text({"action": "subscribe", "channel": channel}) for channel in CHANNELS]
        login = _text({"action": "authenticate", "token": self._token})
        cast(asyncio.Transport, transport).write(HANDSHAKE + login + b"".join(frames))


async def watch(port: int, secret: str) -> None:
    """All watchers, in a process of their own, until they are killed."""
    loop, now = asyncio.get_running_loop(), int(time.time())
    for number in range(ACCOUNTS):
        token = sign(Claims(f"user-{number}", "user", now + 3600), secret, now)
        await loop.create_connection(functools.partial(Watcher, token), "127.0.0.1", port)
    await asyncio.Event().wait()


def _market_events(given: Flow) -> Iterator[list[tuple[str, bytes]]]:
    """What market data publishes after each array of events: trades, and now and then the book."""
    markets, waiting, is_first = Markets(1000), 0, True
    for message in given.messages:
        found = []
        events = cast(list[EngineEvent], _decode(message))
        for event in events:
            applied = markets.apply(event)
            if applied is not None and applied.trade is not None:
                trade = applied.trade
                found.append((subjects.of_symbol(subjects.MARKETDATA_TRADE, trade.symbol), encode(trade)))
        waiting += len(events)
        if waiting >= EVENTS_BETWEEN_BOOKS or is_first:
            waiting, is_first = 0, False
            found += [
                (subjects.of_symbol(subjects.MARKETDATA_ORDERBOOK, book.symbol), encode(book))
                for book in publishable(markets.all())
            ]
        yield found


def _balance_events(rows: Sequence[TradeRow]) -> list[tuple[str, bytes]]:
    """What the ledger publishes for these trades, if it settles them together: the accounts of both sides."""
    news = {(user, asset): row for row in rows for user in (row.buyer_id, row.seller_id) for asset in ("BTC", "USD")}
    return [
        (
            subjects.of_user(subjects.BALANCES_UPDATED, user),
            encode(BalanceUpdated(user, asset, "1000.5", "0", row.trade_id, row.executed_ms, row.sequence)),
        )
        for (user, asset), row in news.items()
    ]


async def fan_out(given: Flow, made: Sequence[Rows]) -> Cost:
    """Hand all events of the flow to ACCOUNTS connections: each user's own, and the market's to everybody."""
    secret = "benchmark-secret-of-thirty-two-bytes"
    settings = WsEdgeSettings(ws_idle_s=3600, ws_ping_s=3600)
    hub = Hub(lambda: 1_700_000_000_000)
    tokens = TokenChecker(secret, never_ended, time.time)
    sessions = Sessions(settings, hub, system_clock, tokens, None)
    make = functools.partial(
        EdgeConnection,
        limits=Limits.of(settings, time.time),
        open_connections=Connections(ConnectionBounds(2 * ACCOUNTS, 2 * ACCOUNTS)),
        note_flood=lambda _: None,
        flusher=Flusher(),
        turns=Turns(asyncio.get_running_loop().call_later, time.perf_counter),
    )
    server = await serve(
        sessions.handle, "127.0.0.1", 0, create_connection=cast(type[ServerConnection], make),
        compression=None, ping_interval=None, write_limit=WRITE_BUFFER_BYTES,
    )  # fmt: skip
    port = server.sockets[0].getsockname()[1]
    command = [sys.executable, "-m", "benchmarks.capacity", "--part", "watch", str(port), secret]
    child = await asyncio.create_subprocess_exec(*command)
    try:
        while len(hub.connections) < ACCOUNTS or not all(
            len(connection.channels) == len(CHANNELS) and connection.claims for connection in hub.connections
        ):
            await asyncio.sleep(0.05)
        turns = [
            (market, rows.events, _balance_events(rows.trades))
            for market, rows in zip(_market_events(given), made, strict=True)
        ]
        began = time.process_time()
        for market, orders, balances in turns:
            for subject, payload in market:
                hub.market_event(subject, payload)
            for subject, payload in orders:
                hub.order_event(subject, payload)
            for subject, payload in balances:
                hub.balance_event(subject, payload)
            await asyncio.sleep(0)
            while any(connection.transport.get_write_buffer_size() for connection in hub.connections):
                await asyncio.sleep(0)
        return time.process_time() - began, given.orders
    finally:
        child.kill()
        await child.wait()
        server.close()
