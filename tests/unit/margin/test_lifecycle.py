"""State machines of margin accounts, positions and loans are their tables, and nothing else."""

from enum import StrEnum

import pytest

from openspot.margin.lifecycle import (
    ACCOUNT_TRANSITIONS,
    LOAN_TRANSITIONS,
    POSITION_TRANSITIONS,
    AccountStatus,
    AccountTrigger,
    LoanStatus,
    LoanTrigger,
    MarginPositionStatus,
    MarginPositionTrigger,
    account_close_error,
    next_account_status,
    next_loan_status,
    next_position_status,
)

A, AT, L, LT, P, PT = (
    AccountStatus,
    AccountTrigger,
    LoanStatus,
    LoanTrigger,
    MarginPositionStatus,
    MarginPositionTrigger,
)


@pytest.mark.spec("A3.2-05")
@pytest.mark.parametrize(
    ("before", "trigger", "after"),
    [
        (A.ACTIVE, AT.LIQUIDATION_STARTED, A.LIQUIDATING),
        (A.LIQUIDATING, AT.LIQUIDATION_SETTLED, A.ACTIVE),
        (A.ACTIVE, AT.CLOSE_REQUESTED, A.CLOSED),
        (A.LIQUIDATING, AT.CLOSE_REQUESTED, None),
        (A.LIQUIDATING, AT.LIQUIDATION_STARTED, None),
        (A.ACTIVE, AT.LIQUIDATION_SETTLED, None),
    ],
)
def test_an_account_moves_as_its_table_says(before: A, trigger: AT, after: A | None) -> None:
    assert next_account_status(before, trigger) is after


@pytest.mark.spec("A3.2-05")
@pytest.mark.parametrize(
    ("before", "trigger", "after"),
    [
        (L.PENDING, LT.FUNDED, L.ACTIVE),
        (L.PENDING, LT.POOL_EMPTY, L.REFUSED),
        (L.ACTIVE, LT.PARTLY_REPAID, L.ACTIVE),
        (L.ACTIVE, LT.FULLY_REPAID, L.REPAID),
        (L.ACTIVE, LT.LOSS_COVERED, L.WRITTEN_OFF),
        (L.PENDING, LT.FULLY_REPAID, None),
        (L.ACTIVE, LT.FUNDED, None),
    ],
)
def test_a_loan_moves_as_its_table_says(before: L, trigger: LT, after: L | None) -> None:
    assert next_loan_status(before, trigger) is after


@pytest.mark.parametrize(
    ("before", "trigger", "after"),
    [
        (P.OPENING, PT.OPEN_FILLED, P.OPEN),
        (P.OPENING, PT.OPEN_FAILED, P.FAILED),
        (P.OPENING, PT.LIQUIDATION_STARTED, None),
        (P.OPEN, PT.CLOSE_REQUESTED, P.CLOSING),
        (P.CLOSING, PT.CLOSE_FILLED, P.CLOSED),
        (P.CLOSING, PT.CLOSE_ABANDONED, P.OPEN),
        (P.OPEN, PT.LIQUIDATION_STARTED, P.LIQUIDATING),
        (P.CLOSING, PT.LIQUIDATION_STARTED, P.LIQUIDATING),
        (P.LIQUIDATING, PT.LIQUIDATION_FILLED, P.LIQUIDATED),
        (P.LIQUIDATING, PT.CLOSE_REQUESTED, None),
        (P.LIQUIDATING, PT.CLOSE_FILLED, None),
    ],
)
def test_a_position_moves_as_its_table_says(before: P, trigger: PT, after: P | None) -> None:
    assert next_position_status(before, trigger) is after


@pytest.mark.parametrize(
    ("table", "final", "size"),
    [
        (ACCOUNT_TRANSITIONS, {A.CLOSED}, 3),
        (LOAN_TRANSITIONS, {L.REPAID, L.REFUSED, L.WRITTEN_OFF}, 5),
        (POSITION_TRANSITIONS, {P.FAILED, P.CLOSED, P.LIQUIDATED}, 9),
    ],
)
def test_final_states_have_no_way_out_and_there_are_no_other_transitions(
    table: dict[tuple[StrEnum, StrEnum], StrEnum], final: set[StrEnum], size: int
) -> None:
    assert not [before for before, _ in table if before in final]
    assert final <= set(table.values())
    assert len(table) == size


def test_an_account_closes_only_without_loans_and_positions() -> None:
    assert account_close_error(0, 0) is None
    assert account_close_error(2, 0) == "account has 2 open loans"
    assert account_close_error(0, 1) == "account has 1 open positions"
