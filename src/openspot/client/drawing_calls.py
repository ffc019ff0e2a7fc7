"""The calls about drawings."""

from collections.abc import Mapping, Sequence
from typing import Any

from openspot.client.calls import Calls, segment
from openspot.client.gen.records import Drawings, DrawnMarket


class DrawingCalls(Calls):
    """Drawings: what the user has drawn on the charts of markets."""

    async def drawn_markets(self) -> list[DrawnMarket]:
        """The markets that the user has drawn on, by symbol."""
        return await self._call("GET", "/drawings", list[DrawnMarket])

    async def drawings(self, symbol: str) -> Drawings:
        """The user's drawings on a market."""
        return await self._call("GET", f"/drawings/{segment(symbol)}", Drawings)

    async def change_drawings(
        self, symbol: str, *, put: Sequence[Mapping[str, Any]] = (), remove: Sequence[str] = ()
    ) -> Drawings:
        """Put drawings on a market, and remove others by id. A change may be repeated.

        A drawing: `id` (that you choose; to put it again replaces it), `kind` (`trend_line`, `ray`, `horizontal_line`,
        `fibonacci`, `rectangle` or `text`), `points` (one or two, each `time` in milliseconds since 1970 and `price`),
        and if wanted `colour`, `width` and `text`. Raises ApiError 404 for an unknown market, and 409 if there would be
        too many.
        """
        body = {"put": [dict(drawing) for drawing in put], "remove": list(remove)}
        return await self._call("PATCH", f"/drawings/{segment(symbol)}", Drawings, body=body)
