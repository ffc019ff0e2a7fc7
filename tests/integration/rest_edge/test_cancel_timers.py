"""The dead man's switch: real bus and database, a router of this process, and edges that die."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import asyncpg
import pytest
from pydantic import ValidationError

from openspot.contracts.messages import CancelOpenOrders, CancelOpenOrdersReply
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.http.errors import HttpError
from openspot.http.validation import messages_of
from openspot.kit.settings import Settings
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.orders.cancel_schemas import CancelTimerBody
from openspot.rest_edge.orders.cancel_timers import CancelTimers
from openspot.rest_edge.push.queue import PushQueue
from tests.support.fake_router import FakeRouter
from tests.support.positions import register_users
from tests.support.rest_client import RestClient, running_edge
from tests.support.waiting import eventually

PATH = "/orders/cancel-all-after"
NOTHING = {"timeoutSeconds": 0, "cancelsAt": None, "firedAt": None, "cancelledOrders": None}


@pytest.fixture
async def complete_edge(settings: Settings) -> AsyncIterator[RestClient]:
    """An edge of this test alone with the complete rules, asked as the user `u1`."""
    async with running_edge(settings.model_copy(update={"rules": "complete"})) as client:
        client.as_user("u1")
        yield client


class Orders:
    """Cancels the orders of users, or does not reach the engine."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_away = False
        self.cancelled = ["order1", "order2"]

    async def cancel_all(self, user_id: str) -> list[str]:
        self.asked.append(user_id)
        if self.is_away:
            raise HttpError(503, "no engine", "SERVICE_UNAVAILABLE")
        return self.cancelled


def store_of(pool: asyncpg.Pool, outbox_max: int = 100) -> NotificationStore:
    return NotificationStore(pool, Outbox(pool, outbox_max), PushQueue(pool, 100))


async def run_out(pool: asyncpg.Pool, *user_ids: str) -> None:
    """Let the timers of these users be due."""
    statement = "UPDATE cancel_timers SET fires_at = now() - interval '1 second' WHERE user_id = ANY($1::text[])"
    await pool.execute(statement, list(user_ids))


