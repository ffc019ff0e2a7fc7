"""Watchlists on the real database, through the edge: kept with the account, bounded, each user's own."""

import asyncio

import asyncpg

from openspot.http.errors import HttpError
from openspot.kit.settings import Settings
from openspot.rest_edge.watchlists.rules import LISTS_MAX, MARKETS_MAX
from openspot.rest_edge.watchlists.schemas import WatchlistChangeBody
from openspot.rest_edge.watchlists.service import WatchlistService
from openspot.rest_edge.watchlists.store import WatchlistStore
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.rest_client import running_edge


async def any_market(symbol: str) -> None:
    """Every market exists."""


def symbols_of(number: int, first: int = 0) -> list[str]:
    return [f"M{index}-USD" for index in range(first, first + number)]


async def test_a_running_edge_keeps_each_users_lists(settings: Settings, engine: FakeEngineHttp) -> None:
    async with running_edge(settings) as edge:
        ada = edge.as_user("ada")
        assert (await edge("GET", "/watchlists")).body == []
        made = await edge("PATCH", "/watchlists/favourites", {"add": ["BTC-USD"]})
        assert (made.status, made.body["name"], made.body["symbols"]) == (200, "favourites", ["BTC-USD"])
        unknown = await edge("PATCH", "/watchlists/favourites", {"add": ["NONE-USD"]})
        assert (unknown.status, "NONE-USD" in str(unknown.message)) == (404, True)
        assert (await edge("PATCH", "/watchlists/Two%20words", {"add": ["BTC-USD"]})).status == 400
        assert (await edge("PATCH", "/watchlists/favourites", {})).status == 400
        assert (await edge("PATCH", "/watchlists/favourites", {"add": "BTC-USD"})).status == 400
        assert (await edge("DELETE", "/watchlists/none")).code == "WATCHLIST_NOT_FOUND"

        edge.as_user("eve")
        assert (await edge("GET", "/watchlists")).body == []
        assert (await edge("DELETE", "/watchlists/favourites")).status == 404
        # A market that is not there, or not any more, can be removed.
        assert (await edge("PATCH", "/watchlists/favourites", {"remove": ["NONE-USD"]})).body["symbols"] == []

        edge.token = ada
        [listed] = (await edge("GET", "/watchlists")).body
        assert (listed["name"], listed["symbols"]) == ("favourites", ["BTC-USD"])
        assert (await edge("PATCH", "/watchlists/favourites", {"remove": ["BTC-USD"]})).body["symbols"] == []
        assert (await edge("DELETE", "/watchlists/favourites")).body == {"success": True}
        assert (await edge("GET", "/watchlists")).body == []


async def test_another_name_keeps_the_markets_and_takes_that_of_no_other_list(
    settings: Settings, engine: FakeEngineHttp, pool: asyncpg.Pool
) -> None:
    service = WatchlistService(WatchlistStore(pool), any_market)
    for number in range(LISTS_MAX):
        await service.change("ada", f"list-{number}", WatchlistChangeBody(add=["GONE-USD", f"M{number}-USD"]))
    await service.change("eve", "long-term", WatchlistChangeBody(add=["BTC-USD"]))
    async with running_edge(settings) as edge:
        edge.as_user("ada")
        # There is no room for another list, one market has gone, and eve's list is no obstacle.
        renamed = await edge("PUT", "/watchlists/list-7/name", {"name": "long-term"})
        assert (renamed.status, renamed.body["symbols"]) == (200, ["GONE-USD", "M7-USD"])
        names = {one["name"] for one in (await edge("GET", "/watchlists")).body}
        assert names == {f"list-{number}" for number in range(LISTS_MAX) if number != 7} | {"long-term"}
        taken = await edge("PUT", "/watchlists/list-8/name", {"name": "long-term"})
        assert (taken.status, taken.code) == (409, "WATCHLIST_EXISTS")
        assert (await edge("PUT", "/watchlists/list-8/name", {"name": "list-8"})).body["name"] == "list-8"
        assert (await edge("PUT", "/watchlists/list-7/name", {"name": "other"})).code == "WATCHLIST_NOT_FOUND"
        for bad in ("Two words", "", "x" * 33, None):
            refused = await edge("PUT", "/watchlists/list-8/name", {"name": bad})
            assert (refused.status, "name" in str(refused.message)) == (400, True), bad
        edge.as_user("eve")
        assert [one["symbols"] for one in (await edge("GET", "/watchlists")).body] == [["BTC-USD"]]


async def test_two_lists_that_want_one_name_do_not_both_get_it(pool: asyncpg.Pool) -> None:
    services = [WatchlistService(WatchlistStore(pool), any_market) for _ in range(2)]
    for name in ("first", "second"):
        await services[0].change("ada", name, WatchlistChangeBody(add=["BTC-USD"]))
    outcomes = await asyncio.gather(
        *(services[index].rename("ada", name, "wanted") for index, name in enumerate(("first", "second"))),
        return_exceptions=True,
    )
    assert [outcome.code for outcome in outcomes if isinstance(outcome, HttpError)] == ["WATCHLIST_EXISTS"]
    assert len(await services[0].all_of("ada")) == 2


async def test_changes_from_two_windows_at_once_are_all_kept(pool: asyncpg.Pool) -> None:
    services = [WatchlistService(WatchlistStore(pool), any_market) for _ in range(2)]
    await asyncio.gather(
        *(
            services[index % 2].change("ada", "favourites", WatchlistChangeBody(add=[symbol]))
            for index, symbol in enumerate(symbols_of(40))
        )
    )
    [watchlist] = await services[0].all_of("ada")
    assert sorted(watchlist.symbols) == sorted(symbols_of(40))


async def test_lists_and_their_markets_have_bounds_that_no_race_passes(pool: asyncpg.Pool) -> None:
    service = WatchlistService(WatchlistStore(pool), any_market)

    async def refusal(name: str, add: list[str]) -> str | None:
        try:
            await service.change("ada", name, WatchlistChangeBody(add=add))
        except HttpError as error:
            return error.code
        return None

    results = await asyncio.gather(*(refusal(f"list-{number}", symbols_of(1)) for number in range(LISTS_MAX + 3)))
    assert sorted(filter(None, results)) == ["TOO_MANY_WATCHLISTS"] * 3
    [first, *_] = await service.all_of("ada")
    assert len(await service.all_of("ada")) == LISTS_MAX
    assert await refusal(first.name, symbols_of(MARKETS_MAX)) is None
    assert await refusal(first.name, ["X1-USD"]) == "WATCHLIST_FULL"
    assert await refusal(first.name, symbols_of(1)) is None
    await service.delete("ada", first.name)
    assert await refusal("another", symbols_of(1)) is None
