"""Volatility interruptions: that each has a move of the fair price behind it, and that no move is overlooked.

The moves are reckoned from the journal's mark prices alone. In the simulation a price counts until the next one comes.
"""

from collections.abc import Sequence
from typing import NamedTuple

from openspot.domain.volatility import VolatilityRules
from openspot.engine.core.records import Command, CommandKind, Event, EventType
from tests.simulation.engine import Committed
from tests.simulation.rules.phases import AUCTION, CONTINUOUS, PhaseRule, clearing, sides
from tests.simulation.rules.story import Rule

SECOND = 1_000_000_000
VOLATILITY = VolatilityRules(move_bps=150, window_ns=6 * SECOND, auction_ns=1 * SECOND, pause_ns=8 * SECOND)
"""The rules of a simulated engine."""
_PART = 0.1
"""An engine may be this part of a window more forgetful than the rules."""


class _Price(NamedTuple):
    time_ns: int
    price: int
    batch: int


class VolatilityRule(Rule):
    """Follows the fair prices and the phases of each market."""

    def __init__(
        self, phases: PhaseRule, journal: Sequence[Committed], rules: VolatilityRules, begun_at: Sequence[int]
    ) -> None:
        super().__init__(phases.story)
        self._phases = phases
        self._rules = rules
        self._begun_at = list(begun_at)
        notes = [(number, note) for number, batch in enumerate(journal) for note in batch.notes]
        self._batches = [number for number, _ in notes]
        self._notes = [note for _, note in notes]
        self._place = 0
        self._prices: dict[int, list[_Price]] = {}
        self._batch = 0
        self._far_away: set[int] = set()
        """Markets whose auction would have ended too far from the fair price before this batch."""
        self._phase: dict[int, tuple[int, str, int]] = {}
        """Symbol → (phase, cause, when it ends)."""
        self._began: dict[int, tuple[int, int]] = {}
        """Symbol → when its last interruption began, and which of its prices it rests on."""
        self._changed_in: dict[int, int] = {}
        """Symbol → the last batch with a command about its phase."""
        self._just_begun = 0
        """The symbol whose interruption was the command before."""

    def begin(self, command: Command) -> None:
        """Judge a fair price, and keep it."""
        symbol, batch = command.symbol, self._batches[self._place]
        if batch != self._batch:
            self._batch = batch
            self._far_away = {
                each for each, (_, cause, _) in self._phase.items() if cause == "volatility" and self._is_far_away(each)
            }
        begun, self._just_begun = self._just_begun, 0
        if command.kind in (CommandKind.SET_PHASE, CommandKind.ADVANCE_PHASE):
            self._changed_in[symbol] = batch
        if command.kind != CommandKind.SET_MARK_PRICE or symbol not in self.story.markets:
            self.demand(not begun, f"market {begun} was interrupted without a price")
            return
        price, prices = _Price(command.timestamp, command.price, batch), self._prices.setdefault(symbol, [])
        if begun:
            self.demand(begun == symbol, f"market {begun} was interrupted for a price of {symbol}")
            self.demand(self._has_moved(price, prices), f"market {symbol} was interrupted without a move")
            self._began[symbol] = command.timestamp, len(prices)
        else:
            self.demand(not self._must_interrupt(symbol, price), f"market {symbol} moved and was not interrupted")
        prices.append(price)

    def take(self, event: Event) -> None:
        """Judge a change of the phase that the engine began itself."""
        symbol, note = event.symbol, self._notes[self._place]
        if event.type != EventType.PHASE:
            return
        cause = note[0] if note else ""
        phase, cause_before, ends = self._phase.get(symbol, (CONTINUOUS, "", 0))
        if cause:
            self.demand(event.order_type == AUCTION, f"market {symbol} was interrupted by phase {event.order_type}")
            lasts = event.maker_order_id - event.timestamp
            self.demand(lasts == self._rules.auction_ns, f"market {symbol} was interrupted for {lasts} ns")
        if cause == "volatility":
            self.demand(phase == CONTINUOUS, f"market {symbol} was interrupted in phase {phase}")
            since = event.timestamp - self._began.get(symbol, (0, 0))[0]
            self.demand(
                since >= self._rules.pause_ns, f"market {symbol} was interrupted {since} ns after the last time"
            )
            self._just_begun = symbol
        elif cause:
            self.demand((phase, cause_before) == (AUCTION, "volatility"), f"auction of {symbol} went on unasked")
            self.demand(ends <= event.timestamp, f"auction of {symbol} went on before its end")
            self.demand(symbol in self._far_away, f"auction of {symbol} went on although it was near the fair price")
        self._phase[symbol] = event.order_type, cause, event.maker_order_id

    def end(self, number: int) -> None:
        """Go on to the next command."""
        self._place = number

    def _has_moved(self, price: _Price, prices: list[_Price]) -> bool:
        """Whether one of the prices that counted within the window is too far away."""
        counted = [each for each in prices if each.time_ns >= price.time_ns - self._rules.window_ns]
        before = prices[len(prices) - len(counted) - 1 :][:1] if len(counted) < len(prices) else []
        return any(self._is_far(price.price, each.price) for each in [*before, *counted])

    def _must_interrupt(self, symbol: int, price: _Price) -> bool:
        """Whether an engine that knew no more than this life's prices had to interrupt the market."""
        began_ns, first = self._began.get(symbol, (0, 0))
        life = max(begun for begun in self._begun_at if begun <= price.batch)
        earliest = price.time_ns - self._rules.window_ns * (1 - _PART)
        return (
            self._phase.get(symbol, (CONTINUOUS, "", 0))[0] == CONTINUOUS
            and self._changed_in.get(symbol) != price.batch
            and price.time_ns - began_ns >= self._rules.pause_ns
            and any(
                each.time_ns >= earliest and each.batch >= life and self._is_far(price.price, each.price)
                for each in self._prices[symbol][first:]
            )
        )

    def _is_far_away(self, symbol: int) -> bool:
        tick, fair = self.story.markets[symbol].tick, self._prices[symbol][-1].price
        price, volume = clearing(*sides(self.story, symbol), tick, self._phases.reference(symbol))
        return bool(volume) and self._is_far(price, fair)

    def _is_far(self, price: int, other: int) -> bool:
        return max(price, other) * 10_000 > min(price, other) * (10_000 + self._rules.move_bps)
