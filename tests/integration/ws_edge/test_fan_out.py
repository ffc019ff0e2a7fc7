"""Which events reach which clients, in which shape."""

import asyncio
import json

import msgspec
import pytest
from nats.aio.client import Client

from openspot.contracts import subjects
from openspot.contracts.messages import BalanceUpdated, OrderEvent
from openspot.kit.bus import Bus, encode
from openspot.kit.metrics import BUS_MALFORMED
from openspot.kit.settings import Settings
from tests.support.order_records import order_record
from tests.support.waiting import eventually, stretched
from tests.support.websocket_edge import (
    Publish,
    ask,
    nothing_but_a_pong,
    open_as,
    open_client,
    order_event,
    receive,
)

MARKET = [
    pytest.param("ticker", "marketdata.ticker.BTC-USD", marks=pytest.mark.spec("A6.3-05")),
    pytest.param("trades", "marketdata.trade.BTC-USD", marks=pytest.mark.spec("A6.3-07")),
]


@pytest.mark.spec("B4.2-02", "B4.2-03", "A6.3-15")
@pytest.mark.parametrize(("kind", "subject"), MARKET)
async def test_a_subscriber_receives_what_is_published_until_it_unsubscribes(
    edge: Settings, publish: Publish, kind: str, subject: str
) -> None:
    channel = f"{kind}:BTC-USD"
    payload = {"symbol": "BTC-USD", "seq": 42, "timestamp": 1_700_000_000_000, "price": "1.10", "more": [["1", "2"]]}
    push = {"channel": channel, "type": "update", "seq": 42, "ts": 1_700_000_000_000, "data": payload}
    # The witness hears everything: what it has heard, the edge has handed to whoever was to hear it.
    async with open_client(edge) as client, open_client(edge) as witness:
        await ask(witness, action="subscribe", channel=channel)
        await publish(subject, payload)
        assert await receive(witness) == push
        await nothing_but_a_pong(client)
        await ask(client, action="subscribe", channel=channel)
        if kind == "ticker":
            # A ticker begins with the last one.
            assert await receive(client) == push | {"type": "snapshot"}
        await publish(subject, payload)
        assert await receive(client) == push
        assert await receive(witness) == push
        await publish(subject, {"symbol": "BTC-USD", "seq": 43, "type": "snapshot"})
        snapshot = await receive(client)
        assert (snapshot["type"], snapshot["seq"]) == ("snapshot", 43)
        assert snapshot["ts"] > 1_700_000_000_000
        assert await receive(witness) == snapshot
        await ask(client, action="unsubscribe", channel=channel)
        await publish(subject, payload)
        assert await receive(witness) == push
        await nothing_but_a_pong(client)


@pytest.mark.spec("A1.1-14")
@pytest.mark.spec("B4.2-02")
async def test_one_event_reaches_every_subscriber_of_its_channel_and_no_other(edge: Settings, publish: Publish) -> None:
    subscribers = [await open_client(edge) for _ in range(10)]
    others = [await open_client(edge) for _ in range(10)]
    for clients, channel in ((subscribers, "trades:BTC-USD"), (others, "trades:ETH-USD")):
        for client in clients:
            await ask(client, action="subscribe", channel=channel)
    for seq in range(1, 6):
        await publish("marketdata.trade.BTC-USD", {"symbol": "BTC-USD", "seq": seq})
    for client in subscribers:
        assert [(await receive(client))["seq"] for _ in range(5)] == [1, 2, 3, 4, 5]
    for client in [*subscribers, *others]:
        await nothing_but_a_pong(client)
        await client.close()


ORDER_EVENTS = [
    pytest.param("created", "order.created", marks=pytest.mark.spec("A6.3-08")),
    pytest.param("updated", "order.updated", marks=pytest.mark.spec("A6.3-09")),
    pytest.param("cancelled", "order.cancelled", marks=pytest.mark.spec("A6.3-10")),
    pytest.param("filled", "order.filled", marks=pytest.mark.spec("A6.3-11")),
    pytest.param("rejected", "order.rejected", marks=pytest.mark.spec("A6.3-12")),
]


@pytest.mark.spec("A5-20", "A6.3-15")
@pytest.mark.parametrize(("name", "event"), ORDER_EVENTS)
async def test_an_order_event_reaches_all_connections_of_its_user_and_no_one_else(
    edge: Settings, publish: Publish, name: str, event: str
) -> None:
    async with (
        open_as(edge, "u1") as first,
        open_as(edge, "u1") as second,
        open_as(edge, "u2") as other,
        open_client(edge) as anonymous,
    ):
        payload = order_event("u1")
        await publish(f"orders.{name}.u1", payload)
        for client in (first, second):
            assert await receive(client) == {
                "channel": "orders",
                "type": "update",
                "event": event,
                "seq": 7,
                "ts": 1_700_000_000_000,
                "data": payload["order"],
            }
        for client in (other, anonymous, first):
            await nothing_but_a_pong(client)


