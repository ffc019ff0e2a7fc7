"""Warnings: a user is warned when the level crosses the warning level, and not at each scan.

A margin level lies in one of three risk bands. Each scan compares the account's risk band with that of the scan before.
Only a step from `safe` down to a lower band publishes margin.liquidation.warning. An account that is opened in a lower
band counts as one that came from `safe`, and is warned once. An account that falls from `safe` straight to
`liquidation` is warned and liquidated.
"""

from enum import StrEnum
from typing import NamedTuple

from openspot.margin.figures import MarginFigures


class RiskBand(StrEnum):
    """The range of a margin level: above 150 %; at or below 150 %; at or below 105 %."""

    SAFE = "safe"
    WARNING = "warning"
    LIQUIDATION = "liquidation"


class Crossing(NamedTuple):
    """The actions of a scan for an account."""

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
    # If a scan could not begin the liquidation, the next one does. Its id prevents a second one.
    (RiskBand.LIQUIDATION, RiskBand.LIQUIDATION): Crossing(warn=False, liquidate=True),
}


def risk_band_of(figures: MarginFigures) -> RiskBand:
    """The risk band of an account's level. An account without debt is safe."""
    if figures.must_liquidate:
        return RiskBand.LIQUIDATION
    return RiskBand.WARNING if figures.is_at_risk else RiskBand.SAFE


def crossing(before: RiskBand, now: RiskBand) -> Crossing:
    """The actions for an account that was in band `before` at the last scan and is in band `now`."""
    return CROSSINGS[before, now]
