"""The rules of price alerts: which definitions are sound, and when an alert fires. Pure.

An alert waits for one price from one side: its own price until it fires, and, if it is to be armed again by a distance,
the price that is so far back from it. So one index of (market, side, price) finds the alerts that a price reaches.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from openspot.domain.fair_price.band import PriceReference
from openspot.domain.money import decimal_to_text

INTERVAL_S_MIN = 60
"""A repeating alert rests for at least this long after it has fired, so that a price that hovers sends few mails."""
INTERVAL_S_MAX = 2_592_000


class PriceSide(StrEnum):
    """From which side a price is waited for."""

    ABOVE = "above"
    """A price at or above the alert's."""
    BELOW = "below"
    """A price at or below the alert's."""

    @property
    def opposite(self) -> "PriceSide":
        """The other side."""
        return PriceSide.BELOW if self is PriceSide.ABOVE else PriceSide.ABOVE

    def is_reached(self, level: Decimal, price: Decimal) -> bool:
        """Whether `price` is at `level` or beyond it."""
        return price >= level if self is PriceSide.ABOVE else price <= level


class AlertState(StrEnum):
    """What an alert does now."""

    ARMED = "armed"
    """The next price at its price or beyond fires it."""
    WAITING = "waiting"
    """It has fired, and is armed again by its distance or after its interval."""
    FIRED = "fired"
    """It has fired, and does so no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What the user wants to be told. Distance (in the quote currency) and interval belong to repeating alerts."""

    symbol: str
    source: PriceReference
    direction: PriceSide
    price: Decimal
    note: str | None
    repeat: bool
    rearm_distance: Decimal | None
    interval_s: int | None

    def condition(self) -> "Definition":
        """The definition without the note, which decides nothing."""
        return replace(self, note=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an alert has come. `waits_for` is None once it has fired for good; `level` is the price waited for.

    `rests_until`: until then a price does not fire it.
    """

    waits_for: PriceSide | None
    level: Decimal | None
    rests_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """A price that was seen: of a trade with its engine sequence, or a fair price, which has the sequence 0."""

    price: Decimal
    at: datetime
    sequence: int


def faults_of(definition: Definition) -> list[str]:
    """What is wrong with a definition: a text for each fault, which names the field."""
    faults = []
    if not definition.repeat:
        faults += [
            f"{name} is for alerts with repeat"
            for name, value in (
                ("rearmDistance", definition.rearm_distance),
                ("minimumIntervalSeconds", definition.interval_s),
            )
            if value is not None
        ]
    elif definition.rearm_distance is None and definition.interval_s is None:
        faults.append("rearmDistance or minimumIntervalSeconds is required for an alert with repeat")
    if (
        definition.direction is PriceSide.ABOVE
        and definition.rearm_distance is not None
        and definition.rearm_distance >= definition.price
    ):
        faults.append("rearmDistance must be less than price: the price would have to fall to 0")
    return faults


def armed(definition: Definition) -> Progress:
    """The progress of an alert that is armed."""
    return Progress(waits_for=definition.direction, level=definition.price)


def state_of(definition: Definition, progress: Progress, now: datetime) -> AlertState:
    """The state as the user sees it."""
    if progress.waits_for is None:
        return AlertState.FIRED
    rests = progress.rests_until is not None and progress.rests_until > now
    return AlertState.WAITING if rests or progress.waits_for is not definition.direction else AlertState.ARMED


def judged(
    definition: Definition, progress: Progress, observations: Sequence[Observation]
) -> tuple[Progress, list[Observation]]:
    """What the observations, oldest first, make of an alert: its progress after them, and those that fired it."""
    firings = []
    for seen in observations:
        if progress.waits_for is None or progress.level is None:
            break
        if not progress.waits_for.is_reached(progress.level, seen.price):
            continue
        if progress.waits_for is not definition.direction:
            progress = replace(progress, waits_for=definition.direction, level=definition.price)
        elif progress.rests_until is None or progress.rests_until <= seen.at:
            firings.append(seen)
            progress = _after_firing(definition, seen.at)
    return progress, firings


def notification_text(definition: Definition, seen: Observation) -> str:
    """What the user is told."""
    quote = definition.symbol.partition("-")[2]
    what = "The last trade was at" if definition.source is PriceReference.LAST_TRADE else "The fair price is"
    note = "" if definition.note is None else f" Your note: {definition.note}"
    return (
        f"{what} {decimal_to_text(seen.price)} {quote}: at or {definition.direction} "
        f"{decimal_to_text(definition.price)} {quote}.{note}"
    )


def _after_firing(definition: Definition, at: datetime) -> Progress:
    if not definition.repeat:
        return Progress(waits_for=None, level=None)
    rests_until = at + timedelta(seconds=definition.interval_s or INTERVAL_S_MIN)
    if definition.rearm_distance is None:
        return replace(armed(definition), rests_until=rests_until)
    back = -definition.rearm_distance if definition.direction is PriceSide.ABOVE else definition.rearm_distance
    return Progress(waits_for=definition.direction.opposite, level=definition.price + back, rests_until=rests_until)
