"""The events of the scenarios in words."""

from collections.abc import Callable, Iterator

from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import amount_to_text
from openspot.domain.order import EngineOrderType, OrderListType, Side, TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import (
    EVENT_AUCTION,
    EVENT_MAKER_COMPLETED,
    EVENT_MAKER_REBATE,
    EVENT_TAKER_COMPLETED,
    EVENT_WAITS,
    LISTED_PLACE,
    TERMS_BY_MARK,
    CommandKind,
    Event,
    EventType,
)
from tests.support.core_scenario_names import ACCOUNTS, CURRENCIES, SYMBOLS, name_of, named


def event_text(event: Event) -> str:
    """An event as the tables write it."""
    name = EventType(event.type).name.lower()
    code = ResultCode(event.code).name
    return " ".join([name, *_EVENT_WORDS[EventType(event.type)](event, code)])


def _trade_words(event: Event, _: str) -> Iterator[str]:
    yield f"{event.order_id} {event.maker_order_id} {event.quantity} @ {event.price}"
    yield f"left {event.remaining} {event.maker_remaining}"
    if event.fee_bps or event.maker_fee_bps:
        yield f"fees {event.fee_bps}bps {amount_to_text(event.amount)}"
        yield f"{event.maker_fee_bps}bps {amount_to_text(event.maker_amount)}"
    for flag, word in (
        (EVENT_TAKER_COMPLETED, "taker-done"),
        (EVENT_MAKER_COMPLETED, "maker-done"),
        (EVENT_MAKER_REBATE, "rebate"),
        (EVENT_AUCTION, "auction"),
    ):
        if event.flags & flag:
            yield word


def _reduce_words(event: Event, code: str) -> Iterator[str]:
    yield f"{event.order_id} {event.quantity} left {event.remaining} {code}"
    if event.flags & EVENT_TAKER_COMPLETED:
        yield "done"


def _order_words(event: Event, _: str) -> Iterator[str]:
    side, order_type = Side(event.side).name.lower(), EngineOrderType(event.order_type).name
    yield f"{event.order_id} {side} {order_type} {event.remaining} of {event.quantity} @ {event.price}"
    yield from named(bps=f"{event.fee_bps} {event.maker_fee_bps}" if event.fee_bps else "0")


def _accepted_words(event: Event, code: str) -> Iterator[str]:
    yield from _order_words(event, code)
    yield from named(shows=str(event.maker_remaining), until=str(event.amount))


def _moved_words(event: Event, code: str) -> Iterator[str]:
    yield from _order_words(event, code)
    yield from named(change=str(event.amount))
    if event.maker_remaining:
        yield f"{'trigger' if event.flags & EVENT_WAITS else 'shows'} {event.maker_remaining}"


def _shown_words(event: Event, _: str) -> Iterator[str]:
    yield f"{event.order_id} {event.quantity} of {event.remaining} @ {event.price}"


def _waiting_words(event: Event, code: str) -> Iterator[str]:
    yield from _order_words(event, code)
    yield f"{TriggerKind(event.maker_order_id).name} {event.maker_remaining}"
    yield from named(by=str(event.maker_account), until=str(event.amount))


def _listed_words(event: Event, code: str) -> Iterator[str]:
    yield f"{event.maker_amount} {OrderListType(event.currency % LISTED_PLACE).name} {event.currency // LISTED_PLACE}"
    yield from _order_words(event, code)
    if event.maker_order_id:
        yield f"{TriggerKind(event.maker_order_id).name} {event.maker_remaining}"


def _list_words(event: Event, code: str) -> Iterator[str]:
    yield f"{event.order_id} {OrderListType(event.order_type).name}"
    yield from named(quantity=str(event.quantity))
    if event.code:
        yield code


def _triggered_words(event: Event, _: str) -> Iterator[str]:
    source = "mark" if event.flags & TERMS_BY_MARK else "last"
    yield f"{event.order_id} {event.remaining} @ {event.price} at {event.maker_remaining} by {source} {event.amount}"


def _phase_words(event: Event, _: str) -> Iterator[str]:
    yield f"{name_of(SYMBOLS, event.symbol)} {MarketPhase(event.order_type).name}"
    yield from named(price=str(event.price), volume=str(event.amount), until=str(event.maker_order_id))
    if event.order_type == MarketPhase.UNCROSSING:
        yield f"then {MarketPhase(event.side).name}"


def _reject_words(event: Event, code: str) -> Iterator[str]:
    yield f"{event.order_id} {code}"


def _balance_words(event: Event, _: str) -> Iterator[str]:
    yield f"{name_of(ACCOUNTS, event.account)} {name_of(CURRENCIES, event.currency)}"
    yield f"{CommandKind(event.order_type).name} {amount_to_text(event.amount)}"
    yield f"total {amount_to_text(event.maker_amount)}"


def _transfer_words(event: Event, _: str) -> Iterator[str]:
    yield f"{name_of(ACCOUNTS, event.account)} {name_of(ACCOUNTS, event.maker_account)}"
    yield f"{name_of(CURRENCIES, event.currency)} {amount_to_text(event.amount)}"
    yield f"{event.quantity - event.remaining} of {event.quantity}"


_EVENT_WORDS: dict[EventType, Callable[[Event, str], Iterator[str]]] = {
    EventType.ACCEPTED: _accepted_words,
    EventType.TRADE: _trade_words,
    EventType.REDUCE: _reduce_words,
    EventType.REJECT: _reject_words,
    EventType.MOVED: _moved_words,
    EventType.BALANCE: _balance_words,
    EventType.TRANSFER: _transfer_words,
    EventType.WAITING: _waiting_words,
    EventType.TRIGGERED: _triggered_words,
    EventType.LISTED: _listed_words,
    EventType.LIST_ENDED: _list_words,
    EventType.UNARMED: _list_words,
    EventType.PHASE: _phase_words,
    EventType.SHOWN: _shown_words,
}
