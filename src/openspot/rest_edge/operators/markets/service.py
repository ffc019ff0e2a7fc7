"""Lists and changes markets at the engine for operators, and adds each change to their trail.

The engine's journal is the source, with the operator's name and reason. So a change whose entry of the trail is
missing, because the edge was killed between the two, is still known with who made it and why.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from starlette.requests import Request

from openspot.contracts.listings import differences, fields_of
from openspot.engine_client.errors import EngineError
from openspot.engine_client.listing_schemas import (
    ListingChanges,
    MarketListing,
    NewMarketBody,
    RuleCheck,
    StatusBody,
    TermsChange,
)
from openspot.engine_client.listings import EngineListings, ListingRefusedError
from openspot.http.errors import HttpError, service_unavailable
from openspot.http.operators import operator
from openspot.kit.database import Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.operators.trail import action_of, record_action

log = get_logger("operators")

Value = TypeVar("Value")


class OperatorMarkets:
    """Handles the requests about markets. Methods raise HttpError to refuse one."""

    def __init__(self, pool: Pool, engine: EngineListings) -> None:
        self._pool = pool
        self._engine = engine

    async def all(self) -> list[MarketListing]:
        """All markets with their terms, in the order of their numbers."""
        return await _asked(self._engine.markets())

    async def market(self, symbol: str) -> MarketListing:
        """One market with its terms. 404 for an unknown symbol."""
        return await _asked(self._engine.market(symbol))

    async def changes(self, symbol: str) -> ListingChanges:
        """The changes of a market, the newest first. 404 for an unknown symbol."""
        return await _asked(self._engine.changes(symbol))

    async def checks(self, body: NewMarketBody) -> list[RuleCheck]:
        """Every rule for a new market, each with what is wrong."""
        return await _asked(self._engine.checks(body))

    async def list_market(self, request: Request, body: NewMarketBody) -> MarketListing:
        """List a market, and its base asset if the body has one."""
        listed = await _asked(self._engine.list_market(body, operator(request).name))
        await self._record(request, "markets.list", body.reason, None, listed)
        return listed

    async def change(self, request: Request, symbol: str, body: TermsChange) -> MarketListing:
        """Change bounds, fees, texts or schedule of a market."""
        return await self._changed(
            request, "markets.change", symbol, body.reason, lambda name: self._engine.change(symbol, body, name)
        )

    async def set_status(self, request: Request, symbol: str, body: StatusBody) -> MarketListing:
        """Let a market get another status."""
        return await self._changed(
            request, "markets.status", symbol, body.reason, lambda name: self._engine.set_status(symbol, body, name)
        )

    async def _changed(
        self,
        request: Request,
        action: str,
        symbol: str,
        reason: str,
        change: Callable[[str], Awaitable[MarketListing]],
    ) -> MarketListing:
        before = await self.market(symbol)
        after = await _asked(change(operator(request).name))
        await self._record(request, action, reason, before, after)
        return after

    async def _record(
        self, request: Request, action: str, reason: str, before: MarketListing | None, after: MarketListing
    ) -> None:
        old, new = differences({} if before is None else _fields(before), _fields(after))
        entry = action_of(request, action, ("market", after.symbol), reason, old, new)
        async with self._pool.acquire() as connection, connection.transaction():
            await record_action(connection, entry)


def _fields(market: MarketListing) -> dict[str, Any]:
    if market.terms is None:
        return {"takerFee": market.taker_fee, "makerFee": market.maker_fee}
    fields = fields_of(market.terms, market.taker_fee, market.maker_fee)
    return {**fields, "tickSize": market.tick_size, "lotSize": market.lot_size}


async def _asked(answer: Awaitable[Value]) -> Value:
    """The engine's answer. Raises HttpError with the engine's own refusal, or 503 if it does not answer."""
    try:
        return await answer
    except ListingRefusedError as error:
        messages: str | list[str] = error.messages if error.status == 400 else str(error)
        raise HttpError(error.status, messages, error.code) from error
    except EngineError as error:
        log.warning("the engine does not answer an operator", error=str(error))
        raise service_unavailable("the matching engine does not respond: look whether the change was made") from error
