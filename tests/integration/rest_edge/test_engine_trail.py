"""What operators do at the engine has one entry each in the trail, whatever is away or killed in between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest

from openspot.engine_client.listings import EngineListings
from openspot.http.operators import OperatorRole
from openspot.kit.settings import Settings, as_part
from openspot.rest_edge.operators import engine_trail
from openspot.rest_edge.operators.engine_trail import EngineTrail
from openspot.rest_edge.operators.trail_command import verify
from openspot.rest_edge.settings import RestEdgeSettings
from tests.support.edge_operators import make_operator
from tests.support.engine_client import EngineClient, running_engine
from tests.support.rest_client import running_edge
from tests.support.waiting import eventually

BTC_USD = "/api/v1/admin/symbols/BTC-USD"
BY_ADA = {"X-Operator": "user:ada", "X-Operator-Reason": "as%20decided", "X-Operator-Address": "192.0.2.7"}


@asynccontextmanager
async def follower(pool: asyncpg.Pool, settings: Settings) -> AsyncIterator[EngineTrail]:
    """What an edge runs by a timer."""
    async with aiohttp.ClientSession(headers=as_part(settings, RestEdgeSettings).service_headers) as session:
        yield EngineTrail(pool, EngineListings(session, as_part(settings, RestEdgeSettings).engine_url))


async def set_fees(engine: EngineClient, *fees: int) -> None:
    for fee in fees:
        assert (await engine.request("PATCH", BTC_USD, {"takerFee": fee}, engine.headers | BY_ADA))[0] == 200


async def fees_in(pool: asyncpg.Pool) -> list[str]:
    rows = await pool.fetch("SELECT after FROM operator_actions ORDER BY entry_number")
    return [row["after"] for row in rows]


def fee(value: int) -> str:
    return f'{{"takerFee":"{value}"}}'


async def test_several_edges_and_a_kill_in_the_middle_lose_nothing_and_double_nothing(
    settings: Settings, pool: asyncpg.Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_engine(settings) as engine, follower(pool, settings) as one, follower(pool, settings) as two:
        await set_fees(engine, 1, 2)
        written = engine_trail.record_action

        async def killed(*args: Any) -> int:
            number = await written(*args)
            if number == 2:
                raise asyncpg.InterfaceError("killed before the commit")
            return number

        monkeypatch.setattr(engine_trail, "record_action", killed)
        with pytest.raises(asyncpg.InterfaceError):
            await one.follow()
        assert await fees_in(pool) == []
        monkeypatch.undo()
        await asyncio.gather(one.follow(), two.follow())
        assert await fees_in(pool) == [fee(1), fee(2)]
        await set_fees(engine, 3, 4, 5)
        await asyncio.gather(two.follow(), one.follow(), two.follow())
        assert await fees_in(pool) == [fee(value) for value in (1, 2, 3, 4, 5)]
    # The engine starts again from its journal, and both go on where they were.
    async with running_engine(settings) as engine, follower(pool, settings) as one:
        await set_fees(engine, 6)
        await one.follow()
        assert await fees_in(pool) == [fee(value) for value in (1, 2, 3, 4, 5, 6)]
    assert (await verify(as_part(settings.model_copy(update={"data_dir": tmp_path}), RestEdgeSettings))).entries == 6


async def test_what_was_done_while_no_edge_ran_is_in_the_trail_of_the_next(
    settings: Settings, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_trail, "LATE_MS", -1)
    async with running_engine(settings) as engine:
        await set_fees(engine, 7)
        async with running_edge(settings) as edge:
            await make_operator(edge, pool, "eve@example.org", OperatorRole.AUDITOR)

            async def entry() -> Any:
                found = (await edge("GET", "/operator/trail?action=symbols.change")).body
                return found[0] if found else None

            found = await eventually(entry)
            told = {
                name: found[name] for name in ("operator", "subjectKind", "subjectId", "reason", "address", "before")
            }
            assert told == {
                "operator": "user:ada", "subjectKind": "symbol", "subjectId": "BTC-USD", "reason": "as decided",
                "address": "192.0.2.7", "before": {"takerFee": "25"},
            }  # fmt: skip
            assert found["after"]["takerFee"] == "7"
            assert found["after"]["doneAt"] < found["time"]
            export = await edge("GET", "/operator/trail/export?action=symbols.change&reason=audit")
            assert "symbols.change" in export.body


async def test_an_operator_cancels_the_orders_of_a_market_after_a_count(settings: Settings, pool: asyncpg.Pool) -> None:
    async with running_engine(settings) as engine, running_edge(settings) as edge:
        await engine.fund("alice", USD="100000")
        for _ in range(3):
            await engine.place("buy", "10", "1")
        await make_operator(edge, pool, "ada@example.org", OperatorRole.SUPPORT)
        path, body = "/operator/markets/BTC-USD/cancel-orders", {"dryRun": True, "reason": "a fault in its prices"}
        assert (await edge("POST", path, body)).status == 403
        await make_operator(edge, pool, "amy@example.org", OperatorRole.MARKET_OPERATIONS)
        who = (await edge("GET", "/operator/session")).body["operator"]
        counted = await edge("POST", path, body)
        assert counted.body == {"symbol": "BTC-USD", "dryRun": True, "cancelled": 0, "openOrders": 3}
        refused = await edge("POST", path, body | {"dryRun": False})
        assert (refused.status, refused.message) == (400, ["confirmedOrders must be the count of a dry run"])
        for _ in range(8):
            await engine.place("buy", "10", "1")
        refused = await edge("POST", path, body | {"dryRun": False, "confirmedOrders": 0})
        assert (refused.status, refused.code) == (409, "ORDER_COUNT_CHANGED")
        assert await pool.fetchval("SELECT count(*) FROM operator_actions WHERE action LIKE 'markets.%'") == 0
        # With a key, a repeat replies as before instead of cancelling what has come meanwhile.
        for _ in range(2):
            done = await edge(
                "POST", path, body | {"dryRun": False, "confirmedOrders": 3}, headers={"Idempotency-Key": "k1"}
            )
            assert done.body == {"symbol": "BTC-USD", "dryRun": False, "cancelled": 11, "openOrders": 0}
            await engine.place("buy", "10", "1")
        entries = await pool.fetch("SELECT * FROM operator_actions WHERE action = 'markets.cancel_orders'")
        assert [
            (row["operator"], row["subject_id"], row["reason"], row["before"], row["after"]) for row in entries
        ] == [(who, "BTC-USD", "a fault in its prices", '{"openOrders":"11"}', '{"openOrders":"0"}')]
        unknown = await edge("POST", "/operator/markets/NO-USD/cancel-orders", body)
        assert unknown.status == 404
