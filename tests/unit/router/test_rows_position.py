"""Which events the rows include while partitions are at different positions, and after their number has changed."""

from typing import Any

from openspot.contracts.engine_events import BalanceEvent, EngineEvent, MovedEvent
from openspot.domain.partition import Partition
from openspot.router.rows_position import PassedEvents, RowsPosition, position_of_cursors


def cursor(number: int, count: int, sequence: int, *, epoch: str = "e", is_current: bool = True) -> dict[str, Any]:
    return {
        "partition": number, "partitions": count, "epoch": epoch, "sequence": sequence, "is_current": is_current,
    }  # fmt: skip


def moved(sequence: int, symbol: str) -> EngineEvent:
    return MovedEvent(sequence, 0, symbol, "1", "", "alice", "buy", "1", "1")


def balance(sequence: int) -> EngineEvent:
    return BalanceEvent(sequence, 0, "DEPOSIT", "alice", "USD", "1", "1", "")


def test_each_symbol_is_as_far_as_its_partition() -> None:
    # BTC-USD and what has no symbol are in partition 0 of 2, ETH-USD in partition 1.
    position = position_of_cursors([cursor(0, 2, 10), cursor(1, 2, 20)])
    assert position is not None
    assert (position.epoch, position.least, position.newest) == ("e", 10, 20)
    assert [position.includes(moved(sequence, "BTC-USD")) for sequence in (10, 11)] == [True, False]
    assert [position.includes(balance(sequence)) for sequence in (10, 11)] == [True, False]
    assert [position.includes(moved(sequence, "ETH-USD")) for sequence in (20, 21)] == [True, False]


def test_after_a_change_the_rows_still_include_what_the_old_partitions_wrote() -> None:
    position = position_of_cursors(
        [cursor(0, 1, 12), cursor(0, 2, 10, is_current=False), cursor(1, 2, 20, is_current=False)]
    )
    assert position == RowsPosition(
        "e",
        (PassedEvents(Partition(0, 1), 12),),
        (PassedEvents(Partition(0, 2), 10), PassedEvents(Partition(1, 2), 20)),
    )
    assert (position.least, position.newest) == (12, 20)
    assert [position.includes(moved(sequence, "BTC-USD")) for sequence in (12, 13)] == [True, False]
    assert [position.includes(moved(sequence, "ETH-USD")) for sequence in (20, 21)] == [True, False]


def test_a_partition_without_events_holds_the_whole_back() -> None:
    position = position_of_cursors([cursor(0, 2, 5), cursor(1, 2, 0, epoch="")])
    assert position is not None
    assert (position.epoch, position.least, position.newest) == ("e", 0, 5)
    assert position_of_cursors([cursor(0, 2, 0, epoch=""), cursor(1, 2, 0, epoch="")]) is None
    assert position_of_cursors([]) is None


def test_rows_of_two_journals_are_in_none_and_old_partitions_of_another_journal_say_nothing() -> None:
    position = position_of_cursors([cursor(0, 2, 5, epoch="old"), cursor(1, 2, 3, epoch="new")])
    assert position is not None
    assert position.epoch == "new and old"
    position = position_of_cursors([cursor(0, 1, 3, epoch="new"), cursor(1, 2, 9, epoch="old", is_current=False)])
    assert position is not None
    assert position.earlier == ()
