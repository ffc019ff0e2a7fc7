"""The calls about layouts."""

from collections.abc import Mapping, Sequence
from typing import Any

from openspot.client.calls import Calls, segment
from openspot.client.gen.records import ScreenLayout


class LayoutCalls(Calls):
    """Layouts: where the user has put the panels of the trading screen. An API key cannot make these calls."""

    async def layouts(self) -> list[ScreenLayout]:
        """The user's layouts, by width class."""
        return await self._call("GET", "/layouts", list[ScreenLayout])

    async def put_layout(self, width: str, panels: Sequence[Mapping[str, Any]], *, version: int) -> ScreenLayout:
        """Keep the layout of a width class (`tablet`, `laptop` or `wide`). Without panels the screen has its standard.

        A panel: `id`, `x` (its first column from 0), `w` (its columns of 24), `h` (its rows), and of a further chart
        `chart` (`symbol`, or None for the page's market, `interval` and `logarithmic`). `version` is the one that was
        read, 0 if there was none. Raises ApiError 409 LAYOUT_CHANGED if there is another one by now.
        """
        body = {"version": version, "panels": [dict(panel) for panel in panels]}
        return await self._call("PUT", f"/layouts/{segment(width)}", ScreenLayout, body=body)
