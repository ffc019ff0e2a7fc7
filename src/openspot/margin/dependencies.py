"""The dependencies that all parts of the service share: bus, database, engine, and the markets."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from weakref import WeakValueDictionary

import msgspec

from openspot.contracts.refusals import InvalidRequestError
from openspot.domain.listing import ENDED, MarketStatus
from openspot.domain.margin_offer import MarginOffer, margin_offer
from openspot.domain.market import MarketConfiguration
from openspot.domain.symbol import SymbolSpec
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.queries import EngineQueries
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.database import Pool
from openspot.margin.marks import MarkPriceCache
from openspot.margin.settings import MarginSettings

SYMBOLS_KEPT_S = 30.0
Reply = TypeVar("Reply")


class MarginBus(Protocol):
    """What the service needs of the bus."""

    async def request(
        self, subject: str, message: msgspec.Struct, reply_type: type[Reply], timeout_s: float | None = None
    ) -> Reply:
        """Send a request and return the reply. Raises RequestFailedError."""

    async def publish(self, subject: str, message: msgspec.Struct, message_id: str) -> None:
        """Publish an event, and wait until it is stored. Raises BusError."""


@dataclass(frozen=True, slots=True)
class Departures:
    """The markets of margin whose delisting is scheduled, and those that are delisted, at a `version` of the list."""

    version: str = ""
    leaving: frozenset[str] = frozenset()
    ended: frozenset[str] = frozenset()


@dataclass(slots=True, kw_only=True)
class Dependencies:
    """The outside of the service. The composition root passes it, or a test."""

    settings: MarginSettings
    pool: Pool
    bus: MarginBus
    commands: EngineCommands
    queries: EngineQueries
    marks: MarkPriceCache
    markets: MarketConfiguration
    clock: Clock
    offer: MarginOffer = field(default_factory=margin_offer)
    wake: Callable[[], None] = lambda: None
    """Makes the scanner look at changed accounts at once."""
    markets_changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when `markets` have changed: what is kept of the engine's symbols is old."""
    _symbols: dict[str, SymbolSpec] = field(default_factory=dict)
    _symbols_read_at: float = float("-inf")
    _departures: Departures = Departures()
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def turn(self, account_id: str) -> asyncio.Lock:
        """What is held while something waits for an account's row: one connection of the pool an account, not all."""
        return self._turns.setdefault(account_id, asyncio.Lock())

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return self.clock() // NANOSECONDS_PER_MS

    async def departures(self) -> Departures:
        """The markets that leave margin or have left it, as the engine says now. Raises EngineError."""
        if not self.settings.follows_listings:
            return Departures()
        known = self._departures
        listed = await self.queries.listings(known.version)
        if listed is None:
            return known
        terms = {market.symbol: market.terms for market in listed.markets}
        scheduled, ended = set(), set()
        for symbol in self.offer.markets:
            found = terms.get(symbol)
            if found is None or found.status in ENDED:
                ended.add(symbol)
            elif any(entry.status == MarketStatus.DELISTING.value for entry in found.schedule):
                scheduled.add(symbol)
        self._departures = Departures(listed.version, frozenset(scheduled), frozenset(ended))
        self.marks.ended = self._departures.ended
        return self._departures

    async def symbols(self) -> dict[str, SymbolSpec]:
        """The engine's symbols with terms, also those that are not traded now. Raises EngineError."""
        return {name: spec for name, spec in (await self._all_symbols()).items() if name in self.markets.limits}

    async def _all_symbols(self) -> dict[str, SymbolSpec]:
        if self.markets_changed.is_set():
            # Cleared before the question, so that a change meanwhile is asked for, too.
            self.markets_changed.clear()
            self._symbols_read_at = float("-inf")
        if time.monotonic() - self._symbols_read_at > SYMBOLS_KEPT_S:
            self._symbols = await self.queries.symbols()
            self._symbols_read_at = time.monotonic()
        return self._symbols

    async def symbols_on_margin(self) -> dict[str, SymbolSpec]:
        """The symbols that are traded now and offered on margin. Raises EngineError."""
        found = await self.symbols()
        return {name: spec for name, spec in found.items() if spec.active and name in self.offer.markets}

    async def paused_symbols(self) -> dict[str, SymbolSpec]:
        """The symbols of margin that take no orders now, and are not delisted. Raises EngineError."""
        found, ended = await self.symbols(), (await self.departures()).ended
        return {
            name: spec
            for name, spec in found.items()
            if not spec.active and name in self.offer.markets and name not in ended
        }

    async def symbol(self, name: str) -> SymbolSpec:
        """One symbol. Raises InvalidRequestError if it is unknown, EngineError if the engine does not answer."""
        found = (await self.symbols()).get(name)
        if found is None:
            raise InvalidRequestError("symbol is not a market of the platform")
        return found

    async def traded_symbol(self, name: str) -> SymbolSpec:
        """One symbol for an order, also if margin does not offer it: a position there can be closed.

        Raises as `symbol`, and InvalidRequestError if it takes no orders now.
        """
        found = await self.symbol(name)
        if not found.active:
            raise InvalidRequestError(f"symbol is not traded now: {name} takes no orders")
        return found

    async def symbol_on_margin(self, name: str) -> SymbolSpec:
        """One symbol for a new position. Raises as `traded_symbol`, and InvalidRequestError unless margin offers it."""
        # A symbol may have no terms yet, and the list of markets be newer than what is kept of the engine's symbols.
        if name not in self.offer.markets and (name in self.markets.limits or name in await self._all_symbols()):
            raise InvalidRequestError(f"symbol is not offered on margin: {name} was listed later")
        return await self.traded_symbol(name)
