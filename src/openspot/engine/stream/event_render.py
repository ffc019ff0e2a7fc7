"""Renders events as the JSON of `/ws/events` (contracts/engine_events.py)."""

from collections.abc import Callable
from functools import lru_cache

import msgspec

from openspot.contracts.engine_events import (
    AcceptedEvent,
    BalanceEvent,
    EngineEvent,
    ListedEvent,
    ListEndedEvent,
    MovedEvent,
    PhaseEvent,
    ReduceEvent,
    RejectEvent,
    ShownEvent,
    TradeEvent,
    TransferEvent,
    TriggeredEvent,
    UnarmedEvent,
    WaitingEvent,
    symbol_of,
)
from openspot.domain.ids import trade_id
from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import amount_to_text, scaled_to_text
from openspot.domain.order import EngineOrderType, OrderListType, Side, TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SymbolSpec
from openspot.engine.core.records import (
    EVENT_AUCTION,
    EVENT_ICEBERG,
    EVENT_MAKER_COMPLETED,
    EVENT_MAKER_REBATE,
    EVENT_TAKER_COMPLETED,
    EVENT_WAITS,
    LISTED_PLACE,
    TERMS_AT_OR_BELOW,
    TERMS_BY_MARK,
    CommandKind,
    Event,
    EventType,
    decode_events,
)
from openspot.engine.state.directory import Directory, Note
from openspot.engine.state.event_batch import EventBatch
from openspot.kit.clock import NANOSECONDS_PER_MS

_SIDES: dict[int, str] = {Side.BUY: "buy", Side.SELL: "sell"}
_ORDER_TYPES: dict[int, str] = {order_type: order_type.name for order_type in EngineOrderType}
_REASONS: dict[int, str] = {code: code.name for code in ResultCode}
_KINDS: dict[int, str] = {kind: kind.name for kind in CommandKind}

# Prices and quantities repeat, so most texts come from the cache.
_scaled_text = lru_cache(65_536)(scaled_to_text)
_encode = msgspec.json.Encoder().encode


def _given_text(scaled: int, scale: int) -> str | msgspec.UnsetType:
    return _scaled_text(scaled, scale) if scaled else msgspec.UNSET


def _source(event: Event) -> str:
    return "mark" if event.flags & TERMS_BY_MARK else "last"


