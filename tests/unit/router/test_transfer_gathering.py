"""Engine events of a transfer become one bus message, and no position ends inside a transfer."""

import pytest

from openspot.contracts import subjects
from openspot.contracts.engine_events import BalanceEvent, EngineEvent, TransferEvent
from openspot.contracts.messages import ExecutedTransfer, TransferMovement
from openspot.router.translation.order_state_machine import OrderStateMachine
from openspot.router.translation.transfer_gathering import TransferGathering, whole_transfers

BALANCE = BalanceEvent(1, 1, "DEPOSIT", "alice", "USD", "5", "5", "tx")


def moved(index: int, count: int = 2, reference: str = "t-1", seq: int = 0) -> TransferEvent:
    return TransferEvent(
        seq or 10 + index, 7, "conversion", reference, index, count, "alice", "bob", "USD", f"{index}.5"
    )


def test_a_transfer_is_published_once_with_its_last_movement() -> None:
    machine = OrderStateMachine("epoch", [])
    assert machine.apply(moved(1)).publications == []
    (publication,) = machine.apply(moved(2)).publications
    assert publication.targets == ((subjects.TRANSFERS_EXECUTED, "epoch-12-transfer"),)
    movements = [TransferMovement("alice", "bob", "USD", amount) for amount in ("1.5", "2.5")]
    assert publication.message == ExecutedTransfer("t-1", "conversion", movements, 12, 7)
    # The next transfer begins anew.
    assert machine.apply(moved(1, 1, "t-2", 13)).publications[0].message == ExecutedTransfer(
        "t-2", "conversion", movements[:1], 13, 7
    )


@pytest.mark.parametrize(
    "events",
    [[moved(2)], [moved(1, 3), moved(3, 3)], [moved(1), moved(2, reference="t-2")], [moved(1), moved(2, 3)]],
    ids=["no beginning", "a gap", "another transfer", "another count"],
)
def test_a_movement_that_does_not_continue_its_transfer_is_a_fault_and_publishes_nothing(
    events: list[TransferEvent],
) -> None:
    machine = OrderStateMachine("epoch", [])
    translated = [machine.apply(event) for event in events]
    assert [fault.kind for fault in translated[-1].faults] == ["torn_transfer"]
    assert not any(part.publications for part in translated)


def test_a_torn_transfer_does_not_harm_the_next_one() -> None:
    gathering = TransferGathering()
    assert gathering.add(moved(1)) is None
    assert gathering.add(moved(1, reference="t-2")) is None
    whole = gathering.add(moved(2, reference="t-2"))
    assert whole is not None
    assert (whole.id, len(whole.movements)) == ("t-2", 2)


@pytest.mark.parametrize(
    ("events", "whole"),
    [
        ([], 0),
        ([BALANCE], 1),
        ([BALANCE, moved(1)], 1),
        ([moved(1), moved(2), BALANCE], 3),
        ([BALANCE, moved(1), moved(2)], 3),
        ([moved(1), moved(2), moved(1, 3, "t-2"), moved(2, 3, "t-2")], 2),
        ([moved(1, 3), moved(2, 3)], 0),
    ],
)
def test_events_are_cut_before_an_incomplete_transfer(events: list[EngineEvent], whole: int) -> None:
    assert whole_transfers(events) == whole
