"""The reference core's checks of an order that several commands share (docs/protocol/matching.md, PLACE)."""

from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import AMOUNT_MAX
from openspot.domain.order import ICEBERG_SLICES_MAX, EngineOrderType
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SCALED_MAX
from openspot.engine.core.reference_book import SymbolBook
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_state import require


def check_price(book: SymbolBook, price: int) -> None:
    """Check 6 of PLACE, which MOVE and AMEND share: the price is in range and a multiple of the tick."""
    require(0 < price <= SCALED_MAX, ResultCode.INVALID_PRICE)
    require(price % book.symbol.tick == 0, ResultCode.INVALID_PRICE_STEP)


def check_display(book: SymbolBook, display: int, quantity: int) -> None:
    """Part of check 5 of PLACE: an order that shows a part of its quantity shows a fit one; 0 shows all."""
    if display:
        is_part = 0 < display < quantity and display % book.symbol.lot == 0
        require(is_part, ResultCode.INVALID_DISPLAY_QUANTITY)
        check_slices(display, quantity)


def check_slices(display: int, quantity: int) -> None:
    """Reject an order that would show its quantity in too many parts."""
    require(not display or display * ICEBERG_SLICES_MAX >= quantity, ResultCode.INVALID_DISPLAY_QUANTITY)


def check_notional(book: SymbolBook, limit: int, quantity: int) -> None:
    """Check 8 of PLACE, which MOVE and AMEND share: the notional fits an amount."""
    require(book.notional(limit, quantity) <= AMOUNT_MAX, ResultCode.NOTIONAL_TOO_LARGE)


def check_post_only(book: SymbolBook, order: BookOrder) -> None:
    """Reject a POST_ONLY order that would match at once, even against an order of its own account.

    In the phase of that name, no order may match.
    """
    best = book.opposite_side(order).best()
    would_match = best is not None and order.may_trade_at(best.price)
    must_rest = order.order_type == EngineOrderType.POST_ONLY or book.phase.phase == MarketPhase.POST_ONLY
    require(not (must_rest and would_match), ResultCode.POST_ONLY_WOULD_CROSS)
