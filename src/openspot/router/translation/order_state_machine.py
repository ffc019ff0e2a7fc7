"""From engine events to bus events and rows: a state machine without clock and IO.

An OrderStateMachine holds the open orders as of one engine event. `apply` takes the next event and returns a
TranslatedEvent: what to publish, and which rows change. The same events always give the same bytes and the same message
ids, so the bus recognises a repeat after a restart.

An order's status changes along `domain.order.TRANSITIONS` only, and only in this module.

- ACCEPTED of a resting type: pending → open, `orders.created`.
- ACCEPTED of IOC or FOK: the order stays pending until its next event, which follows at once. A trade publishes
  `orders.created` first. If the order ends without a fill, only `orders.cancelled` is published, because the engine
  answers CANCELLED (fact B4.4-23).
- TRADE: `trades.executed` once, `trades.executed.<SYMBOL>` for each side, and for each order `orders.filled` if the
  trade completed it, else `orders.updated`.
- REDUCE: `orders.cancelled` if nothing remains, else `orders.updated`. MOVED: `orders.updated`. An amendment changes
  the ordered quantity, too.
- WAITING: pending → open, `orders.created`. TRIGGERED: `orders.updated`, whatever its trades lead to then.
- REJECT: `orders.rejected`, also for an order that was open (a late reject).
- What ends an order with a part filled, or with nothing after its trigger fired: `orders.incomplete` as well.
- LISTED: pending. An exit that waits for its entry is opened at once, as planned, and `orders.updated` says when its
  entry has armed it. LIST_ENDED: `orders.updated` for each order that goes on alone. UNARMED: a notification.
- TRANSFER: `transfers.executed` with the last movement of a transfer.

An event that contradicts an order leaves that order unchanged and is named in `faults`.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

import msgspec

from openspot.contracts import subjects
from openspot.contracts.engine_events import (
    AcceptedEvent,
    EngineEvent,
    ListedEvent,
    ListEndedEvent,
    MovedEvent,
    ReduceEvent,
    RejectEvent,
    TradeEvent,
    TransferEvent,
    TriggeredEvent,
    UnarmedEvent,
    WaitingEvent,
)
from openspot.contracts.messages import (
    ExecutedTrade,
    Message,
    OrderEvent,
    TradeFee,
    TradeFees,
)
from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.domain.money import BASIS_POINTS, EXACT
from openspot.domain.order import (
    MARKET_TYPES,
    RESTING_TYPES,
    EngineOrderType,
    OrderStatus,
    OrderTrigger,
    OrderType,
    TimeInForce,
    TriggerKind,
    next_status,
)
from openspot.domain.order_list import ListRole, ListState, ListType
from openspot.domain.result_code import ResultCode
from openspot.router.tracked_order import ZERO, OrderMetadata, TrackedOrder, quote_of, record_of
from openspot.router.trade_row import TradeRow
from openspot.router.translation.incomplete_orders import incomplete_order
from openspot.router.translation.order_lists import (
    FollowedLists,
    alone,
    listed,
    placed,
    unarmed_notification,
    without_its_list,
)
from openspot.router.translation.trade_sides import TradeSide, shown_id, side_trade, sides_of, trade_row
from openspot.router.translation.transfer_gathering import TransferGathering

_IMMEDIATE_TYPES = frozenset(order_type.name for order_type in EngineOrderType if order_type not in RESTING_TYPES)
_TIME_IN_FORCE = {"GTC": "gtc", "POST_ONLY": "gtc", "IOC": "ioc", "FOK": "fok", "FOK_BUDGET": "fok"}
_ORDER_TYPES, _TIMES_IN_FORCE = frozenset(OrderType), frozenset(TimeInForce)
_decode_metadata = msgspec.json.Decoder(OrderMetadata).decode
_replace = msgspec.structs.replace


class Target(NamedTuple):
    """A subject, and the message id there, by which the bus recognises a repeat."""

    subject: str
    message_id: str


class Publication(NamedTuple):
    """A bus event: the same message goes to each target."""

    targets: tuple[Target, ...]
    message: Message


class Fault(NamedTuple):
    """A contradiction between an event and the open orders. `kind` is for the metric, `text` for the log."""

    kind: str
    text: str


class TranslatedEvent:
    """The results of one engine event. `orders` has new states of orders. The newest state of an order comes last."""

    __slots__ = ("faults", "orders", "publications", "trades")

    def __init__(self) -> None:
        self.publications: list[Publication] = []
        self.orders: list[TrackedOrder] = []
        self.trades: list[TradeRow] = []
        self.faults: list[Fault] = []

    def fault(self, kind: str, text: str) -> None:
        """Note a contradiction."""
        self.faults.append(Fault(kind, text))


class OrderStateMachine:
    """The open orders as of one event in the stream of journal `epoch`."""

    def __init__(self, epoch: str, orders: Iterable[TrackedOrder]) -> None:
        self._epoch = epoch
        self._orders = {order.engine_order_id: order for order in orders if order.engine_order_id is not None}
        self._lists = FollowedLists(self._orders.values())
        self._gathering = TransferGathering()

    def apply(self, event: EngineEvent) -> TranslatedEvent:
        """Take the next event of the stream."""
        translated = TranslatedEvent()
        if isinstance(event, TradeEvent):
            self._trade(event, translated)
        elif isinstance(event, AcceptedEvent):
            self._accept(event, translated)
        elif isinstance(event, ReduceEvent):
            self._reduce(event, translated)
        elif isinstance(event, RejectEvent):
            self._reject(event, translated)
        elif isinstance(event, MovedEvent):
            self._move(event, translated)
        elif isinstance(event, TransferEvent):
            self._transfer(event, translated)
        elif isinstance(event, WaitingEvent):
            # It is open from now on: it holds funds, and can be changed and cancelled.
            self._place(event, translated, neither_rests_nor_ends=False)
        elif isinstance(event, TriggeredEvent):
            self._trigger(event, translated)
        elif isinstance(event, ListedEvent | ListEndedEvent | UnarmedEvent):
            self._follow_list(event, translated)
        return translated

    def _transfer(self, event: TransferEvent, translated: TranslatedEvent) -> None:
        try:
            executed = self._gathering.add(event)
        except ValueError as error:
            translated.fault("torn_transfer", f"event {event.seq}: {error}")
            return
        if executed is not None:
            target = Target(subjects.TRANSFERS_EXECUTED, f"{self._epoch}-{event.seq}-transfer")
            translated.publications.append(Publication((target,), executed))

    def _accept(self, event: AcceptedEvent, translated: TranslatedEvent) -> None:
        # The order neither rests nor has ended. Its next event follows at once and decides.
        self._place(event, translated, neither_rests_nor_ends=event.order_type in _IMMEDIATE_TYPES)

    def _place(
        self, event: AcceptedEvent | WaitingEvent, translated: TranslatedEvent, *, neither_rests_nor_ends: bool
    ) -> None:
        known = self._orders.get(int(event.engine_order_id))
        order = _new_order(event) if known is None or known.list_id is None else placed(known, event)
        if order.status is not OrderStatus.PENDING:
            self._keep(order, translated)
            self._publish_order(subjects.ORDERS_UPDATED, "updated", order, translated, reason="ARMED")
        elif neither_rests_nor_ends:
            self._keep(order, translated)
        else:
            self._open(order, translated)

    def _follow_list(self, event: ListedEvent | ListEndedEvent | UnarmedEvent, translated: TranslatedEvent) -> None:
        if isinstance(event, ListedEvent):
            order = listed(_new_order(event), event)
            if order.is_planned:
                self._open(order, translated)
            else:
                self._keep(order, translated)
        elif isinstance(event, ListEndedEvent):
            for engine_order_id in self._lists.orders_of(event.list_id):
                order = alone(self._orders[engine_order_id], event.seq, event.timestamp)
                self._keep(order, translated)
                what = f"alone-{engine_order_id}"
                self._publish_order(
                    subjects.ORDERS_UPDATED, "updated", order, translated, what=what, reason="LIST_ENDED"
                )
        else:
            told = unarmed_notification(self._epoch, event, self._lists.id_of(event.list_id))
            target = Target(subjects.NOTIFICATIONS_SEND, f"{self._epoch}-{event.seq}-unarmed")
            translated.publications.append(Publication((target,), told))

    def _open(self, order: TrackedOrder, translated: TranslatedEvent) -> TrackedOrder:
        """Open a pending order. Its `orders.created` carries the sequence of its ACCEPTED event."""
        status = _next_status(order, OrderTrigger.ACCEPTED, translated)
        assert status is not None, "a pending order can be opened"
        opened = _replace(order, status=status)
        self._keep(opened, translated)
        self._publish_order(subjects.ORDERS_CREATED, "created", opened, translated)
        return opened

    def _trade(self, event: TradeEvent, translated: TranslatedEvent) -> None:
        taker, maker = sides_of(event)
        self._publish_trade(event, taker, maker, translated)
        translated.trades.append(trade_row(event, taker, maker))
        quantity = Decimal(event.quantity)
        notional = EXACT.multiply(Decimal(event.price), quantity)
        for side in (taker, maker):
            _check_fee(event.seq, side, notional, translated)
            self._fill(event, side, quantity, notional, translated)

    def _fill(
        self, event: TradeEvent, side: TradeSide, quantity: Decimal, notional: Decimal, translated: TranslatedEvent
    ) -> None:
        order = self._open_order(side.engine_order_id, event.seq, translated)
        if order is None:
            return
        if order.status is OrderStatus.PENDING:
            order = self._open(order, translated)
        trigger = OrderTrigger.COMPLETING_FILL if side.is_completed else OrderTrigger.PARTIAL_FILL
        status = _next_status(order, trigger, translated)
        if status is None:
            return
        filled = _replace(
            order,
            status=status,
            filled_quantity=EXACT.add(order.filled_quantity, quantity),
            filled_notional=EXACT.add(order.filled_notional, notional),
            remaining_quantity=Decimal(side.remaining),
            fee=EXACT.add(order.fee, Decimal(side.fee)),
            last_sequence=event.seq,
            updated_ms=event.timestamp,
        )
        self._keep(filled, translated)
        if side.is_completed:
            self._publish_order(subjects.ORDERS_FILLED, "filled", filled, translated, what=side.role)
        else:
            self._publish_order(subjects.ORDERS_UPDATED, "updated", filled, translated, what=side.role)

    def _reduce(self, event: ReduceEvent, translated: TranslatedEvent) -> None:
        order = self._open_order(event.engine_order_id, event.seq, translated)
        if order is None:
            return
        was_pending = order.status is OrderStatus.PENDING
        if was_pending and not event.is_order_completed:
            order = self._open(order, translated)
        price, quantity = order.price, order.quantity
        if event.is_amendment:
            # The limit of a trailing order has moved meanwhile, and its owner has named where it is now.
            price = None if price is None else Decimal(event.price)
            quantity = EXACT.subtract(quantity, Decimal(event.quantity))
        reduced = _replace(
            order,
            price=price,
            quantity=quantity,
            remaining_quantity=Decimal(event.remaining),
            last_sequence=event.seq,
            updated_ms=event.timestamp,
        )
        if not event.is_order_completed:
            self._keep(reduced, translated)
            self._publish_order(subjects.ORDERS_UPDATED, "updated", reduced, translated, reason=event.reason)
            return
        trigger = OrderTrigger.ENGINE_CANCELLED if was_pending else OrderTrigger.CANCEL
        status = _next_status(order, trigger, translated)
        if status is not None:
            cancelled = _replace(reduced, status=status)
            self._keep(cancelled, translated)
            self._publish_order(subjects.ORDERS_CANCELLED, "cancelled", cancelled, translated, reason=event.reason)

    def _move(self, event: MovedEvent, translated: TranslatedEvent) -> None:
        order = self._open_order(event.engine_order_id, event.seq, translated)
        if order is None:
            return
        moved = _replace(
            order,
            price=None if order.price is None else Decimal(event.price),
            quantity=Decimal(event.quantity) if event.quantity else order.quantity,
            remaining_quantity=Decimal(event.remaining),
            stop_price=Decimal(event.trigger_price) if event.trigger_price else order.stop_price,
            last_sequence=event.seq,
            updated_ms=event.timestamp,
        )
        self._keep(moved, translated)
        self._publish_order(subjects.ORDERS_UPDATED, "updated", moved, translated)

    def _trigger(self, event: TriggeredEvent, translated: TranslatedEvent) -> None:
        order = self._open_order(event.engine_order_id, event.seq, translated)
        if order is None:
            return
        triggered = _replace(
            order,
            price=None if order.price is None else Decimal(event.price),
            remaining_quantity=Decimal(event.remaining),
            stop_price=Decimal(event.trigger_price),
            triggered_ms=event.timestamp,
            last_sequence=event.seq,
            updated_ms=event.timestamp,
        )
        self._keep(triggered, translated)
        self._publish_order(subjects.ORDERS_UPDATED, "updated", triggered, translated, reason="TRIGGERED")

    def _reject(self, event: RejectEvent, translated: TranslatedEvent) -> None:
        if event.reason == ResultCode.DUPLICATE_ORDER_ID.name:
            # The reject is about the second placement. The order of the first one is unchanged.
            translated.fault("duplicate_order", f"event {event.seq}: order {event.engine_order_id} was placed twice")
            return
        order = self._orders.get(int(event.engine_order_id)) or _new_order(event)
        status = _next_status(order, OrderTrigger.ENGINE_REJECTED, translated)
        if status is None:
            return
        if event.reason == ResultCode.DUPLICATE_LIST_ID.name:
            order = without_its_list(order)
        rejected = _replace(
            order,
            status=status,
            remaining_quantity=ZERO,
            reject_reason=event.reason,
            last_sequence=event.seq,
            updated_ms=event.timestamp,
        )
        self._keep(rejected, translated)
        self._publish_order(subjects.ORDERS_REJECTED, "rejected", rejected, translated, reason=event.reason)

    def _open_order(self, engine_order_id: str, sequence: int, translated: TranslatedEvent) -> TrackedOrder | None:
        order = self._orders.get(int(engine_order_id))
        if order is None:
            text = f"event {sequence}: order {engine_order_id} is not open here"
            translated.fault("unknown_order", text)
        return order

    def _keep(self, order: TrackedOrder, translated: TranslatedEvent) -> None:
        if order.engine_order_id is not None:
            if order.has_ended:
                self._orders.pop(order.engine_order_id, None)
            else:
                self._orders[order.engine_order_id] = order
            self._lists.note(order)
        translated.orders.append(order)

    def _publish_order(
        self,
        subject: str,
        name: str,
        order: TrackedOrder,
        translated: TranslatedEvent,
        *,
        what: str | None = None,
        reason: str | None = None,
    ) -> None:
        message_id = f"{self._epoch}-{order.last_sequence}-{what or name}"
        event = OrderEvent(name, order.last_sequence, order.updated_ms, record_of(order), reason)
        targets: tuple[Target, ...] = (Target(subject, message_id),)
        # Not every user id can be part of a subject.
        if PARTICIPANT_ID_TEXT.fullmatch(order.user_id):
            targets += (Target(subjects.of_user(subject, order.user_id), f"{message_id}-user"),)
        translated.publications.append(Publication(targets, event))
        incomplete = incomplete_order(order, reason)
        if incomplete is not None and len(targets) > 1:
            told = subjects.of_user(subjects.ORDERS_INCOMPLETE, order.user_id)
            translated.publications.append(Publication((Target(told, f"{message_id}-incomplete"),), incomplete))

    def _publish_trade(
        self, event: TradeEvent, taker: TradeSide, maker: TradeSide, translated: TranslatedEvent
    ) -> None:
        base, _, quote = event.symbol.partition("-")
        buyer, seller = (taker, maker) if taker.side == "buy" else (maker, taker)
        message_id = f"{self._epoch}-{event.seq}-trade"
        executed = ExecutedTrade(
            id=event.trade_id,
            symbol=event.symbol,
            base_asset=base,
            quote_asset=quote,
            buyer_id=buyer.user_id,
            seller_id=seller.user_id,
            price=event.price,
            quantity=event.quantity,
            fees=TradeFees(
                TradeFee(buyer.user_id, buyer.fee, event.fee_currency),
                TradeFee(seller.user_id, seller.fee, event.fee_currency),
            ),
            taker_side=event.taker_side,
            taker_order_id=taker.order_id,
            maker_order_id=maker.order_id,
            is_taker_completed=event.is_taker_completed,
            is_maker_completed=event.is_maker_completed,
            sequence=event.seq,
            timestamp=event.timestamp,
        )
        translated.publications.append(Publication((Target(subjects.TRADES_EXECUTED, message_id),), executed))
        of_symbol = subjects.of_symbol(subjects.TRADES_EXECUTED, event.symbol)
        for side in (taker, maker):
            message = side_trade(event, side)
            translated.publications.append(Publication((Target(of_symbol, f"{message_id}-{side.role}"),), message))


def _next_status(order: TrackedOrder, trigger: OrderTrigger, translated: TranslatedEvent) -> OrderStatus | None:
    """The status after `trigger`. Notes a fault and returns None if the order has no such transition."""
    status = next_status(order.status, trigger)
    if status is None:
        text = f"order {order.order_id}: no transition from {order.status} by {trigger}"
        translated.fault("illegal_transition", text)
    return status


def _new_order(event: AcceptedEvent | RejectEvent | WaitingEvent | ListedEvent) -> TrackedOrder:
    """The order of an ACCEPTED, WAITING, LISTED or REJECT event, as it was sent to the engine."""
    metadata = _trigger_of(event, _metadata_of(event))
    is_sized = metadata.quantity is not None and isinstance(event, RejectEvent)
    quantity = Decimal(metadata.quantity if is_sized and metadata.quantity else event.quantity)
    return TrackedOrder(
        order_id=shown_id(event.order_id, event.engine_order_id),
        engine_order_id=int(event.engine_order_id),
        client_order_id=metadata.client_order_id,
        user_id=event.participant_id,
        symbol=event.symbol,
        side=event.side,
        type=metadata.type,
        time_in_force=metadata.time_in_force,
        margin_mode=metadata.margin_mode,
        price=None if metadata.type in MARKET_TYPES else Decimal(event.price),
        quantity=quantity,
        filled_quantity=ZERO,
        filled_notional=ZERO,
        remaining_quantity=quantity,
        fee=ZERO,
        fee_currency=quote_of(event.symbol),
        status=OrderStatus.PENDING,
        reject_reason=None,
        last_sequence=event.seq,
        created_ms=event.timestamp,
        updated_ms=event.timestamp,
        post_only=event.order_type == EngineOrderType.POST_ONLY.name,
        stop_price=None if metadata.stop_price is None else Decimal(metadata.stop_price),
        trigger_by=metadata.trigger_by,
        trailing_amount=None if metadata.trailing_amount is None else Decimal(metadata.trailing_amount),
        trailing_bps=metadata.trailing_bps,
        expires_ms=metadata.expires_at_ms,
        self_trade_prevention=metadata.self_trade_prevention,
        list_id=metadata.list_id,
        client_list_id=metadata.client_list_id,
        list_type=metadata.list_type,
        list_role=metadata.list_role,
        list_state=None if metadata.list_id is None else _state_of(metadata),
        display_quantity=None if metadata.display_quantity is None else Decimal(metadata.display_quantity),
        max_slippage_bps=None if metadata.max_slippage_bps is None else Decimal(metadata.max_slippage_bps),
    )


def _state_of(metadata: OrderMetadata) -> str:
    """The state in its list of an order that the engine has not placed."""
    is_exit_of_entry = metadata.list_type != ListType.OCO and metadata.list_role != ListRole.ENTRY
    return (ListState.PLANNED if is_exit_of_entry else ListState.ACTIVE).value


def _metadata_of(event: AcceptedEvent | RejectEvent | WaitingEvent | ListedEvent) -> OrderMetadata:
    """The metadata that a router sent. An order that no router placed has none, so it is derived from its type."""
    if event.metadata:
        try:
            metadata = _decode_metadata(event.metadata)
            if metadata.type in _ORDER_TYPES and metadata.time_in_force in _TIMES_IN_FORCE:
                return metadata
        except msgspec.MsgspecError:
            pass
    order_type = "market" if event.order_type == "FOK_BUDGET" else "limit"
    return OrderMetadata(order_type, _TIME_IN_FORCE.get(event.order_type, "gtc"))


def _trigger_of(
    event: AcceptedEvent | RejectEvent | WaitingEvent | ListedEvent, metadata: OrderMetadata
) -> OrderMetadata:
    """The metadata with the trigger of the event, if no router placed the order.

    The event does not say at which distance a trailing order follows: its price is shown once it has fired.
    """
    if not isinstance(event, WaitingEvent | ListedEvent) or metadata.trigger_by is not None:
        return metadata
    if event.trigger_kind == TriggerKind.NONE.name:
        return metadata
    is_fixed = event.trigger_kind == TriggerKind.FIXED.name
    return _replace(metadata, trigger_by=event.trigger_source, stop_price=event.trigger_price if is_fixed else None)


def _check_fee(sequence: int, side: TradeSide, notional: Decimal, translated: TranslatedEvent) -> None:
    """Note a fee that is not notional × bps. It is published nevertheless (facts A2.2-10 to A2.2-11)."""
    fee = Decimal(side.fee)
    if EXACT.multiply(notional, side.fee_bps) != EXACT.multiply(fee, BASIS_POINTS):
        text = f"event {sequence}: {side.role} fee {side.fee} is not {side.fee_bps} bps of the trade"
        translated.fault("fee_mismatch", text)
