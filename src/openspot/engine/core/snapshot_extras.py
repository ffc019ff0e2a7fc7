"""Reads the last part of a snapshot (docs/protocol/snapshot.md) into the reference core's state.

It has what came after order lists: a PLACE that is not attempted, and the orders that show a part of their quantity.
"""

from openspot.domain.order import ICEBERG_SLICES_MAX
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_state import CoreState
from openspot.engine.core.snapshot_parts import RecordReader, require_content
from openspot.engine.core.snapshot_records import COUNT_32, COUNT_64, ICEBERG, not_a_snapshot


def read_extras(state: CoreState, reader: RecordReader) -> None:
    """Read the part that a core has while it has something for it."""
    stopped = reader.count(COUNT_32)
    require_content(stopped <= 1, "a wrong number of placements is stopped")
    if stopped:
        state.stop_placement()
    for _ in range(reader.count(COUNT_64)):
        _read_iceberg(state, *reader.take(ICEBERG))


def _read_iceberg(state: CoreState, order_id: int, display: int, visible: int) -> None:
    order = state.orders.get(order_id)
    if order is None or order_id in state.waiting or order_id in state.listed or order.display:
        raise not_a_snapshot("an iceberg has no order that rests alone, or is repeated")
    require_content(_iceberg_allowed(state, order, display, visible), "an iceberg breaks a rule")
    order.display, order.visible = display, visible


def _iceberg_allowed(state: CoreState, order: BookOrder, display: int, visible: int) -> bool:
    lot = state.books[order.symbol].symbol.lot
    return (
        display > 0
        and 0 < visible <= min(display, order.remaining)
        and display % lot == 0
        and visible % lot == 0
        and display * ICEBERG_SLICES_MAX >= order.quantity
    )
