"""A router in this process, what a client of it sends, and what it publishes."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import aiohttp
import msgspec
import nats
from nats.aio.msg import Msg

from openspot.contracts import subjects
from openspot.contracts.messages import (
    AmendmentOutcome,
    AmendOrders,
    AmendOrdersReply,
    CancelOpenOrders,
    CancelOpenOrdersReply,
    CancelOrder,
    CancelOrderReply,
    ExecutedTrade,
    GetOrder,
    GetOrderReply,
    OrderAmendment,
    OrderEvent,
    OrderRequest,
    SubmitOrder,
    SubmitOrderReply,
)
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.router.service import run
from tests.support.service_process import ServiceProcess
from tests.support.waiting import eventually, stretched, subscribed

_serial = itertools.count(1)
Payload = TypeVar("Payload")


class RouterClient:
    """Sends requests as the REST edge does."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def submit(self, user_id: str = "alice", deadline: int | None = None, **fields: Any) -> SubmitOrderReply:
        """Submit a limit buy of 1 BTC at 100 USD, but for `fields`."""
        given: dict[str, Any] = {
            "order_id": f"order{next(_serial)}",
            "symbol": "BTC-USD",
            "side": "buy",
            "type": "limit",
            "quantity": "1",
            "price": "100",
        }
        if fields.get("type") == "market":
            given["price"] = None
        request = SubmitOrder(user_id, OrderRequest(**(given | fields)), deadline)
        return await self._bus.request(subjects.ORDERS_SUBMIT, request, SubmitOrderReply)

    async def place(self, user_id: str = "alice", **fields: Any) -> str:
        """Submit an order that must be accepted. Returns its id."""
        reply = await self.submit(user_id, **fields)
        assert reply.success, reply
        assert reply.order is not None
        return reply.order.order_id

    async def cancel(self, order_id: str, user_id: str = "alice", symbol: str = "BTC-USD") -> CancelOrderReply:
        """Cancel an order."""
        request = CancelOrder(user_id, order_id, symbol)
        return await self._bus.request(subjects.ORDERS_CANCEL, request, CancelOrderReply)

    async def amend(
        self, *orders: OrderAmendment, user_id: str = "alice", deadline: int | None = None
    ) -> AmendOrdersReply:
        """Amend orders."""
        request = AmendOrders(user_id, orders, deadline)
        return await self._bus.request(subjects.ORDERS_AMEND, request, AmendOrdersReply)

    async def amend_one(self, order_id: str, user_id: str = "alice", **fields: str) -> AmendmentOutcome:
        """Amend one order. The request itself must be taken."""
        reply = await self.amend(OrderAmendment(order_id, **fields), user_id=user_id)
        assert reply.success, reply
        (outcome,) = reply.outcomes
        return outcome

    async def cancel_open(
        self, user_id: str = "alice", symbol: str = "", side: str = "", order_ids: tuple[str, ...] = ()
    ) -> CancelOpenOrdersReply:
        """Cancel the user's open orders, as many as one call takes."""
        request = CancelOpenOrders(user_id, symbol, side, order_ids)
        return await self._bus.request(subjects.ORDERS_CANCEL_OPEN, request, CancelOpenOrdersReply)

    async def get(self, order_id: str, user_id: str = "alice") -> GetOrderReply:
        """Ask for an order."""
        return await self._bus.request(subjects.ORDERS_GET, GetOrder(user_id, order_id), GetOrderReply)


