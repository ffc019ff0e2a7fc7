"""The routes of watchlists."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.watchlists.schemas import (
    WATCHLIST_NAME_PATTERN,
    DeletedWatchlist,
    Watchlist,
    WatchlistChangeBody,
    WatchlistNameBody,
)
from openspot.rest_edge.watchlists.service import WatchlistService

WatchlistName = Annotated[
    str,
    Path(
        alias="watchlistName",
        pattern=WATCHLIST_NAME_PATTERN,
        description="The list's name; that of the trading screen's stars is `favourites`",
    ),
]

_READ = Policy(Access.USER, Scope.READ)
_CHANGE = Policy(Access.USER, Scope.TRADE, audit=True)
_DELETE = Policy(Access.USER, Scope.CANCEL, audit=True)


def watchlist_routes(prefix: str, watchlists: WatchlistService) -> Router:
    """The routes of `/watchlists`, below `prefix`."""
    router = Router(f"{prefix}/watchlists", tag="watchlists")

    @router.get("", _READ, response=list[Watchlist], summary="Your watchlists, by name")
    async def list_watchlists(request: Request) -> Response:
        return json_response(await watchlists.all_of(caller(request).user_id))

    @router.patch(
        "/{watchlistName}", _CHANGE, response=Watchlist,
        refusals={
            400: "name or body is not valid",
            404: "there is no such market",
            409: "the list is full: WATCHLIST_FULL; or you have as many as you may have: TOO_MANY_WATCHLISTS",
            503: "the engine does not respond",
        },
        summary="Add markets to a watchlist and remove others; the first change makes it",
    )  # fmt: skip
    async def change_watchlist(request: Request, name: WatchlistName, body: WatchlistChangeBody) -> Response:
        return json_response(await watchlists.change(caller(request).user_id, name, body))

    @router.put(
        "/{watchlistName}/name", _CHANGE, response=Watchlist,
        refusals={
            400: "name or body is not valid",
            404: "you have no such watchlist",
            409: "you have another list of that name: WATCHLIST_EXISTS",
        },
        summary="Give a watchlist another name",
    )  # fmt: skip
    async def rename_watchlist(request: Request, name: WatchlistName, body: WatchlistNameBody) -> Response:
        return json_response(await watchlists.rename(caller(request).user_id, name, body.name))

    @router.delete(
        "/{watchlistName}", _DELETE, response=DeletedWatchlist, refusals={404: "you have no such watchlist"},
        summary="Delete a watchlist",
    )  # fmt: skip
    async def delete_watchlist(request: Request, name: WatchlistName) -> Response:
        await watchlists.delete(caller(request).user_id, name)
        return json_response(DeletedWatchlist(True))

    return router
