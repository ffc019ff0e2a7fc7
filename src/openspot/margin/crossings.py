"""Warnings: one for each crossing of the warning level, none for each scan.

A margin level lies in one of three risk bands. Each scan compares the account's risk band with that of the scan before;
only a step down into the band `warning` or below publishes margin.liquidation.warning. An account that is opened inside
that band came from `safe`, and is warned once. An account that falls from `safe` straight to `liquidation` is warned
and liquidated.
"""

from enum import StrEnum
from typing import NamedTuple

from openspot.margin.figures import MarginFigures


class RiskBand(StrEnum):
    """Where a margin level lies: above 150 %, at or below it, at or below 105 %."""

    SAFE = "safe"
    WARNING = "warning"
    LIQUIDATION = "liquidation"


class Crossing(NamedTuple):
    """Actions that a scan takes for an account."""

    warn: bool
    liquidate: bool


_NOTHING = Crossing(warn=False, liquidate=False)

CROSSINGS: dict[tuple[RiskBand, RiskBand], Crossing] = {
    (RiskBand.SAFE, RiskBand.SAFE): _NOTHING,
    (RiskBand.SAFE, RiskBand.WARNING): Crossing(warn=True, liquidate=False),
    (RiskBand.SAFE, RiskBand.LIQUIDATION): Crossing(warn=True, liquidate=True),
    (RiskBand.WARNING, RiskBand.SAFE): _NOTHING,
    (RiskBand.WARNING, RiskBand.WARNING): _NOTHING,
    (RiskBand.WARNING, RiskBand.LIQUIDATION): Crossing(warn=False, liquidate=True),
    (RiskBand.LIQUIDATION, RiskBand.SAFE): _NOTHING,
    (RiskBand.LIQUIDATION, RiskBand.WARNING): _NOTHING,
    # A liquidation that could not be started is started by the next scan; its id makes it one.
    (RiskBand.LIQUIDATION, RiskBand.LIQUIDATION): Crossing(warn=False, liquidate=True),
}


def risk_band_of(figures: MarginFigures) -> RiskBand:
    """The risk band of an account's level; an account without debt is safe."""
    if figures.must_liquidate:
        return RiskBand.LIQUIDATION
    return RiskBand.WARNING if figures.is_at_risk else RiskBand.SAFE


def crossing(before: RiskBand, now: RiskBand) -> Crossing:
    """The actions for an account that was in risk band `before` at the last scan and is in risk band `now`."""
    return CROSSINGS[before, now]
