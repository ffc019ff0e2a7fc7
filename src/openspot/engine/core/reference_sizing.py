"""The reference core's sizing: how much of the book a budget in the quote asset pays for, to the lot."""

from openspot.domain.order import StpMode
from openspot.engine.core.records import STEPS_MASK
from openspot.engine.core.reference_matching import may_meet_itself
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_state import CoreState


def steps_of(flags: int) -> int | None:
    """How many steps the flags of a PLACE allow; None means any number."""
    exponent = flags & STEPS_MASK
    return 1 << exponent if exponent else None


def affordable_quantity(state: CoreState, incoming: BookOrder, budget: int, steps_max: int | None) -> int:
    """The most whole lots, up to what remains of `incoming`, whose notional in matching is at most `budget`.

    Goes by priority and ends where a resting order does not fit entirely, or after `steps_max` price levels, or resting
    orders if the order may meet one of its own owner. Of such an order it takes nothing: it skips it if self-trade
    prevention will remove it, and else ends there. Changes nothing.
    """
    book = state.books[incoming.symbol]
    owner, mode = state.owner_of(incoming.account), state.stp_mode_of(incoming)
    is_by_order = may_meet_itself(state, incoming)
    lot = book.symbol.lot
    total, left, steps = 0, budget, 0
    for level in book.opposite_side(incoming).levels():
        price, hidden = level[0].price, 0
        if not incoming.may_trade_at(price):
            break
        for place, resting in enumerate(level):
            if is_by_order or place == 0:
                if steps == steps_max:
                    return total
                steps += 1
            if is_by_order and state.owner_of(resting.account) == owner:
                if mode == StpMode.CANCEL_RESTING:
                    continue
                return total
            quantity = min(incoming.remaining - total, resting.shown, left // book.notional(price, lot) * lot)
            total += quantity
            left -= book.notional(price, quantity)
            hidden += resting.hidden
            if quantity < resting.shown:
                return total
        # What is hidden comes after all that the price shows.
        quantity = min(incoming.remaining - total, hidden, left // book.notional(price, lot) * lot)
        total += quantity
        left -= book.notional(price, quantity)
        if quantity < hidden:
            break
    return total
