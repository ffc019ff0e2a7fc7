"""Lists of orders for operators: all open orders, and the ended ones that the engine remembers.

There may be millions, so a list reads them in slices and lets the engine work in between. Each row is consistent,
but the list as a whole is not a snapshot of one instant.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection

from openspot.contracts.gen.exchange.v1 import admin_pb2 as pb
from openspot.domain.money import scaled_to_text
from openspot.domain.order import EngineOrderType, OrderStatus, Side
from openspot.engine.engine import Engine
from openspot.engine.state.order_memory import (
    ACCOUNT,
    CANCELLED,
    FILLED,
    OPEN,
    REJECTED,
    SIDE,
    SYMBOL,
    Entry,
    RememberedOrder,
    engine_type,
    is_open,
)
from openspot.kit.clock import NANOSECONDS_PER_MS

_SLICE = 2_000
_ENDED = {
    FILLED: OrderStatus.FILLED.name,
    CANCELLED: OrderStatus.CANCELLED.name,
    REJECTED: OrderStatus.REJECTED.name,
}
_SIDES: dict[int, str] = {side: side.name for side in Side}
_TYPES: dict[int, str] = {order_type: order_type.name for order_type in EngineOrderType}


class OrderQueries:
    """Lists of one engine's orders."""

    def __init__(self, engine: Engine) -> None:
        self._machine = engine.machine
        self._sequencer = engine.sequencer

    async def page(
        self, account: int, symbols: frozenset[int], status: str, limit: int, offset: int
    ) -> tuple[list[pb.AdminOrder], int]:
        """Return (rows, total), by descending engine order id. Account 0 and empty `symbols` or `status` mean any."""
        chosen: list[int] = []
        total = 0
        async for part in self._known():
            matching = [
                engine_order_id
                for engine_order_id, entry in part
                if (not account or entry[ACCOUNT] == account)
                and (not symbols or entry[SYMBOL] in symbols)
                and (not status or self._status(engine_order_id, RememberedOrder(*entry)) == status)
            ]
            chosen += matching[max(offset - total, 0) : max(offset + limit - total, 0)]
            total += len(matching)
        rows = (self.row(engine_order_id) for engine_order_id in chosen)
        return [row for row in rows if row is not None], total

    def row(self, engine_order_id: int) -> pb.AdminOrder | None:
        """The order, or None if it is unknown, forgotten, or has not reached the core yet."""
        order = self._machine.orders.find(engine_order_id)
        if order is None:
            return None
        remaining = order.remaining
        if order.status == OPEN:
            resting = self._machine.core.order(engine_order_id)
            if resting is None:
                return None
            remaining = resting.remaining
        spec = self._machine.directory.symbol(order.symbol)
        name, price_scale, quantity_scale = (spec.symbol, spec.quote_scale_k, spec.base_scale_k) if spec else ("", 1, 1)
        return pb.AdminOrder(
            order_id=str(engine_order_id),
            external_id=order.order_id,
            participant_id=self._machine.directory.participant(order.account),
            symbol=name,
            side=_SIDES.get(order.side, ""),
            type=_TYPES.get(engine_type(order.order_type), ""),
            price=scaled_to_text(order.price, price_scale),
            quantity=scaled_to_text(order.quantity, quantity_scale),
            filled_quantity=scaled_to_text(order.quantity - remaining, quantity_scale),
            remaining_quantity=scaled_to_text(remaining, quantity_scale),
            status=self._status(engine_order_id, order),
            created_at=order.time_ns // NANOSECONDS_PER_MS,
        )

    async def open_counts(self) -> Counter[tuple[int, int]]:
        """How many open orders lock a balance, by (account, currency)."""
        counts: Counter[tuple[int, int]] = Counter()
        locked = {
            (symbol.symbol, side): symbol.quote if side == Side.BUY else symbol.base
            for symbol in self._machine.core.symbols()
            for side in Side
        }
        async for part in self._known():
            counts.update(
                (entry[ACCOUNT], locked[entry[SYMBOL], entry[SIDE]])
                for _, entry in part
                if is_open(entry) and (entry[SYMBOL], entry[SIDE]) in locked
            )
        return counts

    def open_counts_of(self, accounts: Collection[int]) -> Counter[tuple[int, int]]:
        """What `open_counts` says of a few accounts, without a look at the orders of others."""
        counts: Counter[tuple[int, int]] = Counter()
        pending = self._sequencer.pending_engine_order_ids()
        open_orders = self._machine.orders.open_orders
        for symbol in self._machine.core.symbols():
            for account in accounts:
                if own := open_orders.get((account, symbol.symbol)):
                    sells, buys = own
                    counts[account, symbol.base] += len(sells) - len(sells.keys() & pending)
                    counts[account, symbol.quote] += len(buys) - len(buys.keys() & pending)
        return counts

    async def _known(self) -> AsyncIterator[list[tuple[int, Entry]]]:
        """The remembered orders by descending id, in slices. Each slice is read when its turn comes."""
        pending = self._sequencer.pending_engine_order_ids()
        engine_order_ids = sorted(self._machine.orders.entries, reverse=True)
        entries = self._machine.orders.entries
        for start in range(0, len(engine_order_ids), _SLICE):
            if start:
                await asyncio.sleep(0)
            yield [
                (engine_order_id, entry)
                for engine_order_id in engine_order_ids[start : start + _SLICE]
                if engine_order_id not in pending and (entry := entries.get(engine_order_id)) is not None
            ]

    def _status(self, engine_order_id: int, order: RememberedOrder) -> str:
        if order.status != OPEN:
            return _ENDED[order.status]
        resting = self._machine.core.order(engine_order_id)
        untouched = resting is None or resting.remaining == order.quantity
        return (OrderStatus.OPEN if untouched else OrderStatus.PARTIALLY_FILLED).name
