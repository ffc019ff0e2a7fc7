"""Lists markets and changes their listing at the engine, for an operator whom the caller has authenticated."""

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import quote

import aiohttp
import msgspec

from openspot.engine_client.errors import EngineRefusedError, EngineUnreachableError
from openspot.engine_client.listing_schemas import (
    OPERATOR_HEADER,
    ListingChanges,
    MarketListing,
    NewMarketBody,
    RuleCheck,
    StatusBody,
    TermsChange,
)

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


class EngineListings:
    """The listing routes of one engine. Methods raise ListingRefusedError, and EngineError if it does not answer."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        """`session` sends the service credential."""
        self._session = session
        self._url = f"{url}/api/v1/admin/listings"

    async def checks(self, body: NewMarketBody) -> list[RuleCheck]:
        """Every rule for a new market, each with what is wrong."""
        return await self._call("POST", "/checks", list[RuleCheck], _json(body))

    async def list_market(self, body: NewMarketBody, operator: str) -> MarketListing:
        """List a market, and its base asset if the body has one."""
        return await self._call("POST", "", MarketListing, _json(body), operator)

    async def markets(self) -> list[MarketListing]:
        """All markets with their terms, in the order of their numbers."""
        return await self._call("GET", "", list[MarketListing])

    async def market(self, symbol: str) -> MarketListing:
        """One market with its terms."""
        return await self._call("GET", _path(symbol), MarketListing)

    async def changes(self, symbol: str) -> ListingChanges:
        """The changes of a market, the newest first."""
        return await self._call("GET", f"{_path(symbol)}/changes", ListingChanges)

    async def change(self, symbol: str, body: TermsChange, operator: str) -> MarketListing:
        """Change bounds, fees, texts or schedule of a market."""
        return await self._call("PATCH", _path(symbol), MarketListing, _json(body), operator)

    async def set_status(self, symbol: str, body: StatusBody, operator: str) -> MarketListing:
        """Let a market get another status."""
        return await self._call("PUT", f"{_path(symbol)}/status", MarketListing, _json(body), operator)

    async def _call(
        self,
        method: str,
        path: str,
        shape: type[Shape],
        body: Mapping[str, Any] | None = None,
        operator: str = "",
    ) -> Shape:
        headers = {OPERATOR_HEADER: operator} if operator else {}
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


def _json(body: NewMarketBody | TermsChange | StatusBody) -> dict[str, Any]:
    return body.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _path(symbol: str) -> str:
    return f"/{quote(symbol, safe='')}"
