"""The reference core's sizing: how much of the book a budget in the quote asset pays for, to the lot."""

from openspot.domain.order import StpMode
from openspot.engine.core.records import STEPS_MASK
from openspot.engine.core.reference_book import BookOrder
from openspot.engine.core.reference_matching import may_meet_itself
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
    total, left, steps, last_price = 0, budget, 0, 0
    for resting in book.opposite_side(incoming).orders():
        if not incoming.may_trade_at(resting.price):
            break
        if is_by_order or resting.price != last_price:
            if steps == steps_max:
                break
            steps, last_price = steps + 1, resting.price
        if is_by_order and state.owner_of(resting.account) == owner:
            if mode == StpMode.CANCEL_RESTING:
                continue
            break
        quantity = min(incoming.remaining - total, resting.remaining, left // book.notional(resting.price, lot) * lot)
        total += quantity
        left -= book.notional(resting.price, quantity)
        if quantity < resting.remaining:
            break
    return total
