"""The reference core's phases of a market: what each takes, and the commands that change them.

Every phase is set by a command, also the end of one that has a time: the engine sends ADVANCE_PHASE through its
journal. A market whose book is crossed, because orders have collected, enters a phase in which it may not be crossed by
an uncross (reference_auction.py).
"""

from openspot.domain.market_phase import SETTABLE_PHASES, UNCROSSED_PHASES, MarketPhase
from openspot.domain.order import RESTING_TYPES, EngineOrderType
from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import Command
from openspot.engine.core.reference_auction import advance_uncross, emit_phase
from openspot.engine.core.reference_book import PhaseState, SymbolBook
from openspot.engine.core.reference_execution import activate_fired
from openspot.engine.core.reference_state import CommandResult, CoreState, Emit, require, require_found

_CLOSED = {
    MarketPhase.HALTED: ResultCode.PHASE_HALTED,
    MarketPhase.CANCEL_ONLY: ResultCode.PHASE_CANCEL_ONLY,
    MarketPhase.UNCROSSING: ResultCode.PHASE_UNCROSSING,
}
"""The phases in which no order enters, each with the reason."""
_TIMES = 1 << 64


def check_may_enter(book: SymbolBook, order_type: int, *, has_trigger: bool) -> None:
    """Reject a new order that the market does not take in its phase. One that waits for a trigger only waits."""
    check_may_enter_again(book)
    phase = book.phase.phase
    if phase == MarketPhase.POST_ONLY:
        require(has_trigger or order_type == EngineOrderType.POST_ONLY, ResultCode.PHASE_POST_ONLY)
    if phase == MarketPhase.AUCTION:
        require(has_trigger or order_type in RESTING_TYPES, ResultCode.PHASE_AUCTION)


def check_may_enter_again(book: SymbolBook) -> None:
    """Reject an order that gets another price or a larger quantity while no order enters."""
    phase = book.phase.phase
    require(phase not in _CLOSED, _CLOSED.get(phase, ResultCode.SUCCESS))


def check_may_shrink(book: SymbolBook) -> None:
    """Reject a change of an order while it can only be cancelled."""
    require(book.phase.phase != MarketPhase.HALTED, ResultCode.PHASE_HALTED)


def set_phase(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Let a market enter a phase, for good or until a time. From the first one on, the core remembers prices."""
    book = require_found(state.books.get(command.symbol), ResultCode.INVALID_SYMBOL)
    require(command.order_type in SETTABLE_PHASES, ResultCode.INVALID_PHASE)
    phase, ends = MarketPhase(command.order_type), command.amount
    may_end = phase != MarketPhase.CONTINUOUS and command.timestamp < ends < _TIMES
    require(ends == 0 or may_end, ResultCode.INVALID_PHASE)
    require(book.phase.phase != MarketPhase.UNCROSSING, ResultCode.PHASE_UNCROSSING)
    state.tracks_prices = True
    _enter(state, book, phase, ends, emit)
    return CommandResult()


def advance_phase(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """End a phase whose time is over, or go on with an uncross. An inactive market waits until it is active."""
    book = require_found(state.books.get(command.symbol), ResultCode.INVALID_SYMBOL)
    require(book.symbol.active, ResultCode.SYMBOL_INACTIVE)
    if book.phase.phase == MarketPhase.UNCROSSING:
        advance_uncross(state, book, emit)
        activate_fired(state, book, emit)
    else:
        require(0 < book.phase.ends <= command.timestamp, ResultCode.PHASE_NOT_OVER)
        _enter(state, book, MarketPhase.CONTINUOUS, 0, emit)
    return CommandResult()


def _enter(state: CoreState, book: SymbolBook, phase: MarketPhase, ends: int, emit: Emit) -> None:
    if book.is_crossed and phase in UNCROSSED_PHASES:
        book.phase = PhaseState(MarketPhase.UNCROSSING, ends, following=phase)
        advance_uncross(state, book, emit)
    else:
        book.phase = PhaseState(phase, ends)
        emit_phase(book, emit)
    if book.symbol.active:
        activate_fired(state, book, emit)
