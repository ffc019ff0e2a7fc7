"""Tells the engine the fair prices as mark prices, which fire the stops that wait for them.

Only a price that counts is told: a stale or disputed one is not, so it fires nothing, and the engine keeps the last one
that counted. Prices are made once a second, so a market has at most one command a second, and none while its price
stands. A repeat changes nothing in the engine. A new leader tells every price once, because it does not know what the
engine has. With a price goes for how long none counted before it, so that the engine takes a long silence for no move.

A symbol that was deleted and created again is another one, with another number and perhaps another scale. With a price
goes the number for which it is scaled, and the engine refuses it for another one.
"""

from collections.abc import Callable, Iterable
from decimal import ROUND_HALF_EVEN, Decimal

from openspot.contracts.messages import FairPriceEvent
from openspot.domain.fair_price.model import PriceState
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SymbolSpec
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineError
from openspot.engine_client.queries import EngineQueries
from openspot.kit.log import get_logger
from openspot.market_data.metrics import MARK_PRICES

log = get_logger("market-data")

COUNTED = frozenset({PriceState.GOOD.value, PriceState.THIN.value})
REFUSED_S = 30.0
"""A market whose price the engine refused, for example because it is inactive, is tried again after this time."""
GAP_MS_MAX = 2**32 - 1


class MarkPrices:
    """The mark prices of a leader session. `monotonic` returns the monotonic clock's seconds."""

    def __init__(self, commands: EngineCommands, queries: EngineQueries, monotonic: Callable[[], float]) -> None:
        self._commands = commands
        self._queries = queries
        self._monotonic = monotonic
        self._specs: dict[str, SymbolSpec] = {}
        self._wanted: dict[str, str] = {}
        self._told: dict[str, int] = {}
        self._refused_until: dict[str, float] = {}
        self._counted_at: dict[str, float] = {}
        """When the price that was told last counted the last time."""

    def take(self, prices: Iterable[FairPriceEvent]) -> None:
        """Take the prices of this second. Those of before that were not told yet are forgotten."""
        self._wanted = {price.symbol: price.price for price in prices if price.state in COUNTED}

    async def renew(self) -> None:
        """Read the engine's symbols, and forget what was told to those that are no more. Raises EngineError."""
        specs = await self._queries.symbols()
        for symbol, spec in self._specs.items():
            if not _is_same(spec, specs.get(symbol)):
                self._forget(symbol)
        self._specs = specs

    async def tell(self) -> None:
        """Tell the engine the prices that moved. What it does not answer is told again with the next prices."""
        try:
            for symbol, price in list(self._wanted.items()):
                await self._tell(symbol, price)
        except EngineError as error:
            MARK_PRICES.labels("failed").inc()
            log.warning("mark prices not told", error=str(error))

    async def _tell(self, symbol: str, price: str) -> None:
        if self._refused_until.get(symbol, 0.0) > self._monotonic():
            return
        if symbol not in self._specs:
            await self.renew()
        spec = self._specs.get(symbol)
        if spec is None or not (scaled := _scaled(price, spec)):
            return
        now, counted_at = self._monotonic(), self._counted_at.get(symbol)
        if scaled == self._told.get(symbol):
            self._counted_at[symbol] = now
            return
        gap_ms = None if counted_at is None else min(GAP_MS_MAX, round((now - counted_at) * 1000))
        refusal = await self._commands.set_mark_price(symbol, scaled, gap_ms, spec.symbol_id)
        if refusal == ResultCode.INVALID_SYMBOL.name:
            # Another symbol may have the name: the next price is scaled for it.
            MARK_PRICES.labels("refused").inc()
            self._forget(symbol)
            self._specs.pop(symbol, None)
        elif refusal:
            MARK_PRICES.labels("refused").inc()
            self._refused_until[symbol] = self._monotonic() + REFUSED_S
            log.info("mark price refused", symbol=symbol, reason=refusal)
        else:
            MARK_PRICES.labels("told").inc()
            if _is_same(spec, self._specs.get(symbol)):
                self._told[symbol], self._counted_at[symbol] = scaled, now

    def _forget(self, symbol: str) -> None:
        for known in (self._told, self._refused_until, self._counted_at):
            known.pop(symbol, None)


def _is_same(spec: SymbolSpec, other: SymbolSpec | None) -> bool:
    """Whether a price that was told with `spec` is the same price with `other`."""
    return other is not None and (spec.symbol_id, spec.quote_scale_k) == (other.symbol_id, other.quote_scale_k)


def _scaled(price: str, spec: SymbolSpec) -> int:
    """The price in the engine's units, rounded to the nearest."""
    return int((Decimal(price) * spec.quote_scale_k).to_integral_value(ROUND_HALF_EVEN))
