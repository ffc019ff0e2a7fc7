"""The state machine of an order is the table of the facts A3.1-01 to A3.1-14, and nothing else."""

import pytest

from openspot.domain.order import TERMINAL, TRANSITIONS, OrderStatus, OrderTrigger, next_status

P, O, F, PF, C, R = (  # noqa: E741
    OrderStatus.PENDING,
    OrderStatus.OPEN,
    OrderStatus.FILLED,
    OrderStatus.PARTIALLY_FILLED,
    OrderStatus.CANCELLED,
    OrderStatus.REJECTED,
)
T = OrderTrigger


@pytest.mark.spec(
    "A3.1-02", "A3.1-03", "A3.1-04", "A3.1-05", "A3.1-06", "A3.1-07", "A3.1-08", "A3.1-09", "A3.1-10", "A3.1-11"
)
@pytest.mark.parametrize(
    ("before", "trigger", "after"),
    [
        (P, T.ACCEPTED, O),
        (P, T.PRE_TRADE_FAILURE, R),
        (P, T.ENGINE_REJECTED, R),
        (P, T.ENGINE_CANCELLED, C),
        (O, T.ENGINE_REJECTED, R),
        (O, T.PARTIAL_FILL, PF),
        (O, T.COMPLETING_FILL, F),
        (O, T.CANCEL, C),
        (PF, T.PARTIAL_FILL, PF),
        (PF, T.COMPLETING_FILL, F),
        (PF, T.CANCEL, C),
    ],
)
def test_each_transition_leads_where_the_table_says(
    before: OrderStatus, trigger: OrderTrigger, after: OrderStatus
) -> None:
    assert next_status(before, trigger) is after


def test_there_are_no_other_transitions() -> None:
    assert len(TRANSITIONS) == 11


@pytest.mark.spec("A3.1-12", "A3.1-13", "A3.1-14")
@pytest.mark.parametrize("status", sorted(TERMINAL))
@pytest.mark.parametrize("trigger", list(OrderTrigger))
def test_terminal_states_have_no_way_out(status: OrderStatus, trigger: OrderTrigger) -> None:
    assert next_status(status, trigger) is None


@pytest.mark.spec("A2.1-11")
def test_the_states_are_the_six_of_the_spec() -> None:
    assert {str(status) for status in OrderStatus} == {
        "pending",
        "open",
        "partially_filled",
        "filled",
        "cancelled",
        "rejected",
    }
