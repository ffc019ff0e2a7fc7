"""The limits of a margin account: how much collateral may leave it, and how much it may borrow.

After collateral has left an account with debt, its level must still be above the warning level. After a loan, the debt
may be at most ten times the equity. After either, the equity must still cover the margin of the open positions.
"""

from collections.abc import Iterable

from openspot.margin.figures import (
    LEVERAGE_MAX,
    AssetBalance,
    Balances,
    MarginFigures,
    Marks,
    available_margin,
    margin_figures,
)


def has_debt(balances: Balances) -> bool:
    """Whether the account owes anything."""
    return any(balance.debt for balance in balances.values())


def outflow_error(balances: Balances, marks: Marks, required: Iterable[int], asset: str, amount: int) -> str | None:
    """Why `amount` of `asset` may not leave the account; None if it may. Without debt, all of it may leave.

    `required` has the required margins of the open positions. Raises UnpricedError if a remaining asset has no mark
    price.
    """
    if not has_debt(balances):
        return None
    before = balances.get(asset, AssetBalance())
    after = AssetBalance(before.held - amount, before.owed, before.interest)
    figures = margin_figures({**balances, asset: after}, marks)
    if figures.is_at_risk:
        return "the margin level would fall to the warning level"
    return _positions_error(figures, required)


def borrowing_error(balances: Balances, marks: Marks, required: Iterable[int], asset: str, amount: int) -> str | None:
    """Why the account may not borrow `amount` of `asset`; None if it may.

    `required` has the required margins of the open positions. Raises UnpricedError if an asset of the account, or the
    borrowed one, has no mark price.
    """
    before = balances.get(asset, AssetBalance())
    after = AssetBalance(before.held + amount, before.owed + amount, before.interest)
    figures = margin_figures({**balances, asset: after}, marks)
    if figures.debt > int(LEVERAGE_MAX) * (figures.assets - figures.debt):
        return f"the debt would be more than {LEVERAGE_MAX} times the equity"
    return _positions_error(figures, required)


def _positions_error(figures: MarginFigures, required: Iterable[int]) -> str | None:
    if available_margin(figures.equity, required) < 0:
        return "the equity would not cover the margin of the open positions"
    return None
