"""The reference core's triggers: orders that wait beside the book until a price fires them.

reference_firing.py compares prices with them.
"""

from dataclasses import dataclass

from openspot.domain.money import BASIS_POINTS
from openspot.domain.order import TriggerKind
from openspot.engine.core.protocol import WaitingOrder
from openspot.engine.core.records import TERMS_AT_OR_BELOW, TERMS_BY_MARK
from openspot.engine.core.reference_order import BookOrder

TRAILING_KINDS = frozenset(TriggerKind) - {TriggerKind.NONE, TriggerKind.FIXED}


@dataclass(slots=True)
class Trigger:
    """What fires an order. Prices are scaled.

    `value` is the price of a fixed trigger, the distance or the basis points of a trailing one. A trailing one has a
    `watermark`, the best price since the order was placed, and an `anchor`, the trigger price when its order got its
    limit. Both are 0 for a fixed one.
    """

    kind: int
    flags: int
    value: int
    tick: int
    watermark: int = 0
    anchor: int = 0

    @property
    def by_mark(self) -> bool:
        """Whether the mark price fires it."""
        return bool(self.flags & TERMS_BY_MARK)

    @property
    def sign(self) -> int:
        """1 if it fires at or above its price, −1 if at or below."""
        return -1 if self.flags & TERMS_AT_OR_BELOW else 1

    @property
    def is_trailing(self) -> bool:
        """Whether it follows the price."""
        return self.kind in TRAILING_KINDS

    @property
    def price(self) -> int:
        """The price that fires it now. That of a trailing one is rounded to the tick, away from the watermark."""
        if not self.is_trailing:
            return self.value
        distance = self.value * (BASIS_POINTS if self.kind == TriggerKind.TRAILING_DISTANCE else self.watermark)
        whole = self.sign * self.watermark * BASIS_POINTS + distance
        return self.sign * self.tick * -(-whole // (BASIS_POINTS * self.tick))

    @property
    def shift(self) -> int:
        """By how much it moved since its order got its limit, which moves as much."""
        return self.price - self.anchor if self.is_trailing else 0

    def is_reached_by(self, price: int) -> bool:
        """Whether `price` fires it."""
        return self.sign * price >= self.sign * self.price

    def follow(self, price: int) -> None:
        """Let a trailing trigger follow a price that is better than all before. It never moves back."""
        if self.is_trailing and self.sign * price < self.sign * self.watermark:
            self.watermark = price

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Of the triggers that one price fires, the lowest comes first; equal ones by placement."""
        return -self.sign, self.sign * self.price, self.kind, self.value


@dataclass(slots=True)
class Waiter:
    """An order that waits for its trigger. `fok_steps` are the flags of its PLACE, which bound the test of a FOK."""

    order: BookOrder
    trigger: Trigger
    fok_steps: int

    @property
    def limit(self) -> int:
        """The limit that the order would match with now."""
        return self.order.price + self.trigger.shift

    def as_waiting_order(self, fired_price: int) -> WaitingOrder:
        """The order as queries return it."""
        return WaitingOrder(
            order_id=self.order.order_id,
            symbol=self.order.symbol,
            order_type=self.order.order_type,
            kind=self.trigger.kind,
            flags=self.trigger.flags,
            value=self.trigger.value,
            trigger_price=self.trigger.price,
            limit=self.limit,
            fired_price=fired_price,
        )
