"""The client's order connection against a real edge, bus and database."""

import asyncio
import functools
import threading
import time
from collections.abc import AsyncIterator, Callable
from decimal import Decimal

import pytest

from openspot.client import ApiError, OpenSpotClient, OrderConnection, Session, UnreachableError, order_fields
from openspot.client.order_calls import amendment_fields
from openspot.client.sync import SyncClient
from openspot.client.transport import RetryPolicy
from openspot.contracts.messages import CancelOpenOrders, CancelOpenOrdersReply
from openspot.contracts.order_actions import IN_FLIGHT_MAX
from openspot.http.idempotency import DatabaseIdempotency
from openspot.kit.settings import Settings
from openspot.kit.tokens import Claims, sign
from tests.support.fake_router import FakeRouter
from tests.support.order_connection import order_connection
from tests.support.rest_client import RestClient, running_edge
from tests.support.waiting import eventually, stretched

PATIENT = RetryPolicy(attempts_max=10)
"""An edge needs longer to start again than the policy that clients have by default."""
COMPLETE = {"rules": "complete", "throttle_enabled": False}


@pytest.fixture
async def complete_edge(settings: Settings) -> AsyncIterator[RestClient]:
    """An edge of this test alone with the complete rules and without a throttle."""
    async with running_edge(settings.model_copy(update=COMPLETE)) as client:
        client.as_user("u1")
        yield client


def session_of(settings: Settings) -> Session:
    """A session of `u1`."""
    now = int(time.time())
    return Session(sign(Claims("u1", "user", now + 600), settings.jwt_secret, now), "none", 600, "u1")


def client_of(settings: Settings) -> OpenSpotClient:
    """A client with a session of `u1`."""
    client = OpenSpotClient(settings.rest_url, retry=PATIENT)
    client.resume(session_of(settings))
    return client


def sync_client_of(settings: Settings) -> SyncClient:
    """The same without asyncio."""
    client = SyncClient(settings.rest_url, retry=PATIENT)
    client.resume(session_of(settings))
    return client


async def run(script: Callable[[], None]) -> None:
    """Run what knows no asyncio in a thread of its own, as it would in a program."""
    await asyncio.wait_for(asyncio.to_thread(script), stretched(60))


@pytest.fixture
async def connection(complete_edge: RestClient) -> AsyncIterator[OrderConnection]:
    """An order connection of `u1`."""
    async with client_of(complete_edge.settings) as client, client.order_connection() as opened:
        yield opened


async def submitted(router: FakeRouter, number: int) -> None:
    """Wait until the router has that many orders."""

    async def have_come() -> bool:
        return len(router.submitted) >= number

    await eventually(have_come)


async def test_every_call_comes_back_typed(connection: OrderConnection, router: FakeRouter) -> None:
    order = await connection.place_order("BTC-USD", "buy", quantity="0.5", price="100", client_order_id="a b/c")
    assert (order.price, order.status) == (Decimal(100), "open")
    fields = order_fields("BTC-USD", "sell", quantity=1, price=200)
    assert [entry.status for entry in await connection.place_orders([fields, {}])] == [201, 400]
    assert (await connection.amend_order(order.order_id, price=101)).price == 101
    amended = await connection.amend_orders([amendment_fields(order.order_id, quantity="0.4")])
    assert [entry.status for entry in amended] == [200]
    named = await connection.place_order("BTC-USD", "buy", quantity=1, price=1, client_order_id="mine%2F")
    assert (await connection.amend_order_by_client_id("mine%2F", price=102)).order_id == named.order_id
    assert (await connection.cancel_orders_by_client_id("mine%2F")).cancelled == [named.order_id]
    assert (await connection.cancel_order(order.order_id)).status == "cancelled"
    router.bulk_replies = [CancelOpenOrdersReply(True, ("order1",))]
    assert (await connection.cancel_orders(symbol="ETH-USD")).cancelled == ["order1"]
    assert (await connection.cancel_all_after(60)).timeout_seconds == 60


