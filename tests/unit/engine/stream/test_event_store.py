"""The event store: a cache without gaps. A file with a gap is recreated."""

import sqlite3
from pathlib import Path

import pytest

from openspot.engine.state.event_batch import EventBatch
from openspot.engine.stream.event_store import ROW_EVENTS_MAX, EventStore, EventStoreError
from tests.support.engine_state import SEED, deposit, feed, new_machine, together


def events(count: int) -> EventBatch:
    """The first events of a fixed history."""
    machine = new_machine()
    feed(machine, SEED)
    return feed(machine, together(*(deposit(2, "alice", number + 1) for number in range(count)))).events


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.sqlite"


def test_any_sequence_can_be_read_back(path: Path) -> None:
    everything = events(1200)
    store = EventStore(path, "e")
    assert (store.first_sequence, store.last_sequence, store.read(1)) == (0, 0, None)
    store.append([everything], 10_000)
    store.close()
    store = EventStore(path, "e")
    assert (store.first_sequence, store.last_sequence) == (1, 1200)
    for sequence in (1, 2, ROW_EVENTS_MAX, ROW_EVENTS_MAX + 1, 1200):
        part = store.read(sequence)
        assert part is not None
        assert part.first_sequence == sequence
        rest = everything.from_sequence(sequence)
        assert rest.records.startswith(part.records)
        assert part.texts == rest.texts[: len(part)]
    assert store.read(1201) is None
    assert store.read(0) is None
    store.close()


def test_small_batches_share_rows(path: Path) -> None:
    everything = events(1000)
    parts = [
        EventBatch(number, everything.records[(number - 1) * 144 : number * 144], [everything.texts[number - 1]])
        for number in range(1, 1001)
    ]
    store = EventStore(path, "e")
    store.append([EventBatch(1, b"", []), *parts[:700]], 10_000)
    store.append(parts[700:], 10_000)
    assert store.last_sequence == 1000
    first = store.read(1)
    assert first is not None
    assert len(first) == ROW_EVENTS_MAX
    assert first.records == everything.records[: ROW_EVENTS_MAX * 144]
    store.close()


def test_the_oldest_events_beyond_the_retention_are_deleted(path: Path) -> None:
    everything = events(5000)
    store = EventStore(path, "e")
    for start in range(1, 5001, 500):
        part = everything.from_sequence(start)
        store.append([EventBatch(start, part.records[: 500 * 144], part.texts[:500])], 1000)
    assert 5000 - 1000 - ROW_EVENTS_MAX < store.first_sequence <= 4001
    assert store.read(store.first_sequence - 1) is None
    assert store.read(store.first_sequence) is not None
    store.close()


def test_a_store_of_another_journal_or_with_a_gap_is_recreated(path: Path) -> None:
    store = EventStore(path, "e")
    store.append([events(2000)], 10_000)
    store.close()
    store = EventStore(path, "other")
    assert store.last_sequence == 0
    store.append([events(2000)], 10_000)
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM events WHERE first_sequence = 513")
    connection.close()
    store = EventStore(path, "other")
    assert store.last_sequence == 0
    store.close()
    path.write_bytes(b"no database" * 500)
    store = EventStore(path, "other")
    assert store.last_sequence == 0
    store.close()


def test_a_damaged_row_is_reported_with_what_to_do(path: Path) -> None:
    store = EventStore(path, "e")
    store.append([events(10)], 10_000)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE events SET records = zeroblob(1440)")
    connection.close()
    with pytest.raises(EventStoreError, match=r"is damaged.*delete the file"):
        store.read(5)
    store.close()


def test_a_full_disk_is_reported_and_leaves_the_store_unchanged(path: Path) -> None:
    everything = events(3000)
    store = EventStore(path, "e")
    store.append([EventBatch(1, everything.records[: 10 * 144], everything.texts[:10])], 10_000)
    pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
    store._writer.execute(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(EventStoreError, match="full"):
        store.append([everything.from_sequence(11)], 10_000)
    assert store.last_sequence == 10
    store._writer.execute("PRAGMA max_page_count = 100000")
    store.append([everything.from_sequence(11)], 10_000)
    assert store.last_sequence == 3000
    store.clear()
    assert (store.first_sequence, store.last_sequence) == (0, 0)
    store.close()
