"""Drawings as users keep them."""

from collections.abc import Awaitable, Callable

from openspot.http.errors import HttpError
from openspot.kit.clock import DateClock, iso_of, utc_now
from openspot.rest_edge.drawings.rules import MARKET_MAX, USER_MAX, MarketFullError, UserFullError, changed
from openspot.rest_edge.drawings.schemas import (
    Drawing,
    DrawingBody,
    DrawingPoint,
    Drawings,
    DrawingsChangeBody,
    DrawnMarket,
)
from openspot.rest_edge.drawings.store import ById, DrawingStore


class DrawingService:
    """Handles the requests to the routes of drawings. Methods raise HttpError to refuse a request.

    `require_market` raises HttpError for a market that does not exist.
    """

    def __init__(
        self,
        store: DrawingStore,
        require_market: Callable[[str], Awaitable[object]],
        now: DateClock = utc_now,
    ) -> None:
        self._store = store
        self._require_market = require_market
        self._now = now

    async def markets_of(self, user_id: str) -> list[DrawnMarket]:
        """The markets that the user has drawn on."""
        return [
            DrawnMarket(drawn.symbol, drawn.count, iso_of(drawn.updated_at))
            for drawn in await self._store.markets_of(user_id)
        ]

    async def on_market(self, user_id: str, symbol: str) -> Drawings:
        """The user's drawings on a market."""
        return Drawings(symbol, await self._store.on_market(user_id, symbol))

    async def change(self, user_id: str, symbol: str, body: DrawingsChangeBody) -> Drawings:
        """Put drawings on a market and remove others. The market must exist only for what is put."""
        if body.put:
            await self._require_market(symbol)
        put = {drawing.id: _drawing(drawing) for drawing in body.put}

        def change(before: ById, elsewhere: int) -> ById:
            return changed(before, put, body.remove, elsewhere)

        try:
            return Drawings(symbol, await self._store.change(user_id, symbol, change, self._now()))
        except MarketFullError:
            message = f"a market holds at most {MARKET_MAX} drawings: remove one"
            raise HttpError(409, message, "TOO_MANY_DRAWINGS_ON_MARKET") from None
        except UserFullError:
            message = f"you may have at most {USER_MAX} drawings: remove some on other markets"
            raise HttpError(409, message, "TOO_MANY_DRAWINGS") from None


def _drawing(body: DrawingBody) -> Drawing:
    points = [DrawingPoint(point.time, point.price) for point in body.points]
    return Drawing(body.id, body.kind.value, points, body.colour.value, body.width, body.text)
