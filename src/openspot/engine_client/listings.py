"""Lists markets and changes their listing at the engine, for an operator whom the caller has authenticated."""

from typing import Any
from urllib.parse import quote

import msgspec

from openspot.contracts.engine_actions import EngineActions
from openspot.engine_client.administration import Behalf, EngineAdministration
from openspot.engine_client.listing_schemas import (
    ListingChanges,
    MarketListing,
    NewMarketBody,
    PhaseChange,
    PhaseOfMarket,
    RuleCheck,
    StatusBody,
    TermsChange,
)


class OpenOrders(msgspec.Struct, frozen=True, rename="camel"):
    """How many orders are open on a market, and how many of them a call has cancelled."""

    open_orders: int
    cancelled: int = 0


class EngineListings(EngineAdministration):
    """The listing routes of one engine. Methods raise ChangeRefusedError, and EngineError if it does not answer."""

    async def checks(self, body: NewMarketBody) -> list[RuleCheck]:
        """Every rule for a new market, each with what is wrong."""
        return await self.call("POST", "/listings/checks", list[RuleCheck], _json(body))

    async def list_market(self, body: NewMarketBody, behalf: Behalf) -> MarketListing:
        """List a market, and its base asset if the body has one."""
        return await self.call("POST", "/listings", MarketListing, _json(body), behalf)

    async def markets(self) -> list[MarketListing]:
        """All markets with their terms, in the order of their numbers."""
        return await self.call("GET", "/listings", list[MarketListing])

    async def market(self, symbol: str) -> MarketListing:
        """One market with its terms."""
        return await self.call("GET", _path(symbol), MarketListing)

    async def changes(self, symbol: str) -> ListingChanges:
        """The changes of a market, the newest first."""
        return await self.call("GET", f"{_path(symbol)}/changes", ListingChanges)

    async def change(self, symbol: str, body: TermsChange, behalf: Behalf) -> MarketListing:
        """Change bounds, fees, texts or schedule of a market."""
        return await self.call("PATCH", _path(symbol), MarketListing, _json(body), behalf)

    async def set_status(self, symbol: str, body: StatusBody, behalf: Behalf) -> MarketListing:
        """Let a market get another status."""
        return await self.call("PUT", f"{_path(symbol)}/status", MarketListing, _json(body), behalf)

    async def set_phase(self, symbol: str, body: PhaseChange, behalf: Behalf) -> PhaseOfMarket:
        """Let a market enter a phase."""
        return await self.call("PUT", f"/symbols{_name(symbol)}/phase", PhaseOfMarket, _json(body), behalf)

    async def open_orders(self, symbol: str) -> OpenOrders:
        """How many orders are open on a market."""
        return await self.call("GET", f"/symbols{_name(symbol)}/open-orders", OpenOrders)

    async def cancel_orders(self, symbol: str, orders_max: int, reason: str, behalf: Behalf) -> OpenOrders:
        """Cancel at most `orders_max` orders of a market."""
        body = {"ordersMax": orders_max, "reason": reason}
        return await self.call("POST", f"/symbols{_name(symbol)}/cancellations", OpenOrders, body, behalf)

    async def actions(self, epoch: str, after: int) -> EngineActions:
        """What operators did after the command `after` of the journal `epoch`."""
        return await self.call("GET", f"/actions?epoch={quote(epoch, safe='')}&after={after}", EngineActions)


def _json(body: NewMarketBody | TermsChange | StatusBody | PhaseChange) -> dict[str, Any]:
    return body.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _path(symbol: str) -> str:
    return f"/listings{_name(symbol)}"


def _name(symbol: str) -> str:
    return f"/{quote(symbol, safe='')}"
