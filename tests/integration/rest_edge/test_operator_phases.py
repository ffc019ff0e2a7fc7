"""Phases of markets as operators of the edge set them: who may, what is refused, what the trail keeps."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from openspot.http.operators import OperatorRole
from openspot.kit.settings import Settings
from tests.support.edge_operators import make_operator
from tests.support.engine_client import EngineClient, running_engine
from tests.support.rest_client import Reply, RestClient, running_edge

PHASE = "/operator/markets/BTC-USD/phase"
HALT = {"phase": "halted", "expected": "continuous", "reason": "a wrong price was published"}
RESUME = {"phase": "continuous", "expected": "halted", "reason": "the price is right again"}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """A platform whose markets have phases."""
    return settings.model_copy(update={"rules": "complete"})


@asynccontextmanager
async def operated(
    settings: Settings, pool: asyncpg.Pool, role: OperatorRole = OperatorRole.MARKET_OPERATIONS
) -> AsyncIterator[tuple[RestClient, EngineClient]]:
    """An edge with its engine, called by an operator who has one role."""
    async with running_engine(settings) as engine, running_edge(settings) as edge:
        await make_operator(edge, pool, "ada@example.org", role)
        yield edge, engine


async def set_phase(edge: RestClient, body: dict[str, Any]) -> Reply:
    return await edge("PUT", PHASE, body)


async def phase_of(edge: RestClient) -> tuple[str, int, str]:
    """The phase of BTC-USD in the list of markets, when it ends, and why the engine began it."""
    markets = (await edge("GET", "/operator/markets")).body
    [market] = [market for market in markets if market["symbol"] == "BTC-USD"]
    return market["phase"], market["phaseEndsAt"], market["phaseCause"]


async def trail(pool: asyncpg.Pool) -> list[tuple[Any, ...]]:
    rows = await pool.fetch("SELECT * FROM operator_actions ORDER BY entry_number")
    return [
        (
            row["operator"],
            row["action"],
            row["subject_id"],
            row["reason"],
            json.loads(row["before"]),
            json.loads(row["after"]),
        )
        for row in rows
    ]


async def test_market_operations_halts_and_resumes_a_market_and_the_trail_has_both(
    settings: Settings, pool: asyncpg.Pool
) -> None:
    async with operated(settings, pool) as (edge, engine):
        who = (await edge("GET", "/operator/session")).body["operator"]
        await engine.fund("alice")
        assert await phase_of(edge) == ("continuous", 0, "")
        halted = await set_phase(edge, HALT)
        assert (halted.status, halted.body) == (200, {"symbol": "BTC-USD", "phase": "halted", "phaseEndsAt": 0})
        assert await phase_of(edge) == ("halted", 0, "")
        assert (await engine.place("buy", "90")).result_code == "PHASE_HALTED"
        resumed = await set_phase(edge, RESUME)
        assert (resumed.status, resumed.body["phase"]) == (200, "continuous")
        assert (await engine.place("buy", "90")).result_code == "SUCCESS"
        assert await trail(pool) == [
            (
                who,
                "markets.phase",
                "BTC-USD",
                HALT["reason"],
                {"phase": "continuous"},
                {"phase": "halted", "seconds": None},
            ),
            (
                who,
                "markets.phase",
                "BTC-USD",
                RESUME["reason"],
                {"phase": "halted"},
                {"phase": "continuous", "seconds": None},
            ),
        ]


@pytest.mark.parametrize("phase", ["auction", "post-only", "cancel-only"])
async def test_a_phase_with_an_end_says_in_the_list_of_markets_when_that_is(
    settings: Settings, pool: asyncpg.Pool, phase: str
) -> None:
    async with operated(settings, pool) as (edge, _):
        reply = await set_phase(edge, {"phase": phase, "seconds": 3600, "reason": "the opening of the market"})
        ends_at = reply.body["phaseEndsAt"]
        assert (reply.status, ends_at > 0) == (200, True)
        assert await phase_of(edge) == (phase, ends_at, "")
        assert (await edge("GET", "/operator/markets/BTC-USD")).body["phase"] == phase


async def test_what_is_refused_names_its_field_and_changes_neither_market_nor_trail(
    settings: Settings, pool: asyncpg.Pool
) -> None:
    async with operated(settings, pool) as (edge, _):
        for change, field in (
            ({"phase": "uncrossing"}, "phase"),
            ({"phase": "closed"}, "phase"),
            ({"seconds": -1}, "seconds"),
            ({"seconds": 10**9}, "seconds"),
            ({"phase": "continuous", "seconds": 5}, "seconds"),
            ({"expected": "closed"}, "expected"),
            ({"reason": " "}, "reason"),
            ({"reason": "x" * 501}, "reason"),
        ):
            refused = await set_phase(edge, HALT | change)
            assert (refused.status, field in str(refused.message)) == (400, True), refused.body
        missing = await edge("PUT", "/operator/markets/NO-USD/phase", HALT)
        assert (missing.status, missing.code) == (404, "INVALID_SYMBOL")
        assert await phase_of(edge) == ("continuous", 0, "")
        assert await trail(pool) == []


async def test_a_market_that_is_in_another_phase_than_the_operator_saw_stays_in_it(
    settings: Settings, pool: asyncpg.Pool
) -> None:
    async with operated(settings, pool) as (edge, _):
        assert (await set_phase(edge, HALT)).status == 200
        late = await set_phase(edge, {"phase": "auction", "expected": "continuous", "reason": "a colleague was faster"})
        assert (late.status, late.code) == (409, "PHASE_CHANGED")
        assert str(late.message).startswith("expected: BTC-USD is halted by now")
        assert await phase_of(edge) == ("halted", 0, "")
        assert len(await trail(pool)) == 1


@pytest.mark.parametrize(
    "role", sorted(set(OperatorRole) - {OperatorRole.MARKET_OPERATIONS, OperatorRole.ADMINISTRATOR})
)
async def test_who_lacks_the_permission_sees_the_phase_and_sets_none(
    settings: Settings, pool: asyncpg.Pool, role: OperatorRole
) -> None:
    async with operated(settings, pool, role) as (edge, _):
        refused = await set_phase(edge, HALT)
        assert (refused.status, refused.code) == (403, "PERMISSION_MISSING")
        assert await phase_of(edge) == ("continuous", 0, "")
        assert await trail(pool) == []


async def test_markets_without_phases_are_refused_with_the_way_to_change_that(
    settings: Settings, pool: asyncpg.Pool
) -> None:
    async with operated(settings.model_copy(update={"rules": "specification"}), pool) as (edge, _):
        refused = await set_phase(edge, HALT)
        assert (refused.status, refused.code) == (400, "UNSUPPORTED_COMMAND")
        assert "OPENSPOT_RULES=complete" in str(refused.message)


async def test_while_the_engine_is_silent_503_says_to_look_whether_the_phase_was_set(
    settings: Settings, pool: asyncpg.Pool
) -> None:
    async with running_edge(settings) as edge:
        await make_operator(edge, pool, "ada@example.org", OperatorRole.MARKET_OPERATIONS)
        refused = await set_phase(edge, HALT)
        assert (refused.status, refused.code) == (503, "SERVICE_UNAVAILABLE")
        assert "look whether the change was made" in str(refused.message)
