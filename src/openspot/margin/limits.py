"""The limits of a margin account: how much collateral may leave it, and how much it may borrow.

After collateral has left an account with debt, its level must still be above the warning level. After a loan, the debt
may be at most ten times the equity, and all open debts of the platform in the borrowed asset must be small enough to be
bought back. After either, the equity must still cover the margin of the open positions. All of this is judged by
`secured_figures`, so it is refused while a price that it needs is not sure.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.money import amount_to_text
from openspot.margin.figures import (
    LEVERAGE_MAX,
    AssetBalance,
    Balances,
    MarginFigures,
    Marks,
    available_margin,
    check_sure,
    counted,
    involved,
    secured_figures,
    secured_high,
    secured_low,
)

WAITS_FOR_A_MARKET = (
    "Wait until several people have traded there within the last hour and orders stand near the fair price"
)

LimitRule = Callable[[Balances, Marks, Iterable[int], str, int], str | None]
"""Why an amount of an asset is not allowed, or None."""


def has_debt(balances: Balances) -> bool:
    """Whether the account owes anything."""
    return any(balance.debt for balance in balances.values())


def outflow_error(balances: Balances, marks: Marks, required: Iterable[int], asset: str, amount: int) -> str | None:
    """Why `amount` of `asset` may not leave the account; None if it may. Without debt, all of it may leave.

    `required` has the required margins of the open positions. Raises UnpricedError if a remaining asset has no mark
    price, and UnsurePriceError if the price of a remaining asset or of `asset` is not sure.
    """
    if not has_debt(balances):
        return None
    check_sure([asset], marks)
    before = balances.get(asset, AssetBalance())
    after = AssetBalance(before.held - amount, before.owed, before.interest)
    figures = secured_figures({**balances, asset: after}, marks)
    if figures.is_at_risk:
        return "the margin level would fall to the warning level" + uncounted({**balances, asset: after}, marks)
    return _positions_error(figures, required)


def borrowing_error(
    balances: Balances, marks: Marks, required: Iterable[int], asset: str, amount: int, borrowable: int | None
) -> str | None:
    """Why the account may not borrow `amount` of `asset`; None if it may.

    `required` has the required margins of the open positions, `borrowable` is that of the rule of the same name. Raises
    UnpricedError if an asset of the account, or the borrowed one, has no mark price, and UnsurePriceError.
    """
    before = balances.get(asset, AssetBalance())
    after = AssetBalance(before.held + amount, before.owed + amount, before.interest)
    figures = secured_figures({**balances, asset: after}, marks)
    if figures.debt > int(LEVERAGE_MAX) * (figures.assets - figures.debt):
        reason = f"the debt would be more than {LEVERAGE_MAX} times the equity"
        return reason + uncounted({**balances, asset: after}, marks)
    return liquidity_error(asset, amount, borrowable) or _positions_error(figures, required)


def shared(marks: Marks, others: Iterable[Balances]) -> Marks:
    """The prices with what is left of each market's `sellable` for one of an owner's accounts.

    `others` are the balances of the owner's other accounts. What they hold beyond their debts uses the market first.
    """
    used: dict[str, int] = {}
    for balances in others:
        for asset, balance in balances.items():
            used[asset] = used.get(asset, 0) + max(balance.held - balance.debt, 0)
    return {
        asset: price
        if price.sellable is None or not used.get(asset)
        else replace(price, sellable=max(price.sellable - used[asset], 0))
        for asset, price in marks.items()
    }


def borrowable(price: AssetPrice, open_debt: int, share: Decimal) -> int | None:
    """The amount of an asset that all accounts together may still borrow, at 18 places. None without a bound.

    It is `share` of what can be bought near the fair price, less `open_debt`: all that the platform's accounts owe.
    """
    if price.buyable is None:
        return None
    numerator, denominator = share.as_integer_ratio()
    return max(price.buyable * numerator // denominator - open_debt, 0)


def liquidity_error(asset: str, amount: int, left: int | None) -> str | None:
    """Why the market is too thin to lend `amount` of an asset of which `left` may be borrowed; None if it is not."""
    if left is None or amount <= left:
        return None
    return (
        f"the market of {asset} is too thin: {amount_to_text(left)} {asset} can be borrowed now, because more could"
        f" not be bought back near the fair price. {WAITS_FOR_A_MARKET}"
    )


def uncounted(balances: Balances, marks: Marks) -> str:
    """What to add to a refusal where assets do not count fully; empty if all do. Names the first of them, by name."""
    for asset in involved(balances):
        balance, price = balances[asset], marks.get(asset)
        if price is None:
            continue
        amount = counted(balance, price)
        if amount < balance.held:
            return (
                f"; only {amount_to_text(amount)} {asset} of {amount_to_text(balance.held)} {asset} count, because its"
                f" market could not absorb more near the fair price. {WAITS_FOR_A_MARKET}"
            )
        if (balance.held and secured_low(price) < price.low) or (balance.debt and secured_high(price) > price.high):
            return (
                f"; {asset} counts at {amount_to_text(price.day_median)}, the median of 24 hours, because its price has"
                " moved since. Wait until the price has held for some hours"
            )
    return ""


def _positions_error(figures: MarginFigures, required: Iterable[int]) -> str | None:
    if available_margin(figures.equity, required) < 0:
        return "the equity would not cover the margin of the open positions"
    return None
