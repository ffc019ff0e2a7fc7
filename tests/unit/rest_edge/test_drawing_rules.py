"""What a change makes of the drawings of a market, and which bodies are refused."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from openspot.rest_edge.drawings.rules import (
    MARKET_MAX,
    PUT_MAX,
    USER_MAX,
    MarketFullError,
    UserFullError,
    changed,
)
from openspot.rest_edge.drawings.schemas import TEXT_LENGTH_MAX, DrawingBody, DrawingsChangeBody
from openspot.rest_edge.settings import RestEdgeSettings

POINT = {"time": 1, "price": "2"}
LINE = {"id": "a", "kind": "trend_line", "points": [POINT, POINT]}


def drawn(number: int) -> dict[str, str]:
    return {str(index): "" for index in range(number)}


def test_what_is_put_again_is_replaced_in_its_place_and_a_repeat_changes_nothing() -> None:
    once = changed({"a": "1", "b": "1", "c": "1"}, {"d": "2", "a": "2"}, ["b"], 0)
    assert list(once.items()) == [("a", "2"), ("c", "1"), ("d", "2")]
    assert changed(once, {"d": "2", "a": "2"}, ["b"], 0) == once


def test_markets_and_users_have_bounds_and_a_full_one_can_be_changed_and_emptied() -> None:
    full = drawn(MARKET_MAX)
    with pytest.raises(MarketFullError):
        changed(full, {"new": ""}, [], 0)
    assert len(changed(full, {"new": ""}, ["0"], USER_MAX)) == MARKET_MAX
    assert changed(full, {"0": "moved"}, [], USER_MAX)["0"] == "moved"
    # From a time when the bound was another.
    assert len(changed(drawn(MARKET_MAX + 2), {}, ["0"], 0)) == MARKET_MAX + 1
    with pytest.raises(UserFullError):
        changed({}, {"new": ""}, [], USER_MAX)
    assert changed({}, {"new": ""}, [], USER_MAX - 1)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": "a b"}, "id"),
        ({"kind": "circle"}, "kind"),
        ({"points": [POINT]}, "points must be 2 of a trend_line"),
        ({"kind": "text", "points": [POINT]}, "text must not be empty of a text"),
        ({"kind": "horizontal_line"}, "points must be 1 of a horizontal_line"),
        ({"points": [POINT, {"time": -1, "price": "2"}]}, "points.1.time"),
        ({"points": [POINT, {"time": 10**15, "price": "2"}]}, "points.1.time"),
        ({"points": [POINT, {"time": 1, "price": "0"}]}, "points.1.price"),
        ({"points": [POINT, {"time": 1, "price": "NaN"}]}, "points.1.price"),
        ({"colour": "#123456"}, "colour"),
        ({"width": 4}, "width"),
        ({"width": True}, "width"),
        ({"text": "x" * (TEXT_LENGTH_MAX + 1)}, "text"),
        ({"text": "two\nlines"}, "text"),
        ({"more": 1}, "more"),
    ],
)
def test_a_drawing_that_cannot_be_drawn_is_refused(change: dict[str, Any], reason: str) -> None:
    DrawingBody.model_validate(LINE)
    with pytest.raises(ValidationError) as refused:
        DrawingBody.model_validate(LINE | change)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "body must name something to change"),
        ({"put": [LINE, LINE]}, "put must not name a drawing twice"),
        ({"remove": ["a", "a"]}, "remove must not name a drawing twice"),
        ({"put": [LINE], "remove": ["a"]}, "put and remove must not both name a"),
        ({"put": [LINE | {"id": str(number)} for number in range(PUT_MAX + 1)]}, f"at most {PUT_MAX}"),
        ({"remove": [str(number) for number in range(MARKET_MAX + 1)]}, f"at most {MARKET_MAX}"),
    ],
)
def test_a_change_that_means_nothing_definite_is_refused(body: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError) as refused:
        DrawingsChangeBody.model_validate(body)
    assert reason in str(refused.value)


def test_the_largest_change_fits_into_the_largest_body_of_a_request() -> None:
    point = {"time": 253_402_300_799_999, "price": "1234567890123456789.123456789012345678"}
    text = "\N{GRINNING FACE}" * TEXT_LENGTH_MAX
    drawing = {"id": "x" * 36, "kind": "horizontal_line", "points": [point, point], "colour": "purple", "width": 3}
    put = [drawing | {"id": f"{number:036}", "text": text} for number in range(PUT_MAX)]
    body = json.dumps({"put": put, "remove": ["x" * 36] * MARKET_MAX}, ensure_ascii=False)
    assert len(body.encode()) < RestEdgeSettings.model_fields["body_bytes_max"].default
