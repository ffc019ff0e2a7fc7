"""Throttling and the audit trail, through HTTP."""

import asyncio
from typing import Any

import asyncpg
import pytest

from openspot.http import audit
from openspot.http.audit import REFUSED
from openspot.kit.settings import Settings
from tests.support.fake_router import FakeRouter
from tests.support.rest_client import RestClient, running_edge
from tests.support.waiting import eventually

LIMIT = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.5", "price": "100.25"}


async def records(pool: asyncpg.Pool) -> list[asyncpg.Record]:
    return await pool.fetch("SELECT * FROM audit_records ORDER BY audit_id")


@pytest.mark.spec("A8-01", "A8-04")
async def test_the_eleventh_request_of_a_second_is_refused_for_that_user_alone(settings: Settings) -> None:
    async with running_edge(settings.model_copy(update={"throttle_enabled": True})) as edge:
        edge.as_user("u1")
        replies = await asyncio.gather(*(edge("GET", "/orders") for _ in range(11)))
        assert sorted(reply.status for reply in replies) == [200] * 10 + [429]
        passed = max((reply for reply in replies if reply.status == 200), key=lambda r: r.headers["X-Request-Id"])
        assert passed.headers["X-RateLimit-Limit-medium"] == "50"
        [refused] = [reply for reply in replies if reply.status == 429]
        assert refused.code == "TOO_MANY_REQUESTS"
        assert refused.headers["Retry-After"] == "1"
        for tier, limit in (("short", "10"), ("medium", "50"), ("long", "200")):
            assert refused.headers[f"X-RateLimit-Limit-{tier}"] == limit
            assert int(refused.headers[f"X-RateLimit-Remaining-{tier}"]) == int(limit) - 10
            assert 0 < int(refused.headers[f"X-RateLimit-Reset-{tier}"]) <= 60
        edge.as_user("u2")
        assert (await edge("GET", "/orders")).status == 200


async def test_without_a_token_the_address_is_throttled_but_never_health_and_metrics(settings: Settings) -> None:
    async with running_edge(settings.model_copy(update={"throttle_enabled": True})) as edge:
        replies = await asyncio.gather(*(edge("GET", "/orders") for _ in range(12)))
        assert sorted(reply.status for reply in replies) == [401] * 10 + [429] * 2
        for prefix, path in (("/api/v1", "/health"), ("/api/v1", "/metrics"), ("", "/ready"), ("", "/metrics")):
            for _ in range(12):
                reply = await edge("GET", path, prefix=prefix)
                assert reply.status in (200, 503)
                assert "X-RateLimit-Limit-short" not in reply.headers


@pytest.mark.spec("A1.3-02")
async def test_each_request_that_changes_something_leaves_a_record(
    own_edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    placed = await own_edge("POST", "/orders?secret=1", LIMIT)
    bad = await own_edge("POST", "/orders", {"password": "hunter2"})
    await own_edge("GET", "/orders")
    cancelled = await own_edge("DELETE", f"/orders/{placed.body['orderId']}")
    own_edge.token = None
    refused = await own_edge("DELETE", "/orders/%00%F0%9F%98%80")
    rows = await eventually(lambda: _at_least(pool, 4))
    assert [(row["request_id"], row["user_id"], row["method"], row["path"], row["status"]) for row in rows] == [
        (placed.headers["X-Request-Id"], "u1", "POST", "/api/v1/orders", 201),
        (bad.headers["X-Request-Id"], "u1", "POST", "/api/v1/orders", 400),
        (cancelled.headers["X-Request-Id"], "u1", "DELETE", f"/api/v1/orders/{placed.body['orderId']}", 200),
        (refused.headers["X-Request-Id"], None, "DELETE", "/api/v1/orders/%00%F0%9F%98%80", 401),
    ]
    assert {row["address"] for row in rows} == {"127.0.0.1"}
    assert all(row["duration_ms"] > 0 for row in rows)
    assert "hunter2" not in str(rows)


async def _at_least(pool: asyncpg.Pool, count: int) -> list[asyncpg.Record] | None:
    rows = await records(pool)
    return rows if len(rows) >= count else None


async def test_a_clean_stop_writes_every_record_that_waits(
    settings: Settings, router: FakeRouter, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "WRITE_INTERVAL_S", 0.3)
    async with running_edge(settings) as edge:
        edge.as_user("u1")
        replies = await asyncio.gather(*(edge("POST", "/orders", LIMIT) for _ in range(150)))
    ids = {row["request_id"] for row in await records(pool)}
    assert ids == {reply.headers["X-Request-Id"] for reply in replies}


async def test_records_survive_a_database_that_refuses_them_for_a_while(
    own_edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    failures = audit.FAILURES._value.get()
    await pool.execute("ALTER TABLE audit_records RENAME TO audit_records_away")
    placed = [await own_edge("POST", "/orders", LIMIT) for _ in range(5)]
    assert {reply.status for reply in placed} == {201}
    await eventually(lambda: audit.FAILURES._value.get() > failures)
    await pool.execute("ALTER TABLE audit_records_away RENAME TO audit_records")
    rows = await eventually(lambda: _at_least(pool, 5))
    assert {row["request_id"] for row in rows} == {reply.headers["X-Request-Id"] for reply in placed}


async def test_what_cannot_be_recorded_is_not_done(
    settings: Settings, router: FakeRouter, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "ROOM_WAIT_S", 0.05)
    before = REFUSED._value.get()
    await pool.execute("ALTER TABLE audit_records RENAME TO audit_records_away")
    async with running_edge(settings.model_copy(update={"audit_queue_max": 3})) as edge:
        edge.as_user("u1")
        replies: list[Any] = [await edge("POST", "/orders", LIMIT) for _ in range(5)]
        assert [reply.status for reply in replies] == [201, 201, 201, 503, 503]
        assert replies[-1].code == "AUDIT_UNAVAILABLE"
        assert len(router.submitted) == 3
        assert REFUSED._value.get() == before + 2
        assert (await edge("GET", "/orders")).status == 200
        await pool.execute("ALTER TABLE audit_records_away RENAME TO audit_records")

        async def accepted() -> bool:
            return (await edge("POST", "/orders", LIMIT)).status == 201

        await eventually(accepted)


async def test_users_whom_the_setting_names_are_not_throttled_and_nobody_else_is_spared(settings: Settings) -> None:
    given = {"throttle_enabled": True, "throttle_exempt_users": "u2, u1"}
    async with running_edge(settings.model_copy(update=given)) as edge:
        edge.as_user("u1")
        replies = await asyncio.gather(*(edge("GET", "/orders") for _ in range(30)))
        assert {reply.status for reply in replies} == {200}
        assert "X-RateLimit-Limit-short" not in replies[0].headers
        # A name alone, without a valid token, opens nothing.
        edge.token = "u1"
        replies = await asyncio.gather(*(edge("GET", "/orders") for _ in range(11)))
        assert sorted(reply.status for reply in replies) == [401] * 10 + [429]
        edge.as_user("u3")
        replies = await asyncio.gather(*(edge("GET", "/orders") for _ in range(11)))
        assert sorted(reply.status for reply in replies) == [200] * 10 + [429]
