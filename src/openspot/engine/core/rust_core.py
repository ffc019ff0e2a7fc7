"""The Rust core as a MatchingCore: the wheel answers queries with plain tuples, here they get their names.

Import this only where the wheel is known to be there; selection.py does.
"""

import openspot_matching

from openspot.engine.core.protocol import AccountState, Balance, OpenOrder, Symbol


class RustCore(openspot_matching.RustCore):  # type: ignore[misc, unused-ignore]
    """A MatchingCore (protocol.py) whose commands run wholly in Rust."""

    def order(self, order_id: int) -> OpenOrder | None:
        """A resting order, or None."""
        row = super().order(order_id)
        return row and OpenOrder._make(row)

    def open_orders(self, account: int = 0, symbol: int = 0) -> list[OpenOrder]:
        """Resting orders by ascending order id; 0 means any account or symbol."""
        return [OpenOrder._make(row) for row in super().open_orders(account, symbol)]

    def balances(self, account: int = 0) -> list[Balance]:
        """Balances by ascending account and currency, without zero totals; 0 means all accounts."""
        return [Balance._make(row) for row in super().balances(account)]

    def account(self, account: int) -> AccountState | None:
        """An account's flags, or None."""
        row = super().account(account)
        return row and AccountState._make(row)

    def symbols(self) -> list[Symbol]:
        """All symbols by ascending number."""
        return [Symbol._make(row) for row in super().symbols()]
