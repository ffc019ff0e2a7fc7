"""The reference core's uncross: the orders that an auction collected trade at one price.

The best bid and the best ask meet, at the auction's price, until one of them may not trade at it. Self-trade
prevention works as in continuous trading, so that nobody makes a price with himself. What it removes, and what is
cancelled between two commands, can leave a crossed book: then the rest gets a price of its own, until the book is not
crossed.
"""

from openspot.domain.auction import clearing_of
from openspot.domain.order import EngineOrderType, StpMode
from openspot.engine.core.records import EVENT_AUCTION, UNCROSS_STEPS_MAX, EventType
from openspot.engine.core.reference_book import PhaseState, SymbolBook
from openspot.engine.core.reference_matching import emit_shown, reduce_resting, removals, settle_trade
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_state import CoreState, Emit


def advance_uncross(state: CoreState, book: SymbolBook, emit: Emit) -> None:
    """Let orders meet at the auction's price, at most UNCROSS_STEPS_MAX times. Calculates at most one price."""
    if not book.phase.price:
        _price(book, emit)
    for _ in range(UNCROSS_STEPS_MAX):
        bid, ask = book.bids.best(), book.asks.best()
        if bid is None or ask is None or not ask.price <= book.phase.price <= bid.price:
            break
        _meet(state, book, bid, ask, emit)
    else:
        return
    if book.is_crossed:
        book.phase.price = 0
        return
    book.phase = PhaseState(book.phase.following, book.phase.ends)
    emit_phase(book, emit)


def emit_phase(book: SymbolBook, emit: Emit, volume: int = 0) -> None:
    """Emit PHASE with the market's phase."""
    phase = book.phase
    emit(
        EventType.PHASE,
        side=phase.following,
        order_type=phase.phase,
        symbol=book.symbol.symbol,
        maker_order_id=phase.ends,
        price=phase.price,
        quantity=book.auction_reference,
        amount=volume,
    )


def _price(book: SymbolBook, emit: Emit) -> None:
    clearing = clearing_of(
        book.bids.volumes(),
        book.asks.volumes(),
        tick=book.symbol.tick,
        reference=book.auction_reference,
    )
    if clearing is None:
        # Cancellations have left nothing to trade.
        return
    book.phase.price = clearing.price
    emit_phase(book, emit, clearing.volume)


def _meet(state: CoreState, book: SymbolBook, bid: BookOrder, ask: BookOrder, emit: Emit) -> None:
    """One meeting. The younger order is the taker, as it would have been, but a POST_ONLY order never is."""
    if EngineOrderType.POST_ONLY in (bid.order_type, ask.order_type):
        bid_takes = ask.order_type == EngineOrderType.POST_ONLY
    else:
        bid_takes = (bid.timestamp, bid.order_id) > (ask.timestamp, ask.order_id)
    taker, maker = (bid, ask) if bid_takes else (ask, bid)
    mode = state.stp_mode_of(taker)
    if mode != StpMode.NONE and state.owner_of(taker.account) == state.owner_of(maker.account):
        from_maker, from_taker, reason = removals(mode, taker, maker)
        if from_maker:
            reduce_resting(state, maker, from_maker, reason, emit)
        if from_taker:
            reduce_resting(state, taker, from_taker, reason, emit)
        return
    quantity = min(taker.shown, maker.shown)
    more = [order for order in (maker, taker) if state.fill_order(order, quantity)]
    settle_trade(state, taker, maker, book.phase.price, quantity, emit, EVENT_AUCTION)
    for order in more:
        emit_shown(emit, order)
