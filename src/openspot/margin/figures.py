"""Figures of a margin account: level, equity, required margin and available margin.

    marginLevel = assets / (debt + interest)      null without debt
    equity = assets − debt − interest
    requiredMargin = notional / leverage
    availableMargin = equity − Σ requiredMargin of the open positions

Assets are valued at the lower bound of their fair price, debts at the upper one. An account with a level of 1.5 or
below is at risk; with a level of 1.05 or below it is liquidated (facts A8-16 to A8-17). Both decisions use exact
integers, never a rounded level. Quantities and prices are integers at 18 places, so their products are exact at 36
places.

New risk (a loan, a position, collateral that leaves) is judged by `secured_figures`: there an asset counts only up to
what the account owes of it and what its market can absorb, and the day's median bounds prices. The level does not,
because depth that somebody takes away must not liquidate anybody (docs/adr/0037).

A liquidation is judged the other way around: a price that only trades and orders of this platform make does not
liquidate by more than FAR_BPS from the day's median (docs/adr/0041).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS

LEVERAGE_MIN = Decimal(1)
LEVERAGE_MAX = Decimal(10)
"""The largest leverage that is allowed (fact A8-15)."""

WARNING_PERCENT = 150
"""An account with this level or a lower one is at risk (fact A8-17)."""

LIQUIDATION_PERCENT = 105
"""An account with this level or a lower one is liquidated (fact A8-16)."""

HOPE = 2
"""The best that an account can hope for while a price is not sure: its assets are worth this many times the day's
median, and its debts this part of it."""

FAR_BPS = 1_500
"""A price without a source outside of the platform liquidates nobody by more than this distance from the day's median:
a level of 1.24 and more is safe from whoever makes a price here for less than half a day."""

_LEVERAGE_SCALE = 100
_LEVERAGE_PLACES = Decimal("0.01")


class MarginError(ValueError):
    """A margin figure cannot be computed. The message names the field and the reason."""


class UnpricedError(MarginError):
    """Assets of the account have no mark price, so its level is not known."""

    def __init__(self, assets: Iterable[str]) -> None:
        self.assets = tuple(sorted(assets))
        super().__init__(f"no mark price for {', '.join(self.assets)}")


class UnsurePriceError(MarginError):
    """A price that a decision needs is not sure. The message says which one, and what is waited for."""

    def __init__(self, asset: str, price: AssetPrice) -> None:
        reason = price.reason or "wait until its sources agree again"
        super().__init__(f"the price of {asset} is {price.state}: {reason}")


@dataclass(frozen=True, slots=True)
class AssetBalance:
    """A margin account's holding and debt of one asset, at 18 places. The debt is `owed` plus `interest`."""

    held: int = 0
    owed: int = 0
    interest: int = 0

    @property
    def debt(self) -> int:
        """Principal and interest."""
        return self.owed + self.interest


Balances = Mapping[str, AssetBalance]
"""Balances by asset."""

Marks = Mapping[str, AssetPrice]
"""The fair price of one whole unit of each asset in the valuation asset, at 18 places. Its own price is 1."""


