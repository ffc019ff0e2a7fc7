"""Orders that ended with less than their owner wanted: what their owner is told of them. Pure."""

from openspot.contracts.messages import IncompleteOrder
from openspot.domain.money import decimal_to_text
from openspot.domain.result_code import ResultCode
from openspot.router.tracked_order import TrackedOrder

_BY_OWNER = frozenset({ResultCode.CANCELLED_BY_USER.name, ResultCode.REDUCED_BY_USER.name})


def incomplete_order(order: TrackedOrder, reason: str | None) -> IncompleteOrder | None:
    """The event of an order that ended for `reason` with a part filled, or with nothing although its trigger fired.

    None for any other order, and for one without a fill that its owner cancelled: there is nothing to tell.
    """
    if reason is None or not order.has_ended:
        return None
    fired_for_nothing = order.triggered_ms is not None and reason not in _BY_OWNER
    if not order.filled_quantity and not fired_for_nothing:
        return None
    return IncompleteOrder(
        order_id=order.order_id,
        user_id=order.user_id,
        symbol=order.symbol,
        side=order.side,
        quantity=decimal_to_text(order.quantity),
        filled_quantity=decimal_to_text(order.filled_quantity),
        filled_notional=decimal_to_text(order.filled_notional),
        reason=reason,
        timestamp=order.updated_ms,
    )
