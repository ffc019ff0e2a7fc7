"""Clients that read slowly: what is left out for them, what is not, and that others receive everything."""

import json

import pytest
from websockets.exceptions import ConnectionClosed

from openspot.kit.settings import Settings
from openspot.ws_edge.metrics import CLOSED_BY_EDGE, CONFLATED
from tests.support.book_provider import CHANNEL, BookProvider, book_of, subscribe_to_book
from tests.support.websocket_edge import Publish, ask, open_as, open_client, order_event, receive, running_edge

PADDING = "x" * 200_000


def left_out(kind: str) -> float:
    return CONFLATED.labels(kind)._value.get()


@pytest.mark.spec("A6.3-17")
async def test_a_slow_clients_book_continues_with_a_fresh_snapshot(edge: Settings, provider: BookProvider) -> None:
    # A snapshot is 300 kB: a client that does not read is soon behind.
    provider.bids = {price: f"1.{price:018}"[:20] for price in range(10_000, 1_000, -1)}
    async with open_client(edge, max_queue=1, max_size=None) as slow, open_client(edge, max_size=None) as quick:
        kept = dict(book_of(await subscribe_to_book(slow))[3])
        await subscribe_to_book(quick)
        before, rounds, after_it = left_out("orderbook"), 0, 0
        while after_it < 50:
            rounds += 1
            assert rounds < 500, "snapshots are written to a client that reads nothing"
            if not after_it:
                # It asks for snapshots that it does not read.
                await slow.send(json.dumps({"action": "subscribe", "channel": CHANNEL}))
            await provider.publish(provider.change(20_000 + rounds, "1"))
            assert book_of(await receive(quick))[1] == provider.seq
            after_it = int(left_out("orderbook") - before)
        seq, snapshots = 10, 0
        while seq != provider.seq:
            message = await receive(slow)
            if message["type"] == "subscribed":
                continue
            kind, new, before_it, bids = book_of(message)
            if kind == "snapshot":
                snapshots += 1
                kept = {}
            else:
                assert before_it == seq
            kept.update(dict(bids))
            seq = new
        assert kept == {str(price): quantity for price, quantity in provider.bids.items()}
        # Snapshots stand for the fifty updates that were left out, and for many each.
        assert snapshots <= rounds - 40


@pytest.mark.spec("A6.3-17")
async def test_of_tickers_a_slow_client_gets_the_latest(edge: Settings, publish: Publish) -> None:
    channel, subject = "ticker:BTC-USD", "marketdata.ticker.BTC-USD"
    async with open_client(edge, max_queue=1, max_size=None) as slow, open_client(edge, max_size=None) as quick:
        for client in (slow, quick):
            assert (await ask(client, action="subscribe", channel=channel))["type"] == "subscribed"
        before, sent = left_out("ticker"), 0
        while left_out("ticker") < before + 20:
            sent += 1
            assert sent < 500, "tickers are written to a client that reads nothing"
            await publish(subject, {"symbol": "BTC-USD", "seq": sent, "padding": PADDING})
            assert (await receive(quick))["seq"] == sent
        received = [(await receive(slow))["seq"]]
        while received[-1] < sent:
            received.append((await receive(slow))["seq"])
        assert received == sorted(set(received))
        assert len(received) <= sent - 20


@pytest.mark.spec("A6.3-17")
async def test_too_many_bytes_waiting_close_a_connection_with_the_users_events(
    settings: Settings, publish: Publish
) -> None:
    def slow_closes() -> float:
        return CLOSED_BY_EDGE.labels("1013")._value.get()

    before = slow_closes()
    async with (
        running_edge(settings.model_copy(update={"ws_queue_bytes_max": 1_000_000})) as edge,
        open_as(edge, "u1", max_queue=1, max_size=None) as slow,
        open_as(edge, "u1", max_size=None) as quick,
    ):
        sent = 0
        while slow_closes() == before:
            sent += 1
            assert sent < 500, "a client that reads nothing is still open"
            event = order_event("u1", f"order{sent}", sent)
            event["order"]["padding"] = PADDING
            await publish("orders.updated.u1", event)
            assert (await receive(quick))["seq"] == sent
        received = []
        with pytest.raises(ConnectionClosed) as end:
            while True:
                received.append((await receive(slow))["seq"])
        assert end.value.rcvd is not None
        assert (end.value.rcvd.code, end.value.rcvd.reason) == (1013, "the client reads too slowly")
        assert received == list(range(1, len(received) + 1))
        assert len(received) < sent


async def test_what_comes_in_one_turn_is_sent_in_order_and_whole(edge: Settings, publish: Publish) -> None:
    async with open_client(edge) as client:
        for number in range(200):
            await client.send(json.dumps({"action": "ping", "id": number}))
        assert [(await receive(client))["id"] for _ in range(200)] == list(range(200))