async def test_refusals_are_those_of_rest(connection: OrderConnection, router: FakeRouter) -> None:
    router.reject_with = "RISK_NSF"
    with pytest.raises(ApiError) as caught:
        await connection.place_order("BTC-USD", "buy", quantity=1, price=1)
    assert (caught.value.status, caught.value.code) == (400, "RISK_NSF")
    with pytest.raises(ApiError) as caught:
        await connection.place_order("BTC-USD", "buy", quantity=1)
    assert caught.value.reasons == ["price is required for a limit order"]
    with pytest.raises(ApiError) as caught:
        await connection.cancel_order("a/b")
    assert (caught.value.status, caught.value.code) == (400, "MALFORMED_MESSAGE")


async def test_more_calls_than_may_be_under_way_wait_for_a_place(
    connection: OrderConnection, router: FakeRouter
) -> None:
    placing = [connection.place_order("BTC-USD", "buy", quantity=1, price=price) for price in range(1, 201)]
    orders = await asyncio.gather(*placing)
    assert [order.price for order in orders] == list(range(1, 201))
    assert len(router.submitted) == 200 > IN_FLIGHT_MAX


async def test_a_call_whose_edge_stops_is_repeated_at_the_next_edge_only_with_its_key(
    settings: Settings, router: FakeRouter, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The run that died with its edge keeps the key for this long, instead of 15 s.
    brief = functools.partial(DatabaseIdempotency, claim_s=4)
    monkeypatch.setattr("openspot.rest_edge.service.DatabaseIdempotency", brief)
    complete = settings.model_copy(update=COMPLETE)
    async with client_of(complete) as client:
        async with running_edge(complete):
            connection = client.order_connection()
            await connection.__aenter__()
            router.submit_gate.clear()
            keyed = asyncio.create_task(
                connection.place_order("BTC-USD", "buy", quantity=1, price=1, idempotency_key="k1")
            )
            unkeyed = asyncio.create_task(connection.place_order("BTC-USD", "buy", quantity=1, price=2))
            await submitted(router, 2)
        with pytest.raises(UnreachableError):
            await unkeyed
        async with running_edge(complete):
            router.submit_gate.set()
            order = await keyed
            await connection.close()
    assert order.price == 1
    ids = {request.order.order_id for request in router.submitted if request.order.price == "1"}
    assert ids == {order.order_id}
    assert len([request for request in router.submitted if request.order.price == "2"]) == 1


async def test_an_expired_token_is_renewed_on_the_connection(settings: Settings, router: FakeRouter) -> None:
    complete = settings.model_copy(update=COMPLETE | {"access_token_s": 2})
    async with running_edge(complete) as edge, OpenSpotClient(complete.rest_url) as client:
        await client.register("ada@example.org", "a long test password")
        session = await client.login("ada@example.org", "a long test password")
        async with client.order_connection() as connection:
            edge.token = session.access_token

            async def expired() -> bool:
                return (await edge("GET", "/orders")).status == 401

            await eventually(expired)
            placing = [connection.place_order("BTC-USD", "buy", quantity=1, price=price) for price in range(1, 9)]
            orders = await asyncio.gather(*placing)
            assert {order.user_id for order in orders} == {session.user_id}
    assert len(router.submitted) == 8


async def test_a_refused_credential_is_an_error_of_the_platform(complete_edge: RestClient) -> None:
    client = OpenSpotClient(complete_edge.settings.rest_url)
    with pytest.raises(ApiError) as caught:
        async with client.order_connection():
            pass
    assert caught.value.status == 401
    await client.close()


async def test_orders_are_cancelled_when_the_client_closes_if_it_asked_for_it(
    complete_edge: RestClient, router: FakeRouter
) -> None:
    client = client_of(complete_edge.settings)
    async with client, client.order_connection(cancel_on_disconnect=True) as connection:
        await connection.place_order("BTC-USD", "buy", quantity=1, price=1)

    async def cancelled() -> bool:
        return router.bulk_cancels == [CancelOpenOrders("u1")]

    await eventually(cancelled)
    async with order_connection(complete_edge) as other:
        assert (await other.ask("ping"))["type"] == "pong"


async def test_without_asyncio_the_calls_have_the_same_results_and_errors(
    complete_edge: RestClient, router: FakeRouter
) -> None:
    def script() -> None:
        with sync_client_of(complete_edge.settings) as client, client.order_connection() as orders:
            order = orders.place_order("BTC-USD", "buy", quantity="0.5", price="100", client_order_id="mine")
            assert (order.price, order.status) == (Decimal(100), "open")
            fields = order_fields("BTC-USD", "sell", quantity=1, price=200)
            assert [entry.status for entry in orders.place_orders([fields, {}])] == [201, 400]
            assert orders.amend_order(order.order_id, price=101).price == 101
            amended = orders.amend_orders([amendment_fields(order.order_id, quantity="0.4")])
            assert [entry.status for entry in amended] == [200]
            assert orders.cancel_order(order.order_id).status == "cancelled"
            router.bulk_replies = [CancelOpenOrdersReply(True, ("order1",))]
            assert orders.cancel_orders(symbol="ETH-USD").cancelled == ["order1"]
            assert orders.cancel_all_after(60).timeout_seconds == 60
            with pytest.raises(ApiError) as caught:
                orders.place_order("BTC-USD", "buy", quantity=1)
            assert caught.value.reasons == ["price is required for a limit order"]
            with pytest.raises(TypeError, match="quantity must be"):
                orders.place_order("BTC-USD", "buy", quantity=0.1)  # type: ignore[arg-type]
            # After it was closed, the next call opens another.
            orders.close()
            assert orders.place_order("BTC-USD", "buy", quantity=1, price=3).status == "open"
        orders.close()
        with pytest.raises(RuntimeError, match="closed"):
            orders.cancel_order("o1")
        with SyncClient(complete_edge.settings.rest_url) as nobody, pytest.raises(ApiError) as refused:
            nobody.order_connection().__enter__()
        assert refused.value.status == 401

    await run(script)


async def test_without_asyncio_calls_of_several_threads_share_a_connection(
    complete_edge: RestClient, router: FakeRouter
) -> None:
    router.submit_gate.clear()
    settings, prices = complete_edge.settings, list(range(1, 9))

    def script() -> None:
        with sync_client_of(settings) as client, client.order_connection(cancel_on_disconnect=True) as orders:
            placed: list[Decimal | None] = []

            def place(price: int) -> None:
                placed.append(orders.place_order("BTC-USD", "buy", quantity=1, price=price).price)

            threads = [threading.Thread(target=place, args=(price,)) for price in prices]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(price for price in placed if price is not None) == prices

    running = asyncio.create_task(run(script))
    # All are under way before the first has its reply.
    await submitted(router, len(prices))
    router.submit_gate.set()
    await running

    async def cancelled() -> bool:
        return router.bulk_cancels == [CancelOpenOrders("u1")]

    await eventually(cancelled)


@pytest.mark.parametrize("idempotency_key", [None, "key"])
async def test_without_asyncio_a_call_under_way_ends_when_its_connection_is_closed(
    complete_edge: RestClient, router: FakeRouter, idempotency_key: str | None
) -> None:
    router.submit_gate.clear()
    client = sync_client_of(complete_edge.settings)
    orders = client.order_connection()
    # With a key a call is tried again where the connection breaks, but not where it was closed.
    placing = asyncio.create_task(
        asyncio.to_thread(
            lambda: orders.place_order("BTC-USD", "buy", quantity=1, price=1, idempotency_key=idempotency_key)
        )
    )
    await submitted(router, 1)
    await run(orders.close)
    # Not for want of a reply: that takes 15 s.
    with pytest.raises(UnreachableError, match="broke before the reply came"):
        await placing
    router.submit_gate.set()
    await run(client.close)
