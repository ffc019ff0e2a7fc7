"""The calls about watchlists."""

from collections.abc import Sequence

from openspot.client.calls import Calls, Done, segment
from openspot.client.gen.records import Watchlist


class WatchlistCalls(Calls):
    """Watchlists: the markets that the user keeps together. That of the trading screen's stars is `favourites`."""

    async def watchlists(self) -> list[Watchlist]:
        """The user's watchlists, by name."""
        return await self._call("GET", "/watchlists", list[Watchlist])

    async def change_watchlist(self, name: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Watchlist:
        """Add markets to a watchlist, and remove others. The first change makes it. A change may be repeated.

        `name`: at most 32 small letters, digits, `_` and `-`. Raises ApiError 404 for an unknown market to add, and 409
        if the list would be full or the user has too many.
        """
        body = {"add": list(add), "remove": list(remove)}
        return await self._call("PATCH", f"/watchlists/{segment(name)}", Watchlist, body=body)

    async def rename_watchlist(self, name: str, to: str) -> Watchlist:
        """Give a watchlist another name; its markets stay.

        Raises ApiError 404 if the user has none with this name, 409 if there is another one of the name `to`.
        """
        return await self._call("PUT", f"/watchlists/{segment(name)}/name", Watchlist, body={"name": to})

    async def delete_watchlist(self, name: str) -> None:
        """Delete a watchlist. Raises ApiError 404 if the user has none with this name."""
        await self._call("DELETE", f"/watchlists/{segment(name)}", Done)
