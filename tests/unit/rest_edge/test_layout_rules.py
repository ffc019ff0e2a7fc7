"""Which panels are a layout, and which bodies are refused, each with its field."""

from typing import Any

import pytest
from pydantic import ValidationError

from openspot.rest_edge.layouts.rules import PANELS_MAX, WidthClass, layout_fault
from openspot.rest_edge.layouts.schemas import ScreenLayoutBody

CHART = {"id": "chart", "x": 0, "w": 14, "h": 20}
SECOND = {"id": "chart-2", "x": 14, "w": 10, "h": 20, "chart": {"symbol": None, "interval": "4h"}}


def body(*panels: dict[str, Any]) -> ScreenLayoutBody:
    return ScreenLayoutBody.model_validate({"version": 0, "panels": list(panels)})


@pytest.mark.parametrize(
    ("width", "columns", "fault"),
    [
        ("tablet", 9, None),
        ("tablet", 8, "panels.1.w must be at least 9 on a tablet screen"),
        ("laptop", 5, None),
        ("laptop", 4, "panels.1.w must be at least 5 on a laptop screen"),
        ("wide", 4, None),
        ("wide", 3, "panels.1.w must be at least 4 on a wide screen"),
    ],
)
def test_a_panel_can_be_read_on_its_width(width: str, columns: int, fault: str | None) -> None:
    assert layout_fault(WidthClass(width), body(CHART, SECOND | {"w": columns}).panels) == fault


def test_a_layout_names_each_panel_once() -> None:
    assert layout_fault(WidthClass.WIDE, body(CHART, CHART).panels) == "panels must not name a panel twice"
    assert layout_fault(WidthClass.WIDE, body().panels) is None


@pytest.mark.parametrize(
    ("panel", "said"),
    [
        (CHART | {"id": "news"}, "id"),
        (CHART | {"x": -1}, "x"),
        (CHART | {"x": 11}, "x and w must be 24 together at most"),
        (CHART | {"h": 5}, "h"),
        (CHART | {"h": 61}, "h"),
        (CHART | {"h": True}, "h"),
        (CHART | {"chart": SECOND["chart"]}, "chart must be given of the panels chart-2, chart-3, chart-4"),
        (SECOND | {"chart": None}, "chart must be given of the panels chart-2, chart-3, chart-4"),
        (SECOND | {"chart": {"symbol": "eth", "interval": "4h"}}, "chart.symbol"),
        (SECOND | {"chart": {"symbol": None, "interval": "2h"}}, "chart.interval"),
        (SECOND | {"chart": {"symbol": None, "interval": "4h", "logarithmic": 1}}, "chart.logarithmic"),
    ],
)
def test_what_is_no_panel_is_refused_at_its_field(panel: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        body(panel)
    [error] = refused.value.errors()
    assert said in f"{'.'.join(str(part) for part in error['loc'][2:])}: {error['msg']}"


def test_a_layout_has_no_more_panels_than_there_are() -> None:
    assert PANELS_MAX == 10
    with pytest.raises(ValidationError, match="panels"):
        body(*([CHART] * 11))
