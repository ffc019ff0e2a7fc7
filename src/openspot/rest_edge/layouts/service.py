"""Layouts as users keep them."""

from openspot.http.errors import HttpError, validation_error
from openspot.kit.clock import DateClock, iso_of, utc_now
from openspot.rest_edge.layouts.rules import WidthClass, layout_fault
from openspot.rest_edge.layouts.schemas import LayoutChart, LayoutPanel, LayoutPanelBody, ScreenLayout, ScreenLayoutBody
from openspot.rest_edge.layouts.store import LayoutChangedError, LayoutStore, StoredLayout


class LayoutService:
    """Handles the requests to the routes of layouts. Methods raise HttpError to refuse a request."""

    def __init__(self, store: LayoutStore, now: DateClock = utc_now) -> None:
        self._store = store
        self._now = now

    async def all_of(self, user_id: str) -> list[ScreenLayout]:
        """The user's layouts, by width class."""
        return [_shown(layout) for layout in await self._store.all_of(user_id)]

    async def put(self, user_id: str, width: WidthClass, body: ScreenLayoutBody) -> ScreenLayout:
        """Keep a layout, unless it was changed since the user has read it."""
        fault = layout_fault(width, body.panels)
        if fault is not None:
            raise validation_error([fault])
        panels = [_panel(panel) for panel in body.panels]
        try:
            return _shown(await self._store.put(user_id, width, body.version, panels, self._now()))
        except LayoutChangedError as error:
            message = f"the layout was changed elsewhere: it has version {error.version}, not {body.version}"
            raise HttpError(409, message, "LAYOUT_CHANGED", details={"version": error.version}) from None


def _panel(body: LayoutPanelBody) -> LayoutPanel:
    chart = (
        None
        if body.chart is None
        else LayoutChart(body.chart.symbol, body.chart.interval.value, body.chart.logarithmic)
    )
    return LayoutPanel(body.id.value, body.x, body.w, body.h, chart)


def _shown(layout: StoredLayout) -> ScreenLayout:
    return ScreenLayout(layout.width, layout.version, list(layout.panels), iso_of(layout.updated_at))
