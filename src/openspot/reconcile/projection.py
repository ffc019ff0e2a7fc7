"""The engine's view of orders and trades, computed from its events alone: rules without IO.

It shares no code with the router's translation on purpose: shared code would share its faults.
"""

from collections.abc import Iterable
from decimal import Decimal

from openspot.contracts.engine_events import (
    AcceptedEvent,
    BalanceEvent,
    EngineEvent,
    ListedEvent,
    MovedEvent,
    ReduceEvent,
    RejectEvent,
    TradeEvent,
    TransferEvent,
    TriggeredEvent,
    WaitingEvent,
)
from openspot.domain.accounts import AccountKey
from openspot.domain.ids import FEE_ACCOUNT_ID
from openspot.domain.money import EXACT, parse_decimal
from openspot.domain.order import RESTING_TYPES, TERMINAL, OrderStatus
from openspot.domain.result_code import ResultCode
from openspot.reconcile.records import OrderFacts, TotalChange, TradeFacts

ZERO = Decimal(0)
_RESTING_TYPES = frozenset(order_type.name for order_type in RESTING_TYPES)


class EngineProjection:
    """The orders (by `order_id`) and the trades (by trade id) that the applied events describe."""

    def __init__(self) -> None:
        self.orders: dict[str, OrderFacts] = {}
        self.trades: dict[str, TradeFacts] = {}
        self._ended: list[str] = []

    def take_finished(self) -> tuple[list[OrderFacts], list[TradeFacts]]:
        """Return and forget the ended orders and the trades: no later event changes them."""
        orders = [order for order_id in self._ended if (order := self.orders.pop(order_id, None)) is not None]
        trades = list(self.trades.values())
        self._ended, self.trades = [], {}
        return orders, trades

    def apply_all(self, events: Iterable[EngineEvent]) -> None:
        """Take the next events of the stream."""
        for event in events:
            if isinstance(event, AcceptedEvent | RejectEvent | WaitingEvent | ListedEvent):
                # An order of a list is open from its LISTED on, and begins again once it is placed.
                self._begin(event)
            elif isinstance(event, TradeEvent):
                self._trade(event)
            elif isinstance(event, ReduceEvent):
                self._reduce(event)
            elif isinstance(event, MovedEvent | TriggeredEvent):
                order = self.orders.get(_shown_id(event.order_id, event.engine_order_id))
                if order is not None:
                    # A market order that waits for its trigger can be amended, too, but shows no price.
                    order.price = None if order.price is None else parse_decimal(event.price)
                    order.quantity = parse_decimal(event.quantity) if event.quantity else order.quantity
                    order.remaining = parse_decimal(event.remaining)

    def _begin(self, event: AcceptedEvent | RejectEvent | WaitingEvent | ListedEvent) -> None:
        accepted = not isinstance(event, RejectEvent)
        order_id = _shown_id(event.order_id, event.engine_order_id)
        if isinstance(event, RejectEvent):
            if event.reason == ResultCode.DUPLICATE_ORDER_ID.name:
                # The reject is about a second placement. The order that has this id is unchanged.
                return
            self._ended.append(order_id)
            known = self.orders.get(order_id)
            if known is not None:
                # A late reject takes back an order that was accepted.
                known.status, known.remaining = OrderStatus.REJECTED, ZERO
                return
        quantity = parse_decimal(event.quantity)
        self.orders[order_id] = OrderFacts(
            order_id=order_id,
            user_id=event.participant_id,
            symbol=event.symbol,
            side=event.side.lower(),
            price=parse_decimal(event.price) if event.order_type in _RESTING_TYPES else None,
            quantity=quantity,
            filled=ZERO,
            notional=ZERO,
            remaining=quantity if accepted else ZERO,
            fee=ZERO,
            status=OrderStatus.OPEN if accepted else OrderStatus.REJECTED,
        )

    def _trade(self, event: TradeEvent) -> None:
        trade = trade_facts(event)
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
        self._set_status(order, OrderStatus.FILLED if completed else OrderStatus.PARTIALLY_FILLED)

    def _reduce(self, event: ReduceEvent) -> None:
        order = self.orders.get(_shown_id(event.order_id, event.engine_order_id))
        if order is None:
            return
        order.remaining = parse_decimal(event.remaining)
        if event.is_amendment:
            order.quantity = EXACT.subtract(order.quantity, parse_decimal(event.quantity))
        if event.is_order_completed:
            order.remaining = ZERO
            self._set_status(order, OrderStatus.CANCELLED)

    def _set_status(self, order: OrderFacts, status: OrderStatus) -> None:
        order.status = status
        if status in TERMINAL:
            self._ended.append(order.order_id)


def trade_facts(event: TradeEvent) -> TradeFacts:
    """The trade of a trade event."""
    buys = event.taker_side.lower() == "buy"
    taker, maker = event.taker_participant_id, event.maker_participant_id
    return TradeFacts(
        trade_id=event.trade_id,
        symbol=event.symbol,
        price=parse_decimal(event.price),
        quantity=parse_decimal(event.quantity),
        taker_side=event.taker_side.lower(),
        taker_order_id=_shown_id(event.taker_order_id, event.taker_engine_order_id),
        maker_order_id=_shown_id(event.maker_order_id, event.maker_engine_order_id),
        buyer_id=taker if buys else maker,
        seller_id=maker if buys else taker,
        taker_fee=parse_decimal(event.taker_fee_amount),
        maker_fee=parse_decimal(event.maker_fee_amount),
        fee_currency=event.fee_currency,
    )


def movements(event: EngineEvent) -> list[TotalChange]:
    """The changes of account totals that an event stands for."""
    if isinstance(event, BalanceEvent):
        held = event.kind in ("RESERVE", "RELEASE")
        account = AccountKey(event.participant_id, event.asset)
        return [] if held else [TotalChange(account, parse_decimal(event.amount))]
    if isinstance(event, TransferEvent):
        amount = parse_decimal(event.amount)
        return [
            TotalChange(AccountKey(event.source, event.asset), -amount),
            TotalChange(AccountKey(event.destination, event.asset), amount),
        ]
    if not isinstance(event, TradeEvent):
        return []
    trade = trade_facts(event)
    base, _, quote = trade.symbol.partition("-")
    notional = EXACT.multiply(trade.price, trade.quantity)
    fees = EXACT.add(trade.taker_fee, trade.maker_fee)
    return [
        TotalChange(AccountKey(trade.buyer_id, base), trade.quantity),
        TotalChange(AccountKey(trade.buyer_id, quote), -notional),
        TotalChange(AccountKey(trade.seller_id, base), -trade.quantity),
        TotalChange(AccountKey(trade.seller_id, quote), notional),
        TotalChange(AccountKey(event.taker_participant_id, trade.fee_currency), -trade.taker_fee),
        TotalChange(AccountKey(event.maker_participant_id, trade.fee_currency), -trade.maker_fee),
        TotalChange(AccountKey(FEE_ACCOUNT_ID, trade.fee_currency), fees),
    ]


def _shown_id(order_id: str, engine_order_id: str) -> str:
    """The order's `order_id`; the engine's own id for an order that did not come through the router."""
    return order_id or engine_order_id
