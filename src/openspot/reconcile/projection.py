"""The engine's view of orders and trades, made out of its events alone: rules without IO.

It is written apart from the router's translation on purpose: a judge that shared the code of the judged would
share its faults.
"""

from collections.abc import Iterable
from decimal import Decimal

from openspot.contracts.engine_events import (
    AcceptedEvent,
    EngineEvent,
    MovedEvent,
    ReduceEvent,
    RejectEvent,
    TradeEvent,
)
from openspot.domain.money import EXACT, parse_decimal
from openspot.domain.order import OrderStatus
from openspot.reconcile.records import OrderFacts, TradeFacts

ZERO = Decimal(0)
_LIMITED_TYPES = frozenset({"GTC", "POST_ONLY"})


class EngineProjection:
    """Orders by external id and trades by trade id, as far as the applied events tell of them."""

    def __init__(self) -> None:
        self.orders: dict[str, OrderFacts] = {}
        self.trades: dict[str, TradeFacts] = {}

    def apply_all(self, events: Iterable[EngineEvent]) -> None:
        """Take the next events of the stream."""
        for event in events:
            if isinstance(event, AcceptedEvent | RejectEvent):
                self._begin(event)
            elif isinstance(event, TradeEvent):
                self._trade(event)
            elif isinstance(event, ReduceEvent):
                self._reduce(event)
            elif isinstance(event, MovedEvent):
                order = self.orders.get(event.external_id)
                if order is not None:
                    order.price = parse_decimal(event.price)

    def _begin(self, event: AcceptedEvent | RejectEvent) -> None:
        accepted = isinstance(event, AcceptedEvent)
        known = self.orders.get(event.external_id)
        if known is not None and not accepted:
            # A late reject takes back an order that was accepted.
            known.status, known.remaining = OrderStatus.REJECTED, ZERO
            return
        quantity = parse_decimal(event.quantity)
        self.orders[event.external_id] = OrderFacts(
            event.external_id,
            event.participant_id,
            event.symbol,
            event.side.lower(),
            parse_decimal(event.price) if event.order_type in _LIMITED_TYPES else None,
            quantity,
            ZERO,
            ZERO,
            quantity if accepted else ZERO,
            ZERO,
            OrderStatus.OPEN if accepted else OrderStatus.REJECTED,
        )

    def _trade(self, event: TradeEvent) -> None:
        buys = event.taker_side.lower() == "buy"
        taker, maker = event.taker_participant_id, event.maker_participant_id
        trade = TradeFacts(
            event.trade_id,
            event.symbol,
            parse_decimal(event.price),
            parse_decimal(event.quantity),
            event.taker_side.lower(),
            event.taker_external_id,
            event.maker_external_id,
            taker if buys else maker,
            maker if buys else taker,
            parse_decimal(event.taker_fee_amount),
            parse_decimal(event.maker_fee_amount),
            event.fee_currency,
        )
        self.trades[trade.trade_id] = trade
        self._fill(trade.taker_order_id, trade, trade.taker_fee, event.taker_remaining, event.is_taker_completed)
        self._fill(trade.maker_order_id, trade, trade.maker_fee, event.maker_remaining, event.is_maker_completed)

    def _fill(self, order_id: str, trade: TradeFacts, fee: Decimal, remaining: str, completed: bool) -> None:
        order = self.orders.get(order_id)
        if order is None:
            return
        order.filled = EXACT.add(order.filled, trade.quantity)
        order.notional = EXACT.add(order.notional, EXACT.multiply(trade.price, trade.quantity))
        order.fee = EXACT.add(order.fee, fee)
        order.remaining = ZERO if completed else parse_decimal(remaining)
        order.status = OrderStatus.FILLED if completed else OrderStatus.PARTIALLY_FILLED

    def _reduce(self, event: ReduceEvent) -> None:
        order = self.orders.get(event.external_id)
        if order is None:
            return
        order.remaining = parse_decimal(event.remaining)
        if event.is_order_completed:
            order.status, order.remaining = OrderStatus.CANCELLED, ZERO
