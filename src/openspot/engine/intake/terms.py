"""The TERMS command of an order that asks for more than a PLACE can say (docs/protocol/matching.md, Terms)."""

from typing import Protocol

from openspot.domain.order import TriggerKind
from openspot.engine.core.records import TERMS_AT_OR_BELOW, TERMS_BY_MARK, Command, CommandKind
from openspot.engine.state.directory import Note
from openspot.engine.state.order_memory import HAS_LIMIT, HAS_LIMIT_NOTE, WAITS
from openspot.kit.clock import NANOSECONDS_PER_MS

TERMS_COMMAND = 0
"""Stands for a TERMS, or a REPLACE, among the ids of submitted orders. No order has this id."""
_INVALID = 255
"""A number that the core refuses: INVALID_TERMS."""


class RequestedTerms(Protocol):
    """The fields of exchange.v1.PlaceOrderRequest that become terms."""

    @property
    def trigger(self) -> int: ...

    @property
    def trigger_source(self) -> int: ...

    @property
    def trigger_direction(self) -> int: ...

    @property
    def trigger_value(self) -> int: ...

    @property
    def expires_at_ms(self) -> int: ...

    @property
    def self_trade_prevention(self) -> int: ...

    @property
    def display_quantity(self) -> int: ...

    @property
    def has_limit(self) -> bool: ...


def terms_of(order: RequestedTerms, engine_order_id: int, time_ns: int) -> Command:
    """The TERMS of an order. Numbers that its fields cannot hold become some that the core refuses."""
    flags = TERMS_BY_MARK * order.trigger_source | TERMS_AT_OR_BELOW * order.trigger_direction
    if order.trigger_source not in (0, 1) or order.trigger_direction not in (0, 1):
        flags = _INVALID
    return Command(
        CommandKind.TERMS,
        side=order.trigger if order.trigger in frozenset(TriggerKind) else _INVALID,
        order_type=order.self_trade_prevention if 0 <= order.self_trade_prevention < _INVALID else _INVALID,
        flags=flags,
        timestamp=time_ns,
        order_id=engine_order_id,
        price=order.trigger_value,
        quantity=order.display_quantity,
        amount=order.expires_at_ms * NANOSECONDS_PER_MS,
    )


def kept_bits(order: RequestedTerms) -> int:
    """The bits that the order memory keeps beside an order's type."""
    if not order.trigger:
        return 0
    return WAITS | HAS_LIMIT if order.has_limit else WAITS


def note_of(order: RequestedTerms) -> Note:
    """The note of the order's TERMS, from which a replay learns the same bits."""
    return HAS_LIMIT_NOTE if kept_bits(order) & HAS_LIMIT else ()
