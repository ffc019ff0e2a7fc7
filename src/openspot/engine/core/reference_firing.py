"""The reference core's prices fire the orders that wait for them.

Each trade price, and each mark price, is compared with all orders that wait for it. A fired order joins the queue of
its symbol; reference_execution.py activates it. The Rust core keeps the triggers in order instead of comparing all.
"""

from openspot.engine.core.reference_book import SymbolBook
from openspot.engine.core.reference_triggers import Waiter


def fire(book: SymbolBook, waiters: list[Waiter], price: int, *, by_mark: bool) -> None:
    """Compare a price with the triggers that wait for it; those that it fires join the symbol's queue.

    `waiters` are the waiting orders of all symbols by placement.
    """
    own = [
        waiter
        for waiter in waiters
        if waiter.order.symbol == book.symbol.symbol
        and waiter.trigger.by_mark == by_mark
        and waiter.order.order_id not in book.fired
    ]
    fired = [waiter for waiter in own if waiter.trigger.is_reached_by(price)]
    for waiter in own:
        if waiter not in fired:
            waiter.trigger.follow(price)
    for waiter in sorted(fired, key=lambda waiter: waiter.trigger.rank):
        book.fired[waiter.order.order_id] = price
