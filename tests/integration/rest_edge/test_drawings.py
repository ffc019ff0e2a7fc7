"""Drawings on the real database, through the edge: kept with the account, bounded, each user's own."""

import asyncio
from typing import Any

import asyncpg
import pytest

from openspot.http.errors import HttpError
from openspot.kit.settings import Settings
from openspot.rest_edge.drawings.rules import MARKET_MAX, PUT_MAX, USER_MAX
from openspot.rest_edge.drawings.schemas import DrawingsChangeBody
from openspot.rest_edge.drawings.service import DrawingService
from openspot.rest_edge.drawings.store import DrawingStore
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.rest_client import running_edge

TREND = {
    "id": "trend-1",
    "kind": "trend_line",
    "points": [{"time": 1767225600000, "price": "64000.50"}, {"time": 1767312000000, "price": "65000"}],
    "text": "  Support  ",
}
SHOWN = TREND | {
    "points": [{"time": 1767225600000, "price": "64000.5"}, {"time": 1767312000000, "price": "65000"}],
    "colour": "blue",
    "width": 2,
    "text": "Support",
}


async def any_market(symbol: str) -> None:
    """Every market exists."""


def line(name: str) -> dict[str, Any]:
    return {"id": name, "kind": "horizontal_line", "points": [{"time": 0, "price": "1"}]}


def put(*names: str) -> DrawingsChangeBody:
    return DrawingsChangeBody.model_validate({"put": [line(name) for name in names]})


async def test_a_running_edge_keeps_each_users_drawings(settings: Settings, engine: FakeEngineHttp) -> None:
    async with running_edge(settings) as edge:
        ada = edge.as_user("ada")
        assert (await edge("GET", "/drawings/BTC-USD")).body == {"symbol": "BTC-USD", "drawings": []}
        made = await edge("PATCH", "/drawings/BTC-USD", {"put": [TREND]})
        assert (made.status, made.body) == (200, {"symbol": "BTC-USD", "drawings": [SHOWN]})
        unknown = await edge("PATCH", "/drawings/NONE-USD", {"put": [TREND]})
        assert (unknown.status, "NONE-USD" in str(unknown.message)) == (404, True)
        wrong = await edge("PATCH", "/drawings/BTC-USD", {"put": [TREND | {"width": 9}]})
        assert (wrong.status, "put.0.width" in str(wrong.message)) == (400, True)
        assert (await edge("PATCH", "/drawings/bitcoin", {"put": [TREND]})).status == 400
        assert (await edge("PATCH", "/drawings/BTC-USD", {})).status == 400

        edge.as_user("eve")
        assert (await edge("GET", "/drawings/BTC-USD")).body["drawings"] == []
        assert (await edge("GET", "/drawings")).body == []
        # Of a market that is not there, or not any more, drawings can be removed.
        assert (await edge("PATCH", "/drawings/NONE-USD", {"remove": ["trend-1"]})).body["drawings"] == []

        edge.token = ada
        moved = await edge("PATCH", "/drawings/BTC-USD", {"put": [TREND | {"colour": "pink"}, line("level")]})
        assert [drawing["id"] for drawing in moved.body["drawings"]] == ["trend-1", "level"]
        [market] = (await edge("GET", "/drawings")).body
        assert (market["symbol"], market["count"]) == ("BTC-USD", 2)
        assert (await edge("GET", "/drawings/BTC-USD")).body["drawings"][0]["colour"] == "pink"
        assert (await edge("PATCH", "/drawings/BTC-USD", {"remove": ["trend-1", "level"]})).body["drawings"] == []
        assert (await edge("GET", "/drawings")).body == []


async def test_drawings_from_two_windows_at_once_are_all_kept(pool: asyncpg.Pool) -> None:
    services = [DrawingService(DrawingStore(pool), any_market) for _ in range(2)]
    names = [f"line-{number}" for number in range(40)]
    await asyncio.gather(*(services[index % 2].change("ada", "BTC-USD", put(name)) for index, name in enumerate(names)))
    kept = await services[0].on_market("ada", "BTC-USD")
    assert sorted(drawing.id for drawing in kept.drawings) == sorted(names)


async def test_a_market_has_a_bound_that_no_race_passes(pool: asyncpg.Pool) -> None:
    service = DrawingService(DrawingStore(pool), any_market)

    async def refusal(*names: str) -> str | None:
        try:
            await service.change("ada", "BTC-USD", put(*names))
        except HttpError as error:
            return error.code
        return None

    first, second = ([f"{half}-{number}" for number in range(PUT_MAX)] for half in "ab")
    assert await refusal(*first) is None
    assert await refusal(*second[3:]) is None
    results = await asyncio.gather(*(refusal(f"new-{number}") for number in range(6)))
    assert sorted(filter(None, results)) == ["TOO_MANY_DRAWINGS_ON_MARKET"] * 3
    assert len((await service.on_market("ada", "BTC-USD")).drawings) == MARKET_MAX
    # What is there can still be moved.
    assert await refusal(first[0]) is None


async def test_a_user_has_a_bound_over_all_markets(pool: asyncpg.Pool) -> None:
    service = DrawingService(DrawingStore(pool), any_market)
    await service.change("ada", "ETH-USD", put("level"))
    await pool.execute("UPDATE chart_drawings SET count = $1", USER_MAX)
    with pytest.raises(HttpError) as refused:
        await service.change("ada", "BTC-USD", put("level"))
    assert (refused.value.status_code, refused.value.code) == (409, "TOO_MANY_DRAWINGS")
    assert (await service.on_market("ada", "BTC-USD")).drawings == []
