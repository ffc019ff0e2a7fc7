"""What is not on the order path (facts A1.2-16 to A1.2-25, A2.4-16): all that crosses the bus is heard."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import asyncpg
import psutil
import pytest

from openspot.contracts import subjects
from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.streams import STREAMS
from openspot.domain.fees import GATEWAY_TIERS
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient
from tests.support.fake_ledger import FakeLedger
from tests.support.in_process_platform import running
from tests.support.ledger import count
from tests.support.rest_client import Reply, RestClient, running_edge
from tests.support.router_client import Published, RouterClient, listening, router_process
from tests.support.waiting import eventually

VERSION = re.compile(r"v[0-9]+", re.IGNORECASE)


@dataclass(frozen=True)
class Trading:
    """A platform on which alice and bob trade through the REST edge, and everything that crosses its bus."""

    rest: RestClient
    engine: EngineClient
    pool: asyncpg.Pool
    heard: Published

    async def place(self, user: str, **fields: Any) -> Reply:
        """An order of 1 BTC at 100 USD, but for `fields`."""
        order = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "100"} | fields
        self.rest.as_user(user)
        return await self.rest("POST", "/orders", {name: value for name, value in order.items() if value is not None})

    async def cancel(self, user: str, order_id: str) -> Reply:
        """Cancel an order."""
        self.rest.as_user(user)
        return await self.rest("DELETE", f"/orders/{order_id}")

    def heard_subjects(self) -> set[str]:
        """Subjects of the platform's own: no answers, nothing of the bus's machinery."""
        return {name for name, *_ in self.heard.messages if not name.startswith(("_INBOX.", "$", "deliver."))}


@asynccontextmanager
async def trading_on(settings: Settings, pool: asyncpg.Pool) -> AsyncIterator[Trading]:
    async with running(settings, "engine", "ledger", "router", "rest-edge"):
        engine, rest = EngineClient(settings), RestClient(settings)
        try:
            for user in ("alice", "bob"):
                await engine.fund(user)
            async with listening(settings.nats_url, ">") as heard:
                yield Trading(rest, engine, pool, heard)
        finally:
            await rest.close()
            await engine.close()


@pytest.fixture
async def trading(settings: Settings, pool: asyncpg.Pool) -> AsyncIterator[Trading]:
    """A platform without traffic."""
    async with trading_on(settings, pool) as platform:
        yield platform


@pytest.mark.spec("A1.2-16", "A2.4-16", "A9-06")
@pytest.mark.parametrize("margin_mode", ["isolated", "cross"])
async def test_a_margin_order_lives_and_ends_without_a_margin_call_or_a_lock(
    trading: Trading, margin_mode: str
) -> None:
    resting = await trading.place("alice", quantity="3", marginMode=margin_mode)
    assert (resting.status, resting.body["marginMode"]) == (201, margin_mode), resting.body
    taker = await trading.place("bob", side="sell", marginMode=margin_mode)
    assert (taker.body["status"], taker.body["filledQuantity"]) == ("filled", "1")

    async def sold() -> bool:
        order = {"side": "sell", "type": "market", "price": None, "marginMode": margin_mode}
        return (await trading.place("bob", **order)).status == 201

    await eventually(sold)
    assert (await trading.place("alice", quantity="1000000", marginMode=margin_mode)).status == 400
    assert (await trading.cancel("alice", resting.body["orderId"])).status == 200
    await eventually(lambda: trading.heard.orders("orders.cancelled.alice"))
    await eventually(lambda: _has(trading.pool, "ledger_entries", 16))

    heard = trading.heard_subjects()
    # The ear is good: it hears requests, and what they lead to.
    assert {"orders.submit", "orders.cancel", "ledger.balances.get", "trades.executed", "orders.created.alice",
            "orders.filled.bob", "orders.cancelled.alice", "risk.check.failed"} <= heard  # fmt: skip
    assert {name for name in heard if name.startswith(("risk.", "margin."))} == {"risk.check.failed"}
    assert {name for name in heard if name.startswith("ledger.")} == {"ledger.balances.get"}
    assert {name.partition(".")[0] for name in heard} <= {"orders", "trades", "ledger", "balances", "risk"}
    assert not {name for name in heard if any(VERSION.fullmatch(token) for token in name.split("."))}
    assert await count(trading.pool, "ledger_movements") == 0


async def _has(pool: asyncpg.Pool, table: str, rows: int) -> bool:
    return await count(pool, table) == rows


@pytest.mark.spec("A2.7-01")
async def test_the_fee_of_a_fill_is_the_markets_whatever_the_lookup_says(trading: Trading) -> None:
    await trading.place("alice")
    taken = await trading.place("bob", side="sell")
    charged = [Decimal(taken.body["fee"])]
    trade, *_ = await eventually(trading.heard.trades)
    charged.append(Decimal(trade.fees.buyer.amount))
    # Of a notional of 100 USD: 25 and 15 basis points, which no tier of the lookup has together.
    assert charged == [Decimal("0.25"), Decimal("0.15")]
    lookup = (await trading.rest("GET", "/fees/trading")).body
    rates = {(Decimal(tier["takerRate"]) * 100, Decimal(tier["makerRate"]) * 100) for tier in lookup["tiers"]}
    rates.add((Decimal(lookup["takerRate"]) * 100, Decimal(lookup["makerRate"]) * 100))
    assert len(rates) == len(GATEWAY_TIERS)
    assert tuple(charged) not in rates
    assert not {taker for taker, _ in rates} & {charged[0]}


@pytest.mark.spec("A9-06")
def test_no_subject_and_no_stream_is_named_with_a_version() -> None:
    texts = [value for name, value in vars(subjects).items() if name.isupper() and isinstance(value, str)]
    assert "orders.submit" in texts
    texts += [subject for stream in STREAMS for subject in stream.subjects]
    assert not [text for text in texts if any(VERSION.fullmatch(token) for token in re.split(r"[.-]", text))]


@pytest.mark.spec("A1.2-24")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"postOnly": True}, "postOnly"),
        ({"postOnly": False}, "postOnly"),
        ({"post_only": True}, "post_only"),
        ({"type": "post_only"}, "type"),
        ({"type": "limit_maker"}, "type"),
        ({"timeInForce": "post_only"}, "timeInForce"),
        ({"timeInForce": "gtx"}, "timeInForce"),
        ({"execInst": "ParticipateDoNotInitiate"}, "execInst"),
        # Nor is there a way to ask for fill-or-kill by another name.
        ({"type": "fok"}, "type"),
        ({"type": "fok_budget"}, "type"),
        ({"fillOrKill": True}, "fillOrKill"),
    ],
)
async def test_the_edge_refuses_every_way_to_ask_for_post_only(
    settings: Settings, bus: Bus, fields: dict[str, Any], message: str
) -> None:
    # What is refused by its shape reaches nobody: the edge alone is enough.
    async with running_rest(settings) as rest, listening(settings.nats_url, ">") as heard:
        order = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "100"} | fields
        reply = await rest("POST", "/orders", order)
        assert reply.status == 400
        assert message in str(reply.message)
    assert subjects.ORDERS_SUBMIT not in [name for name, *_ in heard.messages]


@asynccontextmanager
async def running_rest(settings: Settings) -> AsyncIterator[RestClient]:
    async with running_edge(settings) as client:
        client.as_user("alice")
        yield client


@pytest.mark.spec("A1.2-24", "A1.2-25")
async def test_a_limit_order_takes_and_rests_whatever_its_time_in_force(trading: Trading) -> None:
    offered = await trading.place("bob", side="sell", quantity="0.4")
    for time_in_force in ("fok", "ioc", "gtc"):
        order = await trading.place("alice", timeInForce=time_in_force, quantity="0.5")
        # Fill-or-kill would not have filled in part; nor would anything else than GTC rest.
        assert (order.status, order.body["timeInForce"]) == (201, time_in_force)
        assert order.body["status"] == ("partially_filled" if time_in_force == "fok" else "open")
        found = await trading.engine.find(external_id=order.body["orderId"])
        assert Decimal(found.remaining_quantity) > 0
    assert (await trading.engine.find(external_id=offered.body["orderId"])).status == "FILLED"
    accepted = [
        event for event in await trading.engine.events(1, await trading.engine.last_sequence())
        if event["type"] == "accepted"
    ]  # fmt: skip
    assert {event["orderType"] for event in accepted} == {"GTC"}
    assert len(accepted) == 4


@pytest.mark.spec("A2.8-06")
async def test_no_order_type_of_the_grpc_interface_is_post_only(engine: EngineClient) -> None:
    names = orders_pb2.OrderType.keys()
    assert {"GTC", "IOC", "FOK", "FOK_BUDGET"} <= set(names)
    assert not [name for name in names if "POST" in name]
    known = set(orders_pb2.OrderType.values())
    for number in {*range(64), 255, 2**31 - 1, -1} - known:
        placed = await engine.place("buy", "100", "1", "alice", type=number)
        assert (placed.status, placed.result_code) == (orders_pb2.REJECTED, "INVALID_ORDER_TYPE"), number
    # Each of those that exist takes at once what is there.
    for kind in ("GTC", "IOC", "FOK", "FOK_BUDGET"):
        await engine.place("sell", "100", "1", "bob")
        taken = await engine.place("buy", "100", "1", "alice", type=orders_pb2.OrderType.Value(kind), budget="100")
        assert (kind, taken.filled_quantity) == (kind, 10**8)


@pytest.mark.spec("A1.2-17", "A1.2-18")
async def test_an_order_leaves_the_router_for_the_one_engine_only(
    settings: Settings, bus: Bus, engine: EngineClient, ledger: FakeLedger
) -> None:
    client = RouterClient(bus)
    async with router_process(settings) as child:
        assert child.process is not None
        process = psutil.Process(child.process.pid)
        placed = [await client.place("alice"), await client.place("bob", side="sell", price="101")]
        placed += [await client.place("bob", side="sell"), await client.place("alice", price="101")]
        peers = {
            connection.raddr.port
            for connection in process.net_connections("inet")
            if connection.raddr and connection.laddr.port != settings.router_port
        }
        assert not process.children()
    nats_port = int(settings.nats_url.rpartition(":")[2])
    # The database is reached through a socket file, which is no connection to another machine either.
    assert peers == {nats_port, settings.engine_frames_port, settings.engine_http_port}
    for order_id in placed:
        found = await engine.find(external_id=order_id)
        assert (found.found, found.status) == (True, "FILLED")
