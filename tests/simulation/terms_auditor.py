"""Judges order rows under the complete rules: what each order asked for, and what became of its trigger.

Rows are compared with the engine's events and with the requests; and once more with rows that are made anew from the
events, as `openspot reconcile rebuild` makes them.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from openspot.contracts.engine_events import EngineEvent
from openspot.contracts.messages import OrderRequest
from openspot.engine.core.records import Command
from openspot.kit.clock import ms_from_datetime
from openspot.router.tracked_order import TrackedOrder
from openspot.router.translation.order_state_machine import OrderStateMachine
from tests.simulation.auditor import EPOCH, units
from tests.simulation.clients import Told
from tests.simulation.history import History, OrderHistory
from tests.simulation.rows import Rows
from tests.simulation.rules.story import Story

_OPEN = ("open", "partially_filled", "pending")


class TermsAuditor:
    """Checks one part after the other. `findings` lists what is wrong."""

    def __init__(self, history: History, told: Told, rows: Rows) -> None:
        self._history = history
        self._told = told
        self._rows = rows
        self.findings: list[str] = []

    def look_at_rows(self) -> None:
        """Every row says what its order asked for, and whether and at which price its trigger has fired."""
        for order_id, asked in self._told.requests.items():
            order, row = self._history.orders.get(order_id), self._rows.orders.get(order_id)
            if order is None or row is None:
                continue
            shown, real = _shown(row, order), _real(asked.order, order)
            if shown != real:
                self.findings.append(f"terms of the row of order {order_id}: {shown} is shown, {real} is right")

    def look_at_commands(self, story: Story) -> None:
        """The engine was told the terms that the client asked for."""
        requests = self._told.requests
        for order_id, order in self._history.orders.items():
            if order_id in requests:
                shown = _sent(story.asked[order.engine_order_id].terms)
                real = _wanted(requests[order_id].order, order)
                if shown != real:
                    self.findings.append(f"order {order_id} reached the engine with {shown}, and {real} is right")

    def look_at_ends(self) -> None:
        """When a dead man's switch was told to be done, nothing was left that its user had open before."""
        for user, first, last in self._told.ended:
            for order in self._history.orders.values():
                if order.user == user and order.states[0].command <= first:
                    state = [each for each in order.states if each.command <= last][-1]
                    if state.status in _OPEN:
                        self.findings.append(f"order {order.order_id} is {state.status} after its user's switch")

    def rebuild(self, events: Sequence[EngineEvent]) -> None:
        """Rows that are made anew from all events are the rows that are there."""
        machine = OrderStateMachine(EPOCH, [])
        anew: dict[str, TrackedOrder] = {}
        for event in events:
            anew |= {order.order_id: order for order in machine.apply(event).orders}
        for order_id, order in anew.items():
            row = self._rows.orders.get(order_id)
            if row != order:
                self.findings.append(f"rebuilt row of order {order_id}: {_differences(row, order)}")
        made_up = [each for each, row in self._rows.orders.items() if row.engine_order_id and each not in anew]
        self.findings += [f"row of order {order_id} is in no event" for order_id in made_up]


def _differences(row: TrackedOrder | None, order: TrackedOrder) -> str:
    if row is None:
        return "there is no such row"
    names: Iterable[str] = TrackedOrder.__struct_fields__
    pairs = ((name, getattr(row, name), getattr(order, name)) for name in names)
    return ", ".join(f"{name} is {shown}, and {real} is right" for name, shown, real in pairs if shown != real)


def _shown(row: TrackedOrder, order: OrderHistory) -> tuple[Any, ...]:
    prices = order.market.price_scale
    return (
        row.type,
        row.time_in_force,
        row.client_order_id,
        row.post_only,
        row.trigger_by,
        row.self_trade_prevention,
        row.expires_ms,
        row.trailing_bps,
        units(row.trailing_amount, prices),
        row.triggered_ms,
        row.is_waiting,
        units(row.stop_price, prices),
        units(row.price, prices),
        units(row.display_quantity, order.market.quantity_scale),
    )


def _sent(terms: Command | None) -> tuple[int, ...]:
    """(kind of trigger, its value, whether the mark price fires it, or a falling one, expiry, own mode, displayed)."""
    if terms is None:
        return 0, 0, 0, 0, 0, 0, 0
    by_mark, falls = terms.flags & 1, terms.flags >> 1
    return terms.side, terms.price, by_mark, falls, terms.amount, terms.order_type, terms.quantity


def _wanted(asked: OrderRequest, order: OrderHistory) -> tuple[int, ...]:
    has_trigger, is_profit = asked.type not in ("limit", "market"), asked.type.startswith("take")
    value, kind = units(asked.stop_price or asked.trailing_amount, order.market.price_scale), 1
    if asked.trailing_amount is not None:
        kind = 2
    elif asked.trailing_bps is not None:
        kind, value = 3, asked.trailing_bps
    modes = (None, "none", "cancel_resting", "cancel_incoming", "cancel_both", "decrement_and_cancel")
    falls = has_trigger and (asked.side == "sell") is not is_profit
    return (
        kind if has_trigger else 0,
        value if has_trigger else 0,
        int(asked.trigger_by == "mark"),
        int(falls),
        (_milliseconds(asked.expires_at) or 0) * 1_000_000,
        modes.index(asked.self_trade_prevention),
        units(asked.display_quantity, order.market.quantity_scale),
    )


def _milliseconds(time: str | None) -> int | None:
    return None if time is None else ms_from_datetime(datetime.fromisoformat(time))


def _real(asked: OrderRequest, order: OrderHistory) -> tuple[Any, ...]:
    prices, final = order.market.price_scale, order.final
    has_trigger = asked.type not in ("limit", "market")
    is_trailing = asked.type.startswith("trailing")
    stop_price = final.trigger_price or units(asked.stop_price, prices)
    return (
        asked.type,
        asked.time_in_force,
        asked.client_order_id,
        asked.post_only is not None,
        (asked.trigger_by or "last") if has_trigger else None,
        asked.self_trade_prevention,
        _milliseconds(asked.expires_at),
        asked.trailing_bps,
        units(asked.trailing_amount, prices),
        final.triggered_ms or None,
        has_trigger and not final.triggered_ms,
        0 if is_trailing and not final.triggered_ms else stop_price,
        0 if asked.price is None else final.price,
        units(asked.display_quantity, order.market.quantity_scale),
    )
