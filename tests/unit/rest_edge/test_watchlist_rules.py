"""What a change makes of a watchlist."""

import pytest
from pydantic import ValidationError

from openspot.rest_edge.watchlists.rules import MARKETS_MAX, WatchlistFullError, changed
from openspot.rest_edge.watchlists.schemas import WatchlistChangeBody


def test_what_stays_keeps_its_order_and_new_markets_come_behind() -> None:
    assert changed(["A-USD", "B-USD", "C-USD"], ["D-USD", "A-USD"], ["B-USD"]) == ["A-USD", "C-USD", "D-USD"]


def test_a_repeated_change_changes_nothing() -> None:
    once = changed(["A-USD"], ["B-USD"], ["A-USD"])
    assert changed(once, ["B-USD"], ["A-USD"]) == once == ["B-USD"]


def test_a_list_has_a_bound_and_a_full_one_can_be_emptied() -> None:
    full = [f"M{number}-USD" for number in range(MARKETS_MAX)]
    with pytest.raises(WatchlistFullError):
        changed(full, ["A-USD"], [])
    assert changed(full, ["A-USD"], ["M0-USD"])[-1] == "A-USD"
    # From a time when the bound was another.
    assert changed([*full, "A-USD", "B-USD"], [], ["A-USD"]) == [*full, "B-USD"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "body must name something to change"),
        ({"add": ["AB-USD"] * 2}, "add must not name a market twice"),
        ({"remove": ["AB-USD"] * 2}, "remove must not name a market twice"),
        ({"add": ["AB-USD"], "remove": ["AB-USD"]}, "add and remove must not both name AB-USD"),
        ({"add": [f"M{number}-USD" for number in range(MARKETS_MAX + 1)]}, "at most 500"),
        ({"add": ["no market"]}, "add.0"),
    ],
)
def test_a_body_that_means_nothing_definite_is_refused(body: dict[str, list[str]], reason: str) -> None:
    with pytest.raises(ValidationError) as refused:
        WatchlistChangeBody.model_validate(body)
    assert reason in str(refused.value)
