"""Figures of a margin account: level, equity, required margin and available margin.

    marginLevel = assets / (debt + interest)      null without debt
    equity = assets − debt − interest
    requiredMargin = notional / leverage
    availableMargin = equity − Σ requiredMargin of the open positions

An account with a level of 1.5 or below is at risk; with a level of 1.05 or below it is liquidated (facts A8-16 to
A8-17). Both decisions use exact integers, never a rounded level. Quantities and prices are integers at 18 places, so
their products are exact at 36 places.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from openspot.domain.money import AMOUNT_SCALE

LEVERAGE_MIN = Decimal(1)
LEVERAGE_MAX = Decimal(10)
"""The largest leverage that is allowed (fact A8-15)."""

WARNING_PERCENT = 150
"""An account with this level or a lower one is at risk (fact A8-17)."""

LIQUIDATION_PERCENT = 105
"""An account with this level or a lower one is liquidated (fact A8-16)."""

_LEVERAGE_SCALE = 100
_LEVERAGE_PLACES = Decimal("0.01")


class MarginError(ValueError):
    """A margin figure cannot be computed. The message names the field and the reason."""


class UnpricedError(MarginError):
    """Assets of the account have no mark price, so its level is not known."""

    def __init__(self, assets: Iterable[str]) -> None:
        self.assets = tuple(sorted(assets))
        super().__init__(f"no mark price for {', '.join(self.assets)}")


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

Marks = Mapping[str, int]
"""The price of one whole unit of each asset in the valuation asset, at 18 places. The valuation asset's price is 1."""


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
    assets = debt = 0
    unpriced = []
    for asset, balance in balances.items():
        owed = balance.owed + balance.interest
        if not balance.held and not owed:
            continue
        mark = marks.get(asset)
        if mark is None:
            unpriced.append(asset)
            continue
        assets += balance.held * mark
        debt += owed * mark
    if unpriced:
        raise UnpricedError(unpriced)
    return MarginFigures(assets, debt)


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
