"""The client without asyncio. Its scripts run in a thread of their own, as they would in a program."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from typing import Any

import pytest

from openspot.client import ApiError, OpenSpotClient, Push, StreamClosedError, UnreachableError
from openspot.client.sync import SyncClient
from openspot.client.sync_loop import LoopThread
from openspot.domain.order_book import checksum
from tests.support.fake_rest_edge import FakeRestEdge, running_fake
from tests.support.scripted_edge import ScriptedEdge, scripted_edge
from tests.support.waiting import stretched

BALANCE = {"asset": "USD", "total": "5", "available": "4", "locked": "1", "reserved": "0", "source": "engine"}


@pytest.fixture
async def rest() -> AsyncIterator[FakeRestEdge]:
    async with running_fake() as fake:
        yield fake


@pytest.fixture
async def edge() -> AsyncIterator[ScriptedEdge]:
    async with scripted_edge() as running:
        yield running


async def run(script: Callable[[], Any]) -> Any:
    return await asyncio.wait_for(asyncio.to_thread(script), stretched(60))


def test_it_has_all_that_the_asynchronous_client_has() -> None:
    def offered(client: type) -> set[str]:
        return {name for name in dir(client) if not name.startswith("_")}

    assert offered(SyncClient) == offered(OpenSpotClient)


async def test_calls_have_the_results_and_errors_of_the_asynchronous_client(rest: FakeRestEdge) -> None:
    rest.answer(200, [BALANCE])
    rest.refuse(409, "ORDER_ENDED", "it has ended")

    def script() -> None:
        with SyncClient(rest.url) as client:
            assert client.balances()[0].available == Decimal(4)
            with pytest.raises(ApiError, match="409 ORDER_ENDED"):
                client.cancel_order("o1")
            with pytest.raises(TypeError, match="quantity must be"):
                client.place_order("BTC-USD", "buy", quantity=0.1)  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match="closed"):
            client.balances()
        client.close()

    await run(script)


async def test_several_threads_share_a_client_and_its_thread_ends_with_it(rest: FakeRestEdge) -> None:
    for _ in range(8):
        rest.answer(200, [BALANCE])

    def script() -> list[Any]:
        client, results = SyncClient(rest.url), []
        threads = [threading.Thread(target=lambda: results.append(client.balances())) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        client.close()
        assert client._loop.is_closed
        return results

    assert len(await run(script)) == 8


async def test_a_stream_is_iterated_waits_no_longer_than_told_and_closes(edge: ScriptedEdge) -> None:
    push = {"channel": "ticker:BTC-USD", "type": "update", "seq": 1, "ts": 1, "data": {}}
    edge.on_subscribe = lambda channel: [push | {"channel": channel}]

    def script() -> None:
        with SyncClient(ws_url=edge.url) as client:
            stream = client.stream("ticker:BTC-USD")
            with pytest.raises(StreamClosedError, match="not open"):
                next(stream)
            with stream:
                assert next(stream) == Push("ticker:BTC-USD", "update", 1, 1, {})
                with pytest.raises(TimeoutError):
                    stream.next(0.01)
                stream.subscribe("ticker:ETH-USD")
                for event in stream:
                    assert isinstance(event, Push) and event.channel == "ticker:ETH-USD"
                    stream.unsubscribe("ticker:ETH-USD")
                    stream.close()
            # A client that is closed while its stream is open ends the stream.
            left_open = client.stream("ticker:BTC-USD").__enter__()
        left_open.close()
        with pytest.raises(RuntimeError, match="closed"):
            next(left_open)

    await run(script)


async def test_a_book_is_read_whole(edge: ScriptedEdge) -> None:
    bids = [("100", "1"), ("99", "2")]
    data = {
        "symbol": "BTC-USD",
        "type": "snapshot",
        "seq": 5,
        "prevSeq": None,
        "timestamp": 7,
        "bids": bids,
        "asks": [],
    }
    message = {"channel": "orderbook:BTC-USD", "type": "snapshot", "seq": 5, "ts": 7}
    edge.on_subscribe = lambda _: [message | {"data": data | {"checksum": checksum(bids, [])}}]

    def script() -> None:
        with SyncClient(ws_url=edge.url) as client, client.books("BTC-USD") as feed:
            feed.ready(30)
            assert next(feed) == "BTC-USD"
            view = feed.view("BTC-USD", 1)
            assert (view.seq, view.is_stale, view.asks, [str(level.price) for level in view.bids]) == (
                5, False, [], ["100"],
            )  # fmt: skip
            with pytest.raises(KeyError):
                feed.view("ETH-USD")

    await run(script)


async def test_a_call_that_waits_ends_when_another_thread_closes_the_client(edge: ScriptedEdge) -> None:
    def script() -> None:
        client = SyncClient(ws_url=edge.url)
        stream = client.stream().__enter__()
        outcomes: list[BaseException] = []

        def read() -> None:
            try:
                next(stream)
            except BaseException as error:
                outcomes.append(error)

        reader = threading.Thread(target=read)
        reader.start()
        while not stream._stream._changed._waiters:
            time.sleep(0.001)
        client.close()
        reader.join(30)
        assert len(outcomes) == 1
        assert isinstance(outcomes[0], StreamClosedError | RuntimeError)

    await run(script)


async def test_nobody_at_the_address_is_unreachable() -> None:
    def script() -> None:
        with SyncClient("http://127.0.0.1:9", timeout_s=5) as client, pytest.raises(UnreachableError):
            client.place_order("BTC-USD", "buy", quantity=1, price=1)

    await run(script)


def test_work_cannot_wait_for_its_own_loop() -> None:
    loop = LoopThread()

    async def nothing() -> None:
        return None

    async def inner() -> None:
        loop.run(nothing())

    with pytest.raises(RuntimeError, match="cannot wait for itself"):
        loop.run(inner())
    loop.close()
    loop.close()
