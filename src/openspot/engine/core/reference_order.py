"""The reference core's orders as the books keep them."""

from dataclasses import dataclass
from operator import attrgetter

from openspot.domain.order import EngineOrderType, Side
from openspot.engine.core.protocol import RestingOrder

_resting_fields = attrgetter(*RestingOrder._fields)


@dataclass(slots=True)
class BookOrder:
    """A resting, waiting or incoming order. Prices and quantities are scaled integers, fees are in basis points.

    The order keeps the fees of its PLACE. `reserve_price` is 0 unless the order is a BUY with a limit.
    """

    order_id: int
    account: int
    symbol: int
    side: int
    order_type: int
    price: int
    reserve_price: int
    quantity: int
    remaining: int
    taker_fee_bps: int
    maker_fee_bps: int
    timestamp: int
    own_stp: int = 0
    """The order's own StpMode + 1; 0 for the account's present mode."""
    expiry: int = 0
    """When it expires, in nanoseconds since 1970; 0 for never."""
    covered: bool = False
    """Whether the other exit of its list holds the funds for both."""
    display: int = 0
    """How much of it a resting order shows at a time; 0 for all."""
    visible: int = 0
    """What is left of the part that a resting order with a `display` shows."""

    @property
    def shown(self) -> int:
        """What the book shows of a resting order, and what it trades before it loses its place."""
        return self.visible if self.display else self.remaining

    @property
    def hidden(self) -> int:
        """What the book does not show of a resting order."""
        return self.remaining - self.shown

    @property
    def has_limit(self) -> bool:
        """Whether the order has a limit price. A FOK_BUDGET order has a budget instead."""
        return self.order_type != EngineOrderType.FOK_BUDGET

    @property
    def worst_fee_bps(self) -> int:
        """The largest fee that the order can pay."""
        return max(self.taker_fee_bps, self.maker_fee_bps, 0)

    def may_trade_at(self, resting_price: int) -> bool:
        """Whether the order's limit allows a trade at the price of a resting order."""
        if not self.has_limit:
            return True
        return resting_price <= self.price if self.side == Side.BUY else resting_price >= self.price

    def as_open_order(self) -> RestingOrder:
        """The order as queries return it."""
        return RestingOrder._make(_resting_fields(self))