@pytest.mark.spec("A6.2-04")
async def test_both_forms_of_orders_created_are_heard_and_the_pair_is_told_once(
    edge: Settings, publish: Publish
) -> None:
    async with open_as(edge, "u1") as client:
        await publish("orders.created", order_event("u1", "bare", 1))
        assert (await receive(client))["data"]["orderId"] == "bare"
        await publish("orders.created.u1", order_event("u1", "addressed", 2))
        assert (await receive(client))["data"]["orderId"] == "addressed"
        for number in range(3, 30):
            await publish("orders.created", order_event("u1", f"both{number}", number))
            await publish("orders.created.u1", order_event("u1", f"both{number}", number))
        # Each form keeps its own order: when the last of both is told, no repeat is on its way.
        await publish("orders.created", order_event("u1", "last of the one", 30))
        await publish("orders.created.u1", order_event("u1", "last of the other", 31))
        assert sorted([(await receive(client))["seq"] for _ in range(3, 32)]) == list(range(3, 32))
        await nothing_but_a_pong(client)


async def test_what_the_router_publishes_again_after_a_restart_is_told_once(edge: Settings, publish: Publish) -> None:
    async with open_as(edge, "u1") as client:
        for sequence in (5, 6, 5, 6, 7):
            await publish("orders.updated.u1", order_event("u1", "order1", sequence))
        assert [(await receive(client))["seq"] for _ in range(3)] == [5, 6, 7]
        await nothing_but_a_pong(client)


async def test_the_events_of_one_user_keep_their_order(edge: Settings, raw_bus: Client) -> None:
    async with open_as(edge, "u1") as client:
        expected = []
        for number in range(200):
            for name in ("created", "updated", "filled"):
                expected.append((f"order.{name}", f"order{number}"))
                payload = order_event("u1", f"order{number}", number)
                await raw_bus.publish(f"orders.{name}.u1", json.dumps(payload).encode())
        await raw_bus.flush()
        received = [await receive(client) for _ in expected]
        assert [(push["event"], push["data"]["orderId"]) for push in received] == expected


@pytest.mark.spec("A6.3-13", "A5-20", "A6.3-15")
async def test_a_balance_reaches_its_user_and_no_one_else(edge: Settings, bus: Bus) -> None:
    async with open_as(edge, "u1") as client, open_as(edge, "u2") as other, open_client(edge) as anonymous:
        for number in (1, 2):
            event = BalanceUpdated("u1", "USD", f"{number}.5", "0", f"t{number}", 1_700_000_000_000)
            await bus.publish("balances.updated.u1", event, f"m{number}")
            assert await receive(client) == {
                "channel": "balances",
                "type": "update",
                "event": "balance.updated",
                "seq": number,
                "ts": 1_700_000_000_000,
                "data": msgspec.json.decode(encode(event)),
            }
        for client in (other, anonymous):
            await nothing_but_a_pong(client)


async def test_a_balance_that_is_out_of_date_or_told_already_is_not_told(edge: Settings, publish: Publish) -> None:
    async with open_as(edge, "u1") as client:
        for asset, version in (("USD", 5), ("USD", 4), ("BTC", 1), ("USD", 5), ("USD", 6), ("EUR", 0), ("EUR", 0)):
            await publish("balances.updated.u1", {"userId": "u1", "asset": asset, "timestamp": 1, "version": version})
        await publish("balances.updated.u1", {"userId": "u1", "asset": "GBP", "timestamp": 1})
        pushes = [await receive(client) for _ in range(6)]
        told = [(push["seq"], push["data"]["asset"], push["data"].get("version")) for push in pushes]
        # A publisher that gives no version is told as it comes.
        assert told == [(1, "USD", 5), (2, "BTC", 1), (3, "USD", 6), (4, "EUR", 0), (5, "EUR", 0), (6, "GBP", None)]


async def test_the_events_of_the_contract_are_understood(edge: Settings, bus: Bus) -> None:
    async with open_as(edge, "u1") as client:
        await bus.publish("orders.created.u1", OrderEvent("order.created", 9, 1_700_000_000_000, order_record()), "m1")
        push = await receive(client)
        assert (push["event"], push["seq"], push["data"]["price"]) == ("order.created", 9, "100")
        assert push["data"]["createdAt"] == "2026-01-02T03:04:05.678Z"


@pytest.mark.spec("A6.3-14")
async def test_trades_executed_and_requests_reach_nobody(edge: Settings, publish: Publish) -> None:
    async with open_as(edge, "u1") as client:
        await ask(client, action="subscribe", channel="trades:BTC-USD")
        await publish("trades.executed.BTC-USD", {"symbol": "BTC-USD", "seq": 1, "userId": "u1"})
        await publish("trades.executed", {"symbol": "BTC-USD", "seq": 1})
        await publish("orders.submit", {"userId": "u1", "order": {"orderId": "x", "userId": "u1"}})
        await publish("orders.get.u1", order_event("u1"))
        await publish("marketdata.trade.BTC-USD", {"symbol": "BTC-USD", "seq": 2})
        assert (await receive(client))["seq"] == 2
        await publish("orders.created.u1", order_event("u1", sequence=3))
        assert (await receive(client))["seq"] == 3
        await nothing_but_a_pong(client)


