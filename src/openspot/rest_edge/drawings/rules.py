"""The rules of drawings: their kinds, what a change makes of those of a market, and how many there may be. Pure."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

Drawn = TypeVar("Drawn")

MARKET_MAX = 100
"""Drawings of one user on one market."""
USER_MAX = 2000
"""Drawings of one user on all markets."""
PUT_MAX = 50
"""Drawings that one change puts: with the longest texts they fit into the largest body of a request."""


class DrawingKind(StrEnum):
    """What is drawn."""

    TREND_LINE = "trend_line"
    RAY = "ray"
    HORIZONTAL_LINE = "horizontal_line"
    FIBONACCI = "fibonacci"
    RECTANGLE = "rectangle"
    TEXT = "text"


class DrawingColour(StrEnum):
    """The colours by name: each theme of the screen has its own shade."""

    BLUE = "blue"
    ORANGE = "orange"
    PURPLE = "purple"
    TEAL = "teal"
    PINK = "pink"
    GREY = "grey"


POINTS = {
    DrawingKind.TREND_LINE: 2,
    DrawingKind.RAY: 2,
    DrawingKind.HORIZONTAL_LINE: 1,
    DrawingKind.FIBONACCI: 2,
    DrawingKind.RECTANGLE: 2,
    DrawingKind.TEXT: 1,
}
"""How many points a drawing has."""


class MarketFullError(Exception):
    """The market would have more than MARKET_MAX drawings of the user."""


class UserFullError(Exception):
    """The user would have more than USER_MAX drawings."""


def changed(
    before: Mapping[str, Drawn], put: Mapping[str, Drawn], removed: Iterable[str], elsewhere: int
) -> dict[str, Drawn]:
    """The drawings of a market by id after a change: those that stay in their order, then the new ones.

    A drawing that is put replaces the one with its id. `elsewhere`: how many drawings the user has on other markets.
    Raises MarketFullError or UserFullError, but never for what only makes them fewer: so a change may be repeated.
    """
    gone = set(removed)
    after = {name: drawn for name, drawn in before.items() if name not in gone} | dict(put)
    if len(after) > max(MARKET_MAX, len(before)):
        raise MarketFullError
    if len(after) > len(before) and len(after) + elsewhere > USER_MAX:
        raise UserFullError
    return after
