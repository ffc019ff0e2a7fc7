"""Reads symbols, books and balances of the engine over HTTP (facts B4.4-01, B4.4-02, B4.4-06)."""

from decimal import Decimal
from typing import Any, TypeVar
from urllib.parse import quote

import aiohttp
import msgspec

from openspot.contracts.listings import MarketList, MarketTerms
from openspot.domain.money import MoneyError, parse_decimal, to_scaled
from openspot.domain.symbol import SymbolSpec
from openspot.engine_client.errors import EngineRefusedError, EngineUnreachableError
from openspot.engine_client.settings import EngineConnectionSettings

CONNECTIONS_MAX = 64

Shape = TypeVar("Shape")


class EngineBalance(msgspec.Struct, rename="camel", frozen=True):
    """A user's balance of one asset. available = total - locked; `reserved` is held in addition."""

    asset: str = msgspec.field(name="currency")
    total: str
    available: str
    locked: str
    reserved: str


class EngineBalances(msgspec.Struct, frozen=True):
    """The engine's response to a query of balances."""

    balances: list[EngineBalance]


class AccountTotal(msgspec.Struct, rename="camel", frozen=True):
    """A participant's total of one asset, including locked and reserved funds."""

    participant_id: str
    asset: str = msgspec.field(name="currency")
    total: Decimal


class _AccountTotals(msgspec.Struct, frozen=True):
    balances: list[AccountTotal]


class _ParticipantState(msgspec.Struct, frozen=True):
    state: str


class EngineMarket(msgspec.Struct, rename="camel", frozen=True):
    """A symbol's specification. Fees in basis points; a negative maker fee is a rebate.

    `phase` is the text of a domain.market_phase.MarketPhase, `phase_ends_at` in milliseconds since 1970, 0 for never.
    `phase_cause` is the text of a PhaseCause if the engine itself began the phase.
    `terms` are those that an operator has set, None while nobody has. `logo` is that of the base asset.
    """

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
    phase: str = "continuous"
    phase_ends_at: int = 0
    phase_reference: str = "0"
    phase_cause: str = ""
    terms: MarketTerms | None = None
    logo: str = ""
    quote_logo: str = ""


class EngineBook(msgspec.Struct, rename="camel", frozen=True):
    """A level-2 book, best first. A level is (price, total quantity). `sequence`: the engine's newest event."""

    symbol: str
    bids: list[tuple[str, str]]
    asks: list[tuple[str, str]]
    sequence: int
    timestamp: int


class EngineQueries:
    """Queries one engine. Create it inside a running loop and end it with `close`. Its methods raise EngineError."""

    def __init__(self, settings: EngineConnectionSettings, timeout_s: float | None = None) -> None:
        """A query fails after `timeout_s`; without it, after the settings' time for a request that only reads."""
        self._url = settings.engine_url
        self._session = aiohttp.ClientSession(
            headers=settings.service_headers,
            timeout=aiohttp.ClientTimeout(total=settings.read_timeout_s if timeout_s is None else timeout_s),
            connector=aiohttp.TCPConnector(limit=CONNECTIONS_MAX),
        )

    async def close(self) -> None:
        """End the connections."""
        await self._session.close()

    @property
    def session(self) -> aiohttp.ClientSession:
        """The HTTP session, which sends the service credential. An EngineStream can share it."""
        return self._session

    async def check(self) -> None:
        """Raise EngineError unless the engine is healthy."""
        if await self._get("/health", Any) is None:
            raise EngineRefusedError("the engine has no /health")

    async def markets(self) -> list[EngineMarket]:
        """The specifications of all symbols, with decimals as text."""
        return await self._get("/api/v1/markets", list[EngineMarket]) or []

    async def symbols(self) -> dict[str, SymbolSpec]:
        """The specifications of all symbols by name (fact A2.5-01)."""
        try:
            return {market.symbol: _spec_of(market) for market in await self.markets()}
        except MoneyError as error:
            raise EngineRefusedError(f"the engine's list of symbols cannot be read: {error}") from error

    async def listings(self, version: str) -> MarketList | None:
        """All markets and assets with their terms as they are now; None if the list still has this version."""
        found: MarketList | None = await self._get("/api/v1/listings", MarketList, {"version": version})
        if found is None and not version:
            raise EngineRefusedError("the engine has no list of markets")
        return found

    async def book(self, symbol: str, depth: int) -> EngineBook | None:
        """The book of `symbol`, at most `depth` levels on each side. None if the engine does not know the symbol."""
        path = f"/api/v1/marketdata/orderbook/{quote(symbol, safe='')}"
        book: EngineBook | None = await self._get(path, EngineBook, {"depth": str(depth)})
        if book is None or max(len(book.bids), len(book.asks)) <= depth:
            return book
        return msgspec.structs.replace(book, bids=book.bids[:depth], asks=book.asks[:depth])

    async def balances(self, user_id: str) -> list[EngineBalance]:
        """The balances of a user. Empty if the engine does not know the user."""
        response: EngineBalances | None = await self._get(
            "/api/v1/balances", EngineBalances, {"participantId": user_id}
        )
        return response.balances if response is not None else []

    async def account_totals(self) -> list[AccountTotal]:
        """The totals of all accounts."""
        response: _AccountTotals | None = await self._get("/api/v1/balances", _AccountTotals)
        return response.balances if response is not None else []

    async def participant_state(self, participant_id: str) -> str | None:
        """Whether a participant may place orders, as `participant_schemas.ParticipantState` has it.

        None if the engine does not know it.
        """
        path = f"/api/v1/admin/participants/{quote(participant_id, safe='')}"
        found: _ParticipantState | None = await self._get(path, _ParticipantState)
        return None if found is None else found.state

    async def _get(self, path: str, shape: type[Shape] | Any, query: dict[str, str] | None = None) -> Shape | Any:
        """The engine's response to a GET of `path`, or None for 404 and 204."""
        try:
            async with self._session.get(f"{self._url}{path}", params=query) as response:
                body = await response.read()
                status = response.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise EngineUnreachableError(f"no engine at {self._url}: {error!r}") from error
        if status in (204, 404):
            return None
        if status != 200:
            raise EngineRefusedError(f"the engine responded with {status} to {path}")
        try:
            return msgspec.json.decode(body, type=shape)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise EngineRefusedError(f"the engine's response to {path} cannot be read: {error}") from error


def _spec_of(market: EngineMarket) -> SymbolSpec:
    return SymbolSpec(
        symbol=market.symbol,
        symbol_id=market.symbol_id,
        base=market.base_currency,
        quote=market.quote_currency,
        base_scale_k=market.base_scale_k,
        quote_scale_k=market.quote_scale_k,
        tick=to_scaled(parse_decimal(market.tick_size), market.quote_scale_k),
        lot=to_scaled(parse_decimal(market.lot_size), market.base_scale_k),
        taker_fee_bps=market.taker_fee,
        maker_fee_bps=market.maker_fee,
        active=market.active,
    )
