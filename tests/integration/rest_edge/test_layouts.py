"""Layouts on the real database, through the edge: kept with the account, bounded, and never replaced unseen."""

import asyncio
from typing import Any

import asyncpg

from openspot.http.errors import HttpError
from openspot.kit.settings import Settings
from openspot.rest_edge.layouts.rules import WidthClass
from openspot.rest_edge.layouts.schemas import ScreenLayoutBody
from openspot.rest_edge.layouts.service import LayoutService
from openspot.rest_edge.layouts.store import LayoutStore
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.rest_client import running_edge

CHART = {"id": "chart", "x": 0, "w": 14, "h": 20}
SECOND = {"id": "chart-2", "x": 14, "w": 10, "h": 20, "chart": {"symbol": "ETH-USD", "interval": "4h"}}
SHOWN = [
    CHART | {"chart": None},
    SECOND | {"chart": {"symbol": "ETH-USD", "interval": "4h", "logarithmic": False}},
]


def body(version: int, *panels: dict[str, Any]) -> ScreenLayoutBody:
    return ScreenLayoutBody.model_validate({"version": version, "panels": list(panels)})


async def test_a_running_edge_keeps_each_users_layouts(settings: Settings, engine: FakeEngineHttp) -> None:
    async with running_edge(settings) as edge:
        ada = edge.as_user("ada")
        assert (await edge("GET", "/layouts")).body == []
        made = await edge("PUT", "/layouts/wide", {"version": 0, "panels": [CHART, SECOND]})
        assert (made.status, made.body["width"], made.body["version"]) == (200, "wide", 1)
        assert made.body["panels"] == SHOWN
        # A reply that was lost: the same request once more changes nothing.
        assert (await edge("PUT", "/layouts/wide", {"version": 0, "panels": [CHART, SECOND]})).body == made.body
        wrong = await edge("PUT", "/layouts/wide", {"version": 1, "panels": [CHART, CHART]})
        assert (wrong.status, wrong.message) == (400, ["panels must not name a panel twice"])
        assert (await edge("PUT", "/layouts/phone", {"version": 0, "panels": []})).status == 400
        late = await edge("PUT", "/layouts/wide", {"version": 0, "panels": [CHART]})
        assert (late.status, late.code, late.body["details"]) == (409, "LAYOUT_CHANGED", {"version": 1})
        assert (await edge("GET", "/layouts")).body == [made.body]

        edge.as_user("eve")
        assert (await edge("GET", "/layouts")).body == []
        # Nobody has kept one yet, so no version but 0 can have been read.
        assert (await edge("PUT", "/layouts/wide", {"version": 1, "panels": []})).code == "LAYOUT_CHANGED"
        assert (await edge("GET", "/layouts")).body == []

        edge.token = ada
        standard = await edge("PUT", "/layouts/wide", {"version": 1, "panels": []})
        assert (standard.body["version"], standard.body["panels"]) == (2, [])


async def test_of_devices_that_replace_one_version_at_once_one_succeeds(pool: asyncpg.Pool) -> None:
    services = [LayoutService(LayoutStore(pool)) for _ in range(2)]

    async def outcome(index: int, version: int) -> str | None:
        try:
            await services[index % 2].put("ada", WidthClass.LAPTOP, body(version, CHART | {"h": 6 + index}))
        except HttpError as error:
            return error.code
        return None

    for version in range(3):
        outcomes = await asyncio.gather(*(outcome(version * 8 + index, version) for index in range(8)))
        assert sorted(outcomes, key=str) == ["LAYOUT_CHANGED"] * 7 + [None]
    [kept] = await services[0].all_of("ada")
    assert (kept.width, kept.version) == ("laptop", 3)
