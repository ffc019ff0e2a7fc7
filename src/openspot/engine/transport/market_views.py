"""Order books, recent trades and symbol steps for responses, as decimal texts."""

from itertools import islice
from typing import NamedTuple

from openspot.domain.ids import trade_id
from openspot.domain.money import scaled_to_text
from openspot.domain.order import Side
from openspot.domain.symbol import SymbolSpec
from openspot.engine.core.protocol import DepthLevel
from openspot.engine.core.records import decode_events
from openspot.engine.state.state_machine import StateMachine
from openspot.kit.clock import NANOSECONDS_PER_MS


class LevelView(NamedTuple):
    """A price level of the book."""

    price: str
    quantity: str
    orders: int


class TradeView(NamedTuple):
    """A public trade. `side` is the taker's, `timestamp` is in milliseconds since 1970."""

    trade_id: str
    price: str
    quantity: str
    side: str
    timestamp: int
    sequence: int


def tick_text(spec: SymbolSpec) -> str:
    """The tick as a decimal."""
    return scaled_to_text(spec.tick, spec.quote_scale_k)


def lot_text(spec: SymbolSpec) -> str:
    """The lot as a decimal."""
    return scaled_to_text(spec.lot, spec.base_scale_k)


def book_levels(machine: StateMachine, spec: SymbolSpec, depth: int) -> tuple[list[LevelView], list[LevelView]]:
    """(bids, asks), best first. A depth of 0 means all levels."""
    bids, asks = machine.core.depth(spec.symbol_id, depth)
    return _levels(spec, bids), _levels(spec, asks)


def _levels(spec: SymbolSpec, rows: list[DepthLevel]) -> list[LevelView]:
    return [
        LevelView(
            scaled_to_text(row.price, spec.quote_scale_k), scaled_to_text(row.quantity, spec.base_scale_k), row.orders
        )
        for row in rows
    ]


def recent_trades(machine: StateMachine, epoch: str, spec: SymbolSpec, limit: int) -> list[TradeView]:
    """The newest trades of a symbol, newest first."""
    records = islice(reversed(machine.trades.get(spec.symbol_id, ())), limit)
    return [
        TradeView(
            trade_id(epoch, event.sequence),
            scaled_to_text(event.price, spec.quote_scale_k),
            scaled_to_text(event.quantity, spec.base_scale_k),
            "buy" if event.side == Side.BUY else "sell",
            event.timestamp // NANOSECONDS_PER_MS,
            event.sequence,
        )
        for event in decode_events(b"".join(records))
    ]