@pytest.mark.spec("A1.1-13")
async def test_the_edge_publishes_nothing_on_the_bus(edge: Settings, raw_bus: Client, publish: Publish) -> None:
    heard: list[str] = []

    async def take(message) -> None:
        # Replies to an inbox, what the server and its buckets say of themselves, and the edge's own question for the
        # ticker are no events.
        if not message.subject.startswith(("_INBOX.", "$")) and message.subject != subjects.MARKETDATA_TICKERS_GET:
            heard.append(message.subject)

    await raw_bus.subscribe(">", cb=take)
    async with open_as(edge, "u1") as client:
        await ask(client, action="subscribe", channel="ticker:BTC-USD")
        for action in ("publish", "ping", "unsubscribe"):
            await ask(client, action=action, channel="ticker:BTC-USD", data={"subject": "orders.submit"})
    await publish("test.mark", {})
    await eventually(lambda: heard)
    assert heard == ["test.mark"]


CANDLE = (
    b'{"symbol":"BTC-USD","interval":"1m","seq":1,"timestamp":60000,"open":"1","high":"1","low":"1","close":"1",'
    b'"volume":"1","trades":1}'
)
BAD_CANDLES = [
    b"{",
    CANDLE.replace(b"BTC-USD", b"ETH-USD"),
    CANDLE.replace(b"1m", b"2m"),
    CANDLE.replace(b"60000", b"-1"),
    CANDLE.replace(b'"trades":1', b'"trades":"1"'),
    CANDLE.replace(b'"1m"', b'"1m","x":"\xff"'),
]
BAD_EVENTS = [
    *(("marketdata.candle.*", "marketdata.candle.BTC-USD", payload) for payload in BAD_CANDLES),
    ("marketdata.ticker.*", "marketdata.ticker.BTC-USD", b"{"),
    ("marketdata.ticker.*", "marketdata.ticker.BTC-USD", b'{"symbol":"ETH-USD","seq":1}'),
    ("marketdata.ticker.*", "marketdata.ticker.BTC-USD", b'{"symbol":"BTC-USD"}'),
    ("marketdata.ticker.*", "marketdata.ticker.BTC-USD", b'{"symbol":"BTC-USD","seq":1,"x":"\xff"}'),
    ("marketdata.ticker.*", "marketdata.ticker.BTC-USD", b'{"symbol":"BTC-USD","seq":1,"x":' + b"[" * 100_000),
    ("orders.*.>", "orders.created.u1", b"null"),
    ("orders.*.>", "orders.created.u1", b'{"sequence":1,"timestamp":1,"order":{"orderId":"a","userId":"u2"}}'),
    ("orders.*.>", "orders.created.u1", b'{"sequence":1,"timestamp":1,"order":5}'),
    ("orders.created", "orders.created", b'{"sequence":"1","timestamp":1,"order":{}}'),
    ("balances.updated.*", "balances.updated.u1", b'{"userId":"u2","asset":"USD","timestamp":1}'),
    ("balances.updated.*", "balances.updated.u1", b""),
]


@pytest.mark.parametrize(("subscription", "subject", "payload"), BAD_EVENTS)
async def test_a_malformed_event_is_counted_and_dropped_and_the_next_one_is_told(
    edge: Settings, publish: Publish, subscription: str, subject: str, payload: bytes
) -> None:
    def malformed() -> float:
        return BUS_MALFORMED.labels(subscription)._value.get()

    before = malformed()
    async with open_as(edge, "u1") as client, open_as(edge, "u2") as other:
        await ask(client, action="subscribe", channel="ticker:BTC-USD")
        await publish(subject, payload)
        await eventually(lambda: malformed() == before + 1)
        await publish("marketdata.ticker.BTC-USD", {"symbol": "BTC-USD", "seq": 2})
        await publish("orders.created.u1", order_event("u1", "good"))
        pushes = [await receive(client), await receive(client)]
        assert {push["channel"] for push in pushes} == {"ticker:BTC-USD", "orders"}
        for who in (client, other):
            await nothing_but_a_pong(who)


async def test_a_client_that_left_is_forgotten(edge: Settings, publish: Publish) -> None:
    client = await open_as(edge, "u1")
    await ask(client, action="subscribe", channel="ticker:BTC-USD")
    client.transport.abort()
    async with open_as(edge, "u1") as again:
        await publish("orders.created.u1", order_event("u1"))
        assert (await receive(again))["event"] == "order.created"
        await publish("marketdata.ticker.BTC-USD", {"symbol": "BTC-USD", "seq": 1})
        await nothing_but_a_pong(again)
    await asyncio.wait_for(client.wait_closed(), stretched(30))
