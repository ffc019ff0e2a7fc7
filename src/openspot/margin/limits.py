"""The limits of a margin account: collateral that may leave it, and loans that it may take.

An account with debt keeps its level above the warning level when collateral leaves it. A loan may raise the debt to
ten times the equity. Both leave the margin of the open positions covered.
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
    """Why `amount` of `asset` may not leave the account, or None. Without debt everything may.

    `required` are the required margins of the open positions. Raises UnpricedError if an asset that would be left has
    no mark price.
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
    """Why the account may not borrow `amount` of `asset`, or None.

    `required` are the required margins of the open positions. Raises UnpricedError if an asset of the account, or the
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