async def test_a_timer_cancels_when_it_runs_out_and_not_before(
    complete_edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    assert (await complete_edge("GET", PATH)).body == NOTHING
    reply = await complete_edge("POST", PATH, {"timeoutSeconds": 3600})
    assert (reply.status, reply.body["timeoutSeconds"], reply.body["firedAt"]) == (200, 3600, None)
    first = datetime.fromisoformat(reply.body["cancelsAt"])
    renewed = await complete_edge("POST", PATH, {"timeoutSeconds": 3600})
    assert datetime.fromisoformat(renewed.body["cancelsAt"]) >= first
    assert router.bulk_cancels == []
    router.bulk_replies = [CancelOpenOrdersReply(True, ("order1",))]
    await run_out(pool, "u1")

    async def fired() -> Any:
        timer = (await complete_edge("GET", PATH)).body
        return timer if timer["firedAt"] else None

    timer = await eventually(fired)
    assert (timer["timeoutSeconds"], timer["cancelsAt"], timer["cancelledOrders"]) == (0, None, 1)
    assert router.bulk_cancels == [CancelOpenOrders("u1")]


async def test_a_timer_that_is_ended_cancels_nothing(pool: asyncpg.Pool, edge: RestClient) -> None:
    orders = Orders()
    timers = CancelTimers(pool, orders.cancel_all, store_of(pool))
    await timers.set("u1", 60)
    assert (await timers.set("u1", 0)).cancels_at is None
    await timers.set("u2", 60)
    await timers.carry_out_due()
    assert orders.asked == []


async def test_one_of_several_edges_acts_and_another_goes_on_if_it_dies(pool: asyncpg.Pool, edge: RestClient) -> None:
    orders = Orders()
    edges = [CancelTimers(pool, orders.cancel_all, store_of(pool)) for _ in range(4)]
    users = [f"user{number}" for number in range(40)]
    for user_id in users:
        await edges[0].set(user_id, 60)
    await run_out(pool, *users)
    await asyncio.gather(*(timers.carry_out_due() for timers in edges))
    assert sorted(orders.asked) == sorted(users)

    await edges[0].set("u1", 60)
    await run_out(pool, "u1")
    orders.asked.clear()
    assert await edges[0]._claim()
    # The first edge dies here. Until its claim ends, nobody acts and the user can change nothing.
    await edges[1].carry_out_due()
    with pytest.raises(HttpError) as refusal:
        await edges[1].set("u1", 60)
    assert (refusal.value.status_code, refusal.value.code) == (409, "CANCEL_TIMER_DUE")
    assert orders.asked == []
    await pool.execute("UPDATE cancel_timers SET claimed_until = now() - interval '1 second'")
    await edges[1].carry_out_due()
    assert orders.asked == ["u1"]


async def test_a_timer_stays_due_while_the_engine_is_away_and_a_late_renewal_cancels_first(
    pool: asyncpg.Pool, edge: RestClient
) -> None:
    orders = Orders()
    timers = CancelTimers(pool, orders.cancel_all, store_of(pool))
    await timers.set("u1", 60)
    await run_out(pool, "u1")
    orders.is_away = True
    await timers.carry_out_due()
    timer = await timers.get("u1")
    assert (timer.fired_at, timer.timeout_seconds) == (None, 60)
    await pool.execute("UPDATE cancel_timers SET claimed_until = NULL")
    with pytest.raises(HttpError) as refusal:
        await timers.set("u1", 60)
    assert refusal.value.status_code == 503
    orders.is_away = False
    await pool.execute("UPDATE cancel_timers SET claimed_until = NULL")
    timer = await timers.set("u1", 60)
    assert timer.fired_at is not None
    assert (timer.timeout_seconds, timer.cancelled_orders) == (60, 2)
    assert timer.cancels_at is not None
    assert orders.asked == ["u1"] * 3


@pytest.mark.parametrize("earlier", [[], [60], [60, 0]])
async def test_a_timer_that_is_let_run_out_is_renewed_and_ended_by_nobody_before_the_orders_are_cancelled(
    pool: asyncpg.Pool, edge: RestClient, earlier: list[int]
) -> None:
    orders = Orders()
    timers = CancelTimers(pool, orders.cancel_all, store_of(pool))
    for timeout_s in earlier:
        await timers.set("u1", timeout_s)
    orders.is_away = True
    await timers.run_out("u1")
    for timeout_s, status in ((60, 503), (0, 409)):
        with pytest.raises(HttpError) as refusal:
            await timers.set("u1", timeout_s)
        assert refusal.value.status_code == status
    timer = await timers.get("u1")
    assert timer.cancels_at is not None
    assert (timer.timeout_seconds, timer.fired_at) == (0, None)
    orders.is_away = False
    await pool.execute("UPDATE cancel_timers SET claimed_until = NULL")
    timer = await timers.set("u1", 60)
    assert (timer.timeout_seconds, timer.cancelled_orders) == (60, 2)
    assert orders.asked == ["u1"] * 2


async def test_a_timer_that_runs_out_while_it_is_carried_out_is_carried_out_again(
    pool: asyncpg.Pool, edge: RestClient
) -> None:
    orders = Orders()
    timers = CancelTimers(pool, orders.cancel_all, store_of(pool))
    await timers.set("u1", 60)
    await run_out(pool, "u1")
    ((user_id, fires_at),) = await timers._claim()
    await timers.run_out("u1")
    await timers._carry_out(user_id, fires_at)
    assert (await timers.get("u1")).fired_at is None, "an order may have been placed after this cancel"
    await timers.carry_out_due()
    timer = await timers.get("u1")
    assert (timer.cancels_at, timer.cancelled_orders) == (None, 2)
    assert orders.asked == ["u1"] * 2


async def test_a_renewal_that_began_before_the_timer_ran_out_and_waited_comes_too_late(
    pool: asyncpg.Pool, edge: RestClient
) -> None:
    orders = Orders()
    timers = CancelTimers(pool, orders.cancel_all, store_of(pool))
    await timers.set("u1", 60)
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("SELECT FROM cancel_timers FOR UPDATE")
        renewal = asyncio.create_task(timers.set("u1", 60))

        async def waits() -> bool:
            query = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            return bool(await pool.fetchval(query))

        await eventually(waits)
        await connection.execute("UPDATE cancel_timers SET fires_at = clock_timestamp()")
    assert (await renewal).cancelled_orders == 2
    assert orders.asked == ["u1"]


async def add_order(pool: asyncpg.Pool, user_id: str, status: str) -> None:
    """The row of one order."""
    await pool.execute(
        """
        INSERT INTO orders (order_id, user_id, symbol, side, type, time_in_force, price, quantity, remaining_quantity,
            fee_currency, status, created_at, updated_at)
        VALUES ('o1', $1, 'BTC-USD', 'buy', 'limit', 'gtc', 100, 1, 1, 'USD', $2, now(), now())
        """,
        user_id,
        status,
    )


async def told(pool: asyncpg.Pool) -> list[tuple[str, str]]:
    """The notifications: (id without its time, kind)."""
    rows = await pool.fetch("SELECT notification_id, kind FROM notifications ORDER BY number")
    return [(row["notification_id"].rpartition(":")[0], row["kind"]) for row in rows]


async def test_the_user_is_notified_once_and_only_if_there_were_orders(pool: asyncpg.Pool, edge: RestClient) -> None:
    await register_users(pool, "u1", "u2")
    orders = Orders()
    timers = CancelTimers(pool, orders.cancel_all, store_of(pool))
    for user_id in ("u1", "u2"):
        await timers.set(user_id, 60)
    await run_out(pool, "u1")
    await timers.carry_out_due()
    orders.cancelled = []
    await run_out(pool, "u2")
    await timers.carry_out_due()
    await timers.carry_out_due()
    assert (await timers.get("u2")).fired_at is not None
    assert await told(pool) == [("order.cancelled_by_timer:u1", "order.cancelled_by_timer")]
    assert [row["email"] for row in await pool.fetch("SELECT email FROM mail_outbox")] == ["u1@example.org"]


@pytest.mark.parametrize("status", ["open", "partially_filled", "filled"])
async def test_the_user_hears_of_orders_that_an_edge_cancelled_before_it_died(
    pool: asyncpg.Pool, edge: RestClient, status: str
) -> None:
    await register_users(pool, "u1")
    await add_order(pool, "u1", status)
    orders = Orders()
    edges = [CancelTimers(pool, orders.cancel_all, store_of(pool)) for _ in range(2)]
    await edges[0].set("u1", 60)
    await run_out(pool, "u1")
    assert await edges[0]._claim()
    # The first edge cancels the orders and dies. Their rows follow before another edge goes on, which finds none.
    await pool.execute("UPDATE orders SET status = 'cancelled' WHERE status <> 'filled'")
    await pool.execute("UPDATE cancel_timers SET claimed_until = now() - interval '1 second'")
    orders.cancelled = []
    await edges[1].carry_out_due()
    assert len(await told(pool)) == (0 if status == "filled" else 1)
    # The next timer begins anew.
    await edges[1].set("u1", 60)
    await run_out(pool, "u1")
    await edges[1].carry_out_due()
    assert len(await told(pool)) == (0 if status == "filled" else 1)


async def test_two_edges_that_end_the_same_timer_notify_once(pool: asyncpg.Pool, edge: RestClient) -> None:
    await register_users(pool, "u1")
    orders = Orders()
    edges = [CancelTimers(pool, orders.cancel_all, store_of(pool)) for _ in range(2)]
    await edges[0].set("u1", 60)
    await run_out(pool, "u1")
    ((user_id, fires_at),) = await edges[0]._claim()
    await asyncio.gather(*(timers._carry_out(user_id, fires_at) for timers in edges))
    assert len(await told(pool)) == 1


async def test_a_full_outbox_leaves_the_notice_on_the_screen_and_the_timer_ends(
    pool: asyncpg.Pool, edge: RestClient
) -> None:
    await register_users(pool, "u1")
    orders = Orders()
    timers = CancelTimers(pool, orders.cancel_all, store_of(pool, outbox_max=0))
    await timers.set("u1", 60)
    await run_out(pool, "u1")
    await timers.carry_out_due()
    assert (await timers.get("u1")).fired_at is not None
    assert len(await told(pool)) == 1
    assert await pool.fetchval("SELECT count(*) FROM mail_outbox") == 0


async def test_what_the_router_did_not_do_counts_as_not_done(
    complete_edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    await complete_edge("POST", PATH, {"timeoutSeconds": 60})
    router.bulk_replies = [CancelOpenOrdersReply.refused(Refusal(RefusalCode.UNAVAILABLE, "no engine"))] * 2
    await run_out(pool, "u1")
    await eventually(lambda: len(router.bulk_cancels) >= 1)
    assert (await complete_edge("GET", PATH)).body["firedAt"] is None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "timeoutSeconds"),
        ({"timeoutSeconds": -1}, "timeoutSeconds"),
        ({"timeoutSeconds": 4}, "timeoutSeconds must be 0 or at least 5"),
        ({"timeoutSeconds": 86_401}, "timeoutSeconds"),
        ({"timeoutSeconds": 5.5}, "timeoutSeconds"),
        ({"timeoutSeconds": "soon"}, "timeoutSeconds"),
        ({"timeoutSeconds": None}, "timeoutSeconds"),
    ],
)
def test_a_bad_time_is_named(body: Any, message: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        CancelTimerBody.model_validate(body)
    assert message in " ".join(messages_of(refusal.value.errors()))


async def test_with_the_rules_of_the_specification_there_is_no_timer(edge: RestClient, router: FakeRouter) -> None:
    assert (await edge("POST", PATH, {"timeoutSeconds": 60})).status in (404, 405)
    assert (await edge("GET", PATH)).status == 404
