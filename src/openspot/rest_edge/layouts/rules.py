"""The rules of layouts: the panels that there are, and what a layout of them may look like. Pure."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

COLUMNS = 24
"""Columns of the screen."""
HEIGHT_MIN = 6
HEIGHT_MAX = 60
"""Rows of one panel."""


class WidthClass(StrEnum):
    """The windows that share a layout: each class has its own."""

    TABLET = "tablet"
    LAPTOP = "laptop"
    WIDE = "wide"


class PanelId(StrEnum):
    """The panels of the trading screen."""

    CHART = "chart"
    BOOK = "book"
    TRADES = "trades"
    FORM = "form"
    ORDERS = "orders"
    DEPTH = "depth"
    MARKETS = "markets"
    CHART_2 = "chart-2"
    CHART_3 = "chart-3"
    CHART_4 = "chart-4"


OWN_CHARTS = (PanelId.CHART_2, PanelId.CHART_3, PanelId.CHART_4)
"""The further charts: each names what it shows."""
PANELS_MAX = len(PanelId)
COLUMNS_MIN = {WidthClass.TABLET: 9, WidthClass.LAPTOP: 5, WidthClass.WIDE: 4}
"""The columns below which a panel cannot be read."""


class PlacedPanel(Protocol):
    """A panel with the columns that it has."""

    @property
    def id(self) -> PanelId:
        """Which panel it is."""

    @property
    def w(self) -> int:
        """How many columns it has."""


def layout_fault(width: WidthClass, panels: Sequence[PlacedPanel]) -> str | None:
    """Why these panels are no layout of this class, with the field in front, or None if they are one."""
    names = [panel.id for panel in panels]
    if len(set(names)) < len(names):
        return "panels must not name a panel twice"
    for place, panel in enumerate(panels):
        if panel.w < COLUMNS_MIN[width]:
            return f"panels.{place}.w must be at least {COLUMNS_MIN[width]} on a {width} screen"
    return None
