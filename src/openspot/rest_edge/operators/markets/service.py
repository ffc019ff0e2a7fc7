"""Lists and changes markets at the engine for operators, and cancels the orders of one.

The engine's journal notes each change with the operator's name and reason, and the trail takes it over from there.
"""

from collections.abc import Awaitable
from typing import Any, TypeVar

from starlette.requests import Request

from openspot.domain.margin_offer import margin_offer
from openspot.engine_client.listing_schemas import (
    DelistingBody,
    ListingChanges,
    MarketListing,
    NewMarketBody,
    PhaseChange,
    PhaseOfMarket,
    RuleCheck,
    StatusBody,
    TermsChange,
)
from openspot.engine_client.listings import EngineListings
from openspot.http.errors import HttpError, service_unavailable
from openspot.rest_edge.operators.engine_calls import asked, behalf_of
from openspot.rest_edge.operators.engine_trail import EngineTrail
from openspot.rest_edge.operators.markets.margin import MarginNeeds
from openspot.rest_edge.operators.markets.rules import CANCELS_MAX, ORDERS_A_COMMIT, most_orders
from openspot.rest_edge.operators.markets.schemas import CancelOrdersBody, CancelOrdersResponse

Value = TypeVar("Value")


class OperatorMarkets:
    """Handles the requests about markets. Methods raise HttpError to refuse one."""

    def __init__(self, engine: EngineListings, trail: EngineTrail, margin: MarginNeeds) -> None:
        self._engine = engine
        self._trail = trail
        self._margin = margin
        self._on_margin = margin_offer().markets

    async def all(self) -> list[MarketListing]:
        """All markets with their terms, in the order of their numbers."""
        return await asked(self._engine.markets())

    async def market(self, symbol: str) -> MarketListing:
        """One market with its terms. 404 for an unknown symbol."""
        return await asked(self._engine.market(symbol))

    async def changes(self, symbol: str) -> ListingChanges:
        """The changes of a market, the newest first. 404 for an unknown symbol."""
        return await asked(self._engine.changes(symbol))

    async def checks(self, body: NewMarketBody) -> list[RuleCheck]:
        """Every rule for a new market, each with what is wrong."""
        return await asked(self._engine.checks(body))

    async def list_market(self, request: Request, body: NewMarketBody) -> MarketListing:
        """List a market, and its base asset if the body has one."""
        return await self._noted(asked(self._engine.list_market(body, behalf_of(request))))

    async def change(self, request: Request, symbol: str, body: TermsChange) -> MarketListing:
        """Change bounds, fees, texts or schedule of a market."""
        return await self._noted(asked(self._engine.change(symbol, body, behalf_of(request))))

    async def set_status(self, request: Request, symbol: str, body: StatusBody) -> MarketListing:
        """Let a market get another status."""
        return await self._noted(asked(self._engine.set_status(symbol, body, behalf_of(request))))

    async def set_phase(self, request: Request, symbol: str, body: PhaseChange) -> PhaseOfMarket:
        """Let a market enter a phase. 409 `PHASE_CHANGED` if it is in another one than the expected."""
        return await self._noted(asked(self._engine.set_phase(symbol, body, behalf_of(request))))

    async def delist(self, request: Request, symbol: str, body: DelistingBody) -> MarketListing:
        """Delist a market. Where margin offers it, margin is asked first.

        409 if an account needs it, if its delisting is not scheduled, or if it is changed between question and
        delisting; 503 if margin does not reply.
        """
        wanted: dict[str, Any] = {"status": "delisting", "reason": body.reason}
        if symbol in self._on_margin:
            # The version first: if the market is changed after that, the engine refuses what margin was asked for.
            market = await self.market(symbol)
            if _is_leaving(market):
                await self._margin.check(symbol)
                wanted |= {"version": market.version, "marginAsked": True}
        return await self.set_status(request, symbol, StatusBody.model_validate(wanted))

    async def cancel_orders(self, request: Request, symbol: str, body: CancelOrdersBody) -> CancelOrdersResponse:
        """Cancel the open orders of everybody on a market, ORDERS_A_COMMIT at a time, CANCELS_MAX a request.

        A dry run counts them. Otherwise the body has the count that the operator has confirmed: 409
        `ORDER_COUNT_CHANGED` if there are many more by now. Each commit of the engine has an entry of its own.
        """
        found = (await asked(self._engine.open_orders(symbol))).open_orders
        if body.dry_run or body.confirmed_orders is None:
            return CancelOrdersResponse(symbol=symbol, dry_run=True, cancelled=0, open_orders=found)
        most = most_orders(body.confirmed_orders)
        if found > most:
            raise HttpError(
                409,
                f"confirmedOrders: {found} orders are open by now, look again",
                "ORDER_COUNT_CHANGED",
                details={"openOrders": found},
            )
        return await self._noted(self._cancelled(request, symbol, body.reason, min(most, CANCELS_MAX), found))

    async def _cancelled(
        self, request: Request, symbol: str, reason: str, most: int, open_orders: int
    ) -> CancelOrdersResponse:
        cancelled = asked_for = 0
        while open_orders and asked_for < most:
            wanted = min(ORDERS_A_COMMIT, most - asked_for)
            try:
                outcome = await asked(self._engine.cancel_orders(symbol, wanted, reason, behalf_of(request)))
            except HttpError as error:
                if not cancelled:
                    raise
                raise service_unavailable(
                    f"{cancelled} orders are cancelled, then the engine did not go on: count the others, and send it "
                    "again"
                ) from error
            asked_for += wanted
            cancelled += outcome.cancelled
            open_orders = outcome.open_orders
        return CancelOrdersResponse(symbol=symbol, dry_run=False, cancelled=cancelled, open_orders=open_orders)

    async def _noted(self, change: Awaitable[Value]) -> Value:
        """The answer to a change, with its entry in the trail as far as that is possible now."""
        try:
            return await change
        finally:
            await self._trail.follow_now()


def _is_leaving(market: MarketListing) -> bool:
    return market.terms is not None and any(entry.status == "delisting" for entry in market.terms.schedule)
