"""Watchlists as users keep them."""

from collections.abc import Awaitable, Callable
from functools import partial

from openspot.http.errors import HttpError
from openspot.kit.clock import DateClock, iso_of, utc_now
from openspot.rest_edge.watchlists.rules import LISTS_MAX, MARKETS_MAX, WatchlistFullError, changed
from openspot.rest_edge.watchlists.schemas import Watchlist, WatchlistChangeBody
from openspot.rest_edge.watchlists.store import (
    NameTakenError,
    StoredWatchlist,
    TooManyWatchlistsError,
    WatchlistStore,
)


class WatchlistService:
    """Handles the requests to the routes of watchlists. Methods raise HttpError to refuse a request.

    `require_market` raises HttpError for a market that does not exist.
    """

    def __init__(
        self,
        store: WatchlistStore,
        require_market: Callable[[str], Awaitable[object]],
        now: DateClock = utc_now,
    ) -> None:
        self._store = store
        self._require_market = require_market
        self._now = now

    async def all_of(self, user_id: str) -> list[Watchlist]:
        """The user's watchlists, by name."""
        return [_shown(watchlist) for watchlist in await self._store.all_of(user_id)]

    async def change(self, user_id: str, name: str, body: WatchlistChangeBody) -> Watchlist:
        """Add markets to a list and remove others. The first change makes the list.

        Only what is added must exist: a market that has gone can still be removed.
        """
        for symbol in body.add:
            await self._require_market(symbol)
        change = partial(changed, added=body.add, removed=body.remove)
        try:
            return _shown(await self._store.change(user_id, name, change, self._now()))
        except WatchlistFullError:
            message = f"a watchlist holds at most {MARKETS_MAX} markets: remove one"
            raise HttpError(409, message, "WATCHLIST_FULL") from None
        except TooManyWatchlistsError:
            message = f"you may have at most {LISTS_MAX} watchlists: delete one"
            raise HttpError(409, message, "TOO_MANY_WATCHLISTS") from None

    async def rename(self, user_id: str, name: str, to: str) -> Watchlist:
        """Give a list another name. Its markets stay, also those that have gone."""
        try:
            renamed = await self._store.rename(user_id, name, to)
        except NameTakenError:
            raise HttpError(409, f"you have a watchlist {to} already", "WATCHLIST_EXISTS") from None
        if renamed is None:
            raise _not_found(name)
        return _shown(renamed)

    async def delete(self, user_id: str, name: str) -> None:
        """Delete a list."""
        if not await self._store.delete(user_id, name):
            raise _not_found(name)


def _not_found(name: str) -> HttpError:
    return HttpError(404, f"watchlist {name} not found", "WATCHLIST_NOT_FOUND")


def _shown(watchlist: StoredWatchlist) -> Watchlist:
    return Watchlist(watchlist.name, list(watchlist.symbols), iso_of(watchlist.updated_at))
