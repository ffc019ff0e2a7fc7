"""State machines of transfers and positions are their tables, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.positions.lifecycle import (
    BALANCE_EFFECTS,
    TRANSFER_TRANSITIONS,
    BalanceChange,
    PositionTransferKind,
    PositionTransferStatus,
    TransferError,
    TransferStep,
    TransferTrigger,
    transfer_step,
)

K, S, T = PositionTransferKind, PositionTransferStatus, TransferTrigger
NOTHING = BalanceChange(0, 0)


@pytest.mark.spec("A2.8-16")
def test_a_transfer_is_a_deposit_a_withdrawal_or_an_adjustment() -> None:
    assert {str(kind) for kind in PositionTransferKind} == {"deposit", "withdrawal", "adjustment"}


@pytest.mark.spec("A3.2-02")
@pytest.mark.parametrize(
    ("before", "trigger", "after"),
    [
        (None, T.CREATE, S.PENDING),
        (S.PENDING, T.COMPLETE, S.COMPLETED),
        (S.PENDING, T.CANCEL, S.CANCELLED),
    ],
)
def test_a_transfer_moves_as_its_table_says(before: S | None, trigger: T, after: S) -> None:
    step = transfer_step(K.DEPOSIT, before, trigger, 5)
    assert (step.status, step.repeated) == (after, False)


@pytest.mark.spec("A3.2-02")
@pytest.mark.parametrize(
    ("before", "trigger", "message"),
    [
        (S.COMPLETED, T.CANCEL, "cannot cancel a transfer that is completed"),
        (S.CANCELLED, T.COMPLETE, "cannot complete a transfer that is cancelled"),
        (S.PENDING, T.CREATE, "cannot create a transfer that is pending"),
        (S.COMPLETED, T.CREATE, "cannot create a transfer that is completed"),
        (None, T.COMPLETE, "cannot complete a transfer that does not exist"),
        (None, T.CANCEL, "cannot cancel a transfer that does not exist"),
    ],
)
def test_there_are_no_other_transitions_of_a_transfer(before: S | None, trigger: T, message: str) -> None:
    assert len(TRANSFER_TRANSITIONS) == 3
    with pytest.raises(TransferError, match=message):
        transfer_step(K.DEPOSIT, before, trigger, 5)


@pytest.mark.parametrize(("status", "trigger"), [(S.COMPLETED, T.COMPLETE), (S.CANCELLED, T.CANCEL)])
@pytest.mark.parametrize("kind", list(K))
def test_asking_again_for_the_end_that_a_transfer_has_moves_nothing(kind: K, status: S, trigger: T) -> None:
    assert transfer_step(kind, status, trigger, 5) == TransferStep(status, NOTHING, repeated=True)


@pytest.mark.parametrize(
    ("kind", "created", "completed", "cancelled"),
    [
        (K.DEPOSIT, (0, 0), (5, 0), (0, 0)),
        (K.WITHDRAWAL, (-5, 5), (0, -5), (5, -5)),
        (K.ADJUSTMENT, (0, 0), (5, 0), (0, 0)),
    ],
)
def test_each_step_changes_the_balance_as_its_kind_demands(
    kind: K, created: tuple[int, int], completed: tuple[int, int], cancelled: tuple[int, int]
) -> None:
    assert transfer_step(kind, None, T.CREATE, 5).change == created
    assert transfer_step(kind, S.PENDING, T.COMPLETE, 5).change == completed
    assert transfer_step(kind, S.PENDING, T.CANCEL, 5).change == cancelled
    assert set(BALANCE_EFFECTS) == {(each, trigger) for each in K for trigger in T}


def test_an_adjustment_may_be_negative_but_not_zero_and_others_must_be_positive() -> None:
    assert transfer_step(K.ADJUSTMENT, S.PENDING, T.COMPLETE, -5).change == (-5, 0)
    assert transfer_step(K.DEPOSIT, S.PENDING, T.COMPLETE, 1).change == (1, 0)
    with pytest.raises(TransferError, match=r"^amount of an adjustment must not be zero$"):
        transfer_step(K.ADJUSTMENT, None, T.CREATE, 0)
    for kind in (K.DEPOSIT, K.WITHDRAWAL):
        for amount in (0, -1):
            with pytest.raises(TransferError, match=f"amount of a {kind} must be positive"):
                transfer_step(kind, None, T.CREATE, amount)


@given(
    st.lists(st.tuples(st.sampled_from([K.DEPOSIT, K.WITHDRAWAL]), st.integers(1, 9), st.lists(st.sampled_from(T)))),
)
def test_a_cancelled_transfer_leaves_no_trace_and_nothing_stays_locked_once_all_have_ended(
    transfers: list[tuple[K, int, list[T]]],
) -> None:
    available = locked = expected = 0
    for kind, amount, triggers in transfers:
        status: S | None = None
        for trigger in [T.CREATE, *triggers, T.COMPLETE]:
            try:
                step = transfer_step(kind, status, trigger, amount)
            except TransferError:
                continue
            status = step.status
            available += step.change.available
            locked += step.change.locked
        if status is S.COMPLETED:
            expected += amount if kind is K.DEPOSIT else -amount
    assert (available, locked) == (expected, 0)
