"""Risk: the event `risk.check.failed`."""

from openspot.contracts.messages.message import Message


class RiskCheckFailed(Message, frozen=True):
    """Payload of `risk.check.failed`: which pre-trade check refused an order, and why."""

    order_id: str
    user_id: str
    symbol: str
    check: str
    reason: str
    timestamp: int
