"""The symbols and markets of this router: the engine's list, and those of it that our own list has limits for.

Read at start, within a bound of attempts, then the router gives up (Document A 8). A setting reads them again
now and then; without it a new engine symbol waits for a restart (Document A 2.5).
"""

import asyncio
from collections.abc import Awaitable, Callable

from openspot.domain.market import MarketConfiguration
from openspot.domain.symbol import SymbolSpec
from openspot.kit.log import get_logger
from openspot.router.engine_client import EngineError
from openspot.router.orders.pre_trade import MarketRules

log = get_logger("symbols")


class SymbolsUnavailableError(Exception):
    """The engine did not give its symbols in all attempts."""


class Symbols:
    """`specs`: every symbol of the engine. `markets`: those that can be traded. Both change in place."""

    def __init__(
        self, configuration: MarketConfiguration, load_specs: Callable[[], Awaitable[dict[str, SymbolSpec]]]
    ) -> None:
        self._configuration = configuration
        self._load_specs = load_specs
        self.specs: dict[str, SymbolSpec] = {}
        self.markets: dict[str, MarketRules] = {}

    async def load(self, attempts: int, pause_s: float) -> None:
        """Load at start. Raises SymbolsUnavailableError after the last attempt."""
        for attempt in range(1, attempts + 1):
            try:
                await self._load()
            except EngineError as error:
                log.warning("symbols not loaded", attempt=attempt, attempts=attempts, error=str(error))
                if attempt == attempts:
                    raise SymbolsUnavailableError(f"no symbols after {attempts} attempts: {error}") from error
                await asyncio.sleep(pause_s)
            else:
                log.info("symbols loaded", symbols=len(self.specs), markets=len(self.markets))
                return

    async def keep_fresh(self, interval_s: float) -> None:
        """Load again every `interval_s` until cancelled; a failure leaves the symbols as they are."""
        while True:
            await asyncio.sleep(interval_s)
            try:
                await self._load()
            except EngineError as error:
                log.warning("symbols not refreshed", error=str(error))

    async def check(self) -> None:
        """Raise SymbolsUnavailableError while there are none."""
        if not self.specs:
            raise SymbolsUnavailableError("symbols are not loaded")

    async def _load(self) -> None:
        specs = await self._load_specs()
        self.specs.clear()
        self.specs.update(specs)
        self.markets.clear()
        for symbol, limits in self._configuration.limits.items():
            if symbol in specs:
                self.markets[symbol] = MarketRules(limits, specs[symbol])
