"""The phases of a market: what it takes, and whether orders match."""

from enum import IntEnum, StrEnum


class MarketPhase(IntEnum):
    """A phase. The numbers are part of the engine's records and never change.

    CONTINUOUS: orders match as they come. HALTED: orders can only be cancelled. CANCEL_ONLY: orders can be cancelled
    and made smaller. POST_ONLY: only orders that rest come in. AUCTION: orders collect without matching. UNCROSSING: an
    auction has ended, and what it trades is being traded; nobody asks for this phase.
    """

    CONTINUOUS = 0
    HALTED = 1
    CANCEL_ONLY = 2
    POST_ONLY = 3
    AUCTION = 4
    UNCROSSING = 5

    @property
    def text(self) -> str:
        """The phase as interfaces name it, for example cancel-only."""
        return self.name.lower().replace("_", "-")


UNCROSSED_PHASES = frozenset({MarketPhase.CONTINUOUS, MarketPhase.POST_ONLY})
"""In these phases the best bid is below the best ask. A market whose book is crossed enters them by an uncross."""
SETTABLE_PHASES = frozenset(MarketPhase) - {MarketPhase.UNCROSSING}
"""The phases that an operator can ask for."""
PHASE_OF_TEXT = {phase.text: phase for phase in MarketPhase}


class PhaseCause(StrEnum):
    """Why the engine itself let a market enter an auction. An operator's phases have no cause.

    VOLATILITY: its fair price moved too far in a short time. VOLATILITY_EXTENSION: such an auction would have ended too
    far from the fair price, so it goes on once.
    """

    VOLATILITY = "volatility"
    VOLATILITY_EXTENSION = "volatility-extension"
