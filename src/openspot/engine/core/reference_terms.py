"""The reference core's TERMS: what the PLACE directly after it asks for beyond its own fields.

TERMS only waits, as a MOVEMENT does, and PLACE checks it. Any other command ends it, so a PLACE never gets the terms of
another one.
"""

from openspot.domain.order import RESTING_TYPES, EngineOrderType, Side, StpMode, TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SCALED_MAX
from openspot.engine.core.records import STEPS_MASK, TERMS_AT_OR_BELOW, TERMS_FLAGS, Command
from openspot.engine.core.reference_book import SymbolBook
from openspot.engine.core.reference_state import CommandResult, CoreState, Emit, require
from openspot.engine.core.reference_triggers import TRAILING_KINDS, Trigger

TRAILING_BASIS_POINTS_MAX = 9_999
_TIMES = 1 << 64
ACTIVATED_TYPES = frozenset({EngineOrderType.GTC, EngineOrderType.IOC, EngineOrderType.FOK})


def keep_terms(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Let terms wait for the PLACE that follows. From the first ones on, the core remembers prices."""
    state.keep_terms(command)
    state.tracks_prices = True
    return CommandResult()


def check_terms(terms: Command, command: Command) -> None:
    """Check that `terms` fit the PLACE. Its side and type are known to be valid."""
    waits, order_type = terms.side != TriggerKind.NONE, command.order_type
    is_regular = (
        terms.order_id == command.order_id
        and terms.side in frozenset(TriggerKind)
        and terms.order_type <= len(StpMode)
        and terms.flags <= TERMS_FLAGS
        and (terms.symbol, terms.account) == (0, 0)
        and (not terms.quantity or (not waits and order_type in RESTING_TYPES))
        and (_trigger_fits(terms, command) if waits else (terms.price, terms.flags) == (0, 0))
    )
    require(is_regular, ResultCode.INVALID_TERMS)
    if terms.amount:
        require(waits or order_type in RESTING_TYPES, ResultCode.INVALID_TERMS)
        require(command.timestamp < terms.amount < _TIMES, ResultCode.INVALID_EXPIRY)


def _trigger_fits(terms: Command, command: Command) -> bool:
    return (
        command.order_type in ACTIVATED_TYPES
        and command.flags <= STEPS_MASK
        and 0 < terms.price <= SCALED_MAX
        and trailing_fits(terms.side, terms.flags, terms.price, command.side)
    )


def trailing_fits(kind: int, flags: int, value: int, side: int) -> bool:
    """Whether a trigger, if it is a trailing one, follows falling prices for a buy, or rising ones for a sell."""
    direction = TERMS_AT_OR_BELOW if side == Side.SELL else 0
    return kind not in TRAILING_KINDS or (
        flags & TERMS_AT_OR_BELOW == direction
        and (kind != TriggerKind.TRAILING_BASIS_POINTS or value <= TRAILING_BASIS_POINTS_MAX)
    )


def checked_trigger(book: SymbolBook, terms: Command, expected_price: int = 0) -> Trigger:
    """Check 13 of PLACE: the trigger that the terms ask for, if the present price does not fire it.

    For an exit of a list, the price at which its entry is expected to fill takes the place of the present one.
    """
    trigger = Trigger(terms.side, terms.flags, terms.price, book.symbol.tick)
    if terms.side != TriggerKind.TRAILING_BASIS_POINTS:
        require(terms.price % book.symbol.tick == 0, ResultCode.INVALID_TRIGGER)
    reference = expected_price or book.reference_price(by_mark=trigger.by_mark)
    if trigger.is_trailing:
        require(reference != 0, ResultCode.REFERENCE_PRICE_UNKNOWN)
        trigger.watermark = reference
        trigger.anchor = trigger.price
    check_not_reached(trigger, reference)
    return trigger


def check_fixed_trigger(book: SymbolBook, trigger: Trigger, expected_price: int = 0) -> None:
    """Check a new price of a fixed trigger, as check 13 of PLACE does."""
    require(trigger.value % trigger.tick == 0, ResultCode.INVALID_TRIGGER)
    check_not_reached(trigger, expected_price or book.reference_price(by_mark=trigger.by_mark))


def check_not_reached(trigger: Trigger, reference: int) -> None:
    """Check that a trigger is in range, and that the `reference` price, 0 if it is unknown, does not fire it."""
    require(0 < trigger.price <= SCALED_MAX, ResultCode.INVALID_TRIGGER)
    require(reference == 0 or not trigger.is_reached_by(reference), ResultCode.TRIGGER_WOULD_FIRE)
