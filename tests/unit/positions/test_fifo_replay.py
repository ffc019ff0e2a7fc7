"""Insertions into the past are computed again from the nearest checkpoint; a long history needs little memory."""

import random
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.positions.fifo import Disposal, FifoBook, ShortfallError
from openspot.positions.fifo_replay import BookCheckpoint, nearest_checkpoint, replay, superseded_checkpoints
from openspot.positions.fifo_transaction import FifoTransaction, TransactionKind
from tests.support.fifo_histories import random_history


def split(results: Iterator[Disposal | BookCheckpoint]) -> tuple[list[Disposal], list[BookCheckpoint]]:
    disposals: list[Disposal] = []
    checkpoints: list[BookCheckpoint] = []
    for item in results:
        if isinstance(item, BookCheckpoint):
            checkpoints.append(item)
        else:
            disposals.append(item)
    return disposals, checkpoints


@given(st.integers(0, 2**32), st.integers(1, 25))
def test_an_insertion_replayed_from_the_nearest_checkpoint_equals_a_replay_from_nothing(seed: int, every: int) -> None:
    source = random.Random(seed)
    history = random_history(seed, 60)
    at = source.randrange(60)
    # An acquisition never makes a later transaction fall short.
    inserted = FifoTransaction("in", history[at].timestamp - 1, TransactionKind.ACQUISITION, "main", "BTC", 10**18, 7)
    disposals, checkpoints = split(replay(FifoBook("owner"), history, every))
    whole = sorted([*history, inserted], key=lambda item: item.order_key)

    start = nearest_checkpoint(checkpoints, inserted.order_key)
    book = FifoBook.from_state(start.state) if start else FifoBook("owner")
    first_key = start.key if start else (-1, "")
    kept = [item for item in disposals if (item.disposed_at, item.disposal_id) <= first_key]
    again, renewed = split(replay(book, [item for item in whole if item.order_key > first_key], every))

    expected_book = FifoBook("owner")
    expected = [disposal for item in whole for disposal in expected_book.apply(item)]
    assert kept + again == expected
    assert book.state() == expected_book.state()
    assert all(checkpoint.key > first_key for checkpoint in renewed)
    assert start is None or start not in superseded_checkpoints(checkpoints, inserted.order_key)


def test_the_nearest_checkpoint_lies_before_the_insertion_and_later_ones_are_superseded() -> None:
    checkpoints = [BookCheckpoint((time, "x"), "") for time in (10, 20, 30)]
    assert nearest_checkpoint(checkpoints, (10, "a")) is None
    assert nearest_checkpoint(checkpoints, (10, "x")) is None
    assert nearest_checkpoint(checkpoints, (10, "y")) == checkpoints[0]
    assert nearest_checkpoint(checkpoints, (30, "x")) == checkpoints[1]
    assert nearest_checkpoint(checkpoints, (99, "")) == checkpoints[2]
    assert superseded_checkpoints(checkpoints, (20, "x")) == checkpoints[1:]
    assert superseded_checkpoints(checkpoints, (20, "y")) == checkpoints[2:]
    assert superseded_checkpoints(checkpoints, (0, "")) == checkpoints
    assert nearest_checkpoint([], (1, "")) is None


def test_an_insertion_that_takes_what_a_later_transaction_needs_is_refused_by_the_later_ones_name() -> None:
    acquired = FifoTransaction("a", 1, TransactionKind.ACQUISITION, "main", "BTC", 10, 10)
    inserted = FifoTransaction("in", 2, TransactionKind.DISPOSAL, "main", "BTC", 1, 1)
    later = FifoTransaction("s", 3, TransactionKind.DISPOSAL, "main", "BTC", 10, 10)
    with pytest.raises(ShortfallError, match="transaction s takes"):
        list(replay(FifoBook("owner"), [acquired, inserted, later]))


def test_checkpoints_come_after_every_so_many_transactions() -> None:
    history = random_history(1, 10)
    _, checkpoints = split(replay(FifoBook("owner"), history, 4))
    assert [checkpoint.key for checkpoint in checkpoints] == [history[3].order_key, history[7].order_key]
    with pytest.raises(ValueError, match="every must be at least 1"):
        list(replay(FifoBook("owner"), history, 0))


def trades(count: int) -> Iterator[FifoTransaction]:
    """Purchases that are sold again soon."""
    for number in range(count):
        kind = TransactionKind.DISPOSAL if number % 4 == 3 else TransactionKind.ACQUISITION
        quantity = 3 if number % 4 == 3 else 1
        yield FifoTransaction(f"t{number:09}", number, kind, "main", "BTC", quantity, 100 * quantity)


def peak_memory(count: int) -> int:
    """Bytes at most, while that many transactions stream through a book."""
    tracemalloc.start()
    try:
        for _ in replay(FifoBook("owner"), trades(count), every=100):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_ten_times_as_many_transactions_need_no_more_memory() -> None:
    peak_memory(100)
    small, large = peak_memory(500), peak_memory(5_000)
    assert large < small * 1.5
