"""The alternative names of order states follow from the states (fact A3.2-01)."""

import pytest

from openspot.domain.order import OrderStatus
from openspot.domain.order_naming import NAME_TRANSITIONS, OrderName, order_name

DECIDED = {
    "PendingNew": {"New", "Cancelled", "Expired", "Rejected"},
    "New": {"PartiallyFilled", "Filled", "Cancelled", "Expired", "Rejected"},
    "PartiallyFilled": {"PartiallyFilled", "Filled", "Cancelled", "Expired"},
    "Filled": set(),
    "Cancelled": set(),
    "Rejected": set(),
    "Expired": set(),
}


@pytest.mark.spec("A3.2-01")
def test_the_names_are_those_of_the_spec_and_their_transitions_the_decided_ones() -> None:
    assert {str(name) for name in OrderName} == set(DECIDED)
    transitions = {name: {str(after) for before, after in NAME_TRANSITIONS if before == name} for name in DECIDED}
    assert transitions == DECIDED


@pytest.mark.spec("A3.2-01")
@pytest.mark.parametrize(
    ("status", "may_rest", "name"),
    [
        ("pending", True, "PendingNew"),
        ("open", True, "New"),
        ("partially_filled", True, "PartiallyFilled"),
        ("filled", True, "Filled"),
        ("filled", False, "Filled"),
        ("rejected", False, "Rejected"),
        ("cancelled", True, "Cancelled"),
        ("cancelled", False, "Expired"),
    ],
)
def test_each_state_has_one_name(status: str, may_rest: bool, name: str) -> None:
    assert order_name(OrderStatus(status), may_rest=may_rest) == name
