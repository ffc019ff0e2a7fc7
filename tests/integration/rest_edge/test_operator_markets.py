"""Markets as operators of the edge see them: who may list and change one, what the trail keeps, what users see."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.http.operators import OperatorRole
from openspot.kit.settings import Settings
from tests.support.coin_pictures import SVG, brand_with_coins
from tests.support.edge_operators import make_operator
from tests.support.engine_client import running_engine
from tests.support.rest_client import RestClient, running_edge
from tests.support.waiting import eventually

DOGE_USD: dict[str, Any] = {
    "symbol": "DOGE-USD",
    "asset": {"currency": "DOGE", "name": "Dogecoin", "places": 8, "logo": "doge"},
    "name": "Dogecoin / US dollar",
    "announcement": "Trading begins soon.",
    "tickSize": "0.0001",
    "lotSize": "0.1",
    "takerFee": 25,
    "makerFee": 15,
    "quantityMin": "1",
    "quantityMax": "1000",
    "notionalMin": "1",
    "notionalMax": "5000",
    "deviationBpsMax": 2000,
    "slippageBpsMax": 500,
    "reason": "asked for by many",
}


@pytest.fixture
def live(settings: Settings, tmp_path: Path) -> Settings:
    """A platform whose services follow what operators list."""
    brand = brand_with_coins(tmp_path, doge_svg=SVG)
    return settings.model_copy(update={"markets": "live", "rules": "complete", "brand_folder": brand})


@asynccontextmanager
async def edge_and_engine(settings: Settings) -> AsyncIterator[RestClient]:
    async with running_engine(settings), running_edge(settings) as edge:
        yield edge


async def trail(pool: asyncpg.Pool) -> list[dict[str, Any]]:
    rows = await pool.fetch("SELECT * FROM operator_actions ORDER BY entry_number")
    names = ("operator", "action", "subject_kind", "subject_id", "reason")
    return [
        {name: row[name] for name in names} | {name: json.loads(row[name]) for name in ("before", "after")}
        for row in rows
    ]


async def test_an_operator_lists_edits_and_delists_and_the_trail_keeps_each_step(
    live: Settings, pool: asyncpg.Pool
) -> None:
    async with edge_and_engine(live) as edge:
        await make_operator(edge, pool, "ada@example.org", OperatorRole.MARKET_OPERATIONS)
        who = (await edge("GET", "/operator/session")).body["operator"]
        checks = (await edge("POST", "/operator/markets/checks", DOGE_USD)).body
        assert not [check for check in checks if check["fault"]]
        listed = await edge("POST", "/operator/markets", DOGE_USD)
        assert (listed.status, listed.body["active"], listed.body["terms"]["status"]) == (201, False, "announced")

        async def announced() -> Any:
            reply = await edge("GET", "/markets/DOGE-USD")
            return reply.body if reply.status == 200 and reply.body["quantityMax"] else None

        market = await eventually(announced)
        shown = {name: market[name] for name in ("status", "name", "announcement", "logo", "active", "quantityMax")}
        assert shown == {
            "status": "announced", "name": "Dogecoin / US dollar", "announcement": "Trading begins soon.",
            "logo": "doge", "active": False, "quantityMax": "1000",
        }  # fmt: skip
        assert (market["margin"], (await edge("GET", "/markets/BTC-USD")).body["margin"]) == (False, True)
        opened = await edge("PUT", "/operator/markets/DOGE-USD/status", {"status": "open", "reason": "makers are in"})
        assert (opened.status, opened.body["active"]) == (200, True)
        changed = await edge("PATCH", "/operator/markets/DOGE-USD", {"takerFee": 30, "reason": "as decided"})
        assert (changed.status, changed.body["takerFee"]) == (200, 30)
        ended = await edge("POST", "/operator/markets/DOGE-USD/delisting", {"reason": "the coin has ended"})
        assert (ended.status, ended.body["terms"]["status"]) == (200, "delisting")

        entries = await trail(pool)
        assert [(entry["action"], entry["subject_id"], entry["reason"]) for entry in entries] == [
            ("markets.list", "DOGE-USD", "asked for by many"),
            ("markets.status", "DOGE-USD", "makers are in"),
            ("markets.change", "DOGE-USD", "as decided"),
            ("markets.status", "DOGE-USD", "the coin has ended"),
        ]
        assert {entry["operator"] for entry in entries} == {who}
        assert (entries[2]["before"], entries[2]["after"]) == ({"takerFee": "25"}, {"takerFee": "30"})
        history = (await edge("GET", "/operator/markets/DOGE-USD/changes")).body["changes"]
        assert [change["operator"] for change in history if change["operator"] != "engine"] == [who] * 4
        listed_markets = (await edge("GET", "/operator/markets")).body
        assert [market["symbol"] for market in listed_markets][-1] == "DOGE-USD"
        assert (await edge("GET", "/operator/markets/DOGE-USD")).body["symbol"] == "DOGE-USD"


async def test_refusals_name_the_field_and_change_neither_engine_nor_trail(live: Settings, pool: asyncpg.Pool) -> None:
    async with edge_and_engine(live) as edge:
        await make_operator(edge, pool, "ada@example.org", OperatorRole.MARKET_OPERATIONS)
        before = (await edge("GET", "/operator/markets")).body
        refused = await edge("POST", "/operator/markets", DOGE_USD | {"takerFee": 5000, "quantityMin": "1.05"})
        assert (refused.status, refused.code) == (400, "VALIDATION_FAILED")
        assert refused.message == [
            "takerFee must be between 0 and 1000",
            "quantityMin quantityMin and quantityMax must be multiples of lotSize",
        ]
        refused = await edge("POST", "/operator/markets", {"symbol": "DOGE-USD", "reason": "no"})
        assert refused.status == 400
        assert any("tickSize" in message for message in refused.message)
        assert (await edge("PATCH", "/operator/markets/NO-USD", {"reason": "not there"})).status == 404
        status = "/operator/markets/BTC-USD/status"
        refused = await edge("PUT", status, {"status": "auction", "reason": "why not"})
        assert (refused.status, refused.message) == (400, ["status auction cannot follow open: delisting can"])
        assert (await edge("GET", "/operator/markets")).body == before
        assert await trail(pool) == []


async def test_delisting_by_the_route_of_the_status_needs_its_own_permission(
    live: Settings, pool: asyncpg.Pool
) -> None:
    async with edge_and_engine(live) as edge:
        await make_operator(edge, pool, "ada@example.org", OperatorRole.MARKET_OPERATIONS)
        refused = await edge(
            "PUT", "/operator/markets/BTC-USD/status", {"status": "delisting", "reason": "by the wrong way"}
        )
        assert (refused.status, refused.code) == (400, "VALIDATION_FAILED")


async def test_while_margin_is_silent_a_market_of_margin_is_not_delisted(live: Settings, pool: asyncpg.Pool) -> None:
    async with edge_and_engine(live) as edge:
        await make_operator(edge, pool, "ada@example.org", OperatorRole.MARKET_OPERATIONS)
        delisting = "/operator/markets/BTC-USD/delisting", {"reason": "the coin has ended"}
        refused = await edge("POST", *delisting)
        assert (refused.status, refused.code) == (409, "DELISTING_NOT_SCHEDULED")
        schedule = [{"status": "delisting", "at": int(time.time() * 1000) + 3_600_000}]
        changed = await edge("PATCH", "/operator/markets/BTC-USD", {"schedule": schedule, "reason": "it ends"})
        assert changed.status == 200
        refused = await edge("POST", *delisting)
        assert (refused.status, refused.code) == (503, "SERVICE_UNAVAILABLE")
        assert "margin does not say whether an account needs the market" in str(refused.message)
        assert (await edge("GET", "/operator/markets/BTC-USD")).body == changed.body


async def test_without_an_engine_nothing_is_changed_and_503_says_so(live: Settings, pool: asyncpg.Pool) -> None:
    async with running_edge(live) as edge:
        await make_operator(edge, pool, "ada@example.org", OperatorRole.MARKET_OPERATIONS)
        refused = await edge("POST", "/operator/markets", DOGE_USD)
        assert (refused.status, refused.code) == (503, "SERVICE_UNAVAILABLE")
        assert await trail(pool) == []


async def test_fixed_markets_are_refused_with_the_way_to_change_that(settings: Settings, pool: asyncpg.Pool) -> None:
    async with edge_and_engine(settings) as edge:
        await make_operator(edge, pool, "ada@example.org", OperatorRole.MARKET_OPERATIONS)
        refused = await edge("POST", "/operator/markets", DOGE_USD)
        assert (refused.status, refused.code) == (400, "UNSUPPORTED_COMMAND")
        assert "OPENSPOT_MARKETS=live" in str(refused.message)