class Published:
    """Everything that is published below some subjects, from the connection on: (subject, payload)."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, bytes, str]] = []

    async def take(self, message: Msg) -> None:
        if message.reply.startswith("$JS.ACK."):
            # A stream hands the event to one of its consumers: it was published before.
            return
        headers = message.headers or {}
        self.messages.append((message.subject, message.data, headers.get("Nats-Msg-Id", "")))

    def of(self, subject: str, payload_type: type[Payload]) -> list[Payload]:
        """The payloads of one subject."""
        return [msgspec.json.decode(data, type=payload_type) for name, data, _ in self.messages if name == subject]

    def orders(self, subject: str) -> list[OrderEvent]:
        """The order events of one subject."""
        return self.of(subject, OrderEvent)

    def trades(self) -> list[ExecutedTrade]:
        """The consolidated trades."""
        return self.of(subjects.TRADES_EXECUTED, ExecutedTrade)

    def message_ids(self) -> list[str]:
        """The message ids, in the order of arrival."""
        return [message_id for *_, message_id in self.messages]


@asynccontextmanager
async def listening(nats_url: str, *patterns: str) -> AsyncIterator[Published]:
    """Listen to `patterns` (orders, trades and risk if none are given)."""
    published = Published()
    client = await nats.connect(nats_url)
    for pattern in patterns or ("orders.created.>", "orders.created", "orders.updated.>", "orders.updated",
                                "orders.filled.>", "orders.filled", "orders.cancelled.>", "orders.cancelled",
                                "orders.rejected.>", "orders.rejected", "trades.executed.>", "trades.executed",
                                "risk.check.failed"):  # fmt: skip
        await client.subscribe(pattern, cb=published.take)
    await subscribed(client)
    try:
        yield published
    finally:
        await client.close()


async def stored(nats_url: str, stream: str) -> list[tuple[str, bytes, str]]:
    """What a stream of the bus holds: (subject, payload, message id).

    The server acknowledges an event of a stream of news before it can be read: wait for it with `eventually`.
    """
    client = await nats.connect(nats_url)
    try:
        context = client.jetstream()
        count = (await context.stream_info(stream)).state.messages
        if not count:
            return []
        subscription = await context.subscribe(f"{STREAM_SUBJECTS[stream]}", stream=stream, ordered_consumer=True)
        messages = [await subscription.next_msg(stretched(5)) for _ in range(count)]
        return [(message.subject, message.data, (message.headers or {}).get("Nats-Msg-Id", "")) for message in messages]
    finally:
        await client.close()


STREAM_SUBJECTS = {
    "TRADES": "trades.executed",
    "TRADE_SIDES": "trades.executed.>",
    "ORDERS": "orders.>",
    "RISK": "risk.>",
    "CUSTODY": "custody.>",
    "TRANSFERS": "transfers.>",
}


@asynccontextmanager
async def running_router(settings: Settings) -> AsyncIterator[asyncio.Task[None]]:
    """A router in this process, stopped cleanly in the end."""
    stop = asyncio.Event()
    task = asyncio.create_task(run(settings, stop))
    try:
        await router_ready(settings, task)
        yield task
    finally:
        stop.set()
        await task


class RouterProcess(ServiceProcess):
    """A router as a child process. `router_ready` tells when it is up."""

    def __init__(self, settings: Settings) -> None:
        code = (
            "from openspot.router.service import run\n"
            "from openspot.router.settings import RouterSettings\n"
            'sys.exit(run_service("router", run, RouterSettings()))'
        )
        super().__init__(settings, code, f"router-{settings.router_port}.log")


@asynccontextmanager
async def router_process(settings: Settings) -> AsyncIterator[RouterProcess]:
    """A ready router in a child process."""
    child = RouterProcess(settings)
    child.start()
    try:
        await router_ready(settings)
        yield child
    finally:
        if child.process is not None and child.process.poll() is None:
            child.kill()


async def router_ready(settings: Settings, task: asyncio.Task[None] | None = None) -> None:
    """Wait until the router of these settings says that it is ready. Fails with its fault if it has ended."""
    async with aiohttp.ClientSession() as session:

        async def ready() -> bool:
            if task is not None and task.done():
                task.result()
            try:
                async with session.get(f"http://{settings.host}:{settings.router_port}/ready") as response:
                    return response.status == 200
            except aiohttp.ClientError:
                return False

        await eventually(ready, 30)
