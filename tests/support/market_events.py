"""Events of a bare core as the engine's stream tells them, for tests without an engine."""

import msgspec

from openspot.contracts.engine_events import (
    AcceptedEvent,
    EngineEvent,
    MovedEvent,
    ReduceEvent,
    ShownEvent,
    TradeEvent,
    TriggeredEvent,
)
from openspot.domain.money import amount_to_text, scaled_to_text
from openspot.domain.order import EngineOrderType, Side
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import (
    EVENT_AUCTION,
    EVENT_ICEBERG,
    EVENT_MAKER_COMPLETED,
    EVENT_MAKER_REBATE,
    EVENT_TAKER_COMPLETED,
    EVENT_WAITS,
    Event,
    EventType,
    decode_events,
)

_BOOK_EVENTS = frozenset(
    {
        *(EventType.ACCEPTED, EventType.TRADE, EventType.REDUCE, EventType.MOVED, EventType.TRIGGERED),
        EventType.SHOWN,
    }
)
_SIDES = {Side.BUY: "buy", Side.SELL: "sell"}


def symbol_of(number: int) -> str:
    """The name of a symbol of the stream."""
    return f"BASE{number}-QUOTE"


def scales_of(core: MatchingCore) -> dict[int, tuple[int, int]]:
    """(baseScaleK, quoteScaleK) of the core's symbols, by number."""
    return {symbol.symbol: (symbol.base_scale_k, symbol.quote_scale_k) for symbol in core.symbols()}


def events_of(core: MatchingCore, records: bytes, limits: dict[int, int]) -> list[EngineEvent]:
    """The events that can change a book, of the last command that `core` applied.

    `limits` are the scaled limits of orders by id. They are kept up to date here, beginning with an empty dict.
    """
    scales = scales_of(core)
    found = []
    for event in decode_events(records):
        if event.type not in _BOOK_EVENTS:
            continue
        if event.type not in (EventType.TRADE, EventType.REDUCE):
            limits[event.order_id] = event.price
        message = _event(event, *scales[event.symbol])
        if event.flags & EVENT_AUCTION and isinstance(message, TradeEvent):
            quote = scales[event.symbol][1]
            taker, maker = (scaled_to_text(limits[number], quote) for number in (event.order_id, event.maker_order_id))
            message = msgspec.structs.replace(message, taker_limit=taker, maker_limit=maker)
        found.append(message)
    return found


def _of_iceberg(event: Event, quantity: int, base: int) -> str | msgspec.UnsetType:
    return scaled_to_text(quantity, base) if event.flags & EVENT_ICEBERG else msgspec.UNSET


def _event(event: Event, base: int, quote: int) -> EngineEvent:
    common = {"seq": event.sequence, "timestamp": event.timestamp // 10**6, "symbol": symbol_of(event.symbol)}
    price, quantity = scaled_to_text(event.price, quote), scaled_to_text(event.quantity, base)
    remaining = scaled_to_text(event.remaining, base)
    order = {
        "engine_order_id": str(event.order_id), "order_id": "", "participant_id": str(event.account),
        "side": _SIDES[Side(event.side)],
    }  # fmt: skip
    match event.type:
        case EventType.ACCEPTED:
            kind = EngineOrderType(event.order_type).name
            shown = scaled_to_text(event.maker_remaining, base) if event.maker_remaining else msgspec.UNSET
            return AcceptedEvent(
                **common, **order, order_type=kind, price=price, quantity=quantity, metadata="", display_quantity=shown
            )
        case EventType.SHOWN:
            return ShownEvent(**common, **order, price=price, quantity=quantity, remaining=remaining)
        case EventType.REDUCE:
            completed, reason = bool(event.flags & EVENT_TAKER_COMPLETED), ResultCode(event.code).name
            return ReduceEvent(
                **common, **order, price=price, quantity=quantity, remaining=remaining,
                is_order_completed=completed, reason=reason, is_waiting=bool(event.flags & EVENT_WAITS),
                shown_quantity=_of_iceberg(event, event.maker_remaining, base),
            )  # fmt: skip
        case EventType.MOVED:
            before = scaled_to_text(event.remaining - event.amount, base)
            return MovedEvent(
                **common, **order, price=price, remaining=remaining, quantity=quantity, previous_remaining=before,
                is_waiting=bool(event.flags & EVENT_WAITS),
                previous_shown=_of_iceberg(event, event.maker_amount, base),
            )  # fmt: skip
        case EventType.TRIGGERED:
            return TriggeredEvent(
                **common, **order, order_type=EngineOrderType(event.order_type).name, price=price, quantity=quantity,
                remaining=remaining, trigger_source="last", trigger_price="0", fired_price="0",
            )  # fmt: skip
        case _:
            return TradeEvent(
                **common,
                trade_id=f"epoch-{event.sequence}",
                taker_engine_order_id=str(event.order_id),
                maker_engine_order_id=str(event.maker_order_id),
                taker_order_id="",
                maker_order_id="",
                taker_participant_id=str(event.account),
                maker_participant_id=str(event.maker_account),
                taker_side=_SIDES[Side(event.side)],
                price=price,
                quantity=quantity,
                is_taker_completed=bool(event.flags & EVENT_TAKER_COMPLETED),
                is_maker_completed=bool(event.flags & EVENT_MAKER_COMPLETED),
                taker_remaining=remaining,
                maker_remaining=scaled_to_text(event.maker_remaining, base),
                taker_fee_amount=amount_to_text(event.amount),
                taker_fee_bps=event.fee_bps,
                maker_fee_amount=amount_to_text(event.maker_amount),
                maker_fee_bps=event.maker_fee_bps,
                maker_is_rebate=bool(event.flags & EVENT_MAKER_REBATE),
                fee_currency="QUOTE",
            )
