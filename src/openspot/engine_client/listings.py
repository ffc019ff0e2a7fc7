"""Lists markets and changes their listing at the engine, for an operator whom the caller has authenticated."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import aiohttp
import msgspec

from openspot.contracts.engine_actions import EngineActions
from openspot.engine_client.errors import EngineRefusedError, EngineUnreachableError
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
from openspot.engine_client.operator_headers import ADDRESS_HEADER, OPERATOR_HEADER, REQUEST_HEADER

Shape = TypeVar("Shape")


class ListingRefusedError(Exception):
    """The engine refused a change. `messages` are its reasons, each behind its field where a field is at fault."""

    def __init__(self, status: int, code: str, messages: list[str]) -> None:
        super().__init__("; ".join(messages))
        self.status = status
        self.code = code
        self.messages = messages


class _Refusal(msgspec.Struct, frozen=True):
    message: str | list[str] = ""
    code: str = ""


class Behalf(NamedTuple):
    """For whom a service calls the engine: who the operator is, by which request, and from where."""

    operator: str
    request_id: str = ""
    address: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """The headers that say so."""
        named = (
            (OPERATOR_HEADER, self.operator),
            (REQUEST_HEADER, self.request_id),
            (ADDRESS_HEADER, self.address),
        )
        return {name: value for name, value in named if value}


class OpenOrders(msgspec.Struct, frozen=True, rename="camel"):
    """How many orders are open on a market, and how many of them a call has cancelled."""

    open_orders: int
    cancelled: int = 0


class EngineListings:
    """The listing routes of one engine. Methods raise ListingRefusedError, and EngineError if it does not answer."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        """`session` sends the service credential."""
        self._session = session
        self._url = f"{url}/api/v1/admin"

    async def checks(self, body: NewMarketBody) -> list[RuleCheck]:
        """Every rule for a new market, each with what is wrong."""
        return await self._call("POST", "/listings/checks", list[RuleCheck], _json(body))

    async def list_market(self, body: NewMarketBody, behalf: Behalf) -> MarketListing:
        """List a market, and its base asset if the body has one."""
        return await self._call("POST", "/listings", MarketListing, _json(body), behalf)

    async def markets(self) -> list[MarketListing]:
        """All markets with their terms, in the order of their numbers."""
        return await self._call("GET", "/listings", list[MarketListing])

    async def market(self, symbol: str) -> MarketListing:
        """One market with its terms."""
        return await self._call("GET", _path(symbol), MarketListing)

    async def changes(self, symbol: str) -> ListingChanges:
        """The changes of a market, the newest first."""
        return await self._call("GET", f"{_path(symbol)}/changes", ListingChanges)

    async def change(self, symbol: str, body: TermsChange, behalf: Behalf) -> MarketListing:
        """Change bounds, fees, texts or schedule of a market."""
        return await self._call("PATCH", _path(symbol), MarketListing, _json(body), behalf)

    async def set_status(self, symbol: str, body: StatusBody, behalf: Behalf) -> MarketListing:
        """Let a market get another status."""
        return await self._call("PUT", f"{_path(symbol)}/status", MarketListing, _json(body), behalf)

    async def set_phase(self, symbol: str, body: PhaseChange, behalf: Behalf) -> PhaseOfMarket:
        """Let a market enter a phase."""
        return await self._call("PUT", f"/symbols{_name(symbol)}/phase", PhaseOfMarket, _json(body), behalf)

    async def open_orders(self, symbol: str) -> OpenOrders:
        """How many orders are open on a market."""
        return await self._call("GET", f"/symbols{_name(symbol)}/open-orders", OpenOrders)

    async def cancel_orders(self, symbol: str, orders_max: int, reason: str, behalf: Behalf) -> OpenOrders:
        """Cancel at most `orders_max` orders of a market."""
        body = {"ordersMax": orders_max, "reason": reason}
        return await self._call("POST", f"/symbols{_name(symbol)}/cancellations", OpenOrders, body, behalf)

    async def actions(self, epoch: str, after: int) -> EngineActions:
        """What operators did after the command `after` of the journal `epoch`."""
        return await self._call("GET", f"/actions?epoch={quote(epoch, safe='')}&after={after}", EngineActions)

    async def _call(
        self,
        method: str,
        path: str,
        shape: type[Shape],
        body: Mapping[str, Any] | None = None,
        behalf: Behalf | None = None,
    ) -> Shape:
        headers = behalf.headers if behalf else {}
        try:
            async with self._session.request(method, f"{self._url}{path}", json=body, headers=headers) as response:
                content, status = await response.read(), response.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise EngineUnreachableError(f"no engine at {self._url}: {error!r}") from error
        try:
            if status in (200, 201):
                return msgspec.json.decode(content, type=shape)
            refusal = msgspec.json.decode(content, type=_Refusal)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise EngineRefusedError(f"the engine's answer to {method} {path} cannot be read: {error}") from error
        if status in (401, 403) or status >= 500:
            raise EngineRefusedError(f"the engine answered {status}: {refusal.message}")
        messages = [refusal.message] if isinstance(refusal.message, str) else refusal.message
        raise ListingRefusedError(status, refusal.code, messages)


def _json(body: NewMarketBody | TermsChange | StatusBody | PhaseChange) -> dict[str, Any]:
    return body.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _path(symbol: str) -> str:
    return f"/listings{_name(symbol)}"


def _name(symbol: str) -> str:
    return f"/{quote(symbol, safe='')}"
