"""Figures of a margin account: level, equity, margin that is required and available.

    marginLevel = assets / (debt + interest)      null without debt
    equity = assets − debt − interest
    requiredMargin = notional / leverage
    availableMargin = equity − Σ requiredMargin of the open positions

A level of 1.5 or below is at risk, one of 1.05 or below is liquidated (Document A 8). Both are decided on exact
integers, never on a rounded level. Quantities and prices are integers at 18 places, so their products are exact at
36 places.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from openspot.domain.money import AMOUNT_SCALE

LEVERAGE_MIN = Decimal(1)
LEVERAGE_MAX = Decimal(10)
"""Largest leverage, inclusive (Document A 8)."""

WARNING_PERCENT = 150
"""A level at or below it is at risk (Document A 8)."""

LIQUIDATION_PERCENT = 105
"""A level at or below it is liquidated (Document A 8)."""

_LEVERAGE_SCALE = 100
_LEVERAGE_PLACES = Decimal("0.01")


class MarginError(ValueError):
    """A margin figure cannot be computed; the message names the field and the reason."""


class UnpricedError(MarginError):
    """Assets of the account have no mark price, so nothing can be said about its level."""

    def __init__(self, assets: Iterable[str]) -> None:
        self.assets = tuple(sorted(assets))
        super().__init__(f"no mark price for {', '.join(self.assets)}")


@dataclass(frozen=True, slots=True)
class AssetBalance:
    """A margin account's holding and debt of one asset, at 18 places. `interest` is owed in addition to `owed`."""

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
"""Price of one whole unit of each asset in the valuation currency, at 18 places; that currency's own price is 1."""


@dataclass(frozen=True, slots=True)
class MarginFigures:
    """Values of an account in the valuation currency at 36 places; exact."""

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
        """Margin level at 18 places; None without debt. Rounded up: 1.05 is shown only at or below 1.05."""
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
    """Value an account. Raises UnpricedError if an asset that it holds or owes has no mark price."""
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
    """Why a leverage is refused, or None: it must lie from 1 to 10, both allowed, with at most two places."""
    if not leverage.is_finite() or not LEVERAGE_MIN <= leverage <= LEVERAGE_MAX:
        return f"leverage must lie between {LEVERAGE_MIN} and {LEVERAGE_MAX}"
    if leverage != leverage.quantize(_LEVERAGE_PLACES):
        return "leverage must have at most two decimal places"
    return None


def required_margin(notional: int, leverage: Decimal) -> int:
    """Notional ÷ leverage at 18 places, rounded up. Raises MarginError for a leverage that is refused."""
    if error := leverage_error(leverage):
        raise MarginError(error)
    return -(-notional * _LEVERAGE_SCALE // int(leverage * _LEVERAGE_SCALE))


def available_margin(equity: int, required: Iterable[int]) -> int:
    """Equity less the required margin of each open position, at 18 places. Below zero if there is too little."""
    return equity - sum(required)
