"""A read-only client of the engine's HTTP interface (Document B 4.4)."""

from typing import Any, TypeVar
from urllib.parse import quote

import aiohttp
import msgspec

from openspot.engine_client.settings import EngineConnectionSettings

TIMEOUT_S = 2.0
CONNECTIONS_MAX = 64

Shape = TypeVar("Shape")


class EngineUnavailableError(Exception):
    """The engine did not respond, or its response cannot be read."""


class EngineBalance(msgspec.Struct, rename="camel", frozen=True):
    """A user's balance of one asset: available = total - locked (Document A 1.4); `reserved` is held beyond locked."""

    asset: str = msgspec.field(name="currency")
    total: str
    available: str
    locked: str
    reserved: str


class EngineBalances(msgspec.Struct, frozen=True):
    """The engine's response to a query of balances."""

    balances: list[EngineBalance]


class EngineMarket(msgspec.Struct, rename="camel", frozen=True):
    """A symbol's specification. Fees in basis points; a negative maker fee is a rebate."""

    symbol: str
    symbol_id: int
    base_currency: str
    quote_currency: str
    base_scale_k: int
    quote_scale_k: int
    tick_size: str
    lot_size: str
    taker_fee: int
    maker_fee: int
    active: bool = True


class EngineBook(msgspec.Struct, rename="camel", frozen=True):
    """A level-2 book, best first: each level is price and summed quantity. `sequence` is the engine's."""

    symbol: str
    bids: list[tuple[str, str]]
    asks: list[tuple[str, str]]
    sequence: int
    timestamp: int


class EngineHttp:
    """A client of one engine. Create it inside a running loop and end it with `close`."""

    def __init__(self, settings: EngineConnectionSettings) -> None:
        self._url = settings.engine_url
        self._service_headers = settings.service_headers
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
            connector=aiohttp.TCPConnector(limit=CONNECTIONS_MAX),
        )

    async def close(self) -> None:
        """End the connections."""
        await self._session.close()

    async def check(self) -> None:
        """Raise EngineUnavailableError unless the engine is healthy."""
        if await self._get("/health", Any) is None:
            raise EngineUnavailableError("the engine has no /health")

    async def markets(self) -> list[EngineMarket]:
        """The specifications of all symbols. Raises EngineUnavailableError."""
        return await self._get("/api/v1/markets", list[EngineMarket]) or []

    async def book(self, symbol: str, depth: int) -> EngineBook | None:
        """The book of `symbol`, at most `depth` levels a side; None if the engine does not know the symbol.

        Raises EngineUnavailableError.
        """
        path = f"/api/v1/marketdata/orderbook/{quote(symbol, safe='')}"
        book: EngineBook | None = await self._get(path, EngineBook, {"depth": str(depth)})
        if book is None or max(len(book.bids), len(book.asks)) <= depth:
            return book
        return msgspec.structs.replace(book, bids=book.bids[:depth], asks=book.asks[:depth])

    async def balances(self, user_id: str) -> list[EngineBalance]:
        """The balances of a user; empty for a user that the engine does not know. Raises EngineUnavailableError."""
        response: EngineBalances | None = await self._get(
            "/api/v1/balances", EngineBalances, {"participantId": user_id}, self._service_headers
        )
        return response.balances if response is not None else []

    async def _get(
        self,
        path: str,
        shape: type[Shape] | Any,
        query: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> Shape | Any:
        """The engine's response at `path`; None for 404. Raises EngineUnavailableError."""
        try:
            async with self._session.get(f"{self._url}{path}", params=query, headers=headers) as response:
                body = await response.read()
                status = response.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise EngineUnavailableError(f"the engine does not respond: {error!r}") from error
        if status == 404:
            return None
        if status != 200:
            raise EngineUnavailableError(f"the engine responded with {status} to {path}")
        try:
            return msgspec.json.decode(body, type=shape)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise EngineUnavailableError(f"the engine's response to {path} cannot be read: {error}") from error