class EventRenderer:
    """Renders stream messages. The directory keeps the names of all numbers forever, so old events can be rendered."""

    def __init__(self, directory: Directory, epoch: str) -> None:
        self._directory = directory
        self._epoch = epoch
        self._makers: dict[int, Callable[[Event, Note], EngineEvent]] = {
            EventType.ACCEPTED: self._accepted,
            EventType.TRADE: self._trade,
            EventType.REDUCE: self._reduce,
            EventType.REJECT: self._reject,
            EventType.MOVED: self._moved,
            EventType.BALANCE: self._balance,
            EventType.TRANSFER: self._transfer,
            EventType.WAITING: self._waiting,
            EventType.TRIGGERED: self._triggered,
            EventType.LISTED: self._listed,
            EventType.LIST_ENDED: self._list_ended,
            EventType.UNARMED: self._unarmed,
            EventType.PHASE: self._phase,
            EventType.SHOWN: self._shown,
        }

    def messages(self, batch: EventBatch) -> list[bytes]:
        """The events as JSON, encoded once and cached in the batch."""
        if batch.messages is None:
            events = self.events(batch)
            batch.symbols = [symbol_of(event) for event in events]
            batch.messages = [_encode(event) for event in events]
        return batch.messages

    def events(self, batch: EventBatch) -> list[EngineEvent]:
        """The events as messages of the stream."""
        makers = self._makers
        return [
            makers[event.type](event, texts)
            for event, texts in zip(decode_events(batch.records), batch.texts, strict=True)
        ]

    def _accepted(self, event: Event, texts: Note) -> AcceptedEvent:
        symbol, price_scale, quantity_scale, _ = self._scales(event)
        return AcceptedEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            symbol=symbol,
            engine_order_id=str(event.order_id),
            order_id=texts[0],
            participant_id=self._directory.participant(event.account),
            side=_SIDES[event.side],
            order_type=_ORDER_TYPES[event.order_type],
            price=_scaled_text(event.price, price_scale),
            quantity=_scaled_text(event.quantity, quantity_scale),
            metadata=texts[1],
            display_quantity=_given_text(event.maker_remaining, quantity_scale),
        )

    def _shown(self, event: Event, texts: Note) -> ShownEvent:
        symbol, price_scale, quantity_scale, _ = self._scales(event)
        return ShownEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            symbol=symbol,
            engine_order_id=str(event.order_id),
            order_id=texts[0],
            participant_id=self._directory.participant(event.account),
            side=_SIDES[event.side],
            price=_scaled_text(event.price, price_scale),
            quantity=_scaled_text(event.quantity, quantity_scale),
            remaining=_scaled_text(event.remaining, quantity_scale),
        )

    def _trade(self, event: Event, texts: Note) -> TradeEvent:
        symbol, price_scale, quantity_scale, quote = self._scales(event)
        participant = self._directory.participant
        return TradeEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            symbol=symbol,
            trade_id=trade_id(self._epoch, event.sequence),
            taker_engine_order_id=str(event.order_id),
            maker_engine_order_id=str(event.maker_order_id),
            taker_order_id=texts[0],
            maker_order_id=texts[1],
            taker_participant_id=participant(event.account),
            maker_participant_id=participant(event.maker_account),
            taker_side=_SIDES[event.side],
            price=_scaled_text(event.price, price_scale),
            quantity=_scaled_text(event.quantity, quantity_scale),
            is_taker_completed=bool(event.flags & EVENT_TAKER_COMPLETED),
            is_maker_completed=bool(event.flags & EVENT_MAKER_COMPLETED),
            taker_remaining=_scaled_text(event.remaining, quantity_scale),
            maker_remaining=_scaled_text(event.maker_remaining, quantity_scale),
            taker_fee_amount=amount_to_text(event.amount),
            taker_fee_bps=event.fee_bps,
            maker_fee_amount=amount_to_text(event.maker_amount),
            maker_fee_bps=event.maker_fee_bps,
            maker_is_rebate=bool(event.flags & EVENT_MAKER_REBATE),
            fee_currency=quote,
            taker_limit=_scaled_text(int(texts[2]), price_scale) if event.flags & EVENT_AUCTION else msgspec.UNSET,
            maker_limit=_scaled_text(int(texts[3]), price_scale) if event.flags & EVENT_AUCTION else msgspec.UNSET,
        )

    def _reduce(self, event: Event, texts: Note) -> ReduceEvent:
        symbol, price_scale, quantity_scale, _ = self._scales(event)
        return ReduceEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            symbol=symbol,
            engine_order_id=str(event.order_id),
            order_id=texts[0],
            participant_id=self._directory.participant(event.account),
            side=_SIDES[event.side],
            price=_scaled_text(event.price, price_scale),
            quantity=_scaled_text(event.quantity, quantity_scale),
            remaining=_scaled_text(event.remaining, quantity_scale),
            is_order_completed=bool(event.flags & EVENT_TAKER_COMPLETED),
            reason=_REASONS[event.code],
            is_waiting=True if event.flags & EVENT_WAITS else msgspec.UNSET,
            shown_quantity=(
                _scaled_text(event.maker_remaining, quantity_scale) if event.flags & EVENT_ICEBERG else msgspec.UNSET
            ),
        )

    def _reject(self, event: Event, texts: Note) -> RejectEvent:
        symbol, price_scale, quantity_scale, _ = self._scales(event)
        order_id, metadata, *sent = texts
        return RejectEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            # An unknown name is repeated as sent. Without its scales, price and quantity stay integers.
            symbol=symbol or sent[1],
            engine_order_id=str(event.order_id),
            order_id=order_id,
            participant_id=self._directory.participant(event.account) or sent[0],
            side=_SIDES.get(event.side, ""),
            order_type=_ORDER_TYPES.get(event.order_type, ""),
            price=scaled_to_text(event.price, price_scale),
            quantity=scaled_to_text(event.quantity, quantity_scale),
            reason=_REASONS[event.code],
            metadata=metadata,
        )

    def _moved(self, event: Event, texts: Note) -> MovedEvent:
        symbol, price_scale, quantity_scale, _ = self._scales(event)
        change = event.amount
        return MovedEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            symbol=symbol,
            engine_order_id=str(event.order_id),
            order_id=texts[0],
            participant_id=self._directory.participant(event.account),
            side=_SIDES[event.side],
            price=_scaled_text(event.price, price_scale),
            remaining=_scaled_text(event.remaining, quantity_scale),
            quantity=_scaled_text(event.quantity, quantity_scale) if change else "",
            previous_remaining=_scaled_text(event.remaining - change, quantity_scale) if change else "",
            is_waiting=True if event.flags & EVENT_WAITS else msgspec.UNSET,
            trigger_price=_given_text(event.maker_remaining if event.flags & EVENT_WAITS else 0, price_scale),
            previous_shown=(
                _scaled_text(event.maker_amount, quantity_scale) if event.flags & EVENT_ICEBERG else msgspec.UNSET
            ),
        )

    def _waiting(self, event: Event, texts: Note) -> WaitingEvent:
        symbol, price_scale, quantity_scale, _ = self._scales(event)
        return WaitingEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            symbol=symbol,
            engine_order_id=str(event.order_id),
            order_id=texts[0],
            participant_id=self._directory.participant(event.account),
            side=_SIDES[event.side],
            order_type=_ORDER_TYPES[event.order_type],
            price=_scaled_text(event.price, price_scale),
            quantity=_scaled_text(event.quantity, quantity_scale),
            metadata=texts[1],
            trigger_kind=TriggerKind(event.maker_order_id).name,
            trigger_source=_source(event),
            trigger_direction="atOrBelow" if event.flags & TERMS_AT_OR_BELOW else "atOrAbove",
            trigger_price=_scaled_text(event.maker_remaining, price_scale),
            expires_at=event.amount // NANOSECONDS_PER_MS,
        )

    def _listed(self, event: Event, texts: Note) -> ListedEvent:
        symbol, price_scale, quantity_scale, _ = self._scales(event)
        return ListedEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            symbol=symbol,
            engine_order_id=str(event.order_id),
            order_id=texts[0],
            participant_id=self._directory.participant(event.account),
            side=_SIDES[event.side],
            list_id=str(event.maker_amount),
            list_type=OrderListType(event.currency % LISTED_PLACE).name,
            list_place=event.currency // LISTED_PLACE,
            order_type=_ORDER_TYPES[event.order_type],
            price=_scaled_text(event.price, price_scale),
            quantity=_scaled_text(event.quantity, quantity_scale),
            metadata=texts[1],
            trigger_kind=TriggerKind(event.maker_order_id).name,
            trigger_source=_source(event),
            trigger_direction="atOrBelow" if event.flags & TERMS_AT_OR_BELOW else "atOrAbove",
            trigger_price=_scaled_text(event.maker_remaining, price_scale),
            expires_at=event.amount // NANOSECONDS_PER_MS,
        )

    def _list_ended(self, event: Event, _texts: Note) -> ListEndedEvent:
        return ListEndedEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            symbol=self._scales(event)[0],
            list_id=str(event.order_id),
            list_type=OrderListType(event.order_type).name,
            participant_id=self._directory.participant(event.account),
            reason=_REASONS[event.code],
        )

    def _unarmed(self, event: Event, _texts: Note) -> UnarmedEvent:
        symbol, _, quantity_scale, _ = self._scales(event)
        return UnarmedEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            symbol=symbol,
            list_id=str(event.order_id),
            list_type=OrderListType(event.order_type).name,
            participant_id=self._directory.participant(event.account),
            reason=_REASONS[event.code],
            quantity=_scaled_text(event.quantity, quantity_scale),
        )

    def _triggered(self, event: Event, texts: Note) -> TriggeredEvent:
        symbol, price_scale, quantity_scale, _ = self._scales(event)
        return TriggeredEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            symbol=symbol,
            engine_order_id=str(event.order_id),
            order_id=texts[0],
            participant_id=self._directory.participant(event.account),
            side=_SIDES[event.side],
            order_type=_ORDER_TYPES[event.order_type],
            price=_scaled_text(event.price, price_scale),
            quantity=_scaled_text(event.quantity, quantity_scale),
            remaining=_scaled_text(event.remaining, quantity_scale),
            trigger_source=_source(event),
            trigger_price=_scaled_text(event.maker_remaining, price_scale),
            fired_price=_scaled_text(event.amount, price_scale),
        )

    def _phase(self, event: Event, texts: Note) -> PhaseEvent:
        symbol, price_scale, quantity_scale, _ = self._scales(event)
        uncrosses = event.order_type == MarketPhase.UNCROSSING
        return PhaseEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            symbol=symbol,
            phase=MarketPhase(event.order_type).text,
            ends_at=event.maker_order_id // NANOSECONDS_PER_MS,
            tick_size=_scaled_text(self._tick(event), price_scale),
            reference_price=_scaled_text(event.quantity, price_scale),
            following=MarketPhase(event.side).text if uncrosses else "",
            price=_scaled_text(event.price, price_scale) if uncrosses else "",
            volume=_scaled_text(event.amount, quantity_scale) if uncrosses else "",
            cause=texts[0] if texts else "",
        )

    def _balance(self, event: Event, texts: Note) -> BalanceEvent:
        return BalanceEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            kind=_KINDS[event.order_type],
            participant_id=self._directory.participant(event.account),
            asset=self._directory.currency_text(event.currency),
            amount=amount_to_text(event.amount),
            total=amount_to_text(event.maker_amount),
            reference=texts[1],
        )

    def _transfer(self, event: Event, texts: Note) -> TransferEvent:
        kind, reference = texts
        return TransferEvent(
            seq=event.sequence,
            timestamp=event.timestamp // NANOSECONDS_PER_MS,
            kind=kind,
            reference=reference,
            index=event.quantity - event.remaining,
            count=event.quantity,
            source=self._directory.participant(event.account),
            destination=self._directory.participant(event.maker_account),
            asset=self._directory.currency_text(event.currency),
            amount=amount_to_text(event.amount),
        )

    def _tick(self, event: Event) -> int:
        spec = self._directory.symbol(event.symbol)
        return spec.tick if spec else 1

    def _scales(self, event: Event) -> tuple[str, int, int, str]:
        """(symbol, scale of prices, scale of quantities, quote currency); scales of 1 for an unknown symbol."""
        spec: SymbolSpec | None = self._directory.symbol(event.symbol)
        if spec is None:
            return "", 1, 1, ""
        return spec.symbol, spec.quote_scale_k, spec.base_scale_k, spec.quote
