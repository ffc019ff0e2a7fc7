"""The router's symbols and markets: a market is a symbol of the engine for which the platform's list has limits.

The router loads the symbols at start, and gives up after a number of attempts (facts A8-09 to A8-11). By default it
learns of a new engine symbol only at its next start; a setting makes it reload the symbols regularly (fact A2.5-09).
With `OPENSPOT_MARKETS=live` the limits follow what operators list, and each change reloads the symbols.
"""

import asyncio
from collections.abc import Awaitable, Callable

from openspot.domain.market import MarketConfiguration
from openspot.domain.symbol import SymbolSpec
from openspot.engine_client.errors import EngineError
from openspot.kit.log import get_logger
from openspot.router.orders.pre_trade import MarketRules

log = get_logger("symbols")


class SymbolsUnavailableError(Exception):
    """The symbols could not be loaded from the engine."""


class Symbols:
    """`specs` has every symbol of the engine, `markets` those that can be traded. A reload changes both in place."""

    def __init__(
        self,
        configuration: MarketConfiguration,
        load_specs: Callable[[], Awaitable[dict[str, SymbolSpec]]],
        read_list: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`read_list` brings `configuration` up to date, at start. Raises EngineError."""
        self._read_list = read_list
        self._configuration = configuration
        self._load_specs = load_specs
        self.specs: dict[str, SymbolSpec] = {}
        self.markets: dict[str, MarketRules] = {}

    async def load(self, attempts: int, pause_s: float) -> None:
        """Load the symbols, at start. Raises SymbolsUnavailableError after the last attempt."""
        for attempt in range(1, attempts + 1):
            try:
                if self._read_list is not None:
                    await self._read_list()
                await self.refresh()
            except EngineError as error:
                log.warning("symbols not loaded", attempt=attempt, attempts=attempts, error=str(error))
                if attempt == attempts:
                    raise SymbolsUnavailableError(f"no symbols after {attempts} attempts: {error}") from error
                await asyncio.sleep(pause_s)
            else:
                log.info("symbols loaded", symbols=len(self.specs), markets=len(self.markets))
                return

    async def keep_fresh(self, interval_s: float) -> None:
        """Reload every `interval_s` seconds until cancelled. A failure leaves the symbols as they are."""
        while True:
            await asyncio.sleep(interval_s)
            try:
                await self.refresh()
            except EngineError as error:
                log.warning("symbols not refreshed", error=str(error))

    async def check(self) -> None:
        """Raise SymbolsUnavailableError while no symbols are loaded."""
        if not self.specs:
            raise SymbolsUnavailableError("symbols are not loaded")

    async def refresh(self) -> None:
        """Load the symbols once more. Raises EngineError, and leaves them as they are."""
        specs = await self._load_specs()
        self.specs.clear()
        self.specs.update(specs)
        self.markets.clear()
        for symbol, limits in self._configuration.limits.items():
            if symbol in specs:
                self.markets[symbol] = MarketRules(limits, specs[symbol])
