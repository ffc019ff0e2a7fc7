"""Volatility interruptions: an auction for a market whose fair price moves too fast.

The engine judges each fair price where it arrives, and sends an ordinary SET_PHASE through its journal, whose note is
the cause. So a replay needs no clock and no window of its own. After a restart the window of prices begins anew; an
auction that is under way goes on.
"""

from openspot.domain.auction import clearing_of
from openspot.domain.market_phase import MarketPhase, PhaseCause
from openspot.domain.symbol import SCALED_MAX, SymbolSpec
from openspot.domain.volatility import PriceWindow, VolatilityRules, has_moved
from openspot.engine import metrics
from openspot.engine.core.protocol import SymbolPhase
from openspot.engine.core.records import Command, CommandKind
from openspot.engine.intake.sequencer import Sequencer
from openspot.engine.state.state_machine import StateMachine
from openspot.kit.clock import NANOSECONDS_PER_MS
from openspot.kit.log import get_logger

log = get_logger("engine")

LEVELS_MAX = 1000
"""Levels of each side that are looked at for an auction's price. A book that is crossed beyond them is not judged: its
auction goes on, as if the price were too far away."""


class VolatilityGuard:
    """Decides which markets are interrupted, and whose interruption goes on. Belongs to the engine's event loop."""

    def __init__(self, machine: StateMachine, sequencer: Sequencer, rules: VolatilityRules) -> None:
        self._machine = machine
        self._sequencer = sequencer
        self._rules = rules
        self._windows: dict[int, PriceWindow] = {}

    def interruption(self, spec: SymbolSpec, price: int, gap_ms: int | None) -> Command | None:
        """Take a market's new fair price; the SET_PHASE that has to come before it, if it moved too far.

        The price before counted until `gap_ms` ago, None if that is not known.
        """
        if not spec.active or not 0 < price <= SCALED_MAX:
            return None
        symbol, now = spec.symbol_id, self._sequencer.now()
        window = self._windows.get(symbol)
        if window is None:
            window = self._windows[symbol] = PriceWindow(self._rules.window_ns)
            # A counter that begins with its first event would show no increase then.
            for cause in PhaseCause:
                metrics.INTERRUPTIONS.labels(spec.symbol, cause.value)
        window.add(price, now, None if gap_ms is None else gap_ms * NANOSECONDS_PER_MS)
        if not window.has_moved(price, self._rules.move_bps) or not self._may_interrupt(symbol, now):
            return None
        # The next move is measured from here.
        window = self._windows[symbol] = PriceWindow(self._rules.window_ns)
        window.add(price, now, None)
        self._tell(spec.symbol, PhaseCause.VOLATILITY)
        return self._auction(symbol, now)

    def extension(self, row: SymbolPhase) -> Command | None:
        """The SET_PHASE by which an auction that is over goes on, if it is one of the guard's and ends too far away."""
        if row.phase != MarketPhase.AUCTION or self._machine.interruptions.cause(row.symbol) != PhaseCause.VOLATILITY:
            return None
        if not self._ends_too_far_away(row) or self._sequencer.is_pending(CommandKind.SET_PHASE, row.symbol):
            return None
        spec = self._machine.directory.symbol(row.symbol)
        self._tell(spec.symbol if spec else "", PhaseCause.VOLATILITY_EXTENSION)
        return self._auction(row.symbol, self._sequencer.now())

    def _may_interrupt(self, symbol: int, now: int) -> bool:
        """Whether the market trades continuously, nobody is changing that, and its last interruption is long ago."""
        last = self._machine.interruptions.of(symbol)
        return (
            (last is None or now - last.began_ns >= self._rules.pause_ns)
            and all(row.symbol != symbol for row in self._machine.core.phases())
            and not self._sequencer.is_pending(CommandKind.SET_PHASE, symbol)
        )

    def _ends_too_far_away(self, row: SymbolPhase) -> bool:
        core = self._machine.core
        fair = next((each.mark_price for each in core.reference_prices() if each.symbol == row.symbol), 0)
        tick = next(symbol.tick for symbol in core.symbols() if symbol.symbol == row.symbol)
        # What icebergs hide trades in an auction, too.
        bids, asks = core.volumes(row.symbol, LEVELS_MAX)
        if not fair or not bids or not asks:
            return False
        (best_bid, _), (best_ask, _) = bids[0], asks[0]
        is_cut = len(bids) == LEVELS_MAX and bids[-1][0] >= best_ask
        is_cut = is_cut or (len(asks) == LEVELS_MAX and asks[-1][0] <= best_bid)
        clearing = clearing_of(bids, asks, tick=tick, reference=row.reference)
        return is_cut or (clearing is not None and has_moved(clearing.price, fair, self._rules.move_bps))

    def _auction(self, symbol: int, now: int) -> Command:
        ends = now + self._rules.auction_ns
        return Command(CommandKind.SET_PHASE, symbol=symbol, timestamp=now, order_type=MarketPhase.AUCTION, amount=ends)

    def _tell(self, symbol: str, cause: PhaseCause) -> None:
        metrics.INTERRUPTIONS.labels(symbol, cause.value).inc()
        log.warning("a market is interrupted by an auction", symbol=symbol, cause=cause.value)
