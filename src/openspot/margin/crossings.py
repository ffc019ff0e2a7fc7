"""Warnings: one for each crossing of the warning level, none for each scan.

A margin level lies in one of three zones. Each scan compares the account's zone with that of the scan before; only
a step down into the warning zone or below publishes margin.liquidation.warning. An account that is opened inside the
warning zone came from the safe one, and is warned once. An account that falls from safety straight to the
liquidation level is warned and liquidated.
"""

from enum import StrEnum
from typing import NamedTuple

from openspot.margin.figures import MarginFigures


class Zone(StrEnum):
    """Where a margin level lies: above 150 %, at or below it, at or below 105 %."""

    SAFE = "safe"
    WARNING = "warning"
    LIQUIDATION = "liquidation"


class Crossing(NamedTuple):
    """Actions that a scan takes for an account."""

    warn: bool
    liquidate: bool


_NOTHING = Crossing(warn=False, liquidate=False)

CROSSINGS: dict[tuple[Zone, Zone], Crossing] = {
    (Zone.SAFE, Zone.SAFE): _NOTHING,
    (Zone.SAFE, Zone.WARNING): Crossing(warn=True, liquidate=False),
    (Zone.SAFE, Zone.LIQUIDATION): Crossing(warn=True, liquidate=True),
    (Zone.WARNING, Zone.SAFE): _NOTHING,
    (Zone.WARNING, Zone.WARNING): _NOTHING,
    (Zone.WARNING, Zone.LIQUIDATION): Crossing(warn=False, liquidate=True),
    (Zone.LIQUIDATION, Zone.SAFE): _NOTHING,
    (Zone.LIQUIDATION, Zone.WARNING): _NOTHING,
    # A liquidation that could not be started is started by the next scan; its id makes it one.
    (Zone.LIQUIDATION, Zone.LIQUIDATION): Crossing(warn=False, liquidate=True),
}


def zone_of(figures: MarginFigures) -> Zone:
    """The zone of an account's level; an account without debt is safe."""
    if figures.must_liquidate:
        return Zone.LIQUIDATION
    return Zone.WARNING if figures.is_at_risk else Zone.SAFE


def crossing(before: Zone, now: Zone) -> Crossing:
    """The actions for an account that was in zone `before` at the last scan and is in zone `now`."""
    return CROSSINGS[before, now]
