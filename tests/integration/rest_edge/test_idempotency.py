"""`Idempotency-Key` through several edges on one database, and after an edge was killed."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import asyncpg
import pytest

from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.http import idempotency
from openspot.kit.settings import Settings, environment_of
from tests.support.fake_router import FakeRouter
from tests.support.ports import free_port
from tests.support.rest_client import Reply, RestClient, running_edge
from tests.support.waiting import eventually

LIMIT = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.5", "price": "100.25"}


@pytest.fixture
async def edges(edge: RestClient, settings: Settings) -> AsyncIterator[list[RestClient]]:
    """Three edges side by side."""
    async with AsyncExitStack() as stack:
        found = [edge]
        for _ in range(2):
            other = settings.model_copy(update={"rest_port": free_port()})
            found.append(await stack.enter_async_context(running_edge(other)))
            found[-1].token = edge.token
        yield found


async def place(edge: RestClient, key: str = "k1", body: dict[str, Any] | None = None) -> Reply:
    return await edge("POST", "/orders", LIMIT if body is None else body, headers={"Idempotency-Key": key})


async def test_a_repetition_gets_the_first_response_from_every_edge(
    edges: list[RestClient], router: FakeRouter
) -> None:
    first = await place(edges[0])
    assert (first.status, first.headers.get("Idempotency-Hit")) == (201, None)
    for edge in edges:
        again = await place(edge)
        assert (again.status, again.body, again.headers["Idempotency-Hit"]) == (201, first.body, "true")
        assert again.headers["X-Request-Id"] != first.headers["X-Request-Id"]
    assert len(router.submitted) == 1
    for body in (LIMIT | {"quantity": "0.6"}, LIMIT | {"clientOrderId": "x"}):
        other = await place(edges[1], body=body)
        assert (other.status, other.code) == (409, "IDEMPOTENCY_KEY_REUSED")
    edges[2].as_user("u2")
    assert (await place(edges[2])).body["userId"] == "u2"


async def test_of_many_at_once_one_runs(edges: list[RestClient], router: FakeRouter) -> None:
    replies = await asyncio.gather(*(place(edges[number % 3]) for number in range(30)))
    assert len(router.submitted) == 1
    for reply in replies:
        assert reply.status == 201 or (reply.status, reply.code) == (409, "IDEMPOTENCY_KEY_IN_USE")
        if reply.status == 409:
            assert reply.headers["Retry-After"] == "1"
    assert (await place(edges[0])).body["orderId"] == router.submitted[0].order.order_id


async def test_a_rejected_order_is_repeated_and_a_malformed_one_is_not_stored(
    edge: RestClient, router: FakeRouter
) -> None:
    assert (await place(edge, body=LIMIT | {"quantity": "-1"})).code == "VALIDATION_FAILED"
    router.reject_with = "RISK_NSF"
    rejected = await place(edge)
    assert (rejected.status, rejected.code) == (400, "RISK_NSF")
    router.reject_with = None
    again = await place(edge)
    assert (again.status, again.body, again.headers["Idempotency-Hit"]) == (400, rejected.body, "true")
    assert len(router.submitted) == 1


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "é"])
async def test_a_key_of_another_form_is_refused(edge: RestClient, router: FakeRouter, key: str) -> None:
    reply = await place(edge, key)
    assert (reply.status, reply.code) == (400, "VALIDATION_FAILED")
    assert router.submitted == []


@pytest.mark.parametrize("code", [RefusalCode.UNAVAILABLE, RefusalCode.STATUS_UNKNOWN])
async def test_an_unknown_outcome_is_never_repeated_but_looked_up(
    edge: RestClient, router: FakeRouter, code: RefusalCode
) -> None:
    router.refusal = Refusal(code, "no answer")
    assert (await place(edge)).status in (503, 504)
    router.refusal = None
    placed = await place(edge)
    assert (placed.status, placed.headers.get("Idempotency-Hit")) == (201, None)
    # The same operation: the order has the id that it was first sent under.
    assert len({request.order.order_id for request in router.submitted}) == 1
    assert (await place(edge)).headers["Idempotency-Hit"] == "true"


async def test_an_order_that_was_placed_without_the_edge_hearing_of_it_is_not_placed_again(
    edge: RestClient, router: FakeRouter
) -> None:
    router.refusal = Refusal(RefusalCode.STATUS_UNKNOWN, "no answer")
    assert (await place(edge)).status == 504
    [request] = router.submitted
    router.refusal = None
    await router._submit(request)
    del router.submitted[:]
    placed = await place(edge)
    assert (placed.status, placed.body["orderId"]) == (201, request.order.order_id)
    assert router.submitted == []


async def test_after_a_day_a_key_is_new_and_expired_ones_are_swept(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    first = await place(edge)
    life = await pool.fetchval("SELECT expires_at - now() FROM idempotency_keys")
    assert 86_340 < life.total_seconds() <= 86_400
    await pool.execute("UPDATE idempotency_keys SET expires_at = now() - interval '1 second'")
    second = await place(edge, body=LIMIT | {"quantity": "0.7"})
    assert (second.status, second.headers.get("Idempotency-Hit")) == (201, None)
    assert second.body["orderId"] != first.body["orderId"]
    await place(edge, "k2")
    await pool.execute("UPDATE idempotency_keys SET expires_at = now() - interval '1 second' WHERE key = 'k2'")
    assert await idempotency.DatabaseIdempotency(pool).delete_expired() == 1
    assert await pool.fetchval("SELECT array_agg(key) FROM idempotency_keys") == ["k1"]


async def test_after_a_kill_the_next_edge_resumes_the_order(
    edge: RestClient, router: FakeRouter, settings: Settings, pool: asyncpg.Pool
) -> None:
    doomed = settings.model_copy(update={"rest_port": free_port(), "request_timeout_s": 60.0})
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "from openspot.cli import app; app()", "run", "rest-edge",
        env=os.environ | environment_of(doomed), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    client = RestClient(doomed, edge.token)
    try:

        async def alive() -> bool:
            try:
                return (await client("GET", "/health/live")).status == 200
            except aiohttp.ClientError:
                return False

        await eventually(alive, 60)
        router.silent = True
        placing = asyncio.create_task(place(client))
        await eventually(lambda: asyncio.sleep(0, bool(router.submitted)), 20)
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
        with pytest.raises(aiohttp.ClientError):
            await placing
    finally:
        await client.close()
        if process.returncode is None:
            process.kill()
            await process.wait()
    # The router had placed it; the edge died before it heard.
    router.silent = False
    [request] = router.submitted
    router.silent, router.submitted = False, []
    await router._submit(request)
    del router.submitted[:]
    waiting = await place(edge)
    assert (waiting.status, waiting.code, waiting.headers["Retry-After"]) == (409, "IDEMPOTENCY_KEY_IN_USE", "1")
    # The claim of the dead process lapses.
    await pool.execute("UPDATE idempotency_keys SET claimed_until = now()")
    resumed = await place(edge)
    assert (resumed.status, resumed.body["orderId"]) == (201, request.order.order_id)
    assert router.submitted == []
    assert (await place(edge)).headers["Idempotency-Hit"] == "true"
