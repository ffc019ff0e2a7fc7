"""The Rust core as a MatchingCore: the class of the wheel, with named rows instead of plain tuples.

This module needs the wheel `openspot-matching`; selection.py says what happens without it.
"""

import openspot_matching

from openspot.engine.core.protocol import (
    AccountSettings,
    CoreBalance,
    CoreOrderList,
    DepthLevel,
    Iceberg,
    OrderExpiry,
    OwnerLink,
    ReferencePrices,
    RestingOrder,
    Symbol,
    SymbolPhase,
    WaitingOrder,
)


class RustCore(openspot_matching.RustCore):  # type: ignore[misc, unused-ignore]
    """A MatchingCore (protocol.py) in Rust, equal to ReferenceCore in everything it returns.

    Only the queries that return rows are wrapped here. The wheel also has `place`, `cancel`, `move_order` and `reduce`,
    which apply one command without a record. `drain_events` returns their events.
    """

    def depth(self, symbol: int, levels: int) -> tuple[list[DepthLevel], list[DepthLevel]]:
        """(bids, asks), best price first, at most `levels` each; 0 means all."""
        bids, asks = super().depth(symbol, levels)
        return [DepthLevel._make(row) for row in bids], [DepthLevel._make(row) for row in asks]

    def volumes(self, symbol: int, levels: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """(bids, asks) with price and whole quantity, best price first, at most `levels` each; 0 means all."""
        bids, asks = super().volumes(symbol, levels)
        return bids, asks

    def order(self, order_id: int) -> RestingOrder | None:
        """An open order, which rests or waits, or None."""
        row = super().order(order_id)
        return None if row is None else RestingOrder._make(row)

    def open_orders(self, account: int = 0, symbol: int = 0) -> list[RestingOrder]:
        """Open orders, which rest or wait, by ascending order id; 0 means any account or symbol."""
        return [RestingOrder._make(row) for row in super().open_orders(account, symbol)]

    def waiting_order(self, order_id: int) -> WaitingOrder | None:
        """What an open order waits for; None if it rests, or is unknown."""
        row = super().waiting_order(order_id)
        return None if row is None else WaitingOrder._make(row)

    def iceberg(self, order_id: int) -> Iceberg | None:
        """What a resting order shows of its quantity; None if it shows all, or is unknown."""
        row = super().iceberg(order_id)
        return None if row is None else Iceberg._make(row)

    def waiting_orders(self) -> list[WaitingOrder]:
        """The orders that wait for a trigger, by placement."""
        return [WaitingOrder._make(row) for row in super().waiting_orders()]

    def order_lists(self) -> list[CoreOrderList]:
        """The lists whose orders depend on each other, by ascending id."""
        return [
            CoreOrderList(*row[:6], armed_exits=tuple(row[6]), planned_exits=tuple(row[7]))
            for row in super().order_lists()
        ]

    def expiries(self) -> list[OrderExpiry]:
        """The open orders that expire, by ascending order id."""
        return [OrderExpiry._make(row) for row in super().expiries()]

    def phases(self) -> list[SymbolPhase]:
        """The symbols that are not in continuous trading, ascending."""
        return [SymbolPhase._make(row) for row in super().phases()]

    def reference_prices(self) -> list[ReferencePrices]:
        """The symbols that have a reference price, ascending. The core knows them from the first TERMS on."""
        return [ReferencePrices._make(row) for row in super().reference_prices()]

    def balances(self, account: int = 0) -> list[CoreBalance]:
        """Non-zero balances by ascending account and currency; 0 means all accounts."""
        return [CoreBalance._make(row) for row in super().balances(account)]

    def account(self, account: int) -> AccountSettings | None:
        """An account's settings, or None."""
        row = super().account(account)
        return None if row is None else AccountSettings._make(row)

    def owner_links(self) -> list[OwnerLink]:
        """The accounts that a SET_OWNER gave to the owner of another, ascending."""
        return [OwnerLink._make(row) for row in super().owner_links()]

    def symbols(self) -> list[Symbol]:
        """All symbols by ascending number."""
        return [Symbol._make(row) for row in super().symbols()]