@dataclass(frozen=True, slots=True)
class MarginFigures:
    """The values of an account in the valuation asset, exact at 36 places."""

    assets: int
    debt: int

    @property
    def equity(self) -> int:
        """Assets less debt at 18 places, rounded down."""
        return (self.assets - self.debt) // AMOUNT_SCALE

    @property
    def debt_amount(self) -> int:
        """Debt with interest at 18 places, rounded up."""
        return -(-self.debt // AMOUNT_SCALE)

    @property
    def level(self) -> int | None:
        """Margin level at 18 places, None without debt. It is rounded up: 1.05 is shown only for 1.05 or less."""
        return -(-self.assets * AMOUNT_SCALE // self.debt) if self.debt else None

    @property
    def is_at_risk(self) -> bool:
        """Whether the level is at or below the warning level."""
        return self._at_or_below(WARNING_PERCENT)

    @property
    def must_liquidate(self) -> bool:
        """Whether the level is at or below the liquidation level."""
        return self._at_or_below(LIQUIDATION_PERCENT)

    def _at_or_below(self, percent: int) -> bool:
        return self.debt > 0 and self.assets * 100 <= self.debt * percent


def margin_figures(balances: Balances, marks: Marks) -> MarginFigures:
    """The figures of an account. Raises UnpricedError if an asset that it holds or owes has no mark price."""
    _check_priced(balances, marks)
    assets = sum(each.held * marks[asset].low for asset, each in balances.items() if each.held)
    return MarginFigures(assets, _owed(balances, marks))


def secured_figures(balances: Balances, marks: Marks) -> MarginFigures:
    """The figures by which new risk is judged. Raises UnpricedError, and UnsurePriceError unless every price is sure.

    An asset counts up to what is owed of it and what its market can absorb, and for at most the day's median. A debt
    counts for at least the day's median. So a price that was made for an hour lets nothing out.
    """
    _check_priced(balances, marks)
    check_sure(involved(balances), marks)
    assets = debt = 0
    for asset, balance in balances.items():
        if balance.held or balance.debt:
            price = marks[asset]
            assets += counted(balance, price) * secured_low(price)
            debt += balance.debt * secured_high(price)
    return MarginFigures(assets, debt)


def secured_low(price: AssetPrice) -> int:
    """What one unit that is held counts for new risk: the lower bound, at most the day's median."""
    return min(price.low, price.day_median) if price.day_median else price.low


def secured_high(price: AssetPrice) -> int:
    """What one unit that is owed counts for new risk: the upper bound, at least the day's median."""
    return max(price.high, price.day_median)


def forced_low(price: AssetPrice, value: int) -> int:
    """`value` of one unit that a liquidation sells, not farther below the day's median than may be believed."""
    if price.is_confirmed:
        return value
    return max(value, -(-price.day_median * (BASIS_POINTS - FAR_BPS) // BASIS_POINTS))


def forced_high(price: AssetPrice, value: int) -> int:
    """`value` of one unit that a liquidation buys, not farther above the day's median than may be believed."""
    if price.is_confirmed or not price.day_median:
        return value
    return min(value, price.day_median * (BASIS_POINTS + FAR_BPS) // BASIS_POINTS)


def counted(balance: AssetBalance, price: AssetPrice) -> int:
    """The part of a holding that secures debts: the owed part needs no market, the rest has to be sold."""
    return balance.held if price.sellable is None else min(balance.held, balance.debt + price.sellable)


def judged_figures(balances: Balances, marks: Marks) -> MarginFigures | None:
    """The figures by which an account is warned and liquidated. None while prices that it needs are not sure.

    They are those of the account at its prices, unless only a price that nothing outside confirms, too far from its
    day's median, would liquidate it: then they are those at that distance, so it is warned and not liquidated.

    A price is not needed where the account must be liquidated whatever that price is: even if it is HOPE times the
    day's median, or that part of it for a debt. Otherwise anybody could escape a liquidation with a grain of an asset
    whose price is disputed. Raises UnpricedError.
    """
    figures = margin_figures(balances, marks)
    unsure = {asset for asset in involved(balances) if not marks[asset].state.is_usable}
    if not unsure:
        return _believed(balances, marks) if figures.must_liquidate else figures
    assets = debt = 0
    for asset, balance in balances.items():
        if asset in unsure:
            median = marks[asset].day_median or marks[asset].price
            assets += balance.held * HOPE * median
            debt += balance.debt * median // HOPE
        elif balance.held or balance.debt:
            assets += balance.held * forced_low(marks[asset], marks[asset].low)
            debt += balance.debt * forced_high(marks[asset], marks[asset].high)
    hoped = MarginFigures(assets, debt)
    return hoped if hoped.must_liquidate else None


def _believed(balances: Balances, marks: Marks) -> MarginFigures:
    """The figures at prices that are not farther from their day's medians than a liquidation may believe."""
    prices = {asset: marks[asset] for asset in involved(balances)}
    assets = sum(balances[asset].held * forced_low(price, price.low) for asset, price in prices.items())
    debt = sum(balances[asset].debt * forced_high(price, price.high) for asset, price in prices.items())
    return MarginFigures(assets, debt)


def involved(balances: Balances) -> list[str]:
    """The assets that an account holds or owes, by name."""
    return sorted(asset for asset, balance in balances.items() if balance.held or balance.debt)


def check_sure(assets: Iterable[str], marks: Marks) -> None:
    """Raise UnsurePriceError for the first of `assets`, by name, whose price is not sure."""
    for asset in sorted(assets):
        price = marks.get(asset)
        if price is not None and not price.state.is_usable:
            raise UnsurePriceError(asset, price)


def _check_priced(balances: Balances, marks: Marks) -> None:
    if unpriced := [asset for asset in involved(balances) if asset not in marks]:
        raise UnpricedError(unpriced)


def _owed(balances: Balances, marks: Marks) -> int:
    return sum(each.debt * marks[asset].high for asset, each in balances.items() if each.debt)


def leverage_error(leverage: Decimal) -> str | None:
    """Why a leverage is refused; None if it is allowed: from 1 to 10, with at most two decimal places."""
    if not leverage.is_finite() or not LEVERAGE_MIN <= leverage <= LEVERAGE_MAX:
        return f"leverage must lie between {LEVERAGE_MIN} and {LEVERAGE_MAX}"
    if leverage != leverage.quantize(_LEVERAGE_PLACES):
        return "leverage must have at most two decimal places"
    return None


def required_margin(notional: int, leverage: Decimal) -> int:
    """Notional ÷ leverage at 18 places, rounded up. Raises MarginError if the leverage is refused."""
    if error := leverage_error(leverage):
        raise MarginError(error)
    return -(-notional * _LEVERAGE_SCALE // int(leverage * _LEVERAGE_SCALE))


def available_margin(equity: int, required: Iterable[int]) -> int:
    """Equity less the required margin of each open position, at 18 places. Negative if the equity is too small."""
    return equity - sum(required)
