"""Request and response bodies of layouts."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from openspot.contracts.messages.message import Count, Message, TimeText, listed
from openspot.domain.candles import Interval
from openspot.http.validation import Body, NoBoolean, Symbol, example, rule_broken
from openspot.rest_edge.layouts.rules import (
    COLUMNS,
    HEIGHT_MAX,
    HEIGHT_MIN,
    OWN_CHARTS,
    PANELS_MAX,
    PanelId,
    WidthClass,
)

_VERSION_MAX = 2**53 - 1
"""The largest whole number that a page counts to exactly."""


class LayoutChartBody(Body):
    """What a further chart shows, and how. `symbol` is a market, or null for the market of the page."""

    symbol: Symbol | None
    interval: Interval
    logarithmic: Annotated[bool, Field(strict=True)] = False


class LayoutPanelBody(Body):
    """A panel: its first column `x` from 0, its columns `w` (24 in all) and its rows `h`.

    It falls upwards until it meets a panel that is before it in the list. `chart` says what a further chart shows.
    """

    id: PanelId
    x: Annotated[int, Field(ge=0, lt=COLUMNS), NoBoolean]
    w: Annotated[int, Field(ge=1, le=COLUMNS), NoBoolean]
    h: Annotated[int, Field(ge=HEIGHT_MIN, le=HEIGHT_MAX), NoBoolean]
    chart: LayoutChartBody | None = None

    @model_validator(mode="after")
    def is_whole(self) -> Self:
        """Refuse a panel that is not within the columns, and one that shows a chart though it is none, or none."""
        if self.x + self.w > COLUMNS:
            raise rule_broken(f"x and w must be {COLUMNS} together at most")
        if (self.chart is None) is (self.id in OWN_CHARTS):
            raise rule_broken(f"chart must be given of the panels {', '.join(OWN_CHARTS)}, and of no other")
        return self


class ScreenLayoutBody(Body):
    """The layout to keep. Without panels the screen has its standard.

    `version` is the one that you have read, 0 if there was none: another one refuses it.
    """

    model_config = example(
        {
            "version": 0,
            "panels": [
                {"id": "chart", "x": 0, "w": 14, "h": 20},
                {"id": "form", "x": 14, "w": 10, "h": 20},
                {"id": "chart-2", "x": 0, "w": 24, "h": 12, "chart": {"symbol": "ETH-USD", "interval": "1h"}},
            ],
        }
    )

    version: Annotated[int, Field(ge=0, le=_VERSION_MAX), NoBoolean]
    panels: Annotated[list[LayoutPanelBody], Field(max_length=PANELS_MAX)]


class LayoutChart(Message, frozen=True):
    """What a further chart shows, and how. `symbol` is a market, or null for the market of the page."""

    symbol: str | None
    interval: Annotated[str, listed(*Interval)]
    logarithmic: bool


class LayoutPanel(Message, frozen=True):
    """A panel of the trading screen: first column, columns and rows. `chart` is null but of further charts."""

    id: Annotated[str, listed(*PanelId)]
    x: int
    w: int
    h: int
    chart: LayoutChart | None


class ScreenLayout(Message, frozen=True):
    """A layout that you keep. Without panels the screen has its standard. Each change makes `version` one more."""

    width: Annotated[str, listed(*WidthClass)]
    version: Count
    panels: list[LayoutPanel]
    updated_at: TimeText
